//! The `becalm` binary.

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    #[cfg(panic = "abort")]
    end_by_panics();
    becalm::run(std::env::args_os())
}

/// Makes a panic end the process with the code that it has where panics unwind. An abort would leave an image of the
/// memory instead, and in that what is secret. Nothing is put back or removed on the way: to the guardian, the steward and
/// the next becalm it is as if this one had been killed.
#[cfg(panic = "abort")]
fn end_by_panics() {
    const PANICKED: i32 = 101;
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(PANICKED)
    }));
}
