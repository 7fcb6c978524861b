//! Loads of servers as the formats of other tools.

use base64::Engine as _;
use becalm_model::load::{Latency, LoadCounts, LoadSecond, RunLoad};
use becalm_model::{Metric, Record, RecordKind, Run, Subject, Unit};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};

use crate::support::{export, text, there_and_back};

fn latency(milliseconds: impl Iterator<Item = u64>, censored: u64) -> Latency {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    histogram.auto(true);
    milliseconds.for_each(|ms| histogram.record(ms * 1_000_000).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    Latency {
        known: histogram.len(),
        censored,
        histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
        ..Latency::default()
    }
}

/// Two servers, of which the second takes twice as long; each run has 100 requests, of which one fails.
fn loaded() -> Record {
    let mut record = Record::empty(RecordKind::Comparison);
    record.metrics = vec![Metric::lower("response_p99", Unit::Second)];
    record.subjects = ["old server", "new"]
        .map(|name| Subject::new(name.to_owned(), vec![name.to_owned()]))
        .to_vec();
    for (number, which) in [0_usize, 1, 1, 0].into_iter().enumerate() {
        let times = |from: u64| latency((0..99).map(move |n| (n + from) * (which as u64 + 1)), 1);
        let load = RunLoad {
            seed: 1,
            counts: LoadCounts {
                scheduled: 100,
                sent: 100,
                answered: 99,
                errors: 1,
                ..LoadCounts::default()
            },
            elapsed: 2.5,
            answering: Some(2.0),
            response: times(2),
            service: times(1),
            lag: latency(std::iter::repeat_n(1, 100), 0),
            seconds: (0..2)
                .map(|second| LoadSecond {
                    second,
                    scheduled: 50,
                    answered: 50,
                    response_p50: Some(0.05),
                    ..LoadSecond::default()
                })
                .collect(),
            ..RunLoad::default()
        };
        record.runs.push(Run {
            started: 3.0 * number as f64,
            values: vec![Some(0.1)],
            load: Some(Box::new(load)),
            ..Run::blank(which, u32::try_from(number / 2).unwrap())
        });
    }
    record
}

fn near(found: &[f64], expected: f64) -> bool {
    found.len() == 1 && (found[0] / expected - 1.0).abs() < 0.002
}

#[test]
fn a_log_of_histograms_has_every_run_and_is_read_again() {
    let log = text(&loaded(), "hdr-log", &[]);
    assert_eq!(log.lines().filter(|line| line.starts_with("Tag=")).count(), 12);
    assert!(log.contains("Tag=old_server.response,0.000,2.500,"), "{log}");
    let median = |tag: &str| {
        let line = log.lines().find(|line| line.starts_with(&format!("Tag={tag},"))).unwrap();
        let cells: Vec<&str> = line.split(',').collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(cells[4]).unwrap();
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        // The largest value, in milliseconds.
        assert!(near(&[cells[3].parse().unwrap()], histogram.max() as f64 * 1e-6), "{line}");
        histogram.value_at_quantile(0.5) as f64 * 1e-9
    };
    // The medians of 2 to 100 ms, and of twice that.
    assert!(near(&[median("old_server.response")], 0.051));
    assert!(near(&[median("new.response")], 0.102));
    let notes = export(&loaded(), "hdr-log", &[]).unwrap().notes;
    assert_eq!(notes, ["requests without the expected answer, which have no time: 4"]);
}

#[test]
fn a_table_has_a_row_for_each_second() {
    let table = text(&loaded(), "load-csv", &[]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * 2);
    assert_eq!(lines[1], "old server,0,0,50,50,0,0,0,0.050000000,,,,,");
    assert!(lines.iter().all(|line| line.split(',').count() == 14));
}

#[test]
fn a_summary_of_k6_is_about_one_subject_and_is_read_again() {
    let error = export(&loaded(), "k6-summary", &[]).unwrap_err().to_string();
    assert!(error.contains("--subject"), "{error}");
    let mut one = loaded();
    one.runs.retain(|run| run.subject == 0);
    let summary = text(&one, "k6-summary", &[]);
    let document: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let duration = &document["metrics"]["http_req_duration"];
    assert!(near(&[duration["med"].as_f64().unwrap()], 50.0), "{duration}");
    assert_eq!(document["metrics"]["http_reqs"]["count"], 200);
    assert!(near(&[document["metrics"]["http_req_failed"]["value"].as_f64().unwrap()], 0.01));
    let back = there_and_back(&one, "k6-summary", "k6", &[]);
    assert!(back.metric_index("http_req_duration").is_some(), "{:?}", back.metrics);
}

#[test]
fn a_record_without_loads_has_nothing_for_them() {
    for format in ["hdr-log", "load-csv", "k6-summary"] {
        let error = export(&crate::support::compared(), format, &[]).unwrap_err().to_string();
        assert!(error.contains("compare --load"), "{error}");
    }
}
