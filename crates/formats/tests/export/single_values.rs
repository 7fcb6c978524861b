//! Formats with one figure per benchmark.

use becalm_formats::{Estimate, ExportError, File, import, writer};
use becalm_model::{Direction, Metric, Unit};
use serde_json::{Value, json};

use crate::support::{choose, compared, export, harness, text, there_and_back, values};

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Bencher's schema of BMF, <https://bencher.dev/bmf.json>, with additional properties refused at the
/// level of figures: others would be lost.
fn bmf_schema() -> Value {
    let number = json!({"type": "number"});
    let figures = json!({
        "type": "object",
        "properties": {"value": number, "lower_value": number, "upper_value": number},
        "required": ["value"],
        "additionalProperties": false,
    });
    let measures = json!({"type": "object", "patternProperties": {".+": figures}, "additionalProperties": false});
    json!({
        "$schema": "http://json-schema.org/draft-07/schema",
        "type": "object",
        "patternProperties": {".+": measures},
        "additionalProperties": false,
    })
}

#[test]
fn bmf_is_as_its_schema_wants() {
    let schema = jsonschema::validator_for(&bmf_schema()).unwrap();
    assert!(!schema.is_valid(&json!({"a": {"latency": {"lower_value": 1}}})), "the schema is one");
    for record in [compared(), harness()] {
        for metrics in [&[][..], &["all"]] {
            let document = document(&text(&record, "bmf", metrics));
            let wrong: Vec<_> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{wrong:?}: {document}");
        }
    }
}

#[test]
fn bmf_has_latency_throughput_and_others_by_name() {
    let record = compared();
    let options = choose(&record, &["wall_time", "max_rss"], &[]);
    let options =
        options.with_estimates(vec![Estimate { subject: 1, metric: 0, low: 1e-3, high: 3e-7 }]);
    let exported = (writer("bmf").unwrap().write)(&record, &options).unwrap();
    let found = document(std::str::from_utf8(&exported.bytes).unwrap());
    let bound = |name: &str| found["B"]["latency"][name].as_f64();
    assert_eq!((bound("lower_value"), bound("upper_value")), (Some(1e6), Some(300.0)));
    assert_eq!(found["A"]["latency"].as_object().unwrap().len(), 1);
    let memory = median(&values(&record, "A", "max_rss"));
    assert_eq!(found["A"]["max_rss (B)"]["value"].as_f64(), Some(memory));

    let mut record = harness();
    record.metrics[4].name = "BenchmarkScan/n=8 throughput".to_owned();
    record.metrics[4].unit = Unit::Named("rows/s".to_owned());
    let found = document(&text(&record, "bmf", &[]));
    let rate = &found["example.com/a BenchmarkScan/n=8"]["throughput"]["value"];
    let ours = values(&record, "example.com/a", "BenchmarkScan/n=8 throughput");
    assert_eq!(rate.as_f64(), Some(median(&ours)));
}

#[test]
fn no_format_loses_a_unit() {
    let record = harness();
    let wanted = record.metrics[4].clone();
    assert_eq!(
        (wanted.name.as_str(), wanted.unit.to_string()),
        ("BenchmarkScan/n=8 MB/s", "B/s".to_owned())
    );
    let ours = median(&values(&record, "example.com/a", &wanted.name));
    for (to, from) in [
        ("bmf", "bmf"),
        ("customBiggerIsBetter", "github-action-benchmark"),
        ("go-bench", "go-bench"),
        ("csv", "csv"),
    ] {
        let back = there_and_back(&record, to, from, &[&wanted.name]);
        let (at, metric) = (back.metrics.iter().enumerate())
            .find(|(_, one)| one.name.contains("MB/s"))
            .unwrap_or_else(|| panic!("{to}: {:?}", back.metrics));
        assert_eq!(metric.quantity(), wanted.quantity(), "{to}");
        let theirs = (0..back.subjects.len())
            .flat_map(|subject| back.values(subject, at))
            .collect::<Vec<_>>();
        assert!(
            theirs.iter().any(|value| (value / ours - 1.0).abs() < 1e-12),
            "{to}: {ours} {theirs:?}"
        );
    }
    let found = document(&text(&record, "bmf", &[&wanted.name]));
    let measures = found["example.com/a BenchmarkScan/n=8"].as_object().unwrap();
    assert_eq!(measures.keys().collect::<Vec<_>>(), ["MB/s (B/s)"]);
    // Bytes per second are no operations per second.
    let mut record = record;
    record.metrics[4].name = "BenchmarkScan/n=8 throughput".to_owned();
    let found = document(&text(&record, "bmf", &["BenchmarkScan/n=8 throughput"]));
    let measures = found["example.com/a BenchmarkScan/n=8"].as_object().unwrap();
    assert_eq!(measures.keys().collect::<Vec<_>>(), ["throughput (B/s)"]);
}

