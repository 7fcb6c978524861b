//! Builds the programs of tests and runs them side by side.
//!
//! `cargo test` runs one after the other: while a slow test of one program ends, nothing else happens.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::log::TestLog;
use crate::workspace::{capture_chatty, cargo};

/// What `cargo test` builds for everything, and for a quick check: no calibration, no examples.
pub(super) const ALL: &[&str] = &["--workspace"];
pub(super) const QUICK: &[&str] =
    &["--workspace", "--exclude", "becalm-calibrate", "--lib", "--bins", "--tests"];

/// The programs that take longest, longest first: they start first, so that none of them is alone at the
/// end.
const LONGEST: [&str; 2] = ["cli", "calibration"];

/// Programs before which every other program of the machine has to make way: they run after the others, one at a time.
const ALONE: [&str; 1] = ["isolation"];

/// What a quick check leaves out. They run sessions of becalm that take
/// seconds, or what others have installed.
const SLOW: &[(&str, Part)] = &[("cli", Part::Modules(SESSIONS)), ("isolation", Part::All)];

/// Four fifths of the time that tests of the command line take.
const SESSIONS: &[&str] = &[
    "ablate",
    "bisect",
    "callgrind",
    "ci",
    "conditions",
    "deciding",
    "degraded",
    "history",
    "memory",
    "noise_reproduce",
    "output",
    "real_harnesses",
    "resume",
    "revisions",
    "saved",
    "suite",
    "timeit",
];

/// What is left out of a program.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    Modules(&'static [&'static str]),
}

/// More programs at a time wait for each other's disk; each has a thread for every CPU anyway.
const MOST_AT_A_TIME: usize = 4;

/// A program of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suite {
    /// As cargo names it: `becalm_stats`, `properties`.
    pub(super) name: String,
    program: PathBuf,
    /// Folder of its package, where cargo starts it.
    folder: PathBuf,
    /// Modules that are left out.
    without: &'static [&'static str],
}

impl Suite {
    fn is_alone(&self) -> bool {
        ALONE.contains(&self.name.as_str())
    }

    /// Returns what a quick check runs of it.
    pub(super) fn quick(self) -> Option<Self> {
        match SLOW.iter().find(|(name, _)| *name == self.name) {
            None => Some(self),
            Some((_, Part::All)) => None,
            Some((_, Part::Modules(without))) => Some(Self { without, ..self }),
        }
    }
}

/// Builds the programs that `selection` of the packages and targets have.
pub(super) fn build(selection: &[&str]) -> Result<Vec<Suite>> {
    let mut command = cargo(&["test", "--no-run", "--message-format", "json-render-diagnostics"]);
    let messages = capture_chatty(command.args(selection))?;
    let mut suites: Vec<Suite> = messages.lines().filter_map(suite).collect();
    ensure!(!suites.is_empty(), "cargo named no programs of tests");
    let rank = |suite: &Suite| LONGEST.iter().position(|name| *name == suite.name);
    suites.sort_by_key(|suite| rank(suite).unwrap_or(LONGEST.len()));
    Ok(suites)
}

/// Reads a message of cargo; only some are about a program of tests.
fn suite(message: &str) -> Option<Suite> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    Some(Suite {
        name: message["target"]["name"].as_str()?.to_owned(),
        program: message["executable"].as_str()?.into(),
        folder: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
        without: &[],
    })
}

/// What a program left.
struct Ended {
    suite: Suite,
    output: Vec<u8>,
    status: Result<ExitStatus>,
    took: Duration,
}

/// Runs the programs, side by side where they bear it, and reads what they print, one program after the other.
pub(super) fn run(suites: Vec<Suite>, path: &OsString, log: &mut TestLog) -> Result<()> {
    let n_at_a_time =
        std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_AT_A_TIME);
    let (alone, together) = suites.into_iter().partition(Suite::is_alone);
    let mut wrong = run_at_a_time(n_at_a_time, together, path, log);
    wrong.extend(run_at_a_time(1, alone, path, log));
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("; ")) }
}

/// Returns what went wrong.
fn run_at_a_time(
    n_at_a_time: usize,
    suites: Vec<Suite>,
    path: &OsString,
    log: &mut TestLog,
) -> Vec<String> {
    let waiting = Mutex::new(VecDeque::from(suites));
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        let (sender, ended) = channel();
        for _ in 0..n_at_a_time {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || run_waiting(waiting, path, &sender));
        }
        drop(sender);
        for ended in ended {
            read(&ended, log);
            match ended.status {
                Ok(status) if status.success() => {}
                Ok(status) => wrong.push(format!("{} ended with {status}", ended.suite.name)),
                Err(error) => wrong.push(format!("{}: {error:#}", ended.suite.name)),
            }
        }
    });
    wrong
}

fn run_waiting(waiting: &Mutex<VecDeque<Suite>>, path: &OsString, sender: &Sender<Ended>) {
    let next = || waiting.lock().expect("nobody panics with the list").pop_front();
    while let Some(suite) = next() {
        let start = Instant::now();
        let mut output = Vec::new();
        let status = run_one(&suite, path, &mut output);
        let ended = Ended { suite, output, status, took: start.elapsed() };
        if sender.send(ended).is_err() {
            return;
        }
    }
}

fn run_one(suite: &Suite, path: &OsString, output: &mut Vec<u8>) -> Result<ExitStatus> {
    let mut command = Command::new(&suite.program);
    // --show-output and not --nocapture: the output of a test then stands under its name.
    let skips =
        suite.without.iter().flat_map(|module| ["--skip".to_owned(), format!("{module}::")]);
    command.arg("--show-output").args(skips).current_dir(&suite.folder).stdin(Stdio::null());
    set_environment(&mut command, path);
    command.env("CARGO_MANIFEST_DIR", &suite.folder);
    // Both into one pipe, so that they keep their order.
    let (mut reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start it")?;
    // The reader ends when all writers are closed; the command holds two of them.
    drop(command);
    reader.read_to_end(output)?;
    Ok(child.wait()?)
}

/// What tests see of the environment, whoever starts them.
pub(super) fn set_environment(command: &mut Command, path: &OsString) {
    command.env("PATH", path).env_remove("RUST_TEST_NOCAPTURE");
    // Properties are tested on the same values every time: a change is to fail by what it does, not by luck.
    command.env("PROPTEST_RNG_SEED", "1");
}

fn read(ended: &Ended, log: &mut TestLog) {
    let Ended { suite, took, .. } = ended;
    println!("{}: {:.1} s", suite.name, took.as_secs_f64());
    log.begin(&suite.name);
    let output = String::from_utf8_lossy(&ended.output);
    for line in output.lines() {
        if log.line(line) {
            println!("{line}");
        }
    }
    log.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_tests_are_suites() {
        let message = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/stats/Cargo.toml",
                "target":{{"name":"properties"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = suite(&message(true, r#""/w/target/debug/deps/properties-1""#)).unwrap();
        assert_eq!(
            (found.name.as_str(), found.folder.as_path()),
            ("properties", Path::new("/w/crates/stats"))
        );
        assert_eq!(suite(&message(false, r#""/w/target/debug/becalm""#)), None);
        assert_eq!(suite(&message(true, "null")), None);
        assert_eq!(suite(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(suite("not JSON"), None);
    }
}
