//! `becalm run --suite`: the benchmarks of a file, in one session.

use becalm_testkit::{CommandOutput, TestEnv};
use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Measures, env, json, said, schedule};

/// Three benchmarks that print what they count.
const SUITE: &str = r#"version = 1

[defaults]
rounds = 4
metrics = [{ name = "t", regex = 't: (\S+)', unit = "ns", exact = true }]
margin = "2%"

[benchmark.sort]
command = "sh -c 'echo t: {size}'"
parameters = { size = [20, 3] }
tags = ["quick", "cpu"]

[benchmark.rate]
command = ["sh", "-c", "echo rate: $RATE; echo t: 7"]
env = { RATE = 5 }
metrics = ["wall_time", { name = "rate", regex = 'rate: (\S+)', better = "higher", margin = 0.1 }]
rounds = 6
tags = ["quick"]

[benchmark.long-one]
command = "sh -c 'echo t: 1'"
rounds = 2
warmup = 2
"#;

fn suite(env: &TestEnv, flags: &[&str]) -> CommandOutput {
    env.measure(&[&["--suite"], flags].concat())
}

/// How many measured runs each subject of a record has.
fn counts(record: &Value) -> Vec<(String, usize)> {
    let subjects = record["subjects"].as_array().unwrap();
    let count = |subject: &Value| {
        let runs = subject["runs"].as_array().unwrap();
        runs.iter().filter(|run| run["warmup"] != Value::Bool(true)).count()
    };
    subjects.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), count(one))).collect()
}

