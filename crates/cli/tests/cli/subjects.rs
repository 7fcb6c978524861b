//! What a subject is: words, shells, parameters, names, input and environment.

use insta::assert_snapshot;

use crate::support::{Measures, env, json, said};

#[test]
fn a_shell_after_a_space_is_the_shell_and_no_subject() {
    for shell in [&["--shell", "sh"][..], &["-S", "/bin/sh"], &["-S=sh"]] {
        let env = env();
        let session = ["--rounds", "2", "--warmup", "0", "--export-json", "r.json"];
        let subjects = ["true; true", "true; :"];
        let _ = env.run([&["compare"], &session[..], shell, &subjects].concat());
        let record: serde_json::Value = serde_json::from_str(&env.read("r.json")).unwrap();
        let names: Vec<&str> = record["subjects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, subjects, "{shell:?}");
    }
    let output = env().run(["compare", "--shell", "./old", "./new"]).exits_with(2);
    assert!(output.stderr.contains("--shell=./old"), "{}", output.stderr);
}

#[test]
fn nothing_is_run_through_a_shell_unless_asked() {
    let env = env();
    let output =
        env.measure(&["--rounds", "1", "--output", "o", "--", "echo", "$HOME", "*"]).exits_with(0);
    assert_eq!((env.read("o").as_str(), output.stderr.as_str()), ("$HOME *\n", ""));
    let output = env.compare(&["true", "echo a | cat"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: `echo a | cat` needs a shell
    hint: add --shell to run it through one (the measurement then includes the start of the shell)
    ");
    let rest = ["--rounds", "1", "--shell", "--output", "o", "--", "echo a | tr a b"];
    let _ = env.measure(&rest).exits_with(0);
    assert_eq!(env.read("o"), "b\n");
    let rest = [
        "--rounds",
        "1",
        "--shell=/bin/bash -e",
        "--output",
        "o",
        "--",
        "echo $0 $-; false; echo x",
    ];
    let output = env.measure(&rest).exits_with(4);
    assert!(output.stderr.contains("exited with code 1"), "{output:?}");
    assert!(env.read("o").starts_with("/bin/bash e"), "{}", env.read("o"));
}

#[test]
fn an_empty_command_or_a_single_one_is_a_usage_error() {
    let output = env().compare(&["true", ""]).exits_with(2);
    assert_snapshot!(said(&output), @"error: a command is empty");
    let output = env().compare(&["true"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: nothing to compare: only one command was given
    hint: give two commands, add --aa to compare the command with itself, or use `becalm run`
    ");
    let output = env().compare(&["true", "echo 'a"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: `echo 'a`: missing closing quote");
    for command in ["compare", "run"] {
        let _ = env().run([command]).exits_with(2);
    }
}

#[test]
fn parameters_make_one_subject_each() {
    let env = env();
    let output = env
        .compare(&[
            "--rounds",
            "2",
            "-P",
            "n",
            "1",
            "3",
            "-D",
            "2",
            "-L",
            "s",
            "a,b",
            "--json",
            "echo {n}{s}",
        ])
        .exits_with(3);
    let record = json(&output.stdout);
    let subjects: Vec<String> = record["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|subject| format!("{} {}", subject["command"], subject["parameters"]))
        .collect();
    assert_snapshot!(subjects.join("\n"), @r#"
    ["echo","1a"] [["s","a"],["n","1"]]
    ["echo","3a"] [["s","a"],["n","3"]]
    ["echo","1b"] [["s","b"],["n","1"]]
    ["echo","3b"] [["s","b"],["n","3"]]
    "#);
    let output = env
        .measure(&["--rounds", "1", "-L", "n", "1,2", "--json", "--", "echo", "{n}"])
        .exits_with(0);
    assert_eq!(json(&output.stdout)["subjects"].as_array().unwrap().len(), 2);
}

#[test]
fn standard_input_is_empty_or_a_file() {
    let env = env();
    env.write("in", "hello");
    let run = |flags: &[&str]| {
        let _ = env
            .measure(&[flags, &["--rounds", "2", "--output", "o", "--", "cat"]].concat())
            .exits_with(0);
        env.read("o")
    };
    assert_eq!(run(&[]), "");
    assert_eq!(run(&["--input", "in"]), "hello");
    let output = env.measure(&["--input", "absent", "--", "cat"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `cat`: cannot open absent as standard input of the command: No such file or directory (os error 2)");
}

#[test]
fn the_environment_is_recorded_and_can_be_set_and_cleared() {
    let env = env().variable("SECRET", "1");
    let run = |flags: &[&str]| {
        let rest = ["--rounds", "1", "--env", "EXTRA=2", "--output", "o", "--layout", "fixed"];
        let rest = [flags, &rest, &["--export-json", "r.json", "--", "env"]].concat();
        let _ = env.measure(&rest).exits_with(0);
        let mut seen: Vec<String> =
            env.read("o").lines().map(|line| line.split('=').next().unwrap().to_owned()).collect();
        seen.sort();
        let record = env.record("r.json");
        let recorded = record["conditions"]["environment"].as_array().unwrap();
        assert_eq!(&seen, &recorded.iter().map(|v| v.as_str().unwrap()).collect::<Vec<_>>());
        seen
    };
    assert!(run(&[]).contains(&"SECRET".to_owned()));
    assert_eq!(run(&["--env-clear"]), ["EXTRA", "HOME", "LC_ALL", "PATH", "TMPDIR", "TZ"]);
    let output = env.measure(&["--env", "EXTRA", "--", "true"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --env EXTRA: expected NAME=VALUE");
}

#[test]
fn the_size_of_the_environment_changes_from_round_to_round_unless_fixed() {
    let env = env();
    let sizes = |layout: &str| {
        let rest = ["--rounds", "4", "--layout", layout, "--json", "--", "true"];
        let record = json(&env.measure(&rest).exits_with(0).stdout);
        let runs = record["subjects"][0]["runs"].as_array().unwrap().clone();
        let mut sizes: Vec<u64> = runs.iter().map(|r| r["padding"].as_u64().unwrap_or(0)).collect();
        sizes.dedup();
        sizes
    };
    assert!(sizes("randomise").len() > 2);
    assert_eq!(sizes("fixed"), [0]);
}

#[test]
fn output_goes_where_it_is_sent_and_not_where_it_is_read() {
    let env = env();
    let output = env
        .measure(&["--rounds", "1", "--warmup", "0", "--output", "inherit", "--", "echo", "hi"])
        .exits_with(0);
    assert!(output.stdout.starts_with("hi\n"), "{output:?}");
    let output =
        env.measure(&["--output", "o", "--metric", "t=(.)", "--", "echo", "1"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --output o cannot be combined with --metric, --metric-json, --iterations or --expect-output, which read the output");
    let output = env.measure(&["--output", "inherit", "--json", "--", "echo"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --output inherit would mix the subjects' output with the JSON on standard output");
}

#[test]
fn a_parameter_that_stands_nowhere_is_refused() {
    let env = env();
    let output = env.compare(&["-L", "m", "1,2", "true {n}", "true"]).exits_with(2);
    assert!(
        output.stderr.contains("no command uses the parameter `m`; write {m}"),
        "{}",
        output.stderr
    );
    let hook = ["--rounds", "1", "-L", "m", "1,2", "--prepare", "true {m}", "--", "true"];
    let _ = env.measure(&hook).exits_with(0);
}

#[test]
fn a_command_needs_no_dashes_before_it() {
    for (words, names) in [
        (&["true"][..], "true"),
        (&["--", "true"], "true"),
        (&["sh -c true"], "sh -c true"),
        (&["sh", "-c", "true", "--rounds", "7"], "sh -c true --rounds 7"),
        (&["-N", "true"], "true"),
        (&["--shell=none", "true"], "true"),
    ] {
        let env = env();
        let session = ["--rounds", "2", "--warmup", "0", "--json"];
        let record = json(&env.measure(&[&session[..], words].concat()).exits_with(0).stdout);
        assert_eq!(record["subjects"][0]["name"], names, "{words:?}");
        assert_eq!(record["subjects"][0]["runs"].as_array().unwrap().len(), 2, "{words:?}");
    }
}

#[test]
fn the_last_session_is_shown_without_a_file() {
    let env = env();
    let output = env.run(["show"]).exits_with(2);
    assert!(output.stderr.contains("no saved record of an earlier session"), "{}", output.stderr);
    let _ = env.measure(&["--rounds", "2", "--", "true"]).exits_with(0);
    let output = env.run(["show"]).exits_with(0);
    assert!(output.stdout.contains("2 runs of 1 subject"), "{}", output.stdout);
    let _ = env.compare(&["--rounds", "2", "true", "true 2"]);
    let short = env.compare(&["--rounds", "2", "true", "true 2"]).stdout;
    let full = env.compare(&["--rounds", "2", "--verbose", "true", "true 2"]).stdout;
    let shown = env.run(["show"]).exits_with(0).stdout;
    for section in ["Limits", "median"] {
        assert!(full.contains(section), "{full}");
    }
    assert!(shown.contains("Conditions") && !short.contains("Conditions"), "{short}{shown}");
}

#[test]
fn becalm_alone_says_how_to_begin_and_explains_its_concepts() {
    let env = env();
    let start = env.run([""; 0]).exits_with(0).stdout;
    assert!(start.lines().count() <= 8 && start.contains("becalm compare ./old ./new"), "{start}");
    for topic in ["verdict", "margin", "noise", "limits"] {
        let _ = env.run(["help", topic]).exits_with(0);
    }
    assert!(env.run(["help", "noise", "trace"]).exits_with(0).stdout.contains("--duration"));
    let output = env.run(["help", "nonsense"]).exits_with(2);
    assert!(output.stderr.contains("no help for `nonsense`"), "{}", output.stderr);
    let output = env.run(["./old", "./new"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: becalm has no command `./old`
    hint: to measure it: becalm compare ./old ./new
    ");
}
