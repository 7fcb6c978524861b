//! What the tests of this program share.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

pub(crate) use becalm_testkit::wait_until;
use becalm_testkit::{CommandOutput, TestEnv, skipped, write_program};
use serde_json::Value;

/// Conditions under which many sessions side by side do not hold each other up.
const SIDE_BY_SIDE: [&str; 4] = ["--affinity", "none", "--scheduler", "other"];

pub(crate) fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_becalm"))
}

/// Arguments of `run` or `compare`, without real-time class and pinning.
pub(crate) fn with<'a>(command: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&[command], &SIDE_BY_SIDE[..], rest].concat()
}

pub(crate) trait Measures {
    /// Runs `becalm compare`, without real-time class and pinning.
    fn compare(&self, arguments: &[&str]) -> CommandOutput;
    /// Runs `becalm run`, likewise.
    fn measure(&self, arguments: &[&str]) -> CommandOutput;
    /// Reads a file of the working folder.
    fn read(&self, name: &str) -> String;
    /// Reads a saved record of the working folder.
    fn record(&self, name: &str) -> Value;
    /// Makes an executable script in the working folder.
    fn script(&self, name: &str, text: &str);
}

impl Measures for TestEnv {
    fn compare(&self, arguments: &[&str]) -> CommandOutput {
        self.run(with("compare", arguments))
    }

    fn measure(&self, arguments: &[&str]) -> CommandOutput {
        self.run(with("run", arguments))
    }

    fn read(&self, name: &str) -> String {
        let path = self.work().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    fn record(&self, name: &str) -> Value {
        json(&self.read(name))
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it is ours");
        write_program(&path, &format!("#!/bin/sh\n{text}\n"));
    }
}

#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A command that prints a number, the same in every run, which `T` reads.
pub(crate) fn prints(number: &str) -> String {
    format!("echo t: {number}")
}

/// The metric that `prints` prints.
pub(crate) const T: &str = r"t[ns,exact]=t: (\S+)";

/// Returns the measured runs of every subject in a record, in time order: round, order, subject.
pub(crate) fn schedule(record: &Value) -> Vec<(u64, u64, usize)> {
    let mut runs: Vec<(f64, u64, u64, usize)> = Vec::new();
    for (subject, one) in record["subjects"].as_array().unwrap().iter().enumerate() {
        for run in one["runs"].as_array().unwrap() {
            if run["warmup"] != Value::Bool(true) {
                let number = |name: &str| run[name].as_u64().unwrap();
                let started = run["started"].as_f64().unwrap();
                runs.push((started, number("round"), number("order"), subject));
            }
        }
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs.into_iter().map(|(_, round, order, subject)| (round, order, subject)).collect()
}

pub(crate) fn limits(record: &Value) -> String {
    let limits = record["conditions"]["limits"].as_array().unwrap();
    limits.iter().map(|limit| limit["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Returns the first paragraph, with everything that varies redacted.
pub(crate) fn headline(output: &CommandOutput) -> String {
    let text = output.redacted_stdout();
    text.split("\n\n").next().unwrap_or_default().to_owned()
}

/// Returns what was said, with the names of logs in the state folder redacted too.
pub(crate) fn said(output: &CommandOutput) -> String {
    let text = output.redacted_stderr();
    let mut shown = String::new();
    for line in text.lines() {
        let line = match line.split_once("state/becalm/sessions/") {
            Some((before, _)) => format!("{before}state/becalm/sessions/[LOG]"),
            None => line.to_owned(),
        };
        shown.push_str(line.trim_end());
        shown.push('\n');
    }
    shown
}

/// Waits until a log has this many lines.
#[track_caller]
pub(crate) fn wait_for_lines(path: &Path, lines: usize) {
    wait_until("a log that grows", || {
        std::fs::read_to_string(path).is_ok_and(|text| text.lines().count() >= lines)
    });
}

/// Returns the processes whose command line names this text.
pub(crate) fn processes_that_name(text: &str) -> Vec<String> {
    numbered_processes_that_name(text).into_iter().map(|(_, line)| line).collect()
}

/// The same with their numbers.
pub(crate) fn numbered_processes_that_name(text: &str) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").expect("Linux has /proc");
    entries
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            Some((number, String::from_utf8_lossy(&line).replace('\0', " ")))
        })
        .filter(|(_, line)| line.contains(text))
        .collect()
}

pub(crate) fn send(signal: &str, pid: u32) {
    let status = Command::new("kill")
        .args([OsStr::new("-s"), OsStr::new(signal), OsStr::new(&pid.to_string())])
        .status()
        .expect("kill is everywhere");
    assert!(status.success());
}

/// The number of the signal that Ctrl-C sends.
pub(crate) const SIGINT: u32 = 2;

/// The number of the signal that asks a process to end.
pub(crate) const SIGTERM: u32 = 15;

/// Says whether a process has a handler for a signal.
pub(crate) fn catches(pid: u32, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("Linux");
    u64::from_str_radix(caught.trim(), 16).expect("a mask") & 1 << (signal - 1) != 0
}

/// Says whether this process has a capability, by its number (`capabilities(7)`).
pub(crate) fn has_capability(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = held.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    held.is_some_and(|held| held >> number & 1 == 1)
}

/// Says whether the tests run as root.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0)
}

/// Says whether there is git here; without it the test counts as skipped.
pub(crate) fn has_git(test: &str) -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    if !is_there {
        skipped(&format!("{test}: git is not installed"));
    }
    is_there
}

/// Makes a repository of one commit on `main`, with a change in the working tree that no commit has.
pub(crate) fn changed_tree(env: &TestEnv) {
    git(env, &["init", "-q", "-b", "main"]);
    env.write("code", "one");
    git(env, &["add", "code"]);
    git(env, &["commit", "-q", "-m", "one"]);
    env.write("code", "two");
}

/// Runs git in the folder of a test as somebody who is not there, at a time that is known, and returns what it
/// prints.
#[track_caller]
pub(crate) fn git(env: &TestEnv, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    // Those of a hook name the repository that it is of, which no test may write to.
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    let output = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(env.work())
        .args(["-c", "user.name=Ann Other", "-c", "user.email=a@example.org"])
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .output()
        .expect("git was found before");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Says whether the addresses of a program can be fixed, which the filter of a container may refuse.
pub(crate) fn can_fix_addresses(test: &str) -> bool {
    let output = env().run(["exec", "--aslr", "off", "--", "true"]);
    let is_possible = output.status.success();
    if !is_possible {
        skipped(&format!("{test}: {}", output.stderr));
    }
    is_possible
}
