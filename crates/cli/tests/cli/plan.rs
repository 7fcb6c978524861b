//! `becalm plan`: from a pilot to numbers of repetitions.

use std::fmt::Write as _;

use becalm_testkit::TestEnv;
use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{env, json, said, with};

/// A saved pilot: rounds differ by up to 4 %, runs inside a round by 1 %, iterations not at all.
fn saved(rounds: usize, copies: usize) -> String {
    let mut subjects = Vec::new();
    for copy in 0..copies {
        let mut runs = String::new();
        for round in 0..rounds {
            let level = 0.1 * (1.0 + 0.04 * (round * 5 % 7) as f64 / 6.0);
            let wall = level * (1.0 + 0.01 * ((round + copy) % 2) as f64);
            let started = (round * copies + copy) as f64 * 0.2;
            let comma = if round > 0 { "," } else { "" };
            let _ = write!(
                runs,
                r#"{comma}{{"round": {round}, "order": {copy}, "started": {started}, "wall_time": {wall},
                    "exit_code": 0, "iterations": [{0}, {0}, {0}]}}"#,
                wall / 10.0
            );
        }
        subjects.push(format!(r#"{{"name": "A{copy}", "command": ["./a"], "runs": [{runs}]}}"#));
    }
    format!(
        r#"{{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [{}]}}"#,
        subjects.join(",")
    )
}

fn plan(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = env.run([&["plan", "--json"], arguments].concat()).exits_with(0);
    json(&output.stdout)
}

