//! `stats`, `hist`, `show`, `plot` and `diff` on saved records.

use std::io::Write;
use std::process::Stdio;

use becalm_testkit::TestEnv;
use insta::assert_snapshot;

use crate::support::{Measures, T, env, headline, json, prints, said};

/// The smallest document: what another program would have to write.
const MINIMAL: &str = r#"{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [
    {"name": "A", "command": ["./a"], "runs": [
        {"round": 0, "wall_time": 0.5}, {"round": 1, "wall_time": 0.7}]}]}"#;

const READERS: [&[&str]; 7] = [
    &["stats"],
    &["stats", "--json"],
    &["hist"],
    &["show"],
    &["show", "--metadata"],
    &["show", "--json"],
    &["plot"],
];

#[test]
fn one_metric_of_a_file_is_drawn_by_its_name() {
    let env = env();
    env.write("minimal.json", MINIMAL);
    for command in ["hist", "plot"] {
        let output = env.run([command, "--metric", "wall_time", "minimal.json"]).exits_with(0);
        assert!(output.stdout.contains("wall_time"), "{}", output.stdout);
        let output = env.run([command, "--metric", "speed", "minimal.json"]).exits_with(2);
        assert!(said(&output).contains("there is no metric called speed"), "{}", output.stderr);
        assert!(said(&output).contains("the metrics are wall_time"), "{}", output.stderr);
    }
}

fn read(env: &TestEnv, command: &[&str], file: &str) -> becalm_testkit::CommandOutput {
    env.run([command, &[file]].concat())
}

#[test]
fn every_reader_reads_runs_and_comparisons_and_the_smallest_document() {
    let env = env();
    env.write("minimal.json", MINIMAL);
    let _ =
        env.measure(&["--rounds", "6", "--export-json", "run.json", "--", "true"]).exits_with(0);
    let _ = env
        .compare(&[
            "--rounds",
            "6",
            "--metric",
            T,
            "--export-json",
            "compare.json",
            &prints("4"),
            &prints("5"),
        ])
        .exits_with(0);
    for command in READERS {
        for file in ["minimal.json", "run.json", "compare.json"] {
            let output = read(&env, command, file).exits_with(0);
            assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{command:?} {file}");
        }
    }
    assert_snapshot!(headline(&env.run(["show", "compare.json"])), @"echo t: 5 is [SHARE] slower than echo t: 4 on t (exact).");
    let shown = env.run(["show", "--json", "run.json"]).exits_with(0);
    assert_eq!(json(&shown.stdout), env.record("run.json"), "what is read is what was written");
    let metadata = env.run(["show", "--metadata", "run.json"]).exits_with(0);
    assert!(metadata.stdout.contains("cpu_model") || metadata.stdout.contains("kernel_release"));
}

#[test]
fn a_record_whose_fields_were_sorted_by_name_is_read() {
    let env = env();
    env.write("minimal.json", MINIMAL);
    let whole = env.run(["show", "--json", "minimal.json"]).exits_with(0).stdout;
    let mut record = json(&whole);
    // More than the beginning that is looked at stands before the schema.
    record["notes"] =
        serde_json::json!(vec!["a note of fifty letters for a record of its size"; 200]);
    let fields: std::collections::BTreeMap<_, _> = record.as_object().unwrap().iter().collect();
    let sorted = serde_json::to_string_pretty(&fields).unwrap();
    assert!(sorted.find("\"schema\"").unwrap() > 8192);
    env.write("sorted.json", sorted);
    let shown = env.run(["stats", "sorted.json"]).exits_with(0).stdout;
    assert!(shown.contains("2 runs"), "{shown}");
}