#[test]
fn bmf_comes_back_as_medians() {
    let record = compared();
    let back = there_and_back(&record, "bmf", "bmf", &[]);
    for subject in ["A", "B"] {
        let [ours, theirs] =
            [&values(&record, subject, "wall_time"), &values(&back, "BMF", subject)]
                .map(|v| median(v));
        assert!((theirs / ours - 1.0).abs() < 1e-15, "{ours} {theirs}");
        let metric = &back.metrics[back.metric_index(subject).unwrap()];
        assert_eq!((&metric.unit, metric.direction), (&Unit::Second, Direction::Lower));
    }
}

#[test]
fn the_custom_json_of_the_action_comes_back_bit_by_bit() {
    let record = compared();
    let back = there_and_back(&record, "github-action-benchmark", "github-action-benchmark", &[]);
    for subject in ["A", "B"] {
        let theirs = values(&back, "github-action-benchmark", subject);
        assert_eq!(theirs, [median(&values(&record, subject, "wall_time"))]);
        assert_eq!(back.metrics[back.metric_index(subject).unwrap()].unit, Unit::Second);
    }
    let options = choose(&record, &[], &["A"]);
    let options =
        options.with_estimates(vec![Estimate { subject: 0, metric: 0, low: 0.0, high: 1.0 }]);
    let bytes =
        (writer("github-action-benchmark").unwrap().write)(&record, &options).unwrap().bytes;
    let back = import(&[File::new("x", bytes)], None).unwrap();
    assert_eq!(back.summaries[0].figures.len(), 2);
}

#[test]
fn the_action_has_one_direction() {
    let record = harness();
    let error = export(&record, "github-action-benchmark", &[]).unwrap_err();
    assert!(matches!(error, ExportError::Directions { .. }), "{error}");
    let names = |format: &str, metrics: &[&str]| -> Vec<String> {
        let exported = export(&record, format, metrics).unwrap();
        let found = document(std::str::from_utf8(&exported.bytes).unwrap());
        let benches = found.as_array().unwrap();
        benches.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let rate = "BenchmarkScan/n=8 MB/s";
    let both = [format!("example.com/a {rate}"), format!("example.com/b {rate}")];
    assert_eq!(names("customBiggerIsBetter", &[]), both);
    assert_eq!(names("github-action-benchmark", &[rate]), both);
    let smaller = names("customSmallerIsBetter", &[]);
    assert!(smaller.len() == 8 && !smaller.contains(&both[0]), "{smaller:?}");
    let exported = export(&record, "customSmallerIsBetter", &[]).unwrap();
    assert!(exported.notes[0].contains("more is better for it"), "{:?}", exported.notes);
}

#[test]
fn results_are_exported_and_what_is_beside_them_is_told() {
    let mut record = compared();
    record.metrics[5] = Metric::lower("latency_p99", Unit::Second);
    let exported = export(&record, "go-bench", &[]).unwrap();
    assert_eq!(
        exported.notes[0],
        "not exported, because the default is results only (--metric chooses others): cpu_time, user_time, system_time, max_rss"
    );
    assert!(String::from_utf8(exported.bytes).unwrap().contains("latency_p99-ns"));
    assert_eq!(
        export(&record, "go-bench", &["all"]).unwrap().notes,
        ["runs that failed are exported like others: 2"]
    );
}

#[test]
fn what_cannot_be_exported_says_why() {
    let mut record = harness();
    record.metrics.truncate(5);
    let rate = ["BenchmarkScan/n=8 MB/s"];
    let error = export(&record, "pyperf", &rate).unwrap_err().to_string();
    assert_eq!(
        error,
        "pyperf cannot contain any of this: pyperf supports only seconds, bytes and plain numbers (BenchmarkScan/n=8 MB/s)"
    );
    let error = export(&record, "hyperfine", &rate).unwrap_err().to_string();
    assert!(error.contains("only seconds"), "{error}");
    let error = export(&record, "junit", &[]).unwrap_err().to_string();
    assert!(error.contains("subjects that were not compared"), "{error}");
    let wrong = becalm_formats::Options::choose(&record, &["nope".to_owned()], &[]);
    assert!(
        wrong.unwrap_err().to_string().starts_with("the record has no metric `nope`; it has Bench")
    );
    assert!(writer("nope").is_err());
}
