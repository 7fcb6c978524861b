//! Files of vitest and of tinybench.

use crate::common::{capture, condensed};
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn the_report_of_vitest_5_has_benchmarks_in_its_tests() {
    insta::assert_snapshot!(condensed(&capture("vitest/self_v5_reporter_json.json", "vitest")));
}

#[test]
fn vitest_gives_milliseconds() {
    insta::assert_snapshot!(condensed(&capture("vitest/self_v3_outputJson.json", "vitest")));
    insta::assert_snapshot!(
        read(
            r#"{"files": [{"filepath": "/a", "groups": [{"fullName": "a > g", "benchmarks": [
            {"name": "x", "samples": [1, 3, 2], "mean": 2, "median": 2, "sampleCount": 3},
            {"name": "broken", "samples": [], "sampleCount": 0, "median": 0, "rme": 0},
            {"name": "x", "mean": 4, "hz": 250, "samples": []}]}]}]}"#
        )
        .unwrap()
    );
    insta::assert_snapshot!(
        read(r#"{"testResults": {"sort": [{"name": "x", "mean": 4, "hz": 250, "rme": 1, "moe": 0.5}]}}"#)
            .unwrap()
    );
}

#[test]
fn tinybench_has_flat_results_in_old_versions() {
    insta::assert_snapshot!(condensed(&capture("tinybench/self_tasks.json", "tinybench")));
    insta::assert_snapshot!(
        read(
            r#"{"tasks": [{"name": "old", "result": {"hz": 500, "mean": 2, "rme": 1, "samples": [1, 2, 3]}},
            {"name": "six", "result": {"latency": {"p50": 2, "mean": 3, "samples": [2, 4]}, "throughput": {}}},
            {"name": "bad", "result": {"error": {}, "state": "errored"}},
            {"name": "beside", "latency": {"mean": 5}, "throughput": {}},
            {"name": "never"}]}"#
        )
        .unwrap()
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"files": [{"groups": [{"benchmarks": [{"mean": 1}]}]}]}"#).unwrap_err(),
        "a.json, line 1, at files[0].groups[0].benchmarks[0]: missing field `name`"
    );
    assert_eq!(
        read(r#"[{"name": "a", "result": {"latency": {"samples": [1, {}]}}}]"#).unwrap_err(),
        "a.json, line 1, at [0].result.latency.samples[1]: invalid type: map, expected f64"
    );
    assert_eq!(
        read(r#"{"files": [{"groups": [{"benchmarks": []}]}]}"#).unwrap_err(),
        "a.json: it contains no measurement"
    );
}
