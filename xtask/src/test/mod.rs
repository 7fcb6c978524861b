//! `cargo xtask test`: everything that a change must pass, from a fresh clone; with `--quick` what a change
//! is tried with every few minutes.
//!
//! A step that fails does not stop the others. The last line is `N passed, N failed, N skipped`:
//! passed are tests; failed are tests and other steps; skipped are tests and checks that could not be done
//! here.

mod commits;
mod dependencies;
mod log;
#[cfg(test)]
mod manifests;
mod suites;
mod traces;

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::workspace::{cargo, metadata, run as execute, shown};
use crate::{docs, edges, install, vm};
use log::TestLog;
use suites::Suite;
use traces::Traces;

/// Check everything that a change must pass: formatting, lints, edges between crates, dependencies, tests,
/// documentation, virtual machines
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out what takes minutes: sessions of becalm, real harnesses, calibration, documentation and
    /// virtual machines
    #[arg(long)]
    quick: bool,
}

/// One step and how it went.
struct Step {
    name: &'static str,
    took: Duration,
    /// Checks that could not be done here, and why.
    result: Result<Vec<String>>,
}

/// Runs all steps, prints the summary and says whether everything passed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let start = Instant::now();
    let mut log = TestLog::default();
    let mut machines = vm::Tally::default();
    let steps = if args.quick { quick(&mut log) } else { whole(start, &mut log, &mut machines)? };
    let passed = summary(&steps, start.elapsed(), &log, &machines);
    Ok(passed)
}

fn quick(log: &mut TestLog) -> Vec<Step> {
    let mut steps = lints();
    steps.push(step("tests", || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let suites = suites::build(suites::QUICK)?.into_iter().filter_map(Suite::quick).collect();
        suites::run(suites, &path, log)
    }));
    steps
}

fn whole(start: Instant, log: &mut TestLog, machines: &mut vm::Tally) -> Result<Vec<Step>> {
    let tools = install::for_tests()?;
    let mut steps = lints();
    steps.extend([
        reporting("dependencies", dependencies::check),
        step("tests", || tests(&tools, log)),
        step("documentation", || {
            let mut command =
                cargo(&["doc", "--quiet", "--keep-going", "--workspace", "--no-deps"]);
            execute(command.env("RUSTDOCFLAGS", "-D warnings"))
        }),
        step("generated files", docs::check),
        // Last, because they take whatever time they are given.
        step("virtual machines", || {
            *machines = vm::sample(start)?;
            Ok(())
        }),
    ]);
    Ok(steps)
}

fn lints() -> Vec<Step> {
    vec![
        step("formatting", || execute(&mut cargo(&["fmt", "--all", "--check"]))),
        step("clippy", clippy),
        step("edges between crates", || edges::check(&metadata()?)),
        reporting("commits", || Ok(commits::check())),
    ]
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
    reporting(name, || work().map(|()| Vec::new()))
}

/// Makes a step that says what it could not check.
fn reporting(name: &'static str, work: impl FnOnce() -> Result<Vec<String>>) -> Step {
    println!("==> {name}");
    let start = Instant::now();
    let result = work();
    if let Err(error) = &result {
        println!("{name}: {error:#}");
    }
    Step { name, took: start.elapsed(), result }
}

/// Runs all tests: programs side by side, and then those of the documentation.
fn tests(tools: &[PathBuf], log: &mut TestLog) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = tools.iter().cloned().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders)?;
    let before = Traces::read();
    let ran = suites::build(suites::ALL).and_then(|suites| suites::run(suites, &path, log));
    ran.and(documentation(&path, log)).and(before.check())
}

/// Runs the tests in the documentation, which only cargo can.
fn documentation(path: &OsString, log: &mut TestLog) -> Result<()> {
    let mut command =
        cargo(&["test", "--doc", "--workspace", "--no-fail-fast", "--", "--show-output"]);
    let text = shown(&command);
    suites::set_environment(&mut command, path);
    // What is read has to look as it does by default.
    command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_QUIET", "false");
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

fn summary(steps: &[Step], took: Duration, log: &TestLog, machines: &vm::Tally) -> bool {
    println!("\n==> summary");
    let mut failed = log.failures.len() + log.crashed.len() + machines.failed.len();
    for step in steps {
        let result = if step.result.is_ok() { "ok" } else { "FAILED" };
        println!("{:<22}{result:<8}{:>7.1} s", step.name, step.took.as_secs_f64());
        // Tests that failed are counted one by one, unless they did not even compile.
        let is_counted = step.name == "tests" && log.has_failures();
        failed += usize::from(step.result.is_err() && !is_counted);
    }
    println!("{:<30}{:>7.1} s", "all together", took.as_secs_f64());
    let skipped = log.skipped();
    let undone = || steps.iter().flat_map(|step| step.result.iter().flatten());
    for reason in undone() {
        println!("skipped: {reason}");
    }
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
    let n_skipped = skipped.len() + machines.skipped.len() + undone().count();
    println!("{} passed, {failed} failed, {n_skipped} skipped", log.passed() + machines.passed);
    failed == 0
}
