//! Artillery: `run --output x.json`, and the summary that it prints.
//!
//! - From 2: `aggregate{counters{"http.requests": 20, "http.codes.200": 10}, rates{"http.request_rate": 8}, summaries{
//!   "http.response_time": {min, max, mean, median, p95, p99, ..}}}`; before, `aggregate{latency, rps{mean}, codes, errors,
//!   requestsCompleted}`. Times are in milliseconds.
//! - Text: `http.response_time:` with the figures indented below, `http.request_rate: ..... 8/sec`; before 2
//!   `Response time (msec):` and `Mean response/sec:` behind `Summary report`. The last report is the summary.

use becalm_model::{Direction, ImportFact};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::Imported;
use crate::json::{self, Maybe};
use crate::lines::{self, lines, number};
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "artillery",
    about: "artillery run --output",
    recognise: Takes::File(|file| {
        let names =
            |field| json::names(file, &['{'], &["\"aggregate\"", "\"intermediate\"", field]);
        names("\"scenariosCreated\"") || names("\"counters\"")
    }),
    read: Takes::File(read_json),
};

pub(crate) const TEXT: Entry = Entry {
    name: "artillery-text",
    about: "summary of artillery",
    recognise: Takes::File(|file| {
        lines::any(file, |line| line.starts_with("Summary report @ "))
            && lines::any(file, |line| is_time_head(line.trim()))
    }),
    read: Takes::File(read_text),
};

fn is_time_head(line: &str) -> bool {
    line == "Response time (msec):" || line.starts_with("http.response_time:")
}

#[derive(Deserialize)]
struct Document {
    aggregate: Aggregate,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Aggregate {
    latency: Maybe<Map<String, Value>>,
    rps: Maybe<Map<String, Value>>,
    codes: Maybe<Map<String, Value>>,
    errors: Maybe<Map<String, Value>>,
    counters: Maybe<Map<String, Value>>,
    rates: Maybe<Map<String, Value>>,
    summaries: Maybe<Map<String, Value>>,
}

/// What is called what, in the files and here.
const FIGURES: [(&str, &str); 9] = [
    ("min", "minimum"),
    ("max", "maximum"),
    ("mean", "mean"),
    ("median", "median"),
    ("p50", "median"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p999", "p99.9"),
];

/// The load of one file while it is read.
#[derive(Default)]
struct Report {
    load: Load,
    failed: f64,
    errors: f64,
}

impl Report {
    fn time(&mut self, field: &str, milliseconds: f64) {
        if let Some((_, name)) = FIGURES.iter().find(|(known, _)| *known == field)
            && self.load.figures.iter().all(|(known, _)| known != name)
        {
            self.load.figure(*name, Some(milliseconds * 1e-3));
        }
    }

    /// Counts answers with this status.
    fn code(&mut self, status: &str, count: f64) {
        if !status.starts_with(['2', '3']) {
            self.failed += count;
        }
    }

    fn add(mut self, imported: &mut Imported) {
        "artillery".clone_into(&mut self.load.name);
        self.load.stands_for_latency(["median", "mean"]);
        self.load.counts.push(("errors", Direction::Lower, self.errors));
        self.load.counts.push(("other statuses than 2xx and 3xx", Direction::Lower, self.failed));
        self.load.add(imported);
    }
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let aggregate = document.aggregate;
    let mut report = Report::default();
    let times = aggregate.summaries.get("http.response_time").and_then(Value::as_object);
    for (field, value) in times.unwrap_or(&aggregate.latency) {
        if let Some(value) = value.as_f64() {
            report.time(field, value);
        }
    }
    let rate = aggregate.rates.get("http.request_rate").or_else(|| aggregate.rps.get("mean"));
    report.load.requests = rate.and_then(Value::as_f64);
    for (status, count) in aggregate.codes.iter() {
        report.code(status, count.as_f64().unwrap_or(0.0));
    }
    for (name, count) in aggregate.counters.iter() {
        let count = count.as_f64().unwrap_or(0.0);
        if let Some(status) = name.strip_prefix("http.codes.") {
            report.code(status, count);
        } else if name.starts_with("errors.") {
            report.errors += count;
        }
    }
    report.errors += aggregate.errors.values().filter_map(Value::as_f64).sum::<f64>();
    let mut imported = Imported::of("artillery");
    imported.known(ImportFact::LatencyFromSending);
    report.add(&mut imported);
    Ok(imported)
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("artillery");
    imported.known(ImportFact::LatencyFromSending);
    let mut report = Report::default();
    let mut section = String::new();
    for (_, line) in lines(file)? {
        if line.starts_with("Summary report @ ") {
            report = Report::default();
            section.clear();
            continue;
        }
        let line = line.trim();
        let Some((label, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_start_matches('.').trim();
        if value.is_empty() {
            label.clone_into(&mut section);
            continue;
        }
        let Some(value) =
            number(value.trim_end_matches("/sec").split(' ').next().unwrap_or_default())
        else {
            continue;
        };
        match label {
            "Mean response/sec" | "http.request_rate" => report.load.requests = Some(value),
            _ if ["Response time (msec)", "http.response_time"].contains(&section.as_str())
                && FIGURES.iter().any(|(known, _)| *known == label) =>
            {
                report.time(label, value);
            }
            _ if section == "Codes" && label.bytes().all(|byte| byte.is_ascii_digit()) => {
                report.code(label, value);
            }
            _ if section == "Errors" => report.errors += value,
            _ => {
                if let Some(status) = label.strip_prefix("http.codes.") {
                    report.code(status, value);
                } else if label.starts_with("errors.") {
                    report.errors += value;
                }
            }
        }
    }
    report.add(&mut imported);
    Ok(imported)
}