#[test]
fn a_record_can_come_from_standard_input() {
    let env = env();
    for command in READERS {
        let mut command = env.command([command, &["-"]].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(MINIMAL.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn several_files_are_shown_under_their_names() {
    let env = env();
    env.write("a.json", MINIMAL);
    env.write("b.json", MINIMAL);
    let output = env.run(["stats", "a.json", "b.json"]).exits_with(0);
    assert!(output.stdout.contains("a.json:\n") && output.stdout.contains("\nb.json:\n"));
    for (command, schema) in [("stats", "stats"), ("show", "record")] {
        let output = env.run([command, "--json", "a.json", "b.json"]).exits_with(0);
        let documents = serde_json::Deserializer::from_str(&output.stdout);
        let documents: Result<Vec<serde_json::Value>, _> = documents.into_iter().collect();
        let documents = documents.unwrap();
        assert_eq!(documents.len(), 2, "{command}");
        let schema = becalm_model::wire::json_schema(schema).unwrap();
        assert!(documents.iter().all(|one| jsonschema::is_valid(&schema, one)), "{documents:?}");
    }
}

#[test]
fn what_is_no_record_is_refused_with_the_reason() {
    let env = env();
    env.write("rubbish", "hello\n");
    env.write("binary", [0xff, 0xfe, 0, 1]);
    env.write("empty", "");
    env.write("object.json", "{}");
    env.write("newer.json", r#"{"schema": "becalm/run/7", "shape": "unknown"}"#);
    env.write("newer.partial", r#"{"log": "becalm/log/9"}"#);
    env.write("other.json", r#"{"schema": "becalm/changes/1", "changes": []}"#);
    env.write("none.json", r#"{"schema": "becalm/run/1", "confidence": 0.95, "subjects": []}"#);
    let check = |file: &str| {
        for command in READERS {
            let output = read(&env, command, file).exits_with(4);
            assert_eq!(output.stdout, "", "{command:?} {file}");
        }
        said(&env.run(["show", file])).lines().next().unwrap().to_owned()
    };
    assert_snapshot!(check("rubbish"), @"error: rubbish: unrecognised format");
    assert_snapshot!(check("binary"), @"error: binary: unrecognised format");
    assert_snapshot!(check("empty"), @"error: empty is empty");
    assert_snapshot!(check("object.json"), @"error: object.json: unrecognised format");
    assert_snapshot!(check("newer.json"), @"error: cannot read newer.json: run version 7 was written by a newer becalm; this one reads up to version 2");
    assert_snapshot!(check("newer.partial"), @"error: cannot read newer.partial: log version 9 was written by a newer becalm; this one reads up to version 4");
    assert_snapshot!(check("other.json"), @"error: cannot read other.json: this is a becalm/changes/1 document; expected becalm/comparison/2 or becalm/run/2 or becalm/import/2 or becalm/load/1");
    assert_snapshot!(check("none.json"), @"error: cannot read none.json: the document has no subject");
    assert_snapshot!(check("absent"), @"error: cannot read absent: No such file or directory (os error 2)");
    assert_snapshot!(check("."), @"error: .: no file in this folder has a format that becalm recognises");
}

#[test]
fn records_with_odd_content_never_make_a_reader_panic() {
    let env = env();
    let documents = [
        r#"{"schema": "becalm/run/1", "confidence": 7, "subjects": [{"name": "", "command": [], "runs": []}]}"#,
        r#"{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [{"name": "A", "command": [], "runs": [{"round": 0, "wall_time": 0}]}]}"#,
        r#"{"schema": "becalm/run/1", "confidence": 0.95, "subjects": [{"name": "A", "command": [], "runs": [{"round": 0, "wall_time": -1e300}, {"round": 0, "wall_time": 1e300}]}]}"#,
        r#"{"schema": "becalm/comparison/1", "confidence": 0.95, "subjects": [{"name": "A", "command": ["\u001b[31m"], "runs": [{"round": 9, "wall_time": 1}]}, {"name": "A", "command": [], "runs": [{"round": 9, "wall_time": 1, "metrics": {"x": 3}}]}]}"#,
        r#"{"schema": "becalm/comparison/1", "confidence": 0.95, "subjects": [], "notes": ["one."]}"#,
        r#"{"schema": "becalm/comparison/1", "confidence": 0.95, "subjects": [], "interrupted": "it was ended"}"#,
    ];
    for (index, document) in documents.into_iter().enumerate() {
        let file = format!("{index}.json");
        env.write(&file, document);
        for command in READERS {
            let output = read(&env, command, &file);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 4)), "{command:?} {document}: {output:?}");
        }
        let output = env.run(["plot", "--html", "p.html", &file]);
        assert!(matches!(output.status.code(), Some(0 | 4)), "{output:?}");
        for command in [&["diff", &file][..], &["plan"], &["export", "--to", "junit"], &["gate"]] {
            let output = read(&env, command, &file);
            assert!(output.status.code().is_some_and(|code| code <= 4), "{output:?}");
        }
    }
}

#[test]
fn a_diff_says_that_drift_cannot_be_excluded() {
    let env = env();
    for (file, number) in [("old.json", "4"), ("new.json", "5")] {
        let arguments =
            ["--rounds", "8", "-n", "it", "--metric", T, "--export-json", file, "--", "echo"];
        let number = format!("t: {number}");
        let _ = env.measure(&[&arguments[..], &[&number]].concat()).exits_with(0);
    }
    let output = env.run(["diff", "--metric", "t", "old.json", "new.json"]).exits_with(0);
    assert!(
        output.stdout.contains("cannot be excluded")
            || output.stdout.contains("cannot\nbe excluded"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("slower"), "{}", output.stdout);
    let output = env.run(["diff", "--metric", "nope", "old.json", "new.json"]).exits_with(2);
    assert!(
        said(&output).contains("no metric `nope` in common: the old one has wall_time"),
        "{output:?}"
    );
}

#[test]
fn one_record_is_compared_over_its_rounds_as_its_session_was() {
    let env = env();
    let commands = [prints("4"), prints("5")];
    let arguments = ["--rounds", "8", "--metric", T, "--export-json", "r.json"];
    let _ = env.compare(&[&arguments[..], &[&commands[0], &commands[1]]].concat()).exits_with(0);
    let own = env.record("r.json")["comparisons"][0].clone();
    let document = json(&env.run(["diff", "r.json", "--json"]).exits_with(0).stdout);
    // A difference has its two values beside it.
    let mut compared = document["comparisons"][0].clone();
    for field in ["old", "new", "change"] {
        assert!(compared.as_object_mut().unwrap().remove(field).unwrap().is_number(), "{field}");
    }
    assert_eq!(compared, own);
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 1, "at what decided");
    let text = env.run(["diff", "r.json"]).exits_with(0).stdout.replace('\n', " ");
    assert!(text.starts_with("The two were measured in turns in one session"), "{text}");
    assert!(!text.contains("different times") && !text.contains("separately"), "{text}");
    // What `run` measured was not compared, and has rounds all the same.
    let arguments = ["--rounds", "8", "-L", "n", "1,2", "--export-json", "runs.json"];
    let _ = env.measure(&[&arguments[..], &["--", "true", "{n}"]].concat()).exits_with(0);
    let document = json(&env.run(["diff", "runs.json", "--json"]).exits_with(0).stdout);
    let one = &document["comparisons"][0];
    assert_eq!((&one["metric"], &one["rounds"]), (&"wall_time".into(), &8.into()), "{one}");
    assert!(!one["notes"].to_string().contains("separately"), "{one}");
}

#[test]
fn a_diff_without_a_common_subject_is_a_usage_error() {
    let env = env();
    env.write("a.json", MINIMAL);
    let _ =
        env.compare(&["--rounds", "2", "--export-json", "b.json", "true", "true 1"]).exits_with(3);
    let output = env.run(["diff", "a.json", "b.json"]).exits_with(2);
    let _ = env.run(["diff", "--confidence", "100%", "a.json", "a.json"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: the two files have no subject in common
    hint: subjects are matched by name; two files with one subject each always match
    ");
}

#[test]
fn a_plot_can_be_a_picture() {
    let env = env();
    env.write("a.json", MINIMAL);
    let output = env.run(["plot", "--svg", "p.svg", "--png", "p.png", "a.json"]).exits_with(0);
    assert_eq!(output.stdout, "");
    let svg = std::fs::read_to_string(env.work().join("p.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">Every run</text>"), "{svg}");
    let png = std::fs::read(env.work().join("p.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    let same = env.run(["plot", "--svg", "p", "--png", "p", "a.json"]).exits_with(2);
    assert!(same.stderr.contains("two exports write to the same file p"), "{}", same.stderr);
    let _ = env.run(["plot", "--svg", "p.svg", "--metric", "absent", "a.json"]).exits_with(2);
}

#[test]
fn kinds_of_pictures_have_the_subjects_of_all_files() {
    let env = env();
    env.write("a.json", MINIMAL);
    env.write("b.json", MINIMAL);
    let kinds = "ecdf,ridges,spectrum,histogram";
    let files = ["--png", "p.png", "a.json", "b.json"];
    let plot = [&["plot", "--kind", kinds, "--svg", "p.svg"][..], &files].concat();
    let _ = env.run(plot).exits_with(0);
    let svg = env.read("p.svg");
    for drawn in ["Cumulative distribution", "Ridges", "Percentiles", "Distribution"] {
        assert_eq!(svg.matches(&format!(">{drawn}</text>")).count(), 1, "{drawn}: {svg}");
    }
    assert!(svg.contains("a.json") && svg.contains("b.json") && !svg.contains("Every run"));
    let text = env.run(["plot", "--kind", kinds, "a.json", "b.json"]).exits_with(0).stdout;
    assert!(text.contains("Ridges") && text.contains("a a.json") && !text.contains("a.json:\n"));
    let both = env.run(["plot", "--kind", "dots,ecdf", "a.json", "b.json"]).exits_with(0).stdout;
    assert!(both.contains("a.json:\n") && both.contains("Cumulative"), "{both}");
    let _ = env.run(["plot", "--kind", "differences", "a.json"]).exits_with(2);
    let _ = env.run(["plot", "--kind", "ecdf", "--html", "p.html", "a.json"]).exits_with(2);
}

#[test]
fn a_plot_can_be_a_page() {
    let env = env();
    env.write("a.json", MINIMAL);
    let output = env.run(["plot", "--html", "p.html", "a.json"]).exits_with(0);
    assert_snapshot!(said(&output), @"wrote p.html");
    assert!(env.read("p.html").contains("</html>"));
    let _ = env.run(["plot", "--html", "absent/p.html", "a.json"]).exits_with(2);
    let _ = env.run(["plot", "--html", "p.html", "a.json", "a.json"]).exits_with(2);
    let _ = env.run(["hist", "-n", "0", "a.json"]).exits_with(2);
}

#[test]
fn the_log_of_a_finished_session_says_what_the_session_said() {
    let env = env();
    let output = env.compare(&["--rounds", "7", "--metric", "wall_time", "true", "sleep 0.5"]);
    let folder = env.path().join("state/becalm/sessions");
    let log = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let shown = env.run([std::ffi::OsStr::new("show"), log.as_os_str()]).exits_with(0);
    let first = |text: &str| text.split("\n\n").next().unwrap().to_owned();
    assert_eq!(first(&shown.stdout), first(&output.stdout));
}
