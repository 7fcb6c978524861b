//! github-action-benchmark's files.

use crate::common::{condensed, told};
use becalm_formats::{File, import};

fn read(text: &str, format: Option<&str>) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], format)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

const CUSTOM: &str = r#"[
    {"name": "a", "unit": "ns/iter", "value": 100, "range": "± 20"},
    {"name": "b", "unit": "ops/sec", "value": 2000, "range": "±0.5%", "extra": "x"},
    {"name": "c", "unit": "Percent", "value": 50, "range": "3"},
    {"name": "c", "unit": "Megabytes", "value": 7}]"#;

#[test]
fn custom_results_have_a_direction_by_format_or_by_unit() {
    insta::assert_snapshot!(read(CUSTOM, None).unwrap());
    let higher = read(CUSTOM, Some("customBiggerIsBetter")).unwrap();
    assert!(higher.contains("a [s more is better]"), "{higher}");
    let lower = read(CUSTOM, Some("customSmallerIsBetter")).unwrap();
    assert!(lower.contains("b [ops/s]"), "{lower}");
}

#[test]
fn the_history_has_commits_as_subjects() {
    let entry = |id: &str, date: u64, tool: &str, value: u32| {
        format!(
            r#"{{"commit": {{"id": "{id}", "message": "first line\nmore", "timestamp": "2020"}},
            "date": {date}, "tool": "{tool}", "benches": [{{"name": "x", "value": {value}, "unit": "ns/iter"}}]}}"#
        )
    };
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let text = format!(
        r#"window.BENCHMARK_DATA = {{"lastUpdate": 1, "repoUrl": "https://x", "entries": {{
        "two": [{}], "one": [{}, {}]}}}};"#,
        entry("later", 3000, "customBiggerIsBetter", 3),
        entry(hash, 2000, "cargo", 2),
        entry("later", 4000, "cargo", 4),
    );
    insta::assert_snapshot!(read(&text, None).unwrap());
}

#[test]
fn a_history_may_be_written_by_hand() {
    let text = "window.BENCHMARK_DATA = {\n  entries: {\n 'It\\'s': [ { commit: { id: 'c', message: \"m\" },
        date: 1000, tool: 'go', benches: [{ name: 'x', range: '± 20', unit: 'ns/op', value: 100 },], }, ], }, };\n";
    insta::assert_snapshot!(read(text, None).unwrap());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read("[{\"name\": \"a\", \"unit\": \"s\",\n\"value\": \"x\"}]", None).unwrap_err(),
        "a.json, line 2, at [0].value: invalid value: string \"x\", expected a number"
    );
    assert_eq!(
        read("window.BENCHMARK_DATA\n= {entries: {a: [{\ncommit: {}}]}}", None).unwrap_err(),
        "a.json, line 3, at entries.a[0].commit: missing field `id`"
    );
    assert_eq!(
        read("window.BENCHMARK_DATA", None).unwrap_err(),
        "a.json, line 1: expected `=` after the variable, found ``"
    );
}

#[test]
fn what_has_no_number_is_left_out_and_told() {
    let text = r#"[{"name": "a", "unit": "ns", "value": 5}, {"name": "a_BigO", "unit": "N", "value": null},
        {"name": "a_RMS", "unit": "%"}, {"name": "c", "unit": "ns", "value": "NaN"}]"#;
    let record = import(&[File::of_text("a.json", text)], Some("customSmallerIsBetter")).unwrap();
    assert_eq!(record.metrics.len(), 1);
    let notes = record.notes.iter().map(told).collect::<Vec<_>>().join("; ");
    for name in ["a_BigO", "a_RMS", "c"] {
        let note = format!("NoResults {{ benchmark: {name:?} }}");
        assert!(notes.contains(&note), "{notes}");
    }
}

/// Returns which statistic each metric of a file is.
fn statistics(text: &str, format: Option<&str>) -> Vec<(String, Option<String>)> {
    let record = import(&[File::of_text("a.json", text)], format).unwrap();
    record.metrics.into_iter().map(|metric| (metric.name, metric.statistic)).collect()
}

#[test]
fn what_a_tool_printed_of_many_values_is_no_sample() {
    let history = |tool: &str| {
        format!(
            r#"window.BENCHMARK_DATA = {{"entries": {{"s": [{{"commit": {{"id": "c"}}, "date": 1, "tool": "{tool}",
            "benches": [{{"name": "x", "value": 1, "unit": "ns/iter"}}]}}]}}}}"#
        )
    };
    for (tool, statistic) in [
        ("cargo", Some("median")),
        ("julia", Some("median")),
        ("benchmarkjs", Some("mean")),
        ("benchmarkluau", Some("mean")),
        ("pytest", Some("mean")),
        ("catch2", Some("mean")),
        ("jmh", Some("mean")),
        ("benchmarkdotnet", Some("mean")),
        ("go", None),
        ("customSmallerIsBetter", None),
    ] {
        let found = statistics(&history(tool), None);
        assert_eq!(found, [("x".to_owned(), statistic.map(str::to_owned))], "{tool}");
    }
    let custom = r#"[{"name": "a", "unit": "s", "value": 1, "range": "± 2"},
        {"name": "b", "unit": "s", "value": 1, "extra": "median of 5 runs"},
        {"name": "c", "unit": "s", "value": 1, "extra": "mean: 1 s\nrounds: 9"},
        {"name": "d_median", "unit": "s", "value": 1}, {"name": "e", "unit": "s", "value": 1},
        {"name": "f", "unit": "s", "value": 1, "extra": "median of 1 runs"}]"#;
    let found = statistics(custom, Some("customSmallerIsBetter"));
    let found: Vec<Option<&str>> = found.iter().map(|(_, one)| one.as_deref()).collect();
    let expected = [Some("estimate"), Some("median"), Some("mean"), Some("median"), None, None];
    assert_eq!(found, expected);
}
