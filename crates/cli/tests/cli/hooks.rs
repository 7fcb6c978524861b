//! `--setup`, `--prepare`, `--conclude` and `--cleanup`.

use becalm_testkit::{TestEnv, skipped};
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
fn a_setup_may_build_what_is_run() {
    let env = env();
    env.script("source", "echo t: {x}");
    let build = "sed s/{x}/{x}/ source > app-{x} && chmod +x app-{x}";
    let arguments = ["--rounds", "2", "-L", "x", "4,5", "--setup", build, "./app-{x}"];
    let _ = env.compare(&arguments).exits_with(3);
    let arguments = ["--rounds", "2", "--setup", "true", "--", "./absent"];
    let output = env.measure(&arguments).exits_with(4);
    assert!(said(&output).contains("./absent"), "{}", output.stderr);
}

#[test]
fn setups_that_would_replace_what_others_made_are_refused() {
    let env = env();
    let scan = ["--rounds", "2", "-L", "o", "0,3"];
    let build = ["--setup", "cp /bin/true app-{o}; ln -sf app-{o} app"];
    for (command, hooks) in [("compare", &build), ("run", &build)] {
        let output = env.run([&[command][..], &scan, hooks, &["--", "./app"]].concat());
        let text = said(&output.exits_with(2));
        assert!(text.contains("all setups run before the first run"), "{text}");
        assert!(text.contains("--prepare"), "{text}");
    }
    let prepared = ["--prepare", "echo {o} > input"];
    let _ =
        env.run([&["run"][..], &scan, &build, &prepared, &["--", "./app"]].concat()).exits_with(0);
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
            format!(
                "error: the {name} command `exit 7` failed: exit status: 7; its standard output was \
                 not shown: add `>&2` to the command to see it\n"
            )
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
    error: the cleanup command `exit 7` failed: exit status: 7; its standard output was not shown: add `>&2` to the command to see it
    hint: every round that finished before that is in [TMP]/state/becalm/sessions/[LOG]
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

#[test]
fn hooks_have_the_cpus_that_becalm_was_started_with() {
    let env = env();
    let own = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let cpus = own.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap().to_owned();
    let show = |file: &str| format!("grep Cpus_allowed_list: /proc/self/status > {file}");
    let (setup, prepare) = (show("setup"), show("prepare"));
    let hooks = ["--rounds", "1", "--setup", &setup, "--prepare", &prepare, "--", "true"];
    let _ = env.measure(&hooks).exits_with(0);
    for file in ["setup", "prepare"] {
        assert_eq!(env.read(file).trim_end(), cpus, "{file}");
    }
}

#[test]
fn a_hook_that_wants_the_terminal_is_ended_and_told() {
    let output =
        env().measure(&["--setup", "kill -TTOU $$; sleep 1000", "--", "true"]).exits_with(4);
    assert!(said(&output).contains("it needs the terminal"), "{}", said(&output));
}

#[test]
fn the_first_process_of_a_container_takes_orphans_away() {
    let env = TestEnv::new("unshare");
    let subject = "sleep 1000 & sleep 1000 & true";
    let count = "grep -l 'State:.Z' /proc/[0-9]*/status | wc -l > zombies";
    let run = ["run", "--rounds", "5", "--cleanup", count, "--", "sh", "-c", subject];
    let container = ["-p", "-f", "--mount-proc", env!("CARGO_BIN_EXE_becalm")];
    let output = env.run([&container[..], &run].concat());
    if output.stderr.starts_with("unshare:") {
        skipped("the_first_process_of_a_container: this sandbox does not allow one");
        return;
    }
    let _ = output.exits_with(0);
    assert_eq!(env.read("zombies").trim(), "0");
}
