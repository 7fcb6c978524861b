//! Subjects that cannot be measured: a clear error that names them, and the rounds before kept.

use becalm_testkit::skipped;
use insta::assert_snapshot;

use crate::support::{Measures, env, prints, said, schedule};

#[test]
fn a_program_that_does_not_exist_is_named() {
    let env = env().variable("PATH", "/usr/bin:/bin");
    let output = env.compare(&["true", "no-such-program --fast"]).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: `no-such-program --fast`: cannot find the program `no-such-program` (searched in PATH=/usr/bin:/bin)
    ");
    assert_eq!(output.stdout, "");
    let output = env.measure(&["--", "./absent"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `./absent`: cannot find the program `./absent` (no such file)");
}

#[test]
fn a_file_that_is_not_executable_is_named_with_the_remedy() {
    let env = env();
    env.write("data", "1 2 3");
    let output = env.compare(&["true", "./data"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `./data`: cannot execute `./data`: it is not marked as executable (chmod +x)");
    let output = env.compare(&["true", "/usr"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `/usr`: cannot execute `/usr`: it is a directory");
}

/// A script that succeeds until its file of marks has `good` bytes, then does something else.
fn fails_after(good: usize, otherwise: &str) -> String {
    format!(
        "printf x >> marks; if [ $(wc -c < marks) -gt {good} ]; then {otherwise}; fi; echo t: 5"
    )
}

#[test]
fn a_non_zero_exit_ends_the_session_and_keeps_the_rounds_before() {
    let env = env();
    env.script("fails", &fails_after(5, "exit 3"));
    let arguments = ["--rounds", "9", "--export-json", "r.json", "true", "./fails"];
    let output = env.compare(&arguments).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: `./fails` failed in round 5: exited with code 3
    hint: its runs are not used; -i accepts failing runs, --output inherit shows all its output
    hint: every round that finished before that is in r.json
    ");
    let record = env.record("r.json");
    assert_eq!(schedule(&record).len(), 2 * 4);
    assert_eq!(record["interrupted"]["text"], "`./fails` failed in round 5: exited with code 3");
    let shown = env.run(["show", "r.json"]).exits_with(0);
    assert!(shown.stdout.contains("failed in round 5"), "{}", shown.stdout);
}

/// Says much, and why it fails at the end.
const TALKS: &str = "i=0; while [ $i -lt 50 ]; do i=$((i + 1)); echo line $i >&2; done; \
                     printf 'no \\033[31mfile\\n' >&2; exit 3";

/// The end of what it says, as it is shown.
const LAST_WORDS: &str = "exited with code 3; its output ends with:\n  line 42\n";

#[test]
fn the_last_words_of_a_failing_program_are_shown_wherever_they_went() {
    let env = env();
    env.script("talks", TALKS);
    for output in ["null", "out"] {
        let flags = ["--rounds", "2", "--output", output];
        for failed in [
            env.measure(&[&flags[..], &["--", "./talks"]].concat()).exits_with(4),
            env.compare(&[&flags[..], &["true", "./talks"]].concat()).exits_with(4),
        ] {
            assert!(failed.stderr.contains(LAST_WORDS), "{}", failed.stderr);
            assert!(failed.stderr.contains("  no \\u{1b}[31mfile\n"), "{}", failed.stderr);
            assert!(!failed.stderr.contains("line 41"), "{}", failed.stderr);
        }
    }
    // What was to be read of its output is not there because it failed.
    let metric = ["--metric", "t=t: ([0-9]+)", "--", "./talks"];
    let failed = env.measure(&metric).exits_with(4);
    assert!(failed.stderr.contains("line 42\n"), "{}", failed.stderr);
    // What went wrong on standard output is shown where standard error is empty.
    env.script("prints", "echo t: 5; echo no licence; exit 1");
    let failed = env.measure(&["--metric", "t=t: ([0-9]+)", "--", "./prints"]).exits_with(4);
    assert!(failed.stderr.contains("  t: 5\n  no licence\n"), "{}", failed.stderr);
    // On the terminal it has been seen.
    let failed = env.measure(&["--output", "inherit", "--", "./talks"]).exits_with(4);
    assert!(!failed.stderr.contains("its output ends with"), "{}", failed.stderr);
}

#[test]
fn a_suite_goes_on_with_the_last_words_of_what_failed() {
    let env = env();
    env.script("talks", TALKS);
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.good]\ncommand = 'true'\n[benchmark.bad]\ncommand = './talks'\n",
    );
    let output = env.run(["run", "--suite", "--rounds", "2", "--export-json", "r.json"]);
    assert!(output.stderr.contains(LAST_WORDS), "{output:?}");
    assert!(env.record("r.json")["notes"].to_string().contains("line 50"), "{output:?}");
}

#[test]
fn a_death_by_a_signal_is_told_by_the_name_of_the_signal() {
    let env = env();
    env.script("crashes", &fails_after(3, "kill -SEGV $$"));
    let output = env.compare(&["--rounds", "9", "true", "./crashes"]).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: `./crashes` failed in round 3: was ended by signal 11 (SIGSEGV)
    hint: its runs are not used; -i accepts failing runs, --output inherit shows all its output
    hint: every round that finished before that is in [TMP]/state/becalm/sessions/[LOG]
    ");
    // The file that the hint names is one that the other commands read.
    let named = output.stderr.split(" is in ").nth(1).unwrap().trim();
    let shown = env.run(["show", named]).exits_with(0);
    assert!(shown.stdout.contains("read from the log of a session"), "{}", shown.stdout);
    assert!(shown.stdout.contains("4 runs of 2 subjects"), "{}", shown.stdout);
}

#[test]
fn a_metric_that_is_not_printed_is_named_with_what_was_printed() {
    let env = env();
    let metric = r"t=time: (\S+)";
    let output = env.compare(&["--metric", metric, "echo time: 1", "echo hello"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `echo hello`: nothing in the output matches the metric t; it ends with: hello");
    let output = env.measure(&["--metric", metric, "--", "echo", "time: soon"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `echo 'time: soon'`: the metric t found `soon`, which is not a finite number");
    let output = env.measure(&["--metric-json", "t=/t", "--", "echo", "hello"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `echo hello`: the metric t needs JSON, but neither the output nor its last line is (expected value at line 1 column 1); it ends with: hello");
}

#[test]
fn a_metric_that_stops_coming_keeps_the_rounds_before() {
    let env = env();
    env.script("forgets", &fails_after(5, "echo nothing; exit 0"));
    let metric = r"t=t: (\S+)";
    let arguments = ["--rounds", "9", "--export-json", "r.json", "--metric", metric];
    let output =
        env.compare(&[&arguments[..], &[&prints("4"), "./forgets"]].concat()).exits_with(4);
    assert!(output.stderr.contains("`./forgets`: nothing in the output matches"), "{output:?}");
    assert_eq!(schedule(&env.record("r.json")).len(), 2 * 4);
}

#[test]
fn a_run_past_the_timeout_is_a_lower_bound_and_the_comparison_usable() {
    let env = env();
    let arguments = ["--rounds", "6", "--warmup", "0", "--timeout", "300ms", "--json"];
    let output = env.compare(&[&arguments[..], &["true", "sleep 20"]].concat());
    let record = crate::support::json(&output.stdout);
    let baseline = record["subjects"][0]["runs"].as_array().unwrap();
    // Six rounds of which some are far off decide nothing.
    if baseline.iter().any(|run| run["wall_time"].as_f64() >= Some(0.03)) {
        skipped(
            "a_run_past_the_timeout_is_a_lower_bound: the machine kept `true` from its CPU for 30 ms",
        );
        return;
    }
    let _ = output.exits_with(0);
    let comparison = &record["comparisons"][0];
    assert_eq!(comparison["verdict"], "slower");
    assert_eq!((&comparison["rounds"], &comparison["metric"]), (&6.into(), &"wall_time".into()));
    let notes = comparison["notes"].to_string();
    assert!(notes.contains("was cut off at the timeout in 6 rounds"), "{notes}");
    let runs = record["subjects"][1]["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["timed_out"] == true && run["wall_time"].is_f64()));
}

#[test]
fn the_time_that_a_run_takes_to_end_is_not_held_against_it() {
    let env = env();
    env.script("stubborn", "trap 'sleep 0.3; exit' TERM; while :; do sleep 0.01; done");
    let arguments = ["--rounds", "2", "--warmup", "0", "--timeout", "100ms", "--json"];
    let output = env.measure(&[&arguments[..], &["--", "./stubborn"]].concat()).exits_with(0);
    let record = crate::support::json(&output.stdout);
    for run in record["subjects"][0]["runs"].as_array().unwrap() {
        assert_eq!((&run["timed_out"], &run["wall_time"]), (&true.into(), &0.1.into()));
    }
}

#[test]
fn failing_runs_are_taken_when_the_user_says_so() {
    let env = env();
    let run = |flag: &str| env.measure(&["--rounds", "2", flag, "--", "sh", "-c", "exit 3"]);
    let output = run("--ignore-failure").exits_with(0);
    assert!(
        output
            .stdout
            .contains("Not every run succeeded: 3 runs exited with code 3, warm-up included.")
    );
    let _ = run("--ignore-failure=2,3").exits_with(0);
    let output = run("--ignore-failure=2").exits_with(4);
    assert!(output.stderr.contains("failed in warm-up round 1: exited with code 3"));
}

#[test]
fn a_failing_run_that_is_taken_keeps_the_metric_that_it_printed() {
    let env = env();
    let script = "echo t: 7; exit 3";
    let arguments = ["--rounds", "2", "-i", "--metric", "t=t: (.*)", "--json", "--", "sh", "-c"];
    let output = env.measure(&[&arguments[..], &[script]].concat()).exits_with(0);
    let record = crate::support::json(&output.stdout);
    assert_eq!(record["subjects"][0]["runs"][1]["metrics"]["t"], 7.0);
}

#[test]
fn a_benchmark_is_also_a_test_of_its_output() {
    let env = env();
    env.write("expected", "a\nb\n");
    let run = |file: &str, text: &str| {
        env.measure(&["--rounds", "2", "--expect-output", file, "--", "printf", text])
    };
    let _ = run("expected", "a\\nb\\n").exits_with(0);
    let output = run("expected", "a\\nc\\n").exits_with(4);
    assert_snapshot!(said(&output), @r"error: `printf 'a\nc\n'` printed unexpected output: line 2 is `c`, expected `b`");
    let output = run("expected", "a\\033[2Jc\\n").exits_with(4);
    assert!(output.stderr.contains(r"line 1 is `a\u{1b}[2Jc`, expected `a`"), "{output:?}");
    let output = run("absent", "a").exits_with(2);
    assert_snapshot!(said(&output), @"error: --expect-output: cannot read absent: No such file or directory (os error 2)");
    let _ = run("same", "anything").exits_with(0);
    let arguments = ["--rounds", "6", "--expect-output", "same", "echo x", "echo y"];
    let output = env.compare(&arguments).exits_with(4);
    assert!(output.stderr.contains("printed unexpected output"), "{output:?}");
    // Runs that fail and are taken have to print it too; others are told by how they ended.
    let failing = ["sh -c 'echo x; exit 1'", "sh -c 'echo y; exit 1'"];
    let arguments = ["--rounds", "6", "--expect-output", "same"];
    let output = env.compare(&[&arguments[..], &["-i"], &failing].concat()).exits_with(4);
    assert!(output.stderr.contains("printed unexpected output"), "{output:?}");
    let output = env.compare(&[&arguments[..], &failing].concat()).exits_with(4);
    assert!(output.stderr.contains("exited with code 1"), "{output:?}");
}

#[test]
fn a_subject_that_leaves_its_process_group_is_ended_too() {
    let env = env();
    let leaves = "setpgrp(0, getpgrp(getppid)); sleep 100";
    let arguments = ["-r", "1", "-w", "0", "--timeout", "200ms", "--", "perl", "-e", leaves];
    let output = env.measure(&arguments).exits_with(0);
    assert!(output.stdout.contains("cut off"), "{}", output.stdout);
}
