//! Records exported as files of other tools.

use insta::assert_snapshot;

use crate::support::{Measures, env, json, said};

/// A saved comparison of two subjects with one round.
const COMPARED: &str = r#"{"schema": "becalm/comparison/1", "confidence": 0.95,
    "machine": {"facts": {"cpu_model": "Some CPU"}},
    "comparisons": [{"baseline": "A", "candidate": "B", "metric": "wall_time", "unit": "s", "ratio": 2.0,
        "ratio_low": 1.5, "ratio_high": 2.5, "verdict": "slower", "rounds": 1, "discarded_rounds": 0,
        "primary": true, "confidence": 0.95, "notes": []}],
    "subjects": [
        {"name": "A", "command": ["./a"], "runs": [{"round": 0, "wall_time": 0.0000012, "max_rss": 4096}]},
        {"name": "B", "command": ["./b"], "runs": [{"round": 0, "wall_time": 0.0000024, "max_rss": 4096}]}]}"#;

#[test]
fn own_records_become_files_of_other_tools() {
    let env = env();
    env.write("record.json", COMPARED);
    let output = env.run(["export", "record.json", "--to", "go-bench"]).exits_with(0);
    assert_snapshot!(output.stdout, @r"
    goos: linux
    cpu: Some CPU
    pkg: A
    BenchmarkProcess	1	1200 ns/op
    PASS
    pkg: B
    BenchmarkProcess	1	2400 ns/op
    PASS
    ");
    assert_snapshot!(said(&output), @"note: not exported, because the default is results only (--metric chooses others): max_rss");
    let quiet = env.run(["--quiet", "export", "record.json", "--to", "go-bench"]).exits_with(0);
    assert_eq!(said(&quiet), "");
    let chosen = ["--metric", "max_rss", "--subject", "B"];
    let output = env.run([&["export", "record.json", "--to", "go-bench"][..], &chosen].concat());
    assert!(
        output
            .exits_with(0)
            .stdout
            .ends_with("pkg: B\nBenchmarkProcess\t1\t4096 max_rss-B\nPASS\n")
    );
}

#[test]
fn the_ending_of_the_file_tells_the_format_where_it_is_of_one() {
    let env = env();
    env.write("record.json", COMPARED);
    let _ = env.run(["export", "record.json", "-o", "rows.csv"]).exits_with(0);
    assert!(env.read("rows.csv").starts_with("subject,benchmark,metric,"));
    let _ = env.run(["export", "record.json", "-o", "gate.xml"]).exits_with(0);
    assert!(env.read("gate.xml").contains("failures=\"1\""));
    let _ = env.run(["export", "record.json", "-o", "rows.parquet"]).exits_with(0);
    let parquet = std::fs::read(env.work().join("rows.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1"));
    // As they are, also where nobody has a terminal.
    let output = env.run(["export", "rows.csv", "--to", "csv"]).exits_with(0);
    assert_eq!(output.stdout, env.read("rows.csv"));

    let output = env.run(["export", "rows.csv", "--to", "csv", "-o", "-"]).exits_with(0);
    assert_eq!(output.stdout, env.read("rows.csv"));
    assert!(!env.work().join("-").exists());

    let output = env.run(["export", "record.json", "-o", "out.json"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: several formats use the file ending `.json`: pyperf, hyperfine, hyperfine-2, bmf, github-action-benchmark, customSmallerIsBetter, customBiggerIsBetter, k6-summary
    hint: choose one with --to
    ");
    let output = env.run(["export", "record.json", "-o", "out.odd"]).exits_with(2);
    assert!(said(&output).contains("no format uses the file ending `.odd`"));
    let output = env.run(["export", "record.json"]).exits_with(2);
    assert!(said(&output).contains("no format was given"));
    assert!(!env.work().join("out.json").exists(), "nothing was left behind");
}

#[test]
fn one_tools_file_becomes_anothers() {
    let env = env();
    env.write("a.json", r#"{"results": [{"command": "a", "times": [0.5, 0.25]}]}"#);
    env.write("b.json", r#"{"results": [{"command": "a", "times": [0.75]}]}"#);
    let output = env.run(["export", "a.json", "b.json", "--to", "pyperf"]).exits_with(0);
    let document = json(&output.stdout);
    let runs = document["benchmarks"][0]["runs"].as_array().unwrap();
    let values: Vec<f64> = runs.iter().map(|run| run["values"][0].as_f64().unwrap()).collect();
    assert_eq!(values, [0.5, 0.25, 0.75]);
}

#[test]
fn intervals_are_in_formats_that_have_a_place_for_them() {
    let env = env();
    let times: Vec<String> = (0..20).map(|n| format!("{}e-3", 100 + n)).collect();
    env.write(
        "a.json",
        format!(r#"{{"results": [{{"command": "a", "times": [{}]}}]}}"#, times.join(",")),
    );
    let document = json(&env.run(["export", "a.json", "--to", "bmf"]).exits_with(0).stdout);
    let figure = |name: &str| document["a"]["latency"][name].as_f64().unwrap();
    assert_eq!(document["a"]["latency"]["value"], 109_500_000.0);
    assert!(figure("lower_value") < figure("value") && figure("upper_value") > figure("value"));
    let output = env.run(["export", "a.json", "--to", "github-action-benchmark"]).exits_with(0);
    assert!(json(&output.stdout)[0]["range"].as_str().unwrap().starts_with("± 0.00"));
}

#[test]
fn what_cannot_be_exported_says_why_and_writes_nothing() {
    let env = env();
    env.write("record.json", COMPARED);
    let output = env.run(["export", "record.json", "--to", "nope"]).exits_with(2);
    assert!(said(&output).contains("cannot write a format `nope`"), "{}", said(&output));
    let output =
        env.run(["export", "record.json", "--to", "csv", "--metric", "nope"]).exits_with(2);
    assert!(said(&output).contains("no metric `nope`; it has wall_time"), "{}", said(&output));
    let arguments = ["export", "record.json", "record.json", "--to", "junit", "-o", "gate.xml"];
    let output = env.run(arguments).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: there is nothing to judge: it contains subjects that were not compared
    hint: give one record that `becalm compare` saved with --export-json, or a load of `becalm load` with --objective
    ");
    assert!(!env.work().join("gate.xml").exists());
}

#[test]
fn the_formats_that_can_be_written_are_listed() {
    let output = env().run(["export", "--formats"]).exits_with(0);
    for format in ["csv", "parquet", "pyperf", "go-bench", "hyperfine-2", "bmf", "junit"] {
        assert!(
            output.stdout.lines().any(|line| line.starts_with(&format!("{format} "))),
            "{format}"
        );
    }
}
