//! `--setup`, `--prepare`, `--conclude` and `--cleanup`.

use insta::assert_snapshot;

use crate::support::{Measures, env, said};

const HOOKS: [&str; 8] = [
    "--setup",
    "echo setup-{x} >> log",
    "--prepare",
    "echo prepare-{x} >> log",
    "--conclude",
    "echo conclude-{x} >> log",
    "--cleanup",
    "echo cleanup-{x} >> log",
];

#[test]
fn hooks_run_in_order_with_the_parameters_of_their_subject() {
    let env = env();
    let rest = ["--warmup", "0", "--rounds", "2", "-L", "x", "a,b", "--shell", "--"];
    let arguments = [&HOOKS[..], &rest, &["echo run-{x} >> log"]].concat();
    let _ = env.compare(&arguments).exits_with(3);
    let log = env.read("log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..2], ["setup-a", "setup-b"]);
    assert_eq!(lines[lines.len() - 2..], ["cleanup-a", "cleanup-b"]);
    let runs = &lines[2..lines.len() - 2];
    assert_eq!(runs.len(), 4 * 3);
    for run in runs.chunks(3) {
        let of = run[0].strip_prefix("prepare-").unwrap();
        assert_eq!(run[1..], [format!("run-{of}"), format!("conclude-{of}")]);
    }
}

#[test]
fn a_failing_hook_is_named_and_the_cleanup_still_runs() {
    for (flag, name) in [("--setup", "setup"), ("--prepare", "prepare"), ("--conclude", "conclude")]
    {
        let env = env();
        let arguments = [flag, "exit 7", "--cleanup", "touch cleaned", "--", "true"];
        let output = env.measure(&arguments).exits_with(4);
        assert_eq!(
            said(&output),
            format!("error: the {name} command `exit 7` failed: exit status: 7\n")
        );
        assert!(env.work().join("cleaned").exists());
    }
}

#[test]
fn a_failing_cleanup_comes_after_the_result() {
    let output =
        env().measure(&["--rounds", "2", "--cleanup", "exit 7", "--", "true"]).exits_with(4);
    assert!(output.stdout.contains("true, wall_time: median"));
    assert_snapshot!(said(&output), @r"
    error: the cleanup command `exit 7` failed: exit status: 7
    hint: every finished round before that is in [TMP]/state/becalm/sessions/[LOG]
    ");
}

#[test]
fn a_server_that_the_setup_starts_lives_until_the_cleanup_ends_it() {
    let env = env();
    let arguments = [
        "--rounds",
        "2",
        "--setup",
        "sleep 1000 & echo $! > pid",
        "--prepare",
        "kill -0 $(cat pid)",
        "--cleanup",
        "kill $(cat pid)",
        "--",
        "true",
    ];
    let _ = env.measure(&arguments).exits_with(0);
}
