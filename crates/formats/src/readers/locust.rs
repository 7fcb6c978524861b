//! Locust: `--csv` (`NAME_stats.csv`), `--json`, and what it prints at the end.
//!
//! - CSV: `Type,Name,Request Count,Failure Count,Median Response Time,...,Requests/s,Failures/s,50%,...`, a row for each
//!   request and `Aggregated`, times in milliseconds. Percentiles may be `N/A`.
//! - The table that it prints has whole milliseconds: `GET /a  19 0(0.00%) | 16 4 94 11 | 16.42 0.00`. The last of the
//!   tables counts.
//! - JSON: a list of requests with `method`, `name`, `num_requests`, `num_failures`, `total_response_time`, and
//!   `response_times`, which says how many took so many milliseconds, rounded. Rates are per second from the first request
//!   of all to the last, as locust itself has them.
//!
//! A request is a benchmark; `Aggregated` is all of them, which JSON does not have.

use std::collections::{BTreeMap, HashSet};

use becalm_model::{Direction, ImportFact, Part, Unit};
use serde::Deserialize;

use crate::imported::{Imported, single};
use crate::json::{self, Maybe, Number, Text};
use crate::lines::{self, lines, number};
use crate::readers::table::Table;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "locust",
    about: "locust --csv: NAME_stats.csv (aggregates only)",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| text.starts_with("Type,Name,Request Count,Failure Count,"))
    }),
    read: Takes::File(read_csv),
};

pub(crate) const JSON: Entry = Entry {
    name: "locust-json",
    about: "locust --json and --json-file (aggregates only)",
    recognise: Takes::File(|file| {
        let fields = ["\"num_requests\"", "\"total_response_time\"", "\"response_times\""];
        json::names(file, &['['], &fields)
    }),
    read: Takes::File(read_json),
};

pub(crate) const TEXT: Entry = Entry {
    name: "locust-text",
    about: "output of locust (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, is_head)),
    read: Takes::File(read_text),
};

const MILLISECOND: f64 = 1e-3;

/// What is known of one request.
#[derive(Default)]
struct Row {
    name: String,
    /// Which statistic stands for the time, in seconds.
    time: Option<(&'static str, f64)>,
    figures: Vec<(String, f64)>,
    rate: Option<f64>,
    failures: Option<f64>,
}

fn add(imported: &mut Imported, rows: Vec<Row>) {
    let subject = imported.subject("locust");
    let mut parts: Vec<Part> = Vec::new();
    let mut known = HashSet::new();
    for row in rows {
        let Some((statistic, time)) = row.time else { continue };
        let metric = imported.benchmark(&row.name, "", Unit::Second, Direction::Lower);
        if !known.insert(metric) {
            continue;
        }
        imported.stand_in(metric, statistic);
        imported.summary(
            subject,
            metric,
            row.figures.into_iter().map(|(name, value)| (name, Some(value))),
        );
        parts.push(single(metric, time));
        if let Some(rate) = row.rate {
            let unit = Unit::Named("requests/s".to_owned());
            parts.push(single(
                imported.benchmark(&row.name, "requests", unit, Direction::Higher),
                rate,
            ));
        }
        if let Some(failures) = row.failures {
            let metric = imported.benchmark(&row.name, "failures", Unit::Count, Direction::Lower);
            parts.push(single(metric, failures));
        }
    }
    imported.parts(subject, parts);
}

fn full_name(kind: &str, name: &str) -> String {
    format!("{kind} {name}").trim().to_owned()
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    let percentiles: Vec<String> =
        table.header().iter().filter(|name| name.ends_with('%')).map(str::to_owned).collect();
    let mut rows = Vec::new();
    while let Some(row) = table.next()? {
        let value = |column: &str| match row.text(column) {
            "" | "N/A" => Ok(None),
            text => number(text)
                .map(Some)
                .ok_or_else(|| row.wrong(&format!("a number as {column}"), text)),
        };
        if value("Request Count")? == Some(0.0) {
            continue;
        }
        let mut figures = Vec::new();
        for (column, figure) in [
            ("Median Response Time", "median"),
            ("Average Response Time", "mean"),
            ("Min Response Time", "minimum"),
            ("Max Response Time", "maximum"),
        ] {
            figures.extend(value(column)?.map(|time| (figure.to_owned(), time * MILLISECOND)));
        }
        for column in
            percentiles.iter().filter(|column| !["50%", "100%"].contains(&column.as_str()))
        {
            let figure = format!("p{}", column.trim_end_matches('%'));
            figures.extend(value(column)?.map(|time| (figure, time * MILLISECOND)));
        }
        // The median is rounded, the mean is not.
        let mean = value("Average Response Time")?.map(|mean| ("mean", mean * MILLISECOND));
        let rate = value("Requests/s")?;
        let failures = value("Failure Count")?;
        rows.push(Row {
            name: full_name(row.text("Type"), row.text("Name")),
            time: mean,
            figures,
            rate,
            failures,
        });
    }
    let mut imported = Imported::of("locust");
    imported.known(ImportFact::LatencyFromSending);
    add(&mut imported, rows);
    Ok(imported)
}

/// One request of `--json`, with times in milliseconds and points in time in seconds.
#[derive(Deserialize)]
struct Request {
    name: Text,
    method: Text,
    start_time: Number,
    last_request_timestamp: Number,
    num_requests: Number,
    num_none_requests: Number,
    num_failures: Number,
    total_response_time: Number,
    min_response_time: Number,
    max_response_time: Number,
    /// How many took how long.
    response_times: Maybe<BTreeMap<String, f64>>,
}

impl Request {
    /// Returns the time within which this share of the requests was answered, as locust's tables have it.
    fn percentile(&self, share: f64) -> Option<f64> {
        let mut times: Vec<(f64, f64)> = self
            .response_times
            .iter()
            .filter_map(|(time, count)| Some((number(time)?, *count)))
            .collect();
        times.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all = self.num_requests.0?;
        let wanted = (all * share).floor();
        let mut left = all;
        let is_reached = |(_, count): &&(f64, f64)| {
            left -= count;
            left <= wanted
        };
        times.iter().find(is_reached).map(|(time, _)| time * MILLISECOND)
    }

