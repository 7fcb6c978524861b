//! autocannon: `--json`, and what it prints.
//!
//! - JSON: `url`, `connections`, `pipelining`, `latency{average, p50, ..}` in milliseconds, `requests` and `throughput`
//!   per second, sampled once a second; `errors`, `timeouts`, `non2xx`.
//! - Text: `Running 2s test @ URL`, as wrk begins, then tables of `│`. Bytes have prefixes of powers of 1000. Without a
//!   terminal the first lines may be missing.

use becalm_model::{Direction, ImportFact};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::Imported;
use crate::json::{self, Maybe, Number, Text};
use crate::lines::{self, lines, number, quantity, split_quantity, time};
use crate::messages::messages;
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "autocannon",
    about: "autocannon --json",
    recognise: Takes::File(|file| {
        json::names(
            file,
            &['{'],
            &["\"connections\"", "\"pipelining\"", "\"latency\"", "\"non2xx\""],
        )
    }),
    read: Takes::File(read_json),
};

pub(crate) const TEXT: Entry = Entry {
    name: "autocannon-text",
    about: "output of autocannon",
    recognise: Takes::File(|file| {
        ["Latency", "Req/Sec"].iter().all(|label| {
            lines::any(file, |line| cells(line).is_some_and(|cells| cells.first() == Some(label)))
        })
    }),
    read: Takes::File(read_text),
};

#[derive(Deserialize)]
struct Report {
    url: Text,
    connections: Text,
    pipelining: Text,
    latency: Map<String, Value>,
    requests: Maybe<Figures>,
    throughput: Maybe<Figures>,
    errors: Number,
    timeouts: Number,
    non2xx: Number,
}

#[derive(Deserialize, Default)]
struct Figures {
    average: Number,
}

/// Names of the figures of the latency, in JSON and in the tables.
const FIGURES: [(&str, &str, &str); 13] = [
    ("min", "Min", "minimum"),
    ("average", "Avg", "mean"),
    ("stddev", "Stdev", "standard_deviation"),
    ("p2_5", "2.5%", "p2.5"),
    ("p10", "10%", "p10"),
    ("p25", "25%", "p25"),
    ("p50", "50%", "median"),
    ("p75", "75%", "p75"),
    ("p90", "90%", "p90"),
    ("p97_5", "97.5%", "p97.5"),
    ("p99", "99%", "p99"),
    ("p99_9", "99.9%", "p99.9"),
    ("max", "Max", "maximum"),
];

/// Milliseconds are whole numbers, but for the mean, which therefore stands for the latency.
const MEAN_FIRST: [&str; 2] = ["mean", "median"];

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("autocannon");
    // With a rate it adds values that it did not measure, unless `--ignoreCoordinatedOmission` is given; no file says which.
    imported.known(ImportFact::LatencyStartUnknown);
    for (before, text) in messages(file.text()?) {
        let report: Report = json::read_text(file, text, before)?;
        let mut load = Load { name: report.url.0, ..Load::default() };
        for (name, value) in
            [("connections", report.connections.0), ("pipelining", report.pipelining.0)]
        {
            if !value.is_empty() {
                load.parameters.push((name, value));
            }
        }
        for (field, _, name) in FIGURES {
            load.figure(
                name,
                report.latency.get(field).and_then(Value::as_f64).map(|value| value * 1e-3),
            );
        }
        load.stands_for_latency(MEAN_FIRST);
        load.requests = report.requests.average.0;
        load.transfer = report.throughput.average.0;
        let counts = [
            ("errors", report.errors),
            ("timeouts", report.timeouts),
            ("other statuses than 2xx", report.non2xx),
        ];
        load.counts.extend(
            counts.into_iter().filter_map(|(name, count)| Some((name, Direction::Lower, count.0?))),
        );
        load.add(&mut imported);
    }
    Ok(imported)
}

/// Returns the cell below `Avg`.
fn average<'a>(names: &[String], row: &[&'a str]) -> Option<&'a str> {
    names.iter().zip(row).find(|(name, _)| *name == "Avg").map(|(_, cell)| *cell)
}

/// Returns the cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('│')?.strip_suffix('│')?;
    Some(inner.split('│').map(str::trim).collect())
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("autocannon");
    // With a rate it adds values that it did not measure, unless `--ignoreCoordinatedOmission` is given; no file says which.
    imported.known(ImportFact::LatencyStartUnknown);
    let mut load = unnamed();
    let mut names: Vec<String> = Vec::new();
    for (at, line) in lines(file)? {
        let wrong = |expected: &str| ImportError::at_line(file, at, expected, line.trim());
        if let Some((_, url)) =
            line.trim().strip_prefix("Running ").and_then(|rest| rest.split_once(" test @ "))
        {
            std::mem::replace(&mut load, unnamed()).add(&mut imported);
            url.trim().clone_into(&mut load.name);
        } else if let Some(count) =
            line.trim().strip_suffix(" connections").filter(|count| number(count).is_some())
        {
            load.parameters.push(("connections", count.to_owned()));
        } else if let Some(cells) = cells(&line) {
            match cells.split_first() {
                Some((&"Stat", rest)) => {
                    names = rest.iter().map(|name| (*name).to_owned()).collect();
                }
                Some((&"Latency", rest)) => {
                    // The tables of another run begin.
                    if load.latency.is_some() {
                        std::mem::replace(&mut load, unnamed()).add(&mut imported);
                    }
                    for (name, cell) in names.iter().zip(rest) {
                        let Some((.., figure)) = FIGURES.iter().find(|(_, title, _)| title == name)
                        else {
                            continue;
                        };
                        load.figure(
                            *figure,
                            Some(time(cell).ok_or_else(|| wrong("times after `Latency`"))?),
                        );
                    }
                    load.stands_for_latency(MEAN_FIRST);
                }
                Some((&"Req/Sec", rest)) => {
                    let mean = average(&names, rest);
                    load.requests = Some(
                        mean.and_then(thousands).ok_or_else(|| wrong("numbers after `Req/Sec`"))?,
                    );
                }
                Some((&"Bytes/Sec", rest)) => {
                    let mean = average(&names, rest);
                    let mean = mean.and_then(quantity).map(|(value, _)| value);
                    load.transfer = Some(mean.ok_or_else(|| wrong("sizes after `Bytes/Sec`"))?);
                }
                _ => {}
            }
        } else if let Some(count) = line.split_once(" non 2xx responses").map(|(front, _)| front) {
            let count = count.rsplit([',', ' ']).next().and_then(number);
            load.counts
                .extend(count.map(|count| ("other statuses than 2xx", Direction::Lower, count)));
        } else if let Some((errors, rest)) = line.split_once(" errors (")
            && let (Some(errors), Some(timeouts)) =
                (number(errors), rest.split_once(" timeouts").and_then(|(count, _)| number(count)))
        {
            load.counts.extend([
                ("errors", Direction::Lower, errors),
                ("timeouts", Direction::Lower, timeouts),
            ]);
        }
    }
    load.add(&mut imported);
    Ok(imported)
}

fn unnamed() -> Load {
    Load { name: "autocannon".to_owned(), ..Load::default() }
}

/// Reads `1.5k` and `1,234`.
fn thousands(text: &str) -> Option<f64> {
    let (value, suffix) = split_quantity(text)?;
    let factor = match suffix {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        _ => return None,
    };
    Some(value * factor)
}
