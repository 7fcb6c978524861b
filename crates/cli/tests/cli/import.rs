//! Files of other tools: imported, shown like own records, and compared.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Measures, env, json, said};

fn capture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/captures").join(name);
    path.to_str().expect("the source tree has a readable name").to_owned()
}

/// A file of hyperfine with these times of one command.
fn times(command: &str, times: &[f64]) -> String {
    format!(r#"{{"results": [{{"command": "{command}", "times": {times:?}}}]}}"#)
}

#[test]
fn a_file_of_another_tool_is_a_record_like_others() {
    let env = env();
    let file = capture("hyperfine/v2.0_two.json");
    let output = env.run(["import", &file, "--export-json", "record.json"]).exits_with(0);
    assert!(output.stdout.starts_with("From hyperfine 2.0.0: 2 subjects"), "{}", output.stdout);
    for command in [&["stats"][..], &["hist"], &["show"], &["plot"], &["show", "--metadata"]] {
        let own = env.run([command, &["record.json"]].concat()).exits_with(0);
        let foreign = env.run([command, &[file.as_str()]].concat()).exits_with(0);
        assert_eq!(own.stdout, foreign.stdout, "{command:?}");
    }
    let record = env.record("record.json");
    assert_eq!(record["schema"], "becalm/import/2");
    assert_eq!(record["source"]["format"], "hyperfine");
    assert_eq!(record["subjects"][0]["runs"].as_array().unwrap().len(), 5);
}

#[test]
fn several_files_are_further_processes() {
    let env = env();
    let files: Vec<String> = (0..3)
        .map(|n| {
            let name = format!("{n}.json");
            env.write(&name, times("a", &[f64::from(n) + 1.0]));
            name
        })
        .collect();
    let mut arguments = vec!["import", "--json"];
    arguments.extend(files.iter().map(String::as_str));
    let record = json(&env.run(arguments).exits_with(0).stdout);
    let runs = record["subjects"][0]["runs"].as_array().unwrap().clone();
    let values: Vec<f64> = runs.iter().map(|run| run["wall_time"].as_f64().unwrap()).collect();
    assert_eq!(values, [1.0, 2.0, 3.0]);
}

#[test]
fn what_was_measured_separately_is_compared_by_processes_with_a_warning() {
    let env = env();
    env.write("old.json", times("a", &[1.0, 1.01, 0.99, 1.0, 1.02, 0.98]));
    env.write("new.json", times("a", &[1.2, 1.21, 1.19, 1.2, 1.22, 1.18]));
    let output = env.run(["diff", "old.json", "new.json", "--json"]).exits_with(0);
    let document = json(&output.stdout);
    let one = &document["comparisons"][0];
    assert_eq!(
        (&one["verdict"], &one["metric"]),
        (&Value::from("slower"), &Value::from("wall_time"))
    );
    assert!(one["notes"][0]["text"].as_str().unwrap().starts_with("measured separately"));
    let text = env.run(["diff", "old.json", "new.json"]).exits_with(0).stdout;
    assert!(text.starts_with("The two were measured at different times"), "{text}");
}

#[test]
fn both_sides_and_the_change_are_told_whatever_is_concluded() {
    let env = env();
    env.write("old.json", times("a", &[1.0, 1.01, 0.99, 1.0, 1.02, 0.98]));
    env.write("new.json", times("a", &[1.2, 1.21, 1.19, 1.2, 1.22, 1.18]));
    env.write("one.json", times("a", &[1.5]));
    env.write("mean.csv", "command,mean,stddev,median,user,system,min,max\na,2,0,2,0,0,2,2\n");
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-3;
    for (file, verdict, new, change) in [
        ("new.json", "slower", 1.2, 0.2),
        ("one.json", "inconclusive", 1.5, 0.5),
        ("mean.csv", "inconclusive", 2.0, 1.0),
    ] {
        let document = json(&env.run(["diff", "old.json", file, "--json"]).exits_with(0).stdout);
        let one = &document["comparisons"][0];
        assert_eq!(one["verdict"], verdict, "{file}");
        let is = near(&one["old"], 1.0) && near(&one["new"], new) && near(&one["change"], change);
        assert!(is, "{file}: {one}");
    }
}

#[test]
fn what_has_another_unit_by_now_is_not_compared() {
    let env = env();
    let jmh = |benchmarks: &[(&str, &str)]| {
        let one = |(name, unit): &(&str, &str)| {
            let mode = if *unit == "s/op" { "avgt" } else { "thrpt" };
            format!(
                r#"{{"benchmark": "{name}", "mode": "{mode}", "forks": 2, "jvm": "java",
                "primaryMetric": {{"score": 4, "scoreUnit": "{unit}", "rawData": [[4, 5], [4, 6]]}}}}"#
            )
        };
        format!("[{}]", benchmarks.iter().map(one).collect::<Vec<_>>().join(", "))
    };
    env.write("old.json", jmh(&[("a.run", "s/op"), ("b.run", "s/op")]));
    env.write("new.json", jmh(&[("a.run", "ops/s"), ("b.run", "s/op")]));
    let output = env.run(["diff", "old.json", "new.json", "--json"]).exits_with(0);
    let document = json(&output.stdout);
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 1);
    let told = "Not compared: a.run is in the old file [s, less is better] and in the new one [ops/s, more is better].";
    assert_eq!(document["notes"][0]["text"], told);
    let output = env.run(["diff", "old.json", "new.json", "--metric", "a.run"]).exits_with(2);
    assert!(output.stderr.contains(told), "{}", output.stderr);
}

