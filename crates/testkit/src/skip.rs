//! A test that cannot run here says so; it never passes silently.

/// Prints why the calling test is skipped. Runners of whole suites count these lines.
#[expect(clippy::print_stdout, reason = "the line is what makes a skipped test visible")]
pub fn skipped(why: &str) {
    println!("skipped: {why}");
}
