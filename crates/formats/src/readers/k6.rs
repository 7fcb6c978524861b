//! k6: the data of `handleSummary`, `--summary-export`, and the machine-readable summary of k6 1.
//!
//! - `handleSummary`: `metrics{name: {type, contains, values{..}, thresholds{expression: {ok}}}}`.
//! - `--summary-export`: the values stand in the metric itself, there is no type, a rate is called
//!   `value`, and `thresholds{expression: true}` means that it was crossed: it FAILED.
//! - k6 1: `results.metrics[]` with `name`, `type`, `contains`, `values`.
//! - Times are milliseconds, unless a trend does not contain times. There are only aggregates: the 95th percentile stands
//!   for a trend, as in most thresholds, and first stand how long requests took and how many there were in a second.
//! - Nothing says which way counters, rates and gauges get better.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportFact, ImportNote, Metric, Outcome, Unit, parse_time};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::Imported;
use crate::json::{self, Maybe, Text};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "k6",
    about: "k6 handleSummary, --summary-export, machine-readable summary",
    recognise: Takes::File(|file| {
        let names = |fields: &[&str]| json::names(file, &['{'], fields);
        names(&["\"metrics\"", "\"values\"", "\"contains\"", "\"type\""])
            || names(&["\"metrics\"", "\"iterations\"", "\"vus\""])
            || names(&["\"metrics\"", "\"root_group\""])
            || names(&["\"metrics\"", "\"http_req_duration\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    metrics: Option<BTreeMap<String, Map<String, Value>>>,
    results: Maybe<Results>,
    metadata: Maybe<Metadata>,
    config: Maybe<Config>,
}

#[derive(Deserialize, Default)]
struct Results {
    metrics: Maybe<Vec<Map<String, Value>>>,
    checks: Maybe<Checks>,
}

#[derive(Deserialize, Default)]
struct Checks {
    /// A list, and in drafts of the format an object.
    metrics: Maybe<Value>,
}

#[derive(Deserialize, Default)]
struct Config {
    script: Text,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    generated_at: Text,
    k6_version: Text,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Trend,
    Counter,
    Rate,
    Gauge,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let mut imported = Imported::of(format!("k6 {}", document.metadata.k6_version.0).trim_end());
    imported.started_at(parse_time(&document.metadata.generated_at.0).unwrap_or(0.0));
    let script = document.config.script.0.rsplit(['/', '\\']).next().unwrap_or_default();
    let subject = imported.subject(if script.is_empty() { "k6" } else { script });
    let mut values = EndSummary { file, imported, subject, values: Vec::new() };
    let mut listed: Vec<_> = document.results.metrics.iter().enumerate().collect();
    listed.sort_by_key(|(_, metric)| {
        metric.get("name").map_or(usize::MAX, |name| rank(&json::text_of(name)))
    });
    for (index, metric) in listed {
        values.listed(metric, &format!("results.metrics[{index}]"))?;
    }
    let checks: Vec<(String, &Value)> = match &*document.results.checks.metrics {
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, one)| (format!("[{at}]"), one)).collect()
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, one)| (format!(".{name}"), one)).collect()
        }
        _ => Vec::new(),
    };
    for (at, metric) in checks {
        if let Some(metric) = metric.as_object() {
            values.listed(metric, &format!("results.checks.metrics{at}"))?;
        }
    }
    let mut named: Vec<_> = document.metrics.iter().flatten().collect();
    named.sort_by_key(|(name, _)| rank(name));
    for (name, metric) in named {
        values.metric(name, metric, &format!("metrics.{name}"))?;
    }
    Ok(values.finish())
}

/// Metrics that a reader looks at first.
const FIRST: [&str; 3] = ["http_req_duration", "http_reqs", "http_req_failed"];

fn rank(name: &str) -> usize {
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

/// The metrics of one test while they are read.
pub(super) struct EndSummary<'a> {
    file: &'a File,
    imported: Imported,
    subject: usize,
    /// By metric.
    values: Vec<Option<f64>>,
}

