//! k6's files.

use crate::common::{condensed, files};
use becalm_formats::{File, import};
use becalm_model::{Direction, Unit};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn summaries_of_the_script_have_types() {
    insta::assert_snapshot!(
        read(
            r#"{"root_group": {}, "state": {"testRunDurationMs": 1000}, "metrics": {
            "http_req_duration": {"type": "trend", "contains": "time",
              "values": {"avg": 12, "min": 1, "med": 10, "max": 50, "p(90)": 20, "p(99.9)": 45, "count": 7},
              "thresholds": {"p(95)<20": {"ok": false}, "avg<20": {"ok": true}}},
            "data_received": {"type": "counter", "contains": "data", "values": {"count": 4096, "rate": 1024}},
            "http_req_failed": {"type": "rate", "contains": "default", "values": {"rate": 0.25, "passes": 1, "fails": 3}},
            "checks": {"type": "rate", "contains": "default", "values": {"rate": 0.75, "passes": 3, "fails": 1}},
            "size": {"type": "trend", "contains": "default", "values": {"avg": 3}},
            "vus": {"type": "gauge", "contains": "default", "values": {"value": 2, "min": 1, "max": 5}}}}"#
        )
        .unwrap()
    );
}

#[test]
fn exported_summaries_have_no_types_and_thresholds_that_are_true_when_crossed() {
    insta::assert_snapshot!(
        read(
            r#"{"metrics": {
            "http_req_duration": {"avg": 12, "min": 1, "med": 10, "max": 50, "p(90)": 20,
              "thresholds": {"p(95)<20": true, "avg<20": false}},
            "http_reqs": {"count": 100, "rate": 50},
            "http_req_failed": {"value": 0.25, "passes": 1, "fails": 3},
            "my_trend": {"avg": 3, "med": 2},
            "vus": {"value": 2, "min": 1, "max": 5}}, "root_group": {}}"#
        )
        .unwrap()
    );
}

#[test]
fn summaries_of_k6_1_are_lists() {
    insta::assert_snapshot!(
        read(
            r#"{"version": "1.0.0", "config": {"script": "/home/x/load.js"}, "metadata": {"generatedAt": "2026-01-02T03:04:05Z", "k6Version": "1.5.0"},
            "results": {"metrics": [
              {"name": "iteration_duration", "type": "trend", "contains": "time", "values": {"avg": 5, "med": 4, "p90": 7}},
              {"name": "iterations", "type": "counter", "contains": "default", "values": {"count": 9, "rate": 3}}],
            "checks": {"metrics": [{"name": "checks_failed", "type": "rate", "contains": "default", "values": {"rate": 0}}], "results": []}}}"#
        )
        .unwrap()
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"root_group": {}, "metrics": {"a": {"type": "trend", "values": {"avg": "x"}}}}"#)
            .unwrap_err(),
        "a.json, at metrics.a.values.avg: expected a number, found `x`"
    );
    assert_eq!(
        read(r#"{"root_group": {}, "metrics": {}}"#).unwrap_err(),
        "a.json: it contains no measurement"
    );
}

#[test]
fn the_two_headlines_are_the_95th_percentile_of_a_request_and_requests_per_second() {
    let script = r#"{"metrics": {"data_sent": {"type": "counter", "contains": "data", "values": {"count": 9, "rate": 3}},
        "http_reqs": {"type": "counter", "contains": "default", "values": {"count": 32, "rate": 31.437996}},
        "http_req_duration": {"type": "trend", "contains": "time", "values": {"avg": 4.19, "med": 3, "p(95)": 13.06}}}}"#;
    let listed = r#"{"version": "1.0.0", "results": {"metrics": [
        {"name": "data_sent", "type": "counter", "contains": "data", "values": {"count": 9, "rate": 3}},
        {"name": "http_reqs", "type": "counter", "contains": "default", "values": {"count": 32, "rate": 31.437996}},
        {"name": "http_req_duration", "type": "trend", "contains": "time", "values": {"avg": 4.19, "med": 3, "p95": 13.06}}]}}"#;
    let capture = |name: &str| files(&format!("k6/{name}")).remove(0);
    for (file, p95, rate) in [
        (capture("v1.8_summary_export.json"), 80.211_609_599_999_79e-3, 38.176_952_152_702_746),
        (capture("v1.8_legacy.txt"), 80.21e-3, 38.176_952),
        (capture("v1.8_full.txt"), 13.06e-3, 31.437_996),
        (capture("v1.8_terminal.txt"), 27.3e-3, 49.974_584),
        (File::of_text("script.json", script), 13.06e-3, 31.437_996),
        (File::of_text("listed.json", listed), 13.06e-3, 31.437_996),
    ] {
        let record = import(std::slice::from_ref(&file), None).unwrap();
        let [time, requests, ..] = &record.metrics[..] else { panic!("{}", file.name) };
        assert_eq!(time.name, "http_req_duration", "{}", file.name);
        assert_eq!((&time.unit, time.direction), (&Unit::Second, Direction::Lower));
        assert_eq!(time.statistic.as_deref(), Some("p95"), "{}", file.name);
        assert_eq!(requests.name, "http_reqs rate", "{}", file.name);
        assert_eq!(requests.direction, Direction::Higher);
        assert_eq!(requests.unit, Unit::Named("1/s".to_owned()));
        for (at, expected) in [p95, rate].into_iter().enumerate() {
            let [found] = record.values(0, at)[..] else { panic!("{}", file.name) };
            assert!((found / expected - 1.0).abs() < 1e-12, "{}: {found}", file.name);
        }
    }
}
