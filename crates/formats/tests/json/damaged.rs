//! Files that are damaged: whatever stands in them, an importer gives a record or a reason.

use std::fmt::Write as _;

use crate::common::files;
use becalm_formats::{FORMATS, File, import, recognise};
use proptest::prelude::*;

/// One small file of every format, from which others are made.
fn seeds() -> Vec<Vec<u8>> {
    let captures = [
        "hyperfine/v1.20_two.json",
        "hyperfine/v2.0_params_env.json",
        "hyperfine/v1.20_two.csv",
        "pyperf/self_command_fast.json",
        "google-benchmark/self_v1.9.5_repeats_bigo_counters.json",
        "vitest/self_v3_outputJson.json",
        "tinybench/self_tasks.json",
        "mitata/self_v1.0.34.json",
    ];
    let made = [
        r#"[{"benchmark": "a", "mode": "sample", "params": {"n": "1"}, "primaryMetric": {"score": 1,
            "scoreError": "NaN", "scoreUnit": "us/op", "rawDataHistogram": [[[[1, 3], [5, 1]]]]}}]"#,
        r#"{"machine_info": {"cpu": {"brand_raw": "x"}}, "datetime": "2020-01-01T00:00:00", "benchmarks":
            [{"fullname": "t", "stats": {"mean": 1, "rounds": 2, "data": [1, 2]}}]}"#,
        r#"{"HostEnvironmentInfo": {}, "Benchmarks": [{"FullName": "X", "Statistics": {"Mean": 1,
            "ConfidenceInterval": {"Level": "L99"}, "Percentiles": {"P95": 1}}, "Measurements": [{"IterationMode":
            "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 9}]}]}"#,
        r#"{"root_group": {}, "metrics": {"a": {"type": "trend", "contains": "time", "values": {"avg": 1, "p(90)": 2},
            "thresholds": {"x": {"ok": false}}}, "b": {"count": 1, "rate": 2}}}"#,
        r#"[{"name": "a", "unit": "ops/ms", "value": 100, "range": "± 0.5%"}]"#,
        "window.BENCHMARK_DATA = { entries: { a: [{ commit: { id: 'c' }, date: 1, tool: 'go',\n \
            benches: [{ name: 'x', unit: \"ns/op\", value: 1 },], },], }, };",
        r#"{"a": {"latency": {"value": 1, "upper_value": 2}}, "b": [{"parameters": {"n": 1}, "measures":
            {"throughput": {"p99": 1}}}]}"#,
        r#"{"commit_hash": "abc", "date": 1, "params": {}, "result_columns": ["result", "params", "samples"],
            "results": {"time_a": [[1, 2], [["1", "2"]], [[1, 2], null]], "b": 3, "c": {"result": 1, "stats": [{}]}}}"#,
        r#"{"results": [{"title": "t", "name": "n", "batch": 2, "median(elapsed)": 1, "measurements":
            [{"elapsed": 1, "instructions": 3}]}]}"#,
        r#"{"benchmarks": [{"uri": "a", "stats": {"median_ns": 1, "mean_ns": 2, "rounds": 3}}]}"#,
        "text\n{\"benchmark_exe\": 1, \"module_path\": \"a\", \"version\": \"6\", \"profiles\": [{\"summaries\": \
            {\"total\": {\"summary\": {\"C\": {\"Ir\": {\"metrics\": {\"Both\": [{\"Int\": 1}, {\"Int\": 2}]}}}}}}}]}\n{",
    ];
    captures
        .iter()
        .map(|path| files(path).remove(0).bytes().to_vec())
        .chain(made.iter().map(|text| text.as_bytes().to_vec()))
        .collect()
}

