//! Signals in the middle of a session.

use std::process::{Output, Stdio};

use becalm_testkit::TestEnv;
use insta::assert_snapshot;

use crate::support::{
    Measures, env, processes_that_name, schedule, send, wait_for_lines, wait_until, with,
};

/// A session that would take minutes, of scripts that start something of their own.
fn start(env: &TestEnv) -> std::process::Child {
    for name in ["a", "b"] {
        // The work is done by a grandchild, which must not be left behind either.
        env.script(name, &format!("sleep 0.02\nsh -c 'sleep 0.0{}; :' {name}", 1 + name.len()));
    }
    let (a, b) = (env.work().join("a"), env.work().join("b"));
    let (a, b) = (a.to_string_lossy(), b.to_string_lossy());
    let arguments = ["--margin", "0", "--rounds", "5000", "--export-json", "r.json", &*a, &*b];
    let mut command = env.command(with("compare", &arguments));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal once a few rounds are done, and returns what becalm then says.
fn interrupt(env: &TestEnv, signal: &str) -> Output {
    let child = start(env);
    wait_for_lines(&env.work().join("r.json.partial"), 1 + 2 + 2 * 3);
    send(signal, child.id());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn check(signal: &str, code: i32) {
    let env = env();
    let output = interrupt(&env, signal);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("rounds used"), "what was measured is printed: {text}");
    assert!(text.contains(&format!("stopped by signal {}", code - 128)), "{text}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`becalm compare --resume r.json` continues"), "{said}");
    let record = env.record("r.json");
    assert_eq!(record["interrupted"]["signal"], code - 128);
    assert_eq!(record["interrupted"]["text"], format!("stopped by signal {}", code - 128));
    let runs = schedule(&record);
    assert!(runs.len() >= 6 && runs.len().is_multiple_of(2), "whole rounds only: {runs:?}");
    let folder = env.path().to_string_lossy().into_owned();
    wait_until("the end of what was killed", || processes_that_name(&folder).is_empty());
}

#[test]
fn ctrl_c_prints_and_saves_what_was_measured_and_leaves_no_process_behind() {
    check("INT", 130);
}

#[test]
fn sigterm_prints_and_saves_what_was_measured_and_leaves_no_process_behind() {
    check("TERM", 143);
}

#[test]
fn a_killed_becalm_leaves_every_finished_run_and_no_process_behind() {
    let env = env();
    let mut child = start(&env);
    let log = env.work().join("r.json.partial");
    wait_for_lines(&log, 1 + 2 + 2 * 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!env.work().join("r.json").exists());
    // The subject is ended by the kernel at once; what the subject started ends by itself.
    let folder = env.path().to_string_lossy().into_owned();
    wait_until("the end of the subjects", || processes_that_name(&folder).is_empty());
    let shown = env.run(["show", "r.json.partial"]).exits_with(0);
    assert!(shown.stdout.contains("of 2 subjects"), "{}", shown.stdout);
    assert!(shown.stdout.contains("read from the log of a session"), "{}", shown.stdout);
    for command in ["stats", "hist", "plot"] {
        let _ = env.run([command, "r.json.partial"]).exits_with(0);
    }
}

#[test]
fn a_signal_before_the_first_round_says_that_nothing_was_measured() {
    let env = env();
    let arguments =
        ["--export-json", "r.json", "--setup", "touch started; sleep 1000", "--", "true"];
    let mut command = env.command(with("run", &arguments));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the setup", || env.work().join("started").exists());
    send("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"stopped by signal 15; `becalm run --resume r.json` continues");
}

#[test]
fn the_cleanup_runs_after_an_interruption() {
    let env = env();
    let arguments =
        ["--cleanup", "touch cleaned", "--export-json", "r.json", "--", "sleep", "0.02"];
    let mut command = env.command(with("run", &[&["--rounds", "5000"][..], &arguments].concat()));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_lines(&env.work().join("r.json.partial"), 4);
    send("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(env.work().join("cleaned").exists());
}

#[test]
fn what_cannot_be_continued_offers_no_continuation() {
    let env = env();
    let mut command =
        env.command(with("plan", &["--setup", "touch started; sleep 1000", "--", "true"]));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the setup", || env.work().join("started").exists());
    send("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"stopped by signal 2");
    for command in [&["plan", "--help"][..], &["noise", "trace", "--help"]] {
        let help = env.run(command).exits_with(0).stdout;
        assert!(!help.contains("--resume") && help.contains("--export-json"), "{help}");
    }
}

#[test]
fn a_signal_that_the_subject_gets_too_makes_no_failure_of_its_run() {
    let env = env();
    // As a service manager does that stops a whole control group.
    env.script("told", "kill -TERM $PPID $$; sleep 100");
    let output =
        env.measure(&["--rounds", "3", "-w", "0", "--export-json", "r.json", "--", "./told"]);
    let output = output.exits_with(143);
    assert!(output.stderr.contains("stopped by signal 15"), "{}", output.stderr);
    assert!(!output.stderr.contains("failed"), "{}", output.stderr);
}
