//! Files of the Bencher Metric Format.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn measures_are_latency_throughput_and_others() {
    insta::assert_snapshot!(
        read(
            r#"{"a::b": {"latency": {"value": 88.0, "lower_value": 87, "upper_value": 89},
            "throughput": {"value": 5000}, "Total Bytes": {"value": 662}, "things": {"value": 3}},
            "c": {"latency": {"value": null}}}"#
        )
        .unwrap()
    );
}

#[test]
fn the_newer_shape_has_parameters_and_figures() {
    insta::assert_snapshot!(
        read(
            r#"{"a": [{"parameters": {"size": 16, "op": "x"}, "measures": {"latency": {"value": 1, "p99": 3}}},
            {"parameters": {"op": "x", "size": 16.0}, "measures": {"latency": {"value": 2}}},
            {"measures": {"latency": {"p50": 7, "p99": 9}}}]}"#
        )
        .unwrap()
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"a": {"latency": {"value": "x"}}}"#).unwrap_err(),
        "a.json, at a.latency.value: expected a number, found `x`"
    );
    assert_eq!(
        read(r#"{"a": {"latency": 3, "x": {"value": 1}}}"#).unwrap_err(),
        "a.json, at a.latency: expected an object with `value`, found `3`"
    );
    assert_eq!(
        read(r#"{"a": [{"value": 1}]}"#).unwrap_err(),
        "a.json, at a[0].measures: expected an object, found `nothing`"
    );
}