impl<'a> EndSummary<'a> {
    /// Adds metrics, each with what the JSON says of it, as one process.
    pub(super) fn read(
        file: &'a File,
        imported: Imported,
        subject: usize,
        metrics: &[(String, Map<String, Value>)],
    ) -> Result<Imported, ImportError> {
        let mut values = Self { file, imported, subject, values: Vec::new() };
        let mut sorted: Vec<_> = metrics.iter().collect();
        sorted.sort_by_key(|(name, _)| rank(name));
        for (name, metric) in sorted {
            values.metric(name, metric, name)?;
        }
        Ok(values.finish())
    }

    fn listed(&mut self, metric: &Map<String, Value>, place: &str) -> Result<(), ImportError> {
        let name = metric.get("name").map(json::text_of).filter(|name| !name.is_empty());
        let Some(name) = name else {
            let place = format!("{place}.name");
            return Err(ImportError::at_field(self.file, &place, "a name", "nothing"));
        };
        self.metric(&name, metric, place)
    }

    fn metric(
        &mut self,
        name: &str,
        metric: &Map<String, Value>,
        place: &str,
    ) -> Result<(), ImportError> {
        let nested = metric.get("values").and_then(Value::as_object);
        let values = nested.unwrap_or(metric);
        let number = |field: &str| match values.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(other) => {
                let inner = if nested.is_some() { ".values" } else { "" };
                let place = format!("{place}{inner}.{field}");
                Err(ImportError::at_field(self.file, &place, "a number", &json::shown(other)))
            }
        };
        let (kind, contains) = kind(name, metric, values);
        let (unit, factor) = match contains.as_str() {
            "time" => (Unit::Second, 1e-3),
            "data" => (Unit::Byte, 1.0),
            _ => (Unit::Count, 1.0),
        };
        match kind {
            Kind::Trend => {
                let mut figures = Vec::new();
                for field in values.keys() {
                    if let Some(figure) = figure(field)
                        && let Some(value) = number(field)?
                    {
                        // A count is no time.
                        let factor = if figure == "samples" { 1.0 } else { factor };
                        figures.push((figure, value * factor));
                    }
                }
                let of = |name: &str| figures.iter().find(|(figure, _)| figure == name);
                let stand_in = of("p95")
                    .or_else(|| of("median"))
                    .or_else(|| of("mean"))
                    .or_else(|| figures.first());
                let Some((statistic, value)) = stand_in.cloned() else { return Ok(()) };
                let at = self.add(name, unit, Direction::Lower, value);
                self.imported.mark(at, &statistic);
                let figures = figures.into_iter().map(|(name, value)| (name, Some(value)));
                self.imported.summary(self.subject, at, figures);
            }
            Kind::Counter => {
                let direction = direction(name);
                let per_second = match &unit {
                    Unit::Byte => "B/s",
                    _ => "1/s",
                };
                if let Some(rate) = number("rate")? {
                    let unit = Unit::Named(per_second.to_owned());
                    self.add(&format!("{name} rate"), unit, direction, rate * factor);
                }
                if let Some(count) = number("count")? {
                    self.add(name, unit, direction, count * factor);
                }
            }
            Kind::Rate => {
                let share = match number("rate")? {
                    Some(rate) => Some(rate),
                    None => number("value")?,
                };
                if let Some(share) = share {
                    self.add(name, Unit::Count, direction(name), share);
                }
            }
            Kind::Gauge => {
                if let Some(value) = number("value")? {
                    let at = self.add(name, unit, Direction::Lower, value * factor);
                    let range = [("minimum", number("min")?), ("maximum", number("max")?)];
                    let range =
                        range.map(|(name, value)| (name, value.map(|value| value * factor)));
                    self.imported.summary(self.subject, at, range);
                }
            }
        }
        self.thresholds(name, metric);
        Ok(())
    }

    /// Notes which thresholds were crossed.
    fn thresholds(&mut self, name: &str, metric: &Map<String, Value>) {
        let thresholds = metric.get("thresholds").and_then(Value::as_object);
        for (expression, state) in thresholds.into_iter().flatten() {
            let is_crossed = match state {
                // Here `true` means that it was crossed.
                Value::Bool(crossed) => *crossed,
                other => other.get("ok") == Some(&Value::Bool(false)),
            };
            if is_crossed {
                let (expression, metric) = (expression.clone(), name.to_owned());
                self.imported.note(ImportNote::ThresholdCrossed { expression, metric });
            }
        }
    }

    fn add(&mut self, name: &str, unit: Unit, direction: Direction, value: f64) -> usize {
        let metric = Metric { direction, ..Metric::lower(name, unit) };
        let at = self.imported.metric(metric);
        if self.values.len() <= at {
            self.values.resize(at + 1, None);
        }
        self.values[at].get_or_insert(value);
        at
    }

    fn finish(mut self) -> Imported {
        if self.values.iter().any(Option::is_some) {
            self.imported.known(ImportFact::K6Aggregates);
            self.imported.known(ImportFact::LatencyFromSending);
            self.imported.process(self.subject, self.values, Outcome::Unknown);
        }
        self.imported
    }
}