fn names(record: &Value) -> Vec<String> {
    counts(record).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn all_benchmarks_are_measured_interleaved_each_for_its_own_rounds() {
    let env = env();
    env.write("becalm.toml", SUITE);
    let output = suite(&env, &["--export-json", "r.json"]).exits_with(0);
    assert!(output.stderr.starts_with("suite: 4 benchmarks, by number of runs"), "{output:?}");
    assert!(output.stderr.contains("left"), "{output:?}");
    let record = env.record("r.json");
    assert_eq!(record["schema"], "becalm/run/2");
    let expected = [("sort size=20", 4), ("sort size=3", 4), ("rate", 6), ("long-one", 2)];
    let expected: Vec<_> = expected.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    assert_eq!(counts(&record), expected);
    let in_round = |round| schedule(&record).iter().filter(|run| run.0 == round).count();
    assert_eq!((0..6).map(in_round).collect::<Vec<_>>(), [4, 4, 3, 3, 1, 1]);
    // What each is about, and what is known of it by those who judge.
    let subjects = &record["subjects"];
    assert_eq!(subjects[0]["parameters"].to_string(), r#"[["size","20"]]"#);
    assert_eq!(
        subjects[0]["suite"].to_string(),
        r#"{"benchmark":"sort","margin":0.02,"metrics":[{"name":"t"}],"tags":["quick","cpu"]}"#
    );
    assert_eq!(subjects[2]["suite"]["metrics"][1].to_string(), r#"{"margin":0.1,"name":"rate"}"#);
    assert_eq!(subjects[1]["runs"][0]["metrics"]["t"], 3.0);
    assert_eq!(subjects[2]["runs"][0]["metrics"]["rate"], 5.0);
    assert_eq!(
        subjects[2]["runs"][0]["metrics"]["t"],
        Value::Null,
        "its metrics replace the default"
    );
    let rate = record["metrics"].as_array().unwrap().iter().find(|one| one["name"] == "rate");
    assert_eq!(rate.unwrap()["higher_is_better"], true);
    // One line for each, not a page.
    for (name, metric) in [("sort size=20", "t"), ("rate", "wall_time"), ("long-one", "t")] {
        let has_line = |line: &str| line.trim_start().starts_with(name) && line.contains(metric);
        assert!(output.stdout.lines().any(has_line), "{name}: {}", output.stdout);
    }
    let shown = env.run(["show", "--json", "r.json"]).exits_with(0);
    assert_eq!(json(&shown.stdout), record, "what is read is what was written");
}

#[test]
fn benchmarks_are_chosen_by_name_and_tag_and_listed_without_being_run() {
    let env = env();
    env.write("becalm.toml", SUITE);
    let chosen = |flags: &[&str]| {
        let flags = [flags, &["--rounds", "1", "--warmup", "0", "--json"]].concat();
        names(&json(&suite(&env, &flags).exits_with(0).stdout))
    };
    assert_eq!(chosen(&["--only", "sort"]), ["sort size=20", "sort size=3"]);
    assert_eq!(chosen(&["--only", "*=3", "--only", "r*"]), ["sort size=3", "rate"]);
    assert_eq!(chosen(&["--tag", "quick"]), ["sort size=20", "sort size=3", "rate"]);
    assert_eq!(chosen(&["--tag", "quick", "--only", "*at*"]), ["rate"]);
    let output = suite(&env, &["--only", "srot"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --only srot: no benchmark matches; did you mean `sort`?");
    let output = suite(&env, &["--tag", "quik"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --tag quik: no benchmark has this tag; did you mean `quick`?");
    let output = suite(&env, &["--tag", "cpu", "--list"]).exits_with(0);
    assert_snapshot!(output.stdout, @r"
      benchmark     runs  budget  tags        command
      sort size=20     4          quick, cpu  sh -c 'echo t: 20'
      sort size=3      4          quick, cpu  sh -c 'echo t: 3'

    suite: 2 benchmarks, by number of runs; the warm-up shows how long that takes
    ");
}

#[test]
fn what_is_wrong_with_the_file_is_told_with_line_and_key() {
    let env = env();
    let said_of = |text: &str| {
        env.write("becalm.toml", format!("version = 1\n{text}"));
        said(&suite(&env, &[]).exits_with(2)).trim_end().to_owned()
    };
    assert_snapshot!(said_of("[benchmark.a]\ncommnd = 'true'\n"), @"error: becalm.toml:3: unknown key `commnd`; did you mean `command`?");
    assert_snapshot!(said_of("[benchmark.a]\ncommand = 'true'\n[default]\n"), @"error: becalm.toml:4: unknown key `default`; did you mean `defaults`?");
    assert_snapshot!(said_of("[benchmark.a]\ncommand = 'true'\nbudget = 'long'\n"), @"error: becalm.toml:4: `long` is not a duration such as [TIME], [TIME], [TIME] or 5m");
    assert_snapshot!(said_of("[benchmark.a]\nrounds = 1\n"), @"error: becalm.toml:2: benchmark `a`: there is no command to run");
    assert_snapshot!(said_of("[benchmark.a]\ncommand = 'a | b'\n"), @r#"
    error: becalm.toml:3: benchmark `a`: `a | b` needs a shell
    hint: write command = ["sh", "-c", "..."]; the measurement then includes the start of the shell
    "#);
    assert_snapshot!(said_of("[defaults]\nharness = 'gogo'\n[benchmark.a]\ncommand = 'true'\n").split(';').next().unwrap(), @"error: becalm.toml:3: benchmark `a`: `gogo`: there is no such harness");
    assert_snapshot!(said_of("[benchmark.a]\ncommand = 'true'\nparameters = { n = [1] }\n"), @"error: becalm.toml:4: benchmark `a`: nothing uses the parameter `n`; write {n} where its value goes");
    assert_snapshot!(said_of("[benchmark.a]\ncommand = 'true'\nmetrics = ['cpu-time']\n"), @"error: becalm.toml:4: benchmark `a`: becalm does not record the metric `cpu-time`; did you mean `cpu_time`? (a regex or a pointer reads it from the output)");
    assert_snapshot!(said_of(""), @r"
    error: becalm.toml:1: the suite has no benchmark
    hint: give it one, in two lines: [benchmark.NAME] and command = './program'; `becalm run ./program` needs no suite
    ");
    let env = self::env();
    let output = suite(&env, &[]).exits_with(2);
    assert!(said(&output).contains("`becalm init` writes one"), "{output:?}");
    for flags in
        [&["--", "true"][..], &["--metric", "x"], &["--build", "x"], &["--backend", "callgrind"]]
    {
        let output = suite(&env, flags).exits_with(2);
        assert!(output.stderr.contains("cannot be combined with"), "{flags:?}: {output:?}");
    }
    let output = env.measure(&["--only", "x", "--", "true"]).exits_with(2);
    assert!(said(&output).contains("--only applies only to a suite"), "{output:?}");
}

#[test]
fn a_benchmark_that_fails_loses_only_itself() {
    let env = env();
    env.script("flaky", "printf x >> marks; [ $(wc -c < marks) -lt 4 ] || exit 3; echo t: 1");
    let text = "version = 1\n[defaults]\nrounds = 5\n[benchmark.flaky]\ncommand = './flaky'\n\
                [benchmark.good]\ncommand = 'true'\n[benchmark.absent]\ncommand = './nothing'\n\
                [benchmark.unready]\ncommand = 'true'\nsetup = 'false'\n\
                [benchmark.lost]\ncommand = 'true'\nfolder = 'no-such'\n";
    env.write("becalm.toml", text);
    let output = suite(&env, &["--export-json", "r.json"]).exits_with(4);
    for told in [
        "warning: `flaky` failed in round 3: exited with code 3",
        "warning: `absent`: cannot find the program `./nothing`",
        "warning: `unready`: the setup command `false` failed",
        "warning: `lost`: its folder ./no-such does not exist",
        "error: 4 of 5 benchmarks failed",
    ] {
        assert!(output.stderr.contains(told), "{told}: {}", output.stderr);
    }
    let record = env.record("r.json");
    let expected = [2, 5, 0, 0, 0];
    assert_eq!(counts(&record).iter().map(|(_, n)| *n).collect::<Vec<_>>(), expected);
    assert!(record["notes"].to_string().contains("the suite continued without it"));

    // Repaired, only what is missing is measured.
    env.script("flaky", "exit 0");
    env.script("nothing", "exit 0");
    env.write("becalm.toml", text.replace("setup = 'false'", "").replace("folder = 'no-such'", ""));
    let _ = env.run(["run", "--resume", "r.json"]).exits_with(0);
    let record = env.record("r.json");
    assert!(counts(&record).iter().all(|(_, n)| *n == 5), "{:?}", counts(&record));
    assert!(!record["notes"].to_string().contains("continued without it"));
}

#[test]
fn with_fail_fast_the_first_failure_ends_the_suite() {
    let env = env();
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.bad]\ncommand = 'false'\n[benchmark.good]\ncommand = 'true'\nrounds = 50\n",
    );
    let output = suite(&env, &["--fail-fast", "--export-json", "r.json"]).exits_with(4);
    assert!(said(&output).contains("error: `bad` failed in warm-up round 1"), "{output:?}");
    env.write("becalm.toml", "version = 1\n[benchmark.bad]\ncommand = './absent'\n");
    let output = suite(&env, &["--fail-fast"]).exits_with(4);
    assert!(said(&output).contains("error: `bad`: cannot find the program"), "{output:?}");
}

#[test]
fn a_setup_may_build_what_is_run() {
    let env = env();
    env.script("build.sh", "printf '#!/bin/sh\\n' > built; chmod +x built");
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.a]\ncommand = './built'\nsetup = './build.sh'\nrounds = 2\n",
    );
    let _ = suite(&env, &[]).exits_with(0);
    std::fs::remove_file(env.work().join("built")).unwrap();
    let _ = suite(&env, &["--fail-fast"]).exits_with(0);
}

#[test]
fn a_time_budget_ends_one_benchmark_and_not_the_others() {
    let env = env();
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.short]\ncommand = 'sleep 0.02'\nbudget = '1ms'\n\
         [benchmark.exact]\ncommand = 'true'\nrounds = 7\n\
         [benchmark.both]\ncommand = 'true'\nrounds = 3\nbudget = '1h'\n",
    );
    let output = suite(&env, &["--json"]).exits_with(0);
    assert!(output.stderr.contains("2 of them, 1 by number of runs"), "{}", output.stderr);
    let counts: Vec<usize> = counts(&json(&output.stdout)).iter().map(|(_, n)| *n).collect();
    assert_eq!(counts, [1, 7, 3]);
}

#[test]
fn an_interrupted_suite_goes_on_where_it_was() {
    let env = env();
    // It stops the suite itself, once.
    env.script(
        "stops",
        "[ -e stopped ] || { touch stopped; kill -INT $PPID; sleep 100; }; echo t: 1",
    );
    let text = SUITE.replace("\"sh -c 'echo t: 1'\"\nrounds = 2", "\"./stops\"\nrounds = 3");
    env.write("becalm.toml", text.replace("warmup = 2", "warmup = 0"));
    let output = suite(&env, &["--seed", "3", "--export-json", "r.json"]).exits_with(130);
    assert!(output.stderr.contains("`becalm run --resume r.json` continues"), "{output:?}");
    let before = env.record("r.json");
    assert!(before["interrupted"]["text"].is_string());
    let _ = env.run(["run", "--resume", "r.json"]).exits_with(0);
    let record = env.record("r.json");
    assert_eq!(counts(&record).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [4, 4, 6, 3]);
    assert_eq!(record["interrupted"], Value::Null);
    let _ = suite(&env, &["--seed", "3", "--export-json", "whole.json"]).exits_with(0);
    assert_eq!(schedule(&record), schedule(&env.record("whole.json")));
    // Another suite is another session.
    env.write("becalm.toml", SUITE.replace("20, 3", "20, 4"));
    let output = env.run(["run", "--resume", "r.json"]).exits_with(2);
    assert_snapshot!(said(&output).lines().last().unwrap(), @"error: the subjects differ from those of the saved session: `sort size=3` is missing, `sort size=4` is new, `long-one` is another command");
}

#[test]
fn a_harness_stands_beside_a_command() {
    let env = env();
    let result = r#"{\"results\": [{\"command\": \"inside\", \"times\": [0.5, 0.6]}]}"#;
    env.script("bench", &format!("echo \"{result}\"; echo $MARK >> marks"));
    env.write(
        "becalm.toml",
        "version = 1\n[defaults]\nrounds = 3\n[benchmark.harnessed]\ncommand = './bench'\nharness = 'custom'\n\
         env = { MARK = 'set' }\n[benchmark.plain]\ncommand = 'true'\n",
    );
    let output = suite(&env, &["--export-json", "r.json"]).exits_with(0);
    let record = env.record("r.json");
    let runs = |subject: usize| record["subjects"][subject]["runs"].as_array().unwrap().clone();
    assert!(runs(0).iter().all(|run| run["metrics"]["inside"] == 0.55));
    assert!(runs(1).iter().all(|run| run["metrics"]["inside"] == Value::Null));
    assert_eq!(env.read("marks"), "set\n".repeat(4));
    assert!(
        output.stdout.lines().any(|line| line.contains("harnessed") && line.contains("inside"))
    );
    assert!(output.stdout.lines().any(|line| line.contains("plain") && line.contains("wall_time")));
    // The command line goes before the file.
    let _ = suite(&env, &["--rounds", "1", "--env", "MARK=given"]).exits_with(0);
    assert!(env.read("marks").ends_with("given\ngiven\n"), "{}", env.read("marks"));
}

#[test]
fn benchmarks_start_in_their_folders_wherever_becalm_does() {
    let env = env();
    std::fs::create_dir_all(env.work().join("a/b")).unwrap();
    env.write("a/b/in", "t: 5");
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.x]\ncommand = \"sh -c 'cat; pwd > here'\"\nfolder = 'a/{part}'\ninput = 'in'\n\
         parameters = { part = ['b'] }\nprepare = 'touch prepared'\nrounds = 1\n\
         metrics = [{ name = 't', regex = 't: (.)' }]\n",
    );
    let mut command = env.command(["run", "--suite", "--affinity", "none", "--scheduler", "other"]);
    let status = command.current_dir(env.work().join("a")).output().unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    assert!(env.read("a/b/here").trim_end().ends_with("a/b"));
    assert!(env.work().join("a/b/prepared").exists());
    let _ = env.measure(&["--suite=becalm.toml", "--list"]).exits_with(0);
}
