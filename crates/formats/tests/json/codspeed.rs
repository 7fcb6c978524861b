//! `CodSpeed`'s files.

use crate::common::condensed;
use becalm_formats::{File, import};

const STATS: &str = r#"{"min_ns": 10, "max_ns": 30, "mean_ns": 21, "stdev_ns": 2, "q1_ns": 15, "median_ns": 20,
    "q3_ns": 25, "rounds": 100, "total_time": 0.5, "iter_per_round": 7}"#;

#[test]
fn walltime_results_are_aggregates() {
    let text = format!(
        r#"{{"creator": {{"name": "pytest-codspeed", "version": "4.0"}}, "instrument": {{"type": "walltime"}},
        "benchmarks": [{{"name": "t", "uri": "a.py::t", "config": {{}}, "stats": {STATS}}}]}}"#
    );
    let record = import(&[File::of_text("a.json", &text)], None).unwrap();
    insta::assert_snapshot!(condensed(&record));
}

#[test]
fn raw_results_are_benchmarks_alone() {
    let text =
        |uri| format!(r#"{{"name": "t", "uri": "{uri}", "config": {{}}, "stats": {STATS}}}"#);
    let files = [File::of_text("a.json", &text("a")), File::of_text("b.json", &text("b"))];
    insta::assert_snapshot!(condensed(&import(&files, None).unwrap()));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let text = r#"{"benchmarks": [{"uri": "a", "stats": {"median_ns": []}}]}"#;
    assert_eq!(
        import(&[File::of_text("a.json", text)], None).unwrap_err().to_string(),
        "a.json, line 1, at benchmarks[0].stats.median_ns: invalid type: sequence, expected a number"
    );
}