/// Returns what kind of metric it is and what it contains; `--summary-export` tells neither.
fn kind(name: &str, metric: &Map<String, Value>, values: &Map<String, Value>) -> (Kind, String) {
    let text = |field: &str| metric.get(field).and_then(Value::as_str);
    let has = |field: &str| values.contains_key(field);
    let kind = match text("type") {
        Some("trend") => Kind::Trend,
        Some("counter") => Kind::Counter,
        Some("rate") => Kind::Rate,
        Some("gauge") => Kind::Gauge,
        _ if has("count") && has("rate") => Kind::Counter,
        _ if has("passes") || has("fails") => Kind::Rate,
        _ if has("value") => Kind::Gauge,
        _ => Kind::Trend,
    };
    let contains = text("contains").map_or_else(|| usual_content(name), str::to_owned);
    (kind, contains)
}

/// Returns what a metric of k6's own contains. Those of users may be anything.
fn usual_content(name: &str) -> String {
    let own = name.split('{').next().unwrap_or(name);
    let is_data = ["data_received", "data_sent", "browser_data_received", "browser_data_sent"];
    let of_time = ["http_req_", "ws_connecting", "ws_session_duration", "ws_ping", "grpc_req_"];
    let is_time = of_time.iter().any(|beginning| own.starts_with(beginning))
        || ["iteration_duration", "group_duration"].contains(&own)
        || own.starts_with("browser_") && own.ends_with("duration");
    let content = match own {
        "http_req_failed" => "default",
        _ if is_data.contains(&own) => "data",
        _ if is_time => "time",
        _ => "default",
    };
    content.to_owned()
}

/// Returns the name of a figure of a trend: `p(90)` is `p90`.
fn figure(field: &str) -> Option<String> {
    let name = match field {
        "avg" => "mean",
        "med" => "median",
        "min" => "minimum",
        "max" => "maximum",
        "count" => "samples",
        // `p(90)`, and `p90` in the machine-readable summary.
        other => {
            let percentile = other.strip_prefix('p')?.trim_matches(['(', ')']);
            percentile.parse::<f64>().ok()?;
            return Some(format!("p{percentile}"));
        }
    };
    Some(name.to_owned())
}

fn direction(name: &str) -> Direction {
    let bad = ["fail", "error", "dropped", "timeout", "retries", "interrupted"];
    let name = name.to_ascii_lowercase();
    if bad.iter().any(|word| name.contains(word)) { Direction::Lower } else { Direction::Higher }
}
