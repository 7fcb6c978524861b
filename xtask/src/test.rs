//! `cargo xtask test`: everything that a change must pass, from a fresh clone.
//!
//! A step that fails does not stop the others. The last line is `N passed, N failed, N skipped`:
//! passed are tests; failed are tests and other steps; skipped are tests that could not run here.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::test_log::TestLog;
use crate::workspace::{cargo, metadata, run as execute, shown};
use crate::{docs, edges, install, vm};

/// One step and how it went.
struct Step {
    name: &'static str,
    took: Duration,
    result: Result<()>,
}

/// Runs all steps, prints the summary and says whether everything passed.
pub(crate) fn run() -> Result<bool> {
    let start = Instant::now();
    let tools = install::for_tests()?;
    let mut log = TestLog::default();
    let mut machines = vm::Tally::default();
    let steps = [
        step("formatting", || execute(&mut cargo(&["fmt", "--all", "--check"]))),
        step("clippy", clippy),
        step("edges between crates", || edges::check(&metadata()?)),
        step("tests", || tests(&tools, &mut log)),
        step("documentation", || {
            let mut command =
                cargo(&["doc", "--quiet", "--keep-going", "--workspace", "--no-deps"]);
            execute(command.env("RUSTDOCFLAGS", "-D warnings"))
        }),
        step("generated files", docs::check),
        // Last, because they take whatever time they are given.
        step("virtual machines", || {
            machines = vm::sample(start)?;
            Ok(())
        }),
    ];
    Ok(summary(&steps, &log, &machines))
}

fn clippy() -> Result<()> {
    execute(&mut cargo(&[
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn step(name: &'static str, work: impl FnOnce() -> Result<()>) -> Step {
    println!("==> {name}");
    let start = Instant::now();
    let result = work();
    if let Err(error) = &result {
        println!("{name}: {error:#}");
    }
    Step { name, took: start.elapsed(), result }
}

/// Runs the tests, reads their output as it comes and shows what is worth it.
fn tests(tools: &[PathBuf], log: &mut TestLog) -> Result<()> {
    // --show-output and not --nocapture: the output of a test then stands under its name.
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast", "--", "--show-output"]);
    let text = shown(&command);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = tools.iter().cloned().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders)?);
    // What is read has to look as it does by default.
    command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_QUIET", "false");
    command.env_remove("RUST_TEST_NOCAPTURE");
    // Properties are tested on the same values every time: a change is to fail by what it does, not by luck.
    command.env("PROPTEST_RNG_SEED", "1");
    // Both into one pipe, because cargo names the suites on standard error.
    let (reader, writer) = std::io::pipe()?;
    let second = writer.try_clone()?;
    // The reader ends when all writers are closed; the command holds two of them.
    let mut child = command.stdout(writer).stderr(second).spawn().context("cannot start cargo")?;
    drop(command);
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if log.line(&line) {
            println!("{line}");
        }
    }
    log.close();
    let status = child.wait()?;
    ensure!(status.success(), "`{text}` ended with {status}");
    Ok(())
}

fn summary(steps: &[Step], log: &TestLog, machines: &vm::Tally) -> bool {
    println!("\n==> summary");
    let mut failed = log.failures.len() + log.crashed.len() + machines.failed.len();
    for step in steps {
        let result = if step.result.is_ok() { "ok" } else { "FAILED" };
        println!("{:<22}{result:<8}{:>7.1} s", step.name, step.took.as_secs_f64());
        // Tests that failed are counted one by one, unless they did not even compile.
        let is_counted = step.name == "tests" && log.has_failures();
        failed += usize::from(step.result.is_err() && !is_counted);
    }
    let skipped = log.skipped();
    for (test, reason) in &skipped {
        println!("skipped: {test}: {reason}");
    }
    for (test, reason) in &machines.skipped {
        println!("skipped: {test}: {reason}");
    }
    // Last, because the end of a log is what is read first.
    for (test, output) in &log.failures {
        println!("failed: {test}");
        for line in output {
            println!("    {line}");
        }
    }
    for suite in &log.crashed {
        println!("failed: {suite} ended without a result");
    }
    for (test, error) in &machines.failed {
        println!("failed: {test}");
        error.lines().for_each(|line| println!("    {line}"));
    }
    for step in steps {
        if let Err(error) = &step.result {
            println!("failed: {}: {error:#}", step.name);
        }
    }
    let n_skipped = skipped.len() + machines.skipped.len();
    println!("{} passed, {failed} failed, {n_skipped} skipped", log.passed() + machines.passed);
    failed == 0
}
