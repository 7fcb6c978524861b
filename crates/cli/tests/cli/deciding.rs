//! Verdicts: metrics, margins, several subjects, plans that are too short.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Measures, T, env, headline, json, prints, said, schedule};

#[test]
fn the_verdict_comes_first_and_the_exit_code_says_whether_there_is_one() {
    let env = env();
    let compare = |a: &str, b: &str, more: &[&str]| {
        let (a, b) = (prints(a), prints(b));
        let names = ["-n", "old", "-n", "new", "--rounds", "6", "--metric", T];
        env.compare(&[&names[..], more, &[&a, &b]].concat())
    };
    let output = compare("100", "103", &[]).exits_with(0);
    assert_snapshot!(headline(&output), @"new is [SHARE] slower than old on t (exact).");
    let output = compare("100", "90", &[]).exits_with(0);
    assert_snapshot!(headline(&output), @"new is [SHARE] faster than old on t (exact).");
    let output = compare("100", "100.5", &[]).exits_with(0);
    assert_snapshot!(headline(&output), @r"
    old and new are equivalent on t: new is [SHARE] slower, a real difference but inside the margin of
    [SHARE] (exact).
    ");
    let output = compare("100", "100.5", &["--margin", "0"]).exits_with(0);
    assert_snapshot!(headline(&output), @"new is [SHARE] slower than old on t (exact).");
    let output = compare("100", "100.5", &["--margin", "0.1%"]).exits_with(0);
    assert_snapshot!(headline(&output), @"new is [SHARE] slower than old on t (exact).");
}

#[test]
fn a_metric_that_is_not_printed_as_a_time_is_better_or_worse() {
    let env = env();
    let metric = r"rate[MB/s,higher,exact]=t: (\S+)";
    let output = env
        .compare(&["--rounds", "6", "--metric", metric, &prints("100"), &prints("90")])
        .exits_with(0);
    assert_snapshot!(headline(&output), @"B is worse: the rate of B is [SHARE] lower than that of A (exact).");
}

#[test]
fn several_metrics_and_subjects_are_all_decided() {
    let env = env();
    let print = |a: u32, b: u32| format!("printf 'a: {a}\\n{{\"b\": {b}}}'");
    let output = env
        .compare(&[
            "--rounds",
            "6",
            "--metric",
            "a[exact]=a: (.*)",
            "--metric-json",
            "b[B,exact]=/b",
            "--json",
            &print(10, 10),
            &print(20, 10),
            &print(5, 11),
        ])
        .exits_with(0);
    let record = json(&output.stdout);
    let primary: Vec<String> = record["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["primary"] == true)
        .map(|one| format!("{} {} {}", one["metric"], one["ratio"], one["verdict"]))
        .collect();
    assert_eq!(
        primary,
        [
            r#""a" 2.0 "slower""#,
            r#""a" 0.5 "faster""#,
            r#""b" 1.0 "equivalent""#,
            r#""b" 1.1 "slower""#,
        ]
    );
}

#[test]
fn counters_are_secondary_metrics_that_only_json_shows() {
    let env = env();
    let arguments = ["--rounds", "6", "--export-json", "r.json", "true", "sh -c true"];
    let output = env.compare(&arguments);
    assert!(!output.stdout.contains("context_switches"), "{}", output.stdout);
    let record = env.record("r.json");
    let comparisons = record["comparisons"].as_array().unwrap();
    let counter = comparisons.iter().find(|one| one["metric"] == "page_faults").unwrap();
    assert_eq!(counter["primary"], Value::Bool(false));
}

#[test]
fn a_recorded_metric_decides_when_it_is_named() {
    let env = env();
    let arguments = ["--rounds", "6", "--metric", "wall_time", "--metric", "max_rss", "--json"];
    let output = env.compare(&[&arguments[..], &["true", "true --version"]].concat());
    let record = json(&output.stdout);
    let primary = |index: usize| {
        let one = &record["comparisons"][index];
        (one["metric"].as_str().unwrap().to_owned(), one["primary"] == true)
    };
    assert_eq!(primary(0), ("wall_time".to_owned(), true));
    assert_eq!(primary(1), ("max_rss".to_owned(), true));
    assert_eq!(primary(2), ("cpu_time".to_owned(), false));
}

#[test]
fn metrics_that_make_no_sense_are_usage_errors() {
    let check = |metrics: &[&str]| {
        let mut arguments = vec!["true", "true"];
        for metric in metrics {
            arguments.extend(["--metric", metric]);
        }
        let output = env().compare(&arguments).exits_with(2);
        said(&output).lines().next().unwrap().to_owned()
    };
    assert_snapshot!(check(&["nope"]), @"error: no metric `nope` is recorded here");
    assert_snapshot!(check(&["wall_time=x"]), @"error: the metric `wall_time` is always recorded; choose another name for the one to read");
    assert_snapshot!(check(&["x=a", "x=b"]), @"error: the metric `x` is defined twice");
    assert_snapshot!(check(&["x=("]), @"error: the regular expression of the metric x is not valid: regex parse error:");
    assert_snapshot!(check(&["x[s,ms]=a"]), @"error: `[s,ms]` must be a list of a unit, `higher` or `lower`, and `exact`, each at most once, separated by commas");
    assert_snapshot!(check(&["=a"]), @"error: `=a` is not of the form NAME=REGEX or NAME[UNIT,higher]=REGEX");
}

#[test]
fn too_few_rounds_for_any_verdict_are_told_before_the_start() {
    let output = env().compare(&["--rounds", "3", "true", "sleep 0.001"]).exits_with(3);
    assert_snapshot!(said(&output), @"warning: 3 rounds cannot give a verdict at [SHARE] confidence; at least 6 are needed, and more for a small difference");
    assert!(
        output.stdout.starts_with("Inconclusive: 3 rounds are too few to compare"),
        "{output:?}"
    );
    assert!(output.stdout.contains("more rounds"), "{output:?}");
    let output = env().compare(&["-M", "2", "true", "sleep 0.001"]).exits_with(3);
    assert!(said(&output).starts_with("warning: 2 rounds cannot"), "{output:?}");
}

#[test]
fn too_little_time_for_any_verdict_is_told_once_the_warm_up_shows_it() {
    let output = env().compare(&["--max-time", "20ms", "sleep 0.03", "sleep 0.04"]).exits_with(3);
    assert_snapshot!(said(&output), @"warning: 1 round cannot give a verdict at [SHARE] confidence; at least 6 are needed, and more for a small difference");
    let output = env().compare(&["--max-time", "20ms", "--quiet", "sleep 0.03", "sleep 0.04"]);
    assert!(output.stderr.starts_with("warning: "), "--quiet does not hide warnings");
}

#[test]
fn limits_that_exclude_each_other_are_refused() {
    let output = env().compare(&["-m", "9", "-M", "5", "true", "true"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --min-rounds 9 is larger than --max-rounds 5");
    let _ = env().compare(&["--rounds", "9", "--max-time", "5s", "true", "true"]).exits_with(2);
    let _ = env().compare(&["--margin", "100%", "true", "true"]).exits_with(2);
    let _ = env().compare(&["--confidence", "20%", "true", "true"]).exits_with(2);
}

#[test]
fn an_aa_reports_the_noise_floor_and_is_never_inconclusive_as_an_exit_code() {
    let output = env().compare(&["--rounds", "8", "--aa", "true"]).exits_with(0);
    assert!(output.stdout.contains("Noise floor: with this workload"), "{}", output.stdout);
    assert!(output.stdout.contains("identical programs"), "{}", output.stdout);
    let _ = env().compare(&["--aa", "true", "true"]).exits_with(2);
    let output = env().compare(&["--aa", "sleep 0.00{x}", "-L", "x", "1,2"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: --aa takes one command without parameter scans");
}

#[test]
fn the_same_command_twice_is_called_an_aa() {
    let output = env().compare(&["--rounds", "6", "true", "true"]);
    assert_snapshot!(said(&output), @"note: `true` and `true #2` are the same command, so this is an A/A comparison: any difference comes from the machine (--aa shows what it can resolve)");
    assert!(output.stdout.contains("are the same command"), "{}", output.stdout);
    let output = env().compare(&["--rounds", "6", "--quiet", "true", "true"]);
    assert_eq!(output.stderr, "");
}

#[test]
fn the_same_program_under_two_names_is_called_an_aa() {
    let env = env();
    for name in ["old", "new"] {
        env.script(name, "exit 0");
    }
    let output = env.compare(&["--rounds", "6", "./old", "./new"]);
    assert_snapshot!(said(&output), @"note: ./old and ./new are the same, byte for byte: unless they look at their own name, this is an A/A comparison");
    let output = env.compare(&["--rounds", "6", "./old 1", "./new 2"]);
    assert_eq!(output.stderr, "");
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let env = env();
    let order = |seed: &str, file: &str| {
        let arguments = ["--rounds", "8", "--seed", seed, "--export-json", file];
        let _ = env.compare(&[&arguments[..], &["true", "true 1", "true 2"]].concat());
        schedule(&env.record(file))
    };
    let first = order("5", "a.json");
    assert_eq!(first, order("5", "b.json"));
    assert_ne!(first, order("6", "c.json"));
}

#[test]
fn a_precision_ends_a_run_when_the_interval_is_narrow_enough() {
    let env = env();
    let run = |precision: &str| {
        let arguments = ["--precision", precision, "-M", "40", "--metric", T, "--json", "--"];
        let output = env.measure(&[&arguments[..], &["echo", "t: 5"]].concat()).exits_with(0);
        schedule(&json(&output.stdout)).len()
    };
    assert_eq!(run("1%"), 8, "a value that never differs is precise at once");
}

#[test]
fn one_round_shows_of_no_metric_that_it_is_exact() {
    let env = env();
    let (a, b) = (prints("100"), prints("200"));
    let output = env.compare(&["--verbose", "--metric", T, "-r", "1", &a, &b]).exits_with(3);
    assert!(output.stdout.contains("at least 2 are needed"), "{}", output.stdout);
    let _ = env.compare(&["--metric", T, "-r", "2", &a, &b]).exits_with(0);
}
