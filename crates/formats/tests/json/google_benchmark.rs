//! google-benchmark's files.

use crate::common::{capture, condensed};
use becalm_formats::{File, import};
use becalm_model::Direction;

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], Some("google-benchmark"))
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn repetitions_are_iterations_of_one_process() {
    let path = "google-benchmark/self_v1.9.5_repeats_bigo_counters.json";
    insta::assert_snapshot!(condensed(&capture(path, "google-benchmark")));
}

#[test]
fn a_file_with_only_aggregates_is_marked_so() {
    let row = |statistic: &str, time: f64| {
        format!(
            r#"{{"name": "BM/8_{statistic}", "run_name": "BM/8", "run_type": "aggregate",
            "aggregate_name": "{statistic}", "aggregate_unit": "time", "iterations": 5,
            "real_time": {time}, "cpu_time": {time}, "time_unit": "us", "rate": NaN}}"#
        )
    };
    let rows = [row("mean", 12.0), row("median", 11.0), row("stddev", 1.0), row("p99", 14.0)];
    let text = format!(r#"{{"context": {{}}, "benchmarks": [{}]}}"#, rows.join(","));
    insta::assert_snapshot!(read(&text).unwrap());
}

#[test]
fn old_files_have_no_types_of_rows() {
    insta::assert_snapshot!(
        read(
            r#"{"benchmarks": [
            {"name": "a", "iterations": 10, "real_time": 5, "cpu_time": 4, "bytes_per_second": 1e9, "label": "x"},
            {"name": "a", "iterations": 10, "real_time": 7, "cpu_time": 4, "bytes_per_second": 2e9},
            {"name": "a_mean", "iterations": 2, "real_time": 6, "cpu_time": 4},
            {"name": "a_stddev", "iterations": 2, "real_time": 1, "cpu_time": 0},
            {"name": "of_mean", "real_time": 1, "cpu_time": 2, "time_unit": "ms", "Foo": 3},
            {"name": "a_BigO", "cpu_coefficient": 1, "real_coefficient": 2, "big_o": "N", "time_unit": "ns"},
            {"name": "a_RMS", "rms": 0.2},
            {"name": "bad", "error_occurred": true, "error_message": "no file", "real_time": 0}]}"#
        )
        .unwrap()
    );
}

#[test]
fn of_two_fields_with_one_name_the_last_counts() {
    let row =
        r#"{"name": "a", "real_time": 1, "real_time": 2, "n": 8, "n": 9, "gone": 7, "gone": null}"#;
    let text = format!(r#"{{"benchmarks": [{row}, {row}]}}"#);
    let record = import(&[File::of_text("a.json", &text)], Some("google-benchmark")).unwrap();
    let parts = &record.runs[0].parts;
    let values: Vec<(&str, f64, usize)> = parts
        .iter()
        .map(|part| (record.metrics[part.metric].name.as_str(), part.value, part.iterations.len()))
        .collect();
    assert_eq!(values, [("a", 2e-9, 2), ("a n", 9.0, 2)]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": 5}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].time_unit: expected a unit of time, found `5`"
    );
    assert_eq!(
        read(r#"{"benchmarks": [{"name": "a", "real_time": "x"}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].real_time: expected a number, found `x`"
    );
    assert_eq!(
        read(r#"{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "B"}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].time_unit: expected a unit of time, found `B`"
    );
    assert_eq!(
        read(r#"{"benchmarks": [{"real_time": 1}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].name: expected a name, found `nothing`"
    );
    assert_eq!(read(r#"{"benchmarks": []}"#).unwrap_err(), "a.json: it contains no measurement");
}

#[test]
fn of_counters_that_are_rates_more_is_better() {
    let record = capture("google-benchmark/self_v1.7.1_rates.json", "google-benchmark");
    let direction = |name: &str| {
        let at = record.metric_index(&format!("sum/4096 {name}")).unwrap();
        record.metrics[at].direction
    };
    for rate in ["bytes_per_second", "items_per_second", "frames", "queries"] {
        assert_eq!(direction(rate), Direction::Higher, "{rate}");
    }
    for other in ["cost", "depth", "cpu_time"] {
        assert_eq!(direction(other), Direction::Lower, "{other}");
    }
    let named = r#"{"benchmarks": [{"name": "a", "run_type": "iteration", "iterations": 10, "real_time": 5, "cpu_time": 4,
        "time_unit": "ns", "GFLOPS": 3, "hit_rate": 0.5, "miss_rate": 0.5, "Throughput": 2, "probes": 7}]}"#;
    let record = import(&[File::of_text("a.json", named)], None).unwrap();
    let higher: Vec<&str> = (record.metrics.iter())
        .filter(|metric| metric.direction == Direction::Higher)
        .map(|metric| metric.name.as_str())
        .collect();
    assert_eq!(higher, ["a GFLOPS", "a hit_rate", "a Throughput"]);
}
