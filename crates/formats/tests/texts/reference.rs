//! Captures, read here and by a reader in Python that knows nothing of this crate: `reference/read.py`
//! writes `reference/values.json`.

use std::collections::BTreeMap;

use crate::common::files;
use becalm_formats::import;
use becalm_model::{Direction, Record};
use serde::Deserialize;

#[derive(Deserialize)]
struct Read {
    file: String,
    format: String,
    /// Subject, metric, unit, which way is better, and the value of each process.
    values: Vec<(String, String, String, String, Vec<f64>)>,
}

type Values = BTreeMap<(String, String), (String, &'static str, Vec<f64>)>;

fn values(record: &Record) -> Values {
    let mut found = Values::new();
    for (subject, named) in record.subjects.iter().enumerate() {
        for (at, metric) in record.metrics.iter().enumerate() {
            let values = record.values(subject, at);
            if values.is_empty() {
                continue;
            }
            let better = match metric.direction {
                Direction::Lower => "lower",
                Direction::Higher => "higher",
            };
            let key = (named.name.clone(), metric.name.clone());
            found.insert(key, (metric.unit.to_string(), better, values));
        }
    }
    found
}

#[test]
fn captures_are_read_as_another_reader_reads_them() {
    let all: Vec<Read> = serde_json::from_str(include_str!("../reference/values.json")).unwrap();
    let mut wrong = Vec::new();
    for Read { file, format, values: theirs } in all {
        let record = match import(&files(&file), None) {
            Ok(record) => record,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        let found = record.source.as_ref().map(|source| source.format.clone());
        if found.as_ref() != Some(&format) {
            wrong.push(format!("{file}: is taken for {found:?} and not for {format}"));
        }
        let mut ours = values(&record);
        for (subject, metric, unit, better, theirs) in theirs {
            let Some((own_unit, own_better, own)) = ours.remove(&(subject.clone(), metric.clone()))
            else {
                wrong.push(format!("{file}: {metric} of {subject} is missing"));
                continue;
            };
            let are_near = own.len() == theirs.len()
                && own.iter().zip(&theirs).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs());
            if (own_unit.as_str(), own_better) != (unit.as_str(), better.as_str()) || !are_near {
                wrong.push(format!(
                    "{file}: {metric} of {subject}: [{own_unit}, {own_better}] {own:?} is [{unit}, {better}] {theirs:?}"
                ));
            }
        }
        wrong
            .extend(ours.into_keys().map(|(subject, metric)| {
                format!("{file}: {metric} of {subject} is nowhere in it")
            }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