    /// Makes a row of it; `seconds` is how long there were requests.
    fn row(&self, seconds: f64) -> Row {
        let requests = self.num_requests.0.unwrap_or_default();
        // Some requests have no time.
        let timed = requests - self.num_none_requests.0.unwrap_or_default();
        let mean = self.total_response_time.0.filter(|_| timed > 0.0).map(|sum| sum / timed);
        let mean = mean.map(|mean| mean * MILLISECOND);
        let of = |value: &Number| value.0.map(|value| value * MILLISECOND);
        let figures = [
            ("median", self.percentile(0.5)),
            ("mean", mean),
            ("minimum", of(&self.min_response_time)),
            ("maximum", of(&self.max_response_time)),
            ("p95", self.percentile(0.95)),
            ("p99", self.percentile(0.99)),
        ];
        let figures =
            figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Row {
            name: full_name(&self.method.0, &self.name.0),
            time: mean.map(|mean| ("mean", mean)),
            figures: figures.collect(),
            rate: (seconds > 0.0).then(|| requests / seconds),
            failures: self.num_failures.0,
        }
    }
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let requests: Vec<Request> = json::read(file)?;
    let first = requests.iter().filter_map(|one| one.start_time.0).reduce(f64::min);
    let last = requests.iter().filter_map(|one| one.last_request_timestamp.0).reduce(f64::max);
    let seconds = first.zip(last).map_or(0.0, |(first, last)| last - first);
    let mut imported = Imported::of("locust");
    imported.known(ImportFact::LatencyFromSending);
    imported.started_at(first.unwrap_or(0.0));
    add(&mut imported, requests.iter().map(|one| one.row(seconds)).collect());
    Ok(imported)
}

fn is_head(line: &str) -> bool {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == '|')
        .filter(|word| !word.is_empty())
        .collect();
    words.starts_with(&["Type", "Name", "#", "reqs", "#", "fails", "Avg", "Min", "Max", "Med"])
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut rows = Vec::new();
    let mut is_inside = false;
    for (_, line) in lines(file)? {
        if is_head(&line) {
            // The tables before are of the time until then.
            rows.clear();
            is_inside = true;
        } else if line.trim().is_empty() {
            is_inside = false;
        } else if is_inside {
            rows.extend(row(&line));
        }
    }
    let mut imported = Imported::of("locust");
    imported.known(ImportFact::LatencyFromSending);
    add(&mut imported, rows);
    Ok(imported)
}

/// Reads `GET   /a.txt   19  0(0.00%) |  16  4  94  11 |  16.42  0.00`.
fn row(line: &str) -> Option<Row> {
    let (front, rest) = line.split_once('|')?;
    let (times, rates) = rest.split_once('|')?;
    let mut words: Vec<&str> = front.split_whitespace().collect();
    let failures = number(words.pop()?.split('(').next()?)?;
    number(words.pop()?)?;
    let name = words.join(" ");
    let times: Vec<f64> = times.split_whitespace().map(number).collect::<Option<_>>()?;
    let [mean, least, most, median] = times[..] else { return None };
    let figures = [("mean", mean), ("minimum", least), ("maximum", most), ("median", median)];
    Some(Row {
        name,
        time: Some(("mean", mean * MILLISECOND)),
        figures: figures.map(|(name, value)| (name.to_owned(), value * MILLISECOND)).to_vec(),
        rate: rates.split_whitespace().next().and_then(number),
        failures: Some(failures),
    })
}