#[test]
fn a_file_that_is_named_twice_counts_once_at_most() {
    let env = env();
    env.write("a.json", times("a", &[1.0]));
    let output = env.run(["import", "a.json", "./a.json"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: ./a.json is named twice; its processes would be counted twice");
}

#[test]
fn the_margin_of_a_suite_holds_for_what_was_measured_by_it() {
    let env = env();
    let record = |times: &str| {
        let runs: Vec<String> = times
            .split(' ')
            .enumerate()
            .map(|(round, time)| format!(r#"{{"round": {round}, "wall_time": {time}}}"#))
            .collect();
        format!(
            r#"{{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [{{"name": "A", "command": ["./a"],
            "suite": {{"benchmark": "A", "margin": 0.1}}, "runs": [{}]}}]}}"#,
            runs.join(", ")
        )
    };
    env.write("old.json", record("1.0 1.01 0.99 1.0 1.02 0.98 1.0 1.01"));
    env.write("new.json", record("1.05 1.06 1.04 1.05 1.07 1.03 1.05 1.06"));
    let verdict = |more: &[&str]| {
        let arguments = [&["diff", "old.json", "new.json", "--json"], more].concat();
        let document = json(&env.run(arguments).exits_with(0).stdout);
        document["comparisons"][0]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict(&[]), "equivalent");
    assert_eq!(verdict(&["--margin", "1%"]), "slower");
}

#[test]
fn aggregates_and_single_processes_are_never_tested() {
    let env = env();
    let csv = capture("hyperfine/v1.20_two.csv");
    let document = json(&env.run(["diff", &csv, &csv, "--json"]).exits_with(0).stdout);
    for one in document["comparisons"].as_array().unwrap() {
        assert_eq!((&one["verdict"], &one["ratio"]), (&Value::from("inconclusive"), &Value::Null));
        assert!(one["notes"][1]["text"].as_str().unwrap().contains("no single values"), "{one}");
    }
    env.write("one.json", times("a", &[1.0]));
    let document = json(&env.run(["diff", "one.json", "one.json", "--json"]).exits_with(0).stdout);
    let note = &document["comparisons"][0]["notes"][1]["text"];
    assert!(note.as_str().unwrap().starts_with("one process on a side"), "{note}");
}

