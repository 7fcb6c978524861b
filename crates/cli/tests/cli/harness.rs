//! Programs that time themselves, driven by `--harness`.

use serde_json::Value;

use crate::support::{Measures, env, json, said, schedule};

/// A program that prints what hyperfine would: benchmarks `one` and `two`, of which `two` is slower by
/// this factor, and what `extra` adds.
fn bench(factor: &str, extra: &str) -> String {
    // The process id makes each process differ a little, and the values inside it less.
    format!(
        r#"awk -v p=$$ 'BEGIN {{ srand(p); e = 1 + (rand() - 0.5) * 0.01
  printf "{{\"results\": [{{\"command\": \"one\", \"times\": [%.9f, %.9f]}}", e, e * 1.001
  printf ", {{\"command\": \"two\", \"times\": [%.9f, %.9f]}}{extra}]}}", 2 * {factor} * e, 2.001 * {factor} * e }}'"#
    )
}

#[test]
fn each_benchmark_inside_is_compared_over_processes() {
    let env = env();
    env.script("old", &bench("1", ""));
    env.script("new", &bench("1.05", r#", {\"command\": \"three\", \"times\": [1]}"#));
    let output = env
        .compare(&[
            "--harness",
            "custom",
            "--rounds",
            "20",
            "--export-json",
            "r.json",
            "./old",
            "./new",
        ])
        .exits_with(0);
    assert!(output.stdout.contains("slower than ./old on two"), "{}", output.stdout);
    assert!(output.stdout.contains("the benchmark three is in `./new` and not in `./old`"));
    let record = env.record("r.json");
    let verdicts: Vec<(&Value, &Value)> = record["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["benchmark"], &one["primary"]))
        .collect();
    assert_eq!(verdicts, [(&"one".into(), &true.into()), (&"two".into(), &true.into())]);
    let run = &record["subjects"][0]["runs"][1];
    assert_eq!(run["samples"]["one"].as_array().unwrap().len(), 2);
    assert!(run["metrics"]["one"].as_f64().unwrap() > 0.9);
    let shown = env.run(["show", "--json", "r.json"]).exits_with(0);
    assert_eq!(json(&shown.stdout), record, "what is read is what was written");
}

#[test]
fn without_a_benchmark_in_common_nothing_is_decided() {
    let env = env();
    env.script("old", &bench("1", ""));
    env.script("new", &bench("1", "").replace("one", "three").replace("two", "four"));
    let line =
        ["--harness", "custom", "--rounds", "500", "--export-json", "r.json", "./old", "./new"];
    let output = env.compare(&line).exits_with(3);
    assert!(output.stdout.starts_with("Nothing was compared."), "{}", output.stdout);
    assert_eq!(schedule(&env.record("r.json")).len(), 2, "a second round would show the same");
}

#[test]
fn a_session_goes_on_with_benchmarks_that_the_log_has_shown() {
    let env = env();
    env.script("a", &bench("1", ""));
    let saved = ["--harness", "custom", "--rounds", "3", "--export-json", "r.json", "--", "./a"];
    let _ = env.measure(&saved).exits_with(0);
    let _ = env
        .run(["run", "--resume", "r.json", "--rounds", "6", "--export-json", "more.json"])
        .exits_with(0);
    let runs = env.record("more.json")["subjects"][0]["runs"].as_array().unwrap().clone();
    assert_eq!(runs.iter().filter(|run| run["warmup"] != true).count(), 6);
    assert!(runs.iter().all(|run| run["metrics"]["two"].is_f64()));
}

#[test]
fn results_that_cannot_be_read_are_told_with_the_subject() {
    let env = env();
    env.script("silent", "exit 0");
    let output = env.measure(&["--harness", "hyperfine", "--", "./silent"]).exits_with(4);
    assert!(said(&output).contains("`./silent`: hyperfine left no results that becalm can read"));
    let output = env.measure(&["--harness", "custom", "--", "./silent"]).exits_with(4);
    assert!(said(&output).contains("the results of custom cannot be read: the output is empty"));
    env.script("talking", "echo usage: talking NAME; echo what is to be measured");
    let output = env.measure(&["--harness", "custom", "--", "./talking"]).exits_with(4);
    let said = said(&output);
    assert!(said.contains("the output: unrecognised format"), "{said}");
    assert!(said.contains("it begins with: usage: talking NAME"), "{said}");
}

#[test]
fn what_makes_no_sense_with_a_harness_is_refused() {
    let env = env();
    env.script("a", &bench("1", ""));
    for (flags, word) in [
        (&["--harness", "odd"][..], "there is no such harness"),
        (&["--harness", "custom", "--filter", "x"], "--filter does nothing"),
        (&["--harness", "custom", "--iterations"], "have nothing to read"),
        (&["--harness", "custom", "--shell"], "without a shell"),
        (&["--harness", "auto"], "is not a program of a harness that becalm recognises"),
        (&["--filter", "x"], "--harness"),
    ] {
        let output = env.measure(&[flags, &["--", "./a"]].concat()).exits_with(2);
        assert!(output.stderr.contains(word), "{flags:?}: {}", output.stderr);
    }
}

#[test]
fn how_long_it_takes_is_said_before_it_does() {
    let env = env();
    env.script("a", &bench("1", ""));
    let harness = ["--harness", "custom"];
    let most = env.compare(&[&harness[..], &["--max-time", "20ms", "./a", "./a"]].concat());
    assert!(most.stderr.contains("takes up to 0 s: less if every benchmark"), "{}", most.stderr);
    let exact = env.compare(&[&harness[..], &["--rounds", "2", "./a", "./a"]].concat());
    assert!(!exact.stderr.contains("less if every benchmark"), "{}", exact.stderr);
}
