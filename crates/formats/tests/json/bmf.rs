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

#[test]
fn values_between_bounds_are_no_samples_and_units_in_names_are_units() {
    let record = import(
        &[File::of_text(
            "a.json",
            r#"{"a": {"latency": {"value": 2, "lower_value": 1, "upper_value": 3}, "max_rss (B)": {"value": 5},
                "MB/s (B/s)": {"value": 7}, "value (items/s)": {"value": 8}}}"#,
        )],
        None,
    )
    .unwrap();
    let mut found: Vec<String> = (record.metrics.iter())
        .map(|one| format!("{} [{}] {:?}", one.name, one.quantity(), one.statistic))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "a MB/s [B/s, more is better] None",
            "a [items/s, more is better] [items/s, more is better] None",
            "a [s, less is better] Some(\"estimate\")",
            "a max_rss [B, less is better] None",
        ]
    );
}

#[test]
fn the_measures_of_bencher_itself_have_their_units_by_name_and_by_slug() {
    let described = |measure: &str| {
        let text = format!(r#"{{"a": {{"{measure}": {{"value": 5}}}}}}"#);
        let record = import(&[File::of_text("a.json", &text)], None).unwrap();
        let metric = &record.metrics[0];
        format!("{} [{}] {:?}", metric.name, metric.quantity(), record.values(0, 0))
    };
    let expected = [
        ("latency", "a [s, less is better] [5e-9]"),
        ("Latency", "a [s, less is better] [5e-9]"),
        ("build-time", "a build-time [s, less is better] [5.0]"),
        ("Build Time", "a Build Time [s, less is better] [5.0]"),
        ("sys-cpu-time", "a sys-cpu-time [s, less is better] [5e-9]"),
        ("File Size", "a File Size [B, less is better] [5.0]"),
        ("file-size", "a file-size [B, less is better] [5.0]"),
        ("Allocated", "a Allocated [B, less is better] [5.0]"),
        ("at-t-gmax-bytes", "a at-t-gmax-bytes [B, less is better] [5.0]"),
        ("L1 Hit Rate", "a L1 Hit Rate [%, more is better] [5.0]"),
        ("ram-hit-rate", "a ram-hit-rate [%, less is better] [5.0]"),
    ];
    for (measure, shown) in expected {
        assert_eq!(described(measure), shown);
    }
}