#[test]
fn different_processors_are_refused_unless_that_is_wanted() {
    let env = env();
    let record = |cpu: &str| {
        format!(
            r#"{{"schema": "becalm/run/1", "confidence": 0.95, "machine": {{"facts": {{"cpu_model": "{cpu}"}}}},
            "subjects": [{{"name": "A", "command": ["./a"], "runs": [
                {{"round": 0, "wall_time": 0.5}}, {{"round": 1, "wall_time": 0.7}}]}}]}}"#
        )
    };
    env.write("old.json", record("Old"));
    env.write("new.json", record("New"));
    let output = env.run(["diff", "old.json", "new.json"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: the results were measured on different machines: cpu_model is Old in the old one and New in the new one
    hint: --across-machines compares them anyway; the difference then says nothing about the program
    ");
    let _ = env.run(["diff", "--across-machines", "old.json", "new.json"]).exits_with(0);
}

#[test]
fn one_file_is_compared_within_itself() {
    let env = env();
    let file = capture("hyperfine/v1.20_two.json");
    let document = json(&env.run(["diff", &file, "--json"]).exits_with(0).stdout);
    let one = &document["comparisons"][0];
    assert_eq!((&one["baseline"], &one["candidate"]), (&Value::from("fast"), &Value::from("slow")));
}

#[test]
fn what_cannot_be_imported_says_where_and_why() {
    let env = env();
    env.write("text.json", "once upon a time");
    let output = env.run(["import", "text.json"]).exits_with(4);
    assert!(said(&output).contains("text.json: unrecognised format"));
    env.write("broken.json", r#"{"results": [{"command": "a", "times": [1, "x"]}]}"#);
    let output = env.run(["import", "broken.json"]).exits_with(4);
    assert!(said(&output).contains("broken.json, line 1, at results[0].times[1]"));
    let output = env.run(["import", "--format", "odd", "text.json"]).exits_with(2);
    assert!(said(&output).contains("there is no format `odd`"));
}

#[test]
fn a_device_is_refused_before_it_is_read() {
    let env = env();
    for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
        for command in [&["import"][..], &["import", "--format", "go-bench"], &["stats"]] {
            let output = env.run([command, &[device]].concat()).exits_with(4);
            let expected = format!("cannot read {device}: it is a device, not a file");
            assert!(said(&output).contains(&expected), "{command:?}: {}", said(&output));
        }
    }
    let mut command = env.command(["import", "-"]);
    let zeros = std::fs::File::open("/dev/zero").unwrap();
    let output = command.stdin(zeros).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("it is a device, not a file"), "{stderr}");
}

#[test]
fn the_formats_are_listed() {
    let output = env().run(["import", "--formats"]).exits_with(0);
    assert!(output.stdout.contains("hyperfine  "), "{}", output.stdout);
}

#[test]
fn another_compiler_is_warned_of() {
    let env = env();
    let record = |compiler: &str, values: [f64; 2]| {
        format!(
            r#"{{"schema": "becalm/run/1", "confidence": 0.95,
            "machine": {{"facts": {{"compiler": "{compiler}", "date": "{compiler}"}}}},
            "subjects": [{{"name": "A", "command": ["./a"], "runs": [
                {{"round": 0, "wall_time": {}}}, {{"round": 1, "wall_time": {}}}]}}]}}"#,
            values[0], values[1]
        )
    };
    env.write("old.json", record("gcc 12", [0.5, 0.6]));
    env.write("new.json", record("gcc 13", [0.5, 0.7]));
    let output = env.run(["diff", "old.json", "new.json"]).exits_with(0);
    let text = output.stdout.replace('\n', " ");
    assert!(text.contains("More than the program differs: compiler."), "{text}");
}