/// Imports a file as everything that it could be. That nothing panics is the test; what comes out has to
/// hold together.
fn try_all(bytes: Vec<u8>) {
    let files = [File::new("a.json", bytes)];
    let _ = recognise(&files);
    for entry in FORMATS {
        let Ok(record) = import(&files, Some(entry.name)) else { continue };
        let has_value =
            |run: &becalm_model::Run| (0..record.metrics.len()).any(|at| run.value(at).is_some());
        assert!(
            record.runs.iter().any(|run| run.is_measured() && has_value(run)),
            "{}",
            entry.name
        );
        for run in &record.runs {
            assert!(run.subject < record.subjects.len());
            assert!(run.values.len() <= record.metrics.len());
            assert!(run.parts.is_sorted_by(|a, b| a.metric < b.metric));
            for part in &run.parts {
                assert!(part.metric < record.metrics.len());
                assert!(part.value.is_finite());
            }
        }
    }
}

#[test]
fn files_without_a_value_are_errors_whatever_format_they_are_of() {
    let files = [
        (
            "pyperf",
            r#"{"benchmarks": [{"metadata": {"name": "a"}, "runs": [{"warmups": [[1, 0.5]]}, {}]}]}"#,
        ),
        ("pyperf", r#"{"benchmarks": [{"runs": [{"metadata": {}}]}]}"#),
        ("hyperfine", r#"{"results": [{"command": "a"}]}"#),
        (
            "hyperfine",
            r#"{"schema_version": 2, "results": [{"command": "a", "measurements": [{"exit_code": 1}]}]}"#,
        ),
        ("google-benchmark", r#"{"context": {}, "benchmarks": []}"#),
        ("pytest-benchmark", r#"{"machine_info": {}, "benchmarks": []}"#),
        ("jmh", "[]"),
        ("bmf", r#"{"a": {"latency": {"value": null}}}"#),
        ("go-bench", "goos: linux\nPASS\n"),
        ("k6", r#"{"metrics": {}}"#),
        ("csv", "subject,metric,unit,value\n"),
        ("time", "real\n"),
    ];
    for (format, text) in files {
        let told = import(&[File::of_text("a", text)], Some(format)).map(|_| ()).unwrap_err();
        assert!(!told.to_string().is_empty(), "{format}");
    }
    // Whatever the fuzzers of this file make, see `try_all`.
}

/// What is put in place of something else.
const PATCHES: [&str; 22] = [
    "null",
    "NaN",
    "-Infinity",
    "1e400",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "18446744073709551616",
    "\"\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[[[]]]]",
    "true",
    "\"ä\"",
    "[1,2,3]",
    "{\"a\":{\"value\":1}}",
    ",",
    "}",
    "\\",
    "'",
];

#[test]
fn results_behind_much_output_are_recognised() {
    let go = "goos: linux\nBenchmarkA-2\t100\t5.0 ns/op\n";
    let name = |text: &str| recognise(&[File::of_text("a.txt", text)]).map(|entry| entry.name);
    assert_eq!(name(go), Some("go-bench"));
    let output =
        "a line of eighty letters that a build writes before the benchmarks are run at all\n";
    let output = output.repeat(60_000);
    assert_eq!(name(&format!("{output}{go}")), Some("go-bench"));
}

#[test]
fn what_is_no_text_is_taken_for_none() {
    for word in ["<Catch2TestRun", "\"benchmark_exe\" \"module_path\""] {
        let bytes = [b"\xff\n", word.as_bytes()].concat();
        let told = import(&[File::new("a", bytes)], None).unwrap_err().to_string();
        assert_eq!(told, "a: unrecognised format");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn cut_files_never_panic(which in 0..100_usize, at in any::<prop::sample::Index>()) {
        let seeds = seeds();
        let seed = &seeds[which % seeds.len()];
        let end = at.index(seed.len());
        try_all(seed[..end].to_vec());
        try_all(seed[end..].to_vec());
    }

    #[test]
    fn patched_files_never_panic(
        which in 0..100_usize,
        patches in prop::collection::vec((any::<prop::sample::Index>(), 0..PATCHES.len()), 1..4),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[which % seeds.len()].clone();
        for (at, patch) in patches {
            // A whole value is replaced, so that most results are JSON still.
            let from = at.index(bytes.len());
            let is_end = |byte: &u8| b",]}\n".contains(byte);
            let is_start = |byte: &u8| b":[,".contains(byte);
            let start = bytes[..from].iter().rposition(is_start).map_or(0, |found| found + 1);
            let end = bytes[start..].iter().position(is_end).map_or(bytes.len(), |found| start + found);
            bytes.splice(start..end, PATCHES[patch].bytes());
        }
        try_all(bytes);
    }

    #[test]
    fn scrambled_bytes_never_panic(
        which in 0..100_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[which % seeds.len()].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        try_all(bytes);
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"a\":", "{\"benchmarks\":[", "{\"results\":{\"a\":"] {
        try_all(open.repeat(5_000).into_bytes());
    }
}

#[test]
fn files_of_nothing_are_refused() {
    for text in ["", " ", "null", "[]", "{}", "0", "\"\"", "[null]", "{\"a\":null}", "[[]]"] {
        try_all(text.as_bytes().to_vec());
    }
    for entry in FORMATS {
        assert!(entry.read(&[]).is_err(), "{}", entry.name);
    }
}

#[test]
fn many_equal_names_take_little_time() {
    // Nothing here takes a time: in one that grows with the square, this test takes minutes.
    let many = |row: &str, count: usize| vec![row; count].join(",");
    let rows = many(r#"{"name": "a", "unit": "ns", "value": 1}"#, 20_000);
    let record =
        import(&[File::of_text("a.json", &format!("[{rows}]"))], Some("customSmallerIsBetter"))
            .unwrap();
    assert_eq!(record.metrics.len(), 20_000);
    let rows = many(r#"{"fullname": "a", "stats": null}"#, 20_000);
    let text = format!(r#"{{"machine_info": {{}}, "benchmarks": [{rows}]}}"#);
    assert!(import(&[File::of_text("a.json", &text)], None).is_err());
    let text = "{\n".repeat(5_000);
    assert!(import(&[File::of_text("a.json", &text)], Some("gungraun")).is_err());
}

/// Writes a record with every writer that can hold it.
fn export_all(record: &becalm_model::Record) {
    for writer in becalm_formats::WRITERS.iter().filter(|writer| writer.ending != "parquet") {
        let options = becalm_formats::Options::choose(record, &[], &[]).unwrap();
        let _ = (writer.write)(record, &options);
    }
}

#[test]
fn many_subjects_and_benchmarks_take_time_in_proportion() {
    // Nothing here takes a time: in one that grows with the square, this test takes minutes.
    let row = |at: u32| format!(r#"{{"command": "c {at}", "times": [1, 2, 3]}}"#);
    let rows: Vec<String> = (0..10_000).map(row).collect();
    let text = format!(r#"{{"results": [{}]}}"#, rows.join(","));
    let record = import(&[File::of_text("a.json", &text)], None).unwrap();
    assert_eq!(record.values(9_999, 0), [1.0, 2.0, 3.0]);
    let merged = becalm_formats::merge(vec![record.clone(), record]).unwrap();
    let sum: f64 = (0..merged.subjects.len()).flat_map(|subject| merged.values(subject, 0)).sum();
    assert_eq!((merged.subjects.len(), sum), (10_000, 120_000.0));
    export_all(&merged);

    // Packages with benchmarks of their own: few of all metrics are of a subject.
    let mut text = String::new();
    for package in 0..400 {
        let _ = writeln!(text, "pkg: p{package}");
        for benchmark in 0..40 {
            let _ = writeln!(text, "BenchmarkOf{package}x{benchmark}\t10\t5 ns/op");
        }
    }
    let record = import(&[File::of_text("a.txt", &text)], None).unwrap();
    assert_eq!((record.subjects.len(), record.metrics.len()), (400, 16_000));
    let of: usize = (0..400).map(|subject| record.metrics_of(record.measured(subject)).len()).sum();
    assert_eq!(of, 16_000);
    export_all(&record);

    // Many small files.
    let one = import(&[File::of_text("a", "pkg: a\nBenchmarkA\t1\t5 ns/op\n")], None).unwrap();
    let merged = becalm_formats::merge(vec![one; 8_000]).unwrap();
    assert_eq!(merged.values(0, 0).len(), 8_000);
}
