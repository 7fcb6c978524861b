//! The `becalm` binary.

fn main() -> std::process::ExitCode {
    becalm::run(std::env::args_os())
}