#[test]
fn what_only_one_file_has_is_listed() {
    let env = env();
    let go = |names: [&str; 2]| {
        format!("Benchmark{} 10 5 ns/op\nBenchmark{} 10 6 ns/op\n", names[0], names[1])
    };
    env.write("old.txt", go(["A", "Gone"]));
    env.write("new.txt", go(["A", "New"]));
    let text = env.run(["diff", "old.txt", "new.txt"]).exits_with(0).stdout.replace('\n', " ");
    assert!(
        text.contains("Only in the old file, and not compared: benchmark BenchmarkGone."),
        "{text}"
    );
    let document = json(&env.run(["diff", "old.txt", "new.txt", "--json"]).exits_with(0).stdout);
    assert_eq!(
        document["notes"][1]["text"],
        "Only in the new file, and not compared: benchmark BenchmarkNew."
    );
    env.write("other.txt", go(["X", "Y"]));
    let output = env.run(["diff", "old.txt", "other.txt"]).exits_with(2);
    assert!(said(&output).contains("no benchmark in common"), "{}", output.stderr);
}

#[test]
fn values_that_move_in_steps_are_not_called_too_few() {
    let env = env();
    env.write("old.json", times("a", &[0.1; 20]));
    env.write("new.json", times("a", &[0.11; 20]));
    let text = env.run(["diff", "old.json", "new.json"]).exits_with(0).stdout.replace('\n', " ");
    assert!(
        text.contains("Inconclusive on wall_time for old a and new a: all or nearly all processes"),
        "{text}"
    );
    assert!(!text.contains("too few"), "{text}");
    assert_eq!(text.matches("too coarse").count(), 1, "said once: {text}");
}

#[test]
fn runs_that_were_cut_off_have_no_ratio() {
    let env = env();
    for (file, seconds) in [("old.json", "100"), ("new.json", "500")] {
        let arguments = ["--timeout", "20ms", "--rounds", "8", "-n", "it", "--export-json", file];
        let _ = env.measure(&[&arguments[..], &["--", "sleep", seconds]].concat()).exits_with(0);
    }
    let document = json(&env.run(["diff", "old.json", "new.json", "--json"]).exits_with(0).stdout);
    let one = &document["comparisons"][0];
    assert_eq!((&one["verdict"], &one["ratio"]), (&Value::from("inconclusive"), &Value::Null));
    assert!(one["notes"][1]["text"].as_str().unwrap().starts_with("runs were cut off"), "{one}");
    let text = env.run(["diff", "old.json", "new.json"]).exits_with(0).stdout.replace('\n', " ");
    assert!(text.contains("for old it and new it: runs were cut off at the timeout"), "{text}");
    assert!(!text.contains("too few") && !text.contains(" 0.0"), "{text}");
    let text = env.run(["diff", "old.json", "old.json", "--margin", "30%", "--metric", "max_rss"]);
    assert!(!text.stdout.contains("margin of 0"), "{}", text.stdout);
}

/// Processes that gave several values are summed up by one value each, and all values stand beside that, as `pyperf
/// stats` has them.
#[test]
fn values_of_all_processes_stand_beside_one_of_each() {
    let env = env();
    let run = r#"{"values": [0.10, 0.11, 0.15]}"#;
    env.write(
        "pyperf.json",
        format!(
            r#"{{"version": "1.0", "metadata": {{"name": "x", "unit": "second"}},
                "benchmarks": [{{"runs": [{run}, {run}, {run}]}}]}}"#
        ),
    );
    let told = env.run(["stats", "pyperf.json"]).exits_with(0).stdout;
    let (each, all) = told.split_once("All 9 values of the 3 processes together:").unwrap();
    let maximum = |text: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with("maximum"));
        line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!((maximum(each), maximum(all)), ("110.0".to_owned(), "150.0".to_owned()), "{told}");
    assert!(!all.contains("interval"), "{told}");
    let plotted = env.run(["plot", "--with", "box,violin", "pyperf.json"]).exits_with(0).stdout;
    assert!(plotted.contains(" box\n") && plotted.contains(" violin\n"), "{plotted}");
}

#[test]
fn standard_input_is_read_once() {
    let env = env();
    for command in ["stats", "hist", "plot", "show", "diff"] {
        let said = env.run([command, "-", "-"]).exits_with(2).stderr;
        assert!(said.contains("standard input (`-`) can be read only once"), "{command}: {said}");
    }
}
