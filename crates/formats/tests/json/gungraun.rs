//! gungraun's files.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

fn summary(version: &str, id: &str, events: &str) -> String {
    format!(
        r#"{{"baselines": [null, null], "benchmark_exe": "/x", "module_path": "m::g::f", "function_name": "f",
        "id": {id}, "kind": "LibraryBenchmark", "version": "{version}", "profiles": [{{"tool": "Callgrind",
        "summaries": {{"parts": [], "total": {{"regressions": [], "summary": {{"Callgrind": {{{events}}}}}}}}}}}]}}"#
    )
}

#[test]
fn summaries_stand_between_other_output() {
    let text = format!(
        "running 0 tests\n{{\"reason\": \"build-finished\"}}\n{{ broken\n{}\ntrailing {{\n{}\n",
        summary(
            "6",
            "null",
            r#""Ir": {"diffs": null, "metrics": {"Both": [{"Int": 90}, {"Int": 100}]}}"#
        ),
        summary(
            "6",
            "\"case\"",
            r#""Ir": {"metrics": {"Left": {"Int": 7}}}, "D1MissRate": {"metrics": {"Left": {"Float": 0.5}}},
            "Bytes": {"metrics": {"Right": {"Int": 9}}}"#
        ),
    );
    insta::assert_snapshot!(read(&text).unwrap());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(&summary("5", "null", "")).unwrap_err(),
        "a.json, at version: expected 6, found `5`"
    );
    assert_eq!(
        read(&summary("6", "null", r#""Ir": {"metrics": {"Left": {"Int": "x"}}}"#)).unwrap_err(),
        "a.json, at m::g::f: Callgrind.Ir: expected `Left`, `Right` or `Both` with numbers, found \
         `{\\\"Left\\\":{\\\"Int\\\":\\\"x\\\"}}`"
    );
    let whole = summary("6", "null", r#""Ir": {"metrics": {"Left": {"Int": 7}}}"#);
    let error = read(&whole[..whole.len() - 5]).unwrap_err();
    assert!(error.starts_with("a.json, line 3"), "{error}");
}

#[test]
fn events_of_two_tools_with_one_name_are_two_metrics() {
    let profile = |tool: &str, errors: u32| {
        format!(
            r#"{{"tool": "{tool}", "summaries": {{"total": {{"summary": {{"ErrorTool":
            {{"Errors": {{"metrics": {{"Left": {{"Int": {errors}}}}}}}}}}}}}}}}}"#
        )
    };
    let text = format!(
        r#"{{"benchmark_exe": "/x", "module_path": "m::f", "version": "6", "profiles": [{}, {}]}}"#,
        profile("Memcheck", 0),
        profile("DRD", 3)
    );
    let record = import(&[File::of_text("a.json", &text)], None).unwrap();
    let values: Vec<(&str, f64)> = (0..record.metrics.len())
        .map(|at| (record.metrics[at].name.as_str(), record.values(0, at)[0]))
        .collect();
    assert_eq!(values, [("m::f memcheck Errors", 0.0), ("m::f drd Errors", 3.0)]);
}

#[test]
fn tools_without_metrics_are_none() {
    let text = r#"{"version": "6", "benchmark_exe": "x", "module_path": "a::b", "function_name": "f", "profiles": [
        {"tool": "Massif", "summaries": {"total": {"summary": "None"}}},
        {"tool": "Callgrind", "summaries": {"total": {"summary": {"Callgrind": {"Ir": {"metrics": {"Left": {"Int": 7}}}}}}}}]}"#;
    let record = import(&[File::of_text("summary.json", text)], None).unwrap();
    let names: Vec<&str> = record.metrics.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, record.values(0, 0)), (vec!["a::b Ir"], vec![7.0]));
}