fn levels(document: &Value) -> Vec<&str> {
    document["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["level"].as_str().unwrap())
        .collect()
}

#[test]
fn a_saved_record_is_a_pilot() {
    let env = env();
    env.write("pilot.json", saved(12, 3));
    let document = plan(&env, &["pilot.json"]);
    assert_eq!(document["schema"], "becalm/plan/1");
    assert_eq!(levels(&document), ["round", "run", "iteration"]);
    assert_eq!(document["metric"], "iteration");
    // Iterations that never differ are not worth repeating, and rounds that cost nothing are.
    assert_eq!(document["plan"]["counts"][1], 1);
    assert_eq!(document["plan"]["counts"][2], 1);
    let costly = plan(&env, &["--round-cost", "5min", "--precision", "0.5%", "pilot.json"]);
    assert!(costly["plan"]["seconds"].as_f64().unwrap() > 300.0);
    let change = plan(&env, &["--detect", "2%", "pilot.json"]);
    assert_eq!(change["goal"]["power"], 0.9);
}

/// What a comparison needs follows from the ratios of its rounds, whichever record they are in: here they vary by 1 %,
/// while the rounds vary by 4 %.
#[test]
fn a_comparison_is_planned_by_the_ratios_of_its_rounds() {
    let env = env();
    let needed = |document: &Value| document["plan"]["counts"][0].as_u64().unwrap();
    env.write("copies.json", saved(20, 2));
    let of_copies = plan(&env, &["--detect", "2%", "copies.json"]);
    assert_eq!(levels(&of_copies), ["round"]);
    assert_eq!(of_copies["metric"], "wall_time");
    let comparison = saved(20, 2).replacen(r#"["./a"]"#, r#"["./b"]"#, 1);
    env.write("comparison.json", comparison);
    let of_comparison = plan(&env, &["--detect", "2%", "comparison.json"]);
    assert_eq!(of_copies["plan"], of_comparison["plan"]);
    env.write("alone.json", saved(40, 1));
    let alone = plan(&env, &["--detect", "2%", "alone.json"]);
    assert!(needed(&of_copies) < needed(&alone), "{of_copies} {alone}");
    let stricter = plan(&env, &["--detect", "1%", "copies.json"]);
    assert!(needed(&of_copies) < needed(&stricter), "{of_copies} {stricter}");
}

#[test]
fn the_plan_of_a_comparison_names_the_command() {
    let env = env();
    env.write("copies.json", saved(20, 2));
    let output = env.run(["plan", "--detect", "0.5%", "copies.json"]).exits_with(0);
    assert!(output.stdout.contains("becalm compare --max-rounds "), "{}", output.stdout);
    assert!(output.stdout.contains(" --margin 0% OLD NEW"), "{}", output.stdout);
    env.write("short.json", saved(4, 2));
    assert_snapshot!(said(&env.run(["plan", "--detect", "2%", "short.json"]).exits_with(4)), @r"
    error: the pilot has 4 pairs of runs, and the plan of a comparison needs 5
    hint: more rounds provide them; values of 0 and below do not count
    ");
    let both = ["plan", "--detect", "2%", "--round-cost", "1min", "copies.json"];
    assert_snapshot!(said(&env.run(both).exits_with(2)), @r"
    error: --round-cost is for plans of one program, and --detect is for a comparison
    hint: `compare` does not make a new layout in each round
    ");
}

#[test]
fn a_metric_can_be_planned_for() {
    let env = env();
    env.write("pilot.json", saved(12, 1));
    let document = plan(&env, &["--metric", "wall_time", "pilot.json"]);
    assert_eq!(levels(&document), ["run"]);
    let refused = env.run(["plan", "--metric", "speed", "pilot.json"]).exits_with(2);
    assert_snapshot!(said(&refused), @"error: the pilot did not record the metric `speed`");
}

#[test]
fn a_command_that_fails_is_named_without_the_number_of_its_copy() {
    let env = env();
    // Whichever copy runs first.
    for seed in ["1", "2", "3", "4"] {
        let arguments = ["plan", "--warmup", "0", "--seed", seed, "--", "false"];
        let output = env.run(arguments).exits_with(4);
        assert!(said(&output).starts_with("error: `false` failed in round 1"), "{}", output.stderr);
    }
}

#[test]
fn a_pilot_is_made_on_the_spot() {
    let env = env();
    let arguments =
        ["--rounds", "3", "--copies", "2", "--precision", "50%", "--", "sleep", "0.002"];
    let output = env.run(with("plan", &arguments)).exits_with(0);
    assert!(output.stdout.contains("Where the variance arises"), "{}", output.stdout);
    assert!(output.stdout.contains("For an interval of"), "{}", output.stdout);
}

#[test]
fn what_is_no_pilot_is_refused() {
    let env = env();
    assert_snapshot!(said(&env.run(["plan"]).exits_with(2)), @r"
    error: nothing to plan for
    hint: give a saved record, or a command after `--` for a pilot
    ");
    env.write("one.json", saved(1, 1).replace(r#""iterations"#, r#""x"#));
    assert_snapshot!(said(&env.run(["plan", "one.json"]).exits_with(4)), @r"
    error: the pilot is not enough for a plan: needs at least 2 values, have 1
    hint: at least two runs with values above 0 are needed; more rounds give a better plan
    ");
    assert!(env.run(["plan", "--detect", "0%", "x"]).exits_with(2).stderr.contains("above 0"));
}

#[test]
fn a_goal_out_of_reach_is_said() {
    let env = env();
    env.write("pilot.json", saved(12, 1));
    let output = env.run(["plan", "--precision", "0.0001%", "pilot.json"]).exits_with(3);
    assert!(output.stdout.contains("no number of repetitions reaches this"), "{}", output.stdout);
}

/// A record of two subjects with the same command, 20 % apart, and what else each is.
fn two(others: [&str; 2]) -> String {
    let subjects = others.iter().zip([1.0, 1.2]).enumerate().map(|(index, (other, factor))| {
        let runs: Vec<String> = (0..10)
            .map(|round| {
                let wall = factor * (1.0 + 0.001 * f64::from(round * 3 % 7));
                format!(
                    r#"{{"round": {round}, "order": {index}, "wall_time": {wall}, "exit_code": 0,
                    "discarded": {}}}"#,
                    round == 9
                )
            })
            .collect();
        let runs = runs.join(",");
        format!(r#"{{"name": "S{index}", "command": ["./a"], {other} "runs": [{runs}]}}"#)
    });
    let subjects: Vec<String> = subjects.collect();
    format!(
        r#"{{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [{}]}}"#,
        subjects.join(",")
    )
}

#[test]
fn revisions_and_benchmarks_of_a_suite_are_other_programs() {
    let env = env();
    let revision = |id: &str| format!(r#""parameters": [["revision", "{id}"]],"#);
    let benchmark = |name: &str| format!(r#""suite": {{"benchmark": "{name}"}},"#);
    let others = [[revision("aaa"), revision("bbb")], [benchmark("sort"), benchmark("find")]];
    for [a, b] in &others {
        env.write("two.json", two([a, b]));
        let document = plan(&env, &["two.json"]);
        // 0.2 % between runs, and not the 10 % of two programs taken for one.
        let variance = document["levels"][0]["variance"].as_f64().unwrap();
        assert!(variance < 1e-5, "{document}");
        assert_eq!(levels(&document), ["run"]);
        assert_eq!(document["levels"][0]["df"], 8, "the round that was made again is left out");
        assert_eq!(
            document["notes"][0]["text"],
            "The plan is for S0; the record also has 1 other subject, which it ignores."
        );
    }
    env.write("copies.json", two(["", ""]));
    assert_eq!(levels(&plan(&env, &["copies.json"])), ["round", "run"], "copies are one program");
}

#[test]
fn values_of_a_harness_cost_the_process_that_made_them() {
    let env = env();
    let runs = |wall: bool| {
        let runs: Vec<String> = (0..10)
            .map(|round| {
                let value = 1e-6 * (1.0 + 0.01 * f64::from(round * 3 % 7));
                let wall = if wall { r#""wall_time": 5.0,"# } else { "" };
                format!(
                    r#"{{"round": {round}, {wall} "exit_code": 0, "metrics": {{"sort": {value}}},
                    "samples": {{"sort": [{0}, {value}, {1}]}}}}"#,
                    0.9 * value,
                    1.1 * value
                )
            })
            .collect();
        format!(
            r#"{{"schema": "becalm/run/1", "confidence": 0.95,
            "metrics": [{{"name": "wall_time", "unit": "s"}}, {{"name": "sort", "unit": "s", "benchmark": "sort"}}],
            "subjects": [{{"name": "A", "command": ["./a"], "runs": [{}]}}]}}"#,
            runs.join(",")
        )
    };
    env.write("timed.json", runs(true));
    let document = plan(&env, &["timed.json"]);
    assert_eq!((&document["metric"], levels(&document)), (&"sort".into(), vec!["run"]));
    let count = document["plan"]["counts"][0].as_f64().unwrap();
    let seconds = document["plan"]["seconds"].as_f64().unwrap();
    assert!((seconds - 5.0 * count).abs() < 1e-9, "{document}");
    assert!(document["notes"].to_string().contains("inside a process"), "{document}");
    env.write("untimed.json", runs(false));
    assert_snapshot!(said(&env.run(["plan", "untimed.json"]).exits_with(4)), @r"
    error: the pilot does not contain how long its runs took, and a plan has to weigh the cost of repeating
    hint: a record that `becalm run` or `compare` saved contains it
    ");
}
