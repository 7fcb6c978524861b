//! `--iterations` and `stats --steady`: what a subject timed itself.

use std::fmt::Write as _;

use becalm_testkit::TestEnv;
use insta::assert_snapshot;

use crate::support::{Measures, env, json, said};

/// A series in milliseconds with a little noise that repeats.
fn series(levels: &[(usize, f64)]) -> Vec<f64> {
    let wobble = |i: usize| 1.0 + 0.002 * ((i * 7 % 11) as f64 - 5.0);
    let levels = levels.iter().flat_map(|&(n, level)| std::iter::repeat_n(level, n));
    levels.enumerate().map(|(i, level)| 1e-3 * level * wobble(i)).collect()
}

fn lines(series: &[f64]) -> String {
    series.iter().fold(String::new(), |mut text, value| {
        let _ = writeln!(text, "{value:.7}");
        text
    })
}

#[track_caller]
fn check(env: &TestEnv, files: &[&str], agreement: &str, warmup: Option<u64>) {
    let arguments = [&["stats", "--steady", "--json"], files].concat();
    let document = json(&env.run(arguments).exits_with(0).stdout);
    assert_eq!(document["schema"], "becalm/steady/1");
    assert_eq!(document["agreement"], agreement, "{document}");
    assert_eq!(document["warmup"].as_u64(), warmup);
}

#[test]
fn files_of_numbers_are_classified_alone_and_together() {
    let env = env();
    env.write("flat", lines(&series(&[(400, 5.0)])));
    env.write("warm", lines(&series(&[(60, 8.0), (340, 5.0)])));
    env.write("late", lines(&series(&[(350, 5.0), (50, 8.0)])));
    env.write("slow.json", format!("{:?}", series(&[(60, 3.0), (340, 5.0)])));
    check(&env, &["flat"], "flat", Some(0));
    check(&env, &["warm"], "warm-up", Some(60));
    check(&env, &["late"], "no-steady-state", None);
    check(&env, &["slow.json"], "slow-down", Some(60));
    check(&env, &["flat", "warm"], "good-inconsistent", Some(60));
    check(&env, &["flat", "slow.json"], "bad-inconsistent", Some(60));
}

#[test]
fn what_is_no_series_of_times_is_refused() {
    let env = env();
    let check = |text: &str, expected: &str| {
        env.write("series", text);
        let output = env.run(["stats", "--steady", "series"]).exits_with(4);
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    };
    check("0.1\n-0.2\n", "line 2: -0.2 is not a time in seconds");
    check("[0, 0]", "all 2 iterations are 0");
    check("[0.1, 1e301]", "iteration 2 is 1e+301, which is not a time");
    check("{\"values\": [0.1, 0.2", "JSON");
}

#[test]
fn the_text_says_what_to_do() {
    let env = env();
    env.write("warm", lines(&series(&[(60, 8.0), (340, 5.0)])));
    env.write("late", lines(&series(&[(350, 5.0), (50, 8.0)])));
    let text = |file| env.run(["stats", "--steady", file]).exits_with(0).stdout;
    let warm = text("warm");
    assert!(warm.contains("Skip the first 60 iterations (0.5 s)"), "{warm}");
    assert!(text("late").starts_with("No steady state: the last quarter"), "{}", text("late"));
}

#[test]
fn a_tolerance_makes_levels_one() {
    let env = env();
    env.write("warm", lines(&series(&[(200, 5.2), (200, 5.0)])));
    check(&env, &["warm"], "warm-up", Some(200));
    check(&env, &["--tolerance", "5%", "warm"], "flat", Some(0));
}

#[test]
fn what_holds_no_iterations_is_refused() {
    let env = env();
    env.write("words", "0.1\nfast\n");
    let refused = env.run(["stats", "--steady", "words"]).exits_with(4);
    assert_snapshot!(said(&refused), @r"
    error: cannot read iterations from words: line 2: expected a number, found `fast`
    hint: expected a record of `run --iterations`, the output of `workload --iterations N --json`, or seconds, either one per line or as a JSON array
    ");
    env.write("few", lines(&series(&[(20, 5.0)])));
    let refused = env.run(["stats", "--steady", "few"]).exits_with(4);
    assert_snapshot!(said(&refused), @"error: few: cannot judge the iterations: needs at least 40 values, have 20");
    let _ =
        env.measure(&["--rounds", "2", "--export-json", "run.json", "--", "true"]).exits_with(0);
    let refused = env.run(["stats", "--steady", "run.json"]).exits_with(4);
    assert_snapshot!(said(&refused), @r"
    error: the runs in run.json have no iterations
    hint: measure with --iterations, which reads them from the program's output
    ");
}

#[test]
fn the_iterations_of_every_run_are_recorded_and_reported() {
    let env = env();
    env.write("times", lines(&series(&[(60, 8.0), (140, 5.0)])));
    let arguments =
        ["--rounds", "2", "--iterations", "--export-json", "run.json", "--", "cat", "times"];
    let output = env.measure(&arguments).exits_with(0);
    assert!(output.stdout.contains("Warm-up, then a steady state, in every run."));
    let record = env.record("run.json");
    let iterations = record["subjects"][0]["runs"][1]["iterations"].as_array().unwrap();
    assert_eq!(iterations.len(), 200);
    check(&env, &["run.json"], "warm-up", Some(60));
}

#[test]
fn a_rule_finds_iterations_in_other_output() {
    let env = env();
    let script = "for i in 1 2 3; do echo took 0.$i s; done";
    env.script("it", script);
    let output = env
        .measure(&["--rounds", "1", "--iterations=took (\\S+) s", "--json", "--", "./it"])
        .exits_with(0);
    let run = &json(&output.stdout)["subjects"][0]["runs"];
    assert_eq!(run[1]["iterations"].to_string(), "[0.1,0.2,0.3]");
    let output = env.measure(&["--rounds", "1", "--iterations", "--", "./it"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: `./it`: cannot read the iterations from its output: line 1: expected a number, found `took [TIME]`");
    let output = env.measure(&["--iterations=(", "--", "./it"]).exits_with(2);
    assert!(output.stderr.contains("the regular expression of the iterations is not valid"));
}

#[test]
fn a_workload_prints_what_is_read() {
    let env = env();
    let workload =
        ["workload", "compute", "--iterations", "50", "--amount", "1", "--json"].as_slice();
    let output = env.run(workload).exits_with(0);
    env.write("workload.json", &output.stdout);
    let output = env.run(["stats", "--steady", "--json", "workload.json"]).exits_with(0);
    assert_eq!(json(&output.stdout)["runs"][0]["iterations"], 50);
}
