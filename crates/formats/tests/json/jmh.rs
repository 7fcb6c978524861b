//! JMH's files.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn a_fork_is_a_process_and_throughput_is_better_when_higher() {
    insta::assert_snapshot!(
        read(
            r#"[{"jmhVersion": "1.37", "benchmark": "org.a.B.c", "mode": "thrpt", "threads": 1,
            "forks": 2, "jdkVersion": "21", "vmName": "OpenJDK", "params": {"size": "10", "kind": "x"},
            "primaryMetric": {"score": 2.5, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
              "scorePercentiles": {"0.0": 1, "50.0": 2.5, "99.99": 4, "100.0": 4},
              "scoreUnit": "ops/ms", "rawData": [[1, 2], [3, 4]]},
            "secondaryMetrics": {
              "·gc.alloc.rate.norm": {"score": 16, "scoreUnit": "B/op", "rawData": [[16, 16], [16, 16]]},
              "gc.alloc.rate": {"score": 9, "scoreUnit": "MB/sec", "rawData": [[9, 9], [9, 9]]}}},
            {"benchmark": "org.a.B.d", "mode": "sample",
            "primaryMetric": {"score": 2, "scoreError": 0.5, "scoreConfidence": [1.5, 2.5],
              "scoreUnit": "us/op", "rawDataHistogram": [[[[1, 3], [5, 1]]], [[[2, 1]]]]}},
            {"benchmark": "org.a.B.e", "mode": "avgt", "primaryMetric": {"score": 3, "scoreUnit": "ns/op"}},
            {"benchmark": "org.a.B.f", "mode": "avgt", "primaryMetric": {"score": 3, "scoreUnit": "ns/op", "rawData": [[3]]}},
            {"benchmark": "org.a.B.f", "mode": "thrpt", "primaryMetric": {"score": 3, "scoreUnit": "ops/s", "rawData": [[3]]}}]"#
        )
        .unwrap()
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"[{"benchmark": "a", "primaryMetric": {"rawData": [[1, "x"]]}}]"#).unwrap_err(),
        "a.json, line 1, at [0].primaryMetric.rawData[0][1]: invalid value: string \"x\", expected a number"
    );
    assert_eq!(
        read(r#"[{"jmhVersion": "1", "benchmark": "a"}]"#).unwrap_err(),
        "a.json, line 1, at [0]: missing field `primaryMetric`"
    );
    assert_eq!(
        read(r#"[{"benchmark": "a", "primaryMetric": {"score": "NaN", "rawData": [[]]}}]"#)
            .unwrap_err(),
        "a.json: it contains no measurement"
    );
}
