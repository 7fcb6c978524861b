//! vegeta: `vegeta report`, as text and as JSON.
//!
//! - JSON: `latencies{total, mean, 50th, 90th, 95th, 99th, max, min}` in nanoseconds, `rate` as it was asked for and
//!   `throughput` of what succeeded, per second.
//! - Text: the names of the figures stand in brackets beside each label, and differ between versions.
//!
//! A report does not say what was attacked, nor how.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportFact};
use serde::Deserialize;

use crate::imported::Imported;
use crate::json::{self, Maybe, Number};
use crate::lines::{self, duration, lines, number};
use crate::messages::messages;
use crate::readers::load::Load;
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "vegeta",
    about: "vegeta report -type json",
    recognise: Takes::File(|file| {
        json::names(
            file,
            &['{'],
            &["\"latencies\"", "\"status_codes\"", "\"throughput\"", "\"success\""],
        )
    }),
    read: Takes::File(read_json),
};

pub(crate) const TEXT: Entry = Entry {
    name: "vegeta-text",
    about: "output of vegeta report",
    recognise: Takes::File(|file| {
        lines::any(file, |line| row(line).is_some_and(|(label, ..)| label == "Latencies"))
    }),
    read: Takes::File(read_text),
};

#[derive(Deserialize)]
struct Report {
    latencies: BTreeMap<String, Number>,
    bytes_in: Maybe<BTreeMap<String, Number>>,
    duration: Number,
    wait: Number,
    requests: Number,
    rate: Number,
    throughput: Number,
    success: Number,
}

/// Returns what becalm calls a figure of the latency.
fn figure(name: &str) -> Option<String> {
    Some(match name {
        "min" => "minimum".to_owned(),
        "mean" => "mean".to_owned(),
        "max" => "maximum".to_owned(),
        "50" | "50th" => "median".to_owned(),
        "total" => return None,
        other => format!("p{}", other.trim_end_matches("th")),
    })
}

fn load(latencies: impl IntoIterator<Item = (String, f64)>) -> Load {
    let mut load = Load { name: "vegeta".to_owned(), ..Load::default() };
    for (name, seconds) in latencies {
        if let Some(name) = figure(&name) {
            load.figure(name, Some(seconds));
        }
    }
    load.stands_for_latency(["median", "mean"]);
    load
}

/// Adds what of the requests succeeded and what did not.
fn successes(load: &mut Load, requests: Option<f64>, success: Option<f64>) {
    if let Some(success) = success {
        load.counts.push(("success", Direction::Higher, success));
        load.counts.extend(
            requests.map(|requests| {
                ("failures", Direction::Lower, (requests * (1.0 - success)).round())
            }),
        );
    }
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("vegeta");
    imported.known(ImportFact::LatencyFromSending);
    for (before, text) in messages(file.text()?) {
        let report: Report = json::read_text(file, text, before)?;
        let latencies = report
            .latencies
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.0? * NANOSECOND)));
        let mut load = load(latencies);
        load.requests = report.throughput.0;
        let seconds =
            (report.duration.0.unwrap_or(0.0) + report.wait.0.unwrap_or(0.0)) * NANOSECOND;
        let bytes = report.bytes_in.get("total").and_then(|total| total.0);
        load.transfer = bytes.map(|bytes| bytes / seconds).filter(|rate| rate.is_finite());
        load.parameters.extend(report.rate.0.map(|rate| ("rate", rate.round().to_string())));
        successes(&mut load, report.requests.0, report.success.0);
        load.add(&mut imported);
    }
    Ok(imported)
}

fn split(text: &str) -> Vec<&str> {
    text.split(", ").map(str::trim).collect()
}

/// Splits `Requests  [total, rate, throughput]  100, 50.80, 49.43`.
fn row(line: &str) -> Option<(&str, Vec<&str>, Vec<&str>)> {
    let (label, rest) = line.split_once('[')?;
    let (names, values) = rest.split_once(']')?;
    let label = label.trim();
    ["Requests", "Duration", "Latencies", "Bytes In", "Success"]
        .contains(&label)
        .then(|| (label, split(names), split(values)))
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("vegeta");
    imported.known(ImportFact::LatencyFromSending);
    let mut rows: BTreeMap<String, f64> = BTreeMap::new();
    for (at, line) in lines(file)? {
        let Some((label, names, values)) = row(&line) else { continue };
        if label == "Requests" {
            add_rows(&mut imported, &std::mem::take(&mut rows));
        }
        for (name, value) in names.iter().zip(values) {
            let read = match label {
                "Duration" | "Latencies" => duration(value),
                _ => number(value.trim_end_matches('%')),
            };
            let read = read.ok_or_else(|| {
                ImportError::at_line(file, at, "a number for each name", line.trim())
            })?;
            rows.insert(format!("{label} {name}"), read);
        }
    }
    add_rows(&mut imported, &rows);
    Ok(imported)
}

fn add_rows(imported: &mut Imported, rows: &BTreeMap<String, f64>) {
    let of = |name: &str| rows.get(name).copied();
    let latencies = rows
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("Latencies ")?.to_owned(), *value)));
    let mut load = load(latencies);
    load.requests = of("Requests throughput");
    load.transfer = of("Bytes In total")
        .zip(of("Duration total"))
        .map(|(bytes, seconds)| bytes / seconds)
        .filter(|rate| rate.is_finite());
    load.parameters.extend(of("Requests rate").map(|rate| ("rate", rate.round().to_string())));
    successes(&mut load, of("Requests total"), of("Success ratio").map(|percent| percent / 100.0));
    load.add(imported);
}
