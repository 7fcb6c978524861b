//! What becalm prints on a terminal of 40 columns: every line fits, but for words that cannot be broken and lines that
//! are there to be copied.

use becalm_testkit::{CommandOutput, FakeMachine, TestEnv};

use crate::support::{env, with};

/// Columns of the terminal.
const NARROW: usize = 40;

fn narrow() -> TestEnv {
    env().variable("COLUMNS", "40")
}

/// Says whether a line may be wider: it is one long word with at most a mark before it, or a line to be copied.
fn may_be_wider(line: &str) -> bool {
    let words = || line.split_whitespace();
    let is_one_word =
        words().count() <= 2 && words().any(|word| word.chars().count() >= NARROW / 2);
    // How a flag is written, and what it takes.
    let is_usage = line.starts_with("Usage: ") || line.trim_start().starts_with('-');
    // Commands and lines of files are indented, and stay whole.
    let is_command = line.starts_with("    ") && line.contains('=')
        || ["becalm ", "sudo "].iter().any(|first| line.trim_start().starts_with(first));
    is_one_word || is_usage || is_command
}

#[track_caller]
fn fits(arguments: &[&str], output: &CommandOutput) {
    for (stream, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        for line in text.lines() {
            let is_narrow = line.chars().count() <= NARROW;
            assert!(is_narrow || may_be_wider(line), "{arguments:?}, {stream}: {line:?}\n{text}");
        }
    }
}

#[track_caller]
fn check(env: &TestEnv, arguments: &[&str]) -> CommandOutput {
    let output = env.run(arguments);
    fits(arguments, &output);
    output
}

#[test]
fn help_and_concepts_fit() {
    let env = narrow();
    let _ = check(&env, &[]).exits_with(0);
    for topic in ["verdict", "margin", "noise", "limits"] {
        let _ = check(&env, &["help", topic]).exits_with(0);
    }
    for arguments in
        [&["--help"][..], &["-h"], &["help"], &["noise", "--help"], &["history", "--help"]]
    {
        let _ = check(&env, arguments).exits_with(0);
    }
    for command in
        ["compare", "run", "timeit", "bisect", "ci", "plan", "gate", "tune", "check", "export"]
    {
        let _ = check(&env, &[command, "-h"]).exits_with(0);
        let _ = check(&env, &[command, "--help"]).exits_with(0);
    }
}

#[test]
fn lists_fit() {
    let env = narrow();
    for arguments in [&["import", "--formats"][..], &["export", "--formats"], &["tune", "--list"]] {
        let _ = check(&env, arguments).exits_with(0);
    }
}

#[test]
fn what_is_said_about_a_machine_fits() {
    let tree = FakeMachine::default()
        .tree()
        .file("/proc/sys/vm/compaction_proactiveness", "20\n")
        .file("/proc/sys/kernel/timer_migration", "1\n")
        .file("/sys/kernel/mm/ksm/run", "1\n");
    let root = tree.path().display().to_string();
    let env = narrow();
    let _ = check(&env, &["check", "--root", &root]).exits_with(1);
    let _ = check(&env, &["check", "--verbose", "--root", &root]).exits_with(1);
    let _ = check(&env, &["tune", "--plan", "--root", &root]).exits_with(0);
    let _ = check(&env, &["topology", "--root", &root]).exits_with(0);
    let _ = check(&env, &["services", "--watch", "1ms"]).exits_with(0);
    let _ = check(&env, &["boot-params", "--cpus", "1", "--root", &root]).exits_with(0);
}

#[test]
fn measurements_and_what_reads_them_fit() {
    let env = narrow();
    let more = |first: &'static str, rest: &[&'static str]| {
        with(first, &[&["--rounds", "6"], rest].concat())
    };
    let _ = check(&env, &more("compare", &["--export-json", "c.json", "true", "true --again"]));
    let _ = check(&env, &more("run", &["--export-json", "r.json", "--", "true"])).exits_with(0);
    for arguments in [
        &["show", "c.json"][..],
        &["stats", "r.json"],
        &["hist", "r.json"],
        &["diff", "r.json", "r.json"],
        &["show", "--metadata", "r.json"],
        &["history", "add", "r.json"],
        &["history", "list"],
        &["history", "list", "--series"],
        &["changes"],
        &["gate", "c.json"],
    ] {
        let _ = check(&env, arguments);
    }
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.sort-of-everything]\ncommand = 'true'\nrounds = 3\n",
    );
    let _ = check(&env, &with("run", &["--suite"])).exits_with(0);
    let _ = check(&env, &["run", "--suite", "--list"]).exits_with(0);
}

#[test]
fn errors_and_their_hints_fit() {
    let env = narrow();
    for arguments in [
        &["compare"][..],
        &["comprae", "a", "b"],
        &["compare", "--margin", "1", "true", "false"],
        &["compare", "true", "no-such-program-anywhere"],
        &["run", "--suite"],
        &["diff", "nowhere.json", "elsewhere.json"],
        &["timeit", "-o", "t.json", "1 + 1"],
        &["gate"],
    ] {
        let _ = check(&env, arguments);
    }
}
