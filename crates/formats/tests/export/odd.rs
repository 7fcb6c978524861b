//! Odd names and odd values do no harm.

use becalm_formats::{File, WRITERS, import};
use becalm_model::{
    Comparison, Direction, Metric, Note, Part, RatioInterval, Record, RecordKind, Run, Subject,
    Unit, Verdict,
};
use proptest::prelude::*;
use quick_xml::events::Event;

use crate::support::{choose, contents};

/// Names as nobody should have them.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[a-z <>&\"'\n\t\r\u{0}\u{1}\u{b}\u{85}\u{2028}\u{feff}\u{ffff}\u{1F600},;:/=-]{0,6}",
        Just("Benchmark".to_owned()),
        Just("Benchmark-8".to_owned()),
        Just("#".to_owned()),
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(Unit::Second),
        Just(Unit::Byte),
        Just(Unit::Count),
        Just(Unit::Named("MB/s".to_owned())),
        name().prop_map(Unit::Named),
    ]
}

/// Finite values and others.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 1e-9..1e3, 1 => any::<f64>(), 1 => Just(0.0)]
}

fn metric() -> impl Strategy<Value = Metric> {
    let benchmark = proptest::option::of(name());
    (name(), unit(), any::<[bool; 2]>(), benchmark, proptest::option::of(name())).prop_map(
        |(name, unit, [higher, exact], benchmark, statistic)| Metric {
            name: benchmark.as_ref().map_or(name.clone(), |of| format!("{of} {name}")),
            unit,
            direction: if higher { Direction::Higher } else { Direction::Lower },
            exact,
            benchmark,
            statistic,
        },
    )
}

fn record() -> impl Strategy<Value = Record> {
    let metrics = proptest::collection::vec(metric(), 1..5);
    let subjects = proptest::collection::vec(name(), 1..4);
    let values = proptest::collection::vec(proptest::collection::vec(value(), 0..4), 0..40);
    (metrics, subjects, values, any::<[bool; 2]>(), -1e12..1e12_f64).prop_map(
        |(mut metrics, subjects, values, [own, wall], started_at)| {
            metrics.sort_by_key(|metric| metric.benchmark.is_some());
            if wall {
                metrics.insert(0, Metric::lower("wall_time", Unit::Second));
            }
            metrics.dedup_by(|a, b| a.name == b.name);
            let kind = if own { RecordKind::Comparison } else { RecordKind::Import };
            let mut record = Record::empty(kind);
            let whole = metrics.iter().filter(|metric| metric.benchmark.is_none()).count();
            let n = metrics.len();
            for subject in subjects {
                let command = vec![subject.clone(), "x y".to_owned()];
                let parameters = vec![(subject.clone(), subject.clone())];
                record.subjects.push(Subject { parameters, ..Subject::new(subject, command) });
            }
            for (at, of_run) in values.chunks(n).enumerate() {
                let first = |at: usize| of_run.get(at).and_then(|values| values.first().copied());
                let parts = (whole..n).filter_map(|metric| {
                    Some(Part { metric, value: first(metric)?, iterations: of_run[metric].clone() })
                });
                record.runs.push(Run {
                    warmup: at == 0,
                    discarded: at == 3,
                    values: (0..whole).map(first).collect(),
                    parts: parts.collect(),
                    ..Run::blank(at % record.subjects.len(), 0)
                });
            }
            record.comparisons = (0..n)
                .map(|metric| Comparison {
                    baseline: 0,
                    candidate: record.subjects.len() - 1,
                    metric,
                    primary: metric == 0,
                    ratio: (metric > 0).then_some(RatioInterval {
                        estimate: 1.0,
                        low: 0.0,
                        high: f64::INFINITY,
                    }),
                    verdict: Verdict::ALL[metric % 4],
                    confidence: 0.95,
                    rounds: 1,
                    discarded_rounds: 0,
                    noise_floor: None,
                    rounds_needed: None,
                    notes: record.subjects.iter().map(|one| Note::text(&one.name)).collect(),
                })
                .collect();
            record.metrics = metrics;
            record.started_at = started_at;
            record
        },
    )
}

fn check_xml(text: &str) {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return,
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let _ = attribute.unwrap();
                }
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_record_is_written_or_refused(record in record()) {
        for writer in WRITERS {
            for metrics in [&[][..], &["all"]] {
                let options = choose(&record, metrics, &[]);
                let Ok(exported) = (writer.write)(&record, &options) else { continue };
                if writer.ending == "parquet" {
                    continue;
                }
                let text = std::str::from_utf8(&exported.bytes).unwrap();
                match writer.ending {
                    "json" => {
                        let document: serde_json::Value = serde_json::from_str(text).unwrap();
                        prop_assert!(document.is_object() || document.is_array());
                        // What was no number would have become null.
                        prop_assert!(!text.contains("\"value\": null"), "{}", text);
                    }
                    "xml" => check_xml(text),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn csv_is_read_again_as_it_was(record in record()) {
        let mut record = record;
        let mut names = std::collections::HashSet::new();
        let finite = record.runs.iter().all(|run| {
            let parts = run.parts.iter().flat_map(|part| part.iterations.iter().copied().chain([part.value]));
            run.values.iter().flatten().copied().chain(parts).all(f64::is_finite)
        });
        // Names are unique in a record, and no two mean the same.
        prop_assume!(record.subjects.iter().all(|one| names.insert(one.name.clone())));
        names.clear();
        prop_assume!(record.metrics.iter().all(|one| !one.name.is_empty() && names.insert(one.name.clone())));
        prop_assume!(finite);
        for metric in &mut record.metrics {
            metric.benchmark = metric.benchmark.take().filter(|name| !name.is_empty());
            metric.statistic = metric.statistic.take().filter(|name| !name.is_empty());
            metric.unit = Unit::from_name(&metric.unit.to_string());
        }
        // A metric of a benchmark without a name would be one of the process.
        prop_assume!(record.runs.iter().all(|run| run.parts.iter().all(|part| record.metrics[part.metric].benchmark.is_some())));
        let csv = becalm_formats::writer("csv").unwrap();
        let Ok(exported) = (csv.write)(&record, &choose(&record, &["all"], &[])) else { return Ok(()) };
        let file = File::new("x.csv", exported.bytes);
        match import(&[file], Some("csv")) {
            Ok(back) => {
                let sorted = |record: &Record| {
                    let mut contents = contents(record);
                    contents.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
                    contents
                };
                prop_assert_eq!(sorted(&back), sorted(&record));
            }
            Err(error) => {
                let of_warmup = contents(&record).iter().all(|(.., values)| values.iter().all(|one| one.0));
                prop_assert!(of_warmup, "{error}");
            }
        }
    }
}
