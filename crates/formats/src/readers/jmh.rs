//! JMH: `-rf json`.
//!
//! - `primaryMetric.rawData[fork][iteration]`; a fork is a process. Mode `sample` has
//!   `rawDataHistogram[fork][iteration][[value, count]]` in its place.
//! - Mode `thrpt` counts operations per time, so more is better; `avgt`, `sample` and `ss` are times.
//! - Parameters are part of what a benchmark is. One benchmark may be there in several modes.
//! - What is no number is written as a text: `"NaN"`, `"+INF"`.

use std::collections::{BTreeMap, HashMap, HashSet};

use becalm_model::{Direction, ImportFact, Part, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::{Imported, part};
use crate::json::{self, Maybe, Number, Text, text_of};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "jmh",
    about: "JMH -rf json",
    recognise: Takes::File(|file| {
        json::names(file, &['['], &["\"benchmark\"", "\"primaryMetric\""])
            || json::names(file, &['['], &["\"jmhVersion\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    jmh_version: Text,
    benchmark: String,
    mode: Text,
    threads: Text,
    forks: Text,
    jdk_version: Text,
    vm_name: Text,
    vm_version: Text,
    params: Maybe<BTreeMap<String, Value>>,
    primary_metric: Score,
    secondary_metrics: Maybe<BTreeMap<String, Score>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    #[serde(rename = "score")]
    value: Number,
    #[serde(rename = "scoreError")]
    error: Number,
    #[serde(rename = "scoreConfidence")]
    confidence: Maybe<Vec<Number>>,
    #[serde(rename = "scorePercentiles")]
    percentiles: Maybe<BTreeMap<String, Number>>,
    #[serde(rename = "scoreUnit")]
    unit: Text,
    raw_data: Maybe<Vec<Vec<Number>>>,
    raw_data_histogram: Maybe<Vec<Vec<Histogram>>>,
}

/// Values with how often they were there.
type Histogram = Vec<(f64, f64)>;

/// JMH's interval of the score.
const CONFIDENCE: f64 = 0.999;

fn read(file: &File) -> Result<Imported, ImportError> {
    let rows: Vec<Row> = json::read(file)?;
    let version = rows.first().map(|row| row.jmh_version.0.as_str()).unwrap_or_default();
    let mut imported = Imported::of(format!("JMH {version}").trim_end());
    for row in &rows {
        imported.fact("jdk", &row.jdk_version.0);
        imported.fact("jvm", format!("{} {}", row.vm_name.0, row.vm_version.0).trim());
        imported.fact("threads", &row.threads.0);
        if row.forks.0 == "0" {
            imported.known(ImportFact::JmhNoForks);
        }
    }
    let names = names(&rows);
    let subject = imported.subject("JMH");
    let forks = |row: &Row| row.primary_metric.forks().max(1);
    imported.expect(rows.iter().map(forks).sum());
    for (row, name) in rows.iter().zip(&names) {
        let mut processes: Vec<Vec<Part>> = Vec::new();
        let main = direction_of(&row.mode.0, &row.primary_metric);
        let mut score = |measure: &str, score: &Score, direction| {
            // The profiler of the collector divides by 1024 twice and writes MB.
            let is_binary = measure.contains("gc.") && score.unit.0 == "MB/sec";
            let written = if is_binary { "MiB/sec" } else { &score.unit.0 };
            let (unit, factor) = units::unit_per(written);
            let metric = imported.benchmark(name, measure, unit, direction);
            score.add(&mut imported, subject, metric, factor, &mut processes);
        };
        score("", &row.primary_metric, main);
        for (measure, secondary) in &row.secondary_metrics.0 {
            // Profilers' names begin with a dot in old versions.
            let measure = measure.trim_start_matches('·');
            score(measure, secondary, direction_beside(measure, secondary));
        }
        for parts in processes {
            imported.parts(subject, parts);
        }
    }
    Ok(imported)
}

/// Names benchmarks with their parameters, and with the mode where one is there in several.
fn names(rows: &[Row]) -> Vec<String> {
    let with_parameters = |row: &Row| {
        let parameters: Vec<String> =
            row.params.iter().map(|(name, value)| format!("{name}={}", text_of(value))).collect();
        if parameters.is_empty() {
            row.benchmark.clone()
        } else {
            format!("{} ({})", row.benchmark, parameters.join(", "))
        }
    };
    let names: Vec<String> = rows.iter().map(with_parameters).collect();
    let mut modes: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (row, name) in rows.iter().zip(&names) {
        modes.entry(name).or_default().insert(&row.mode.0);
    }
    let name = |(row, name): (&Row, &String)| {
        if modes[name.as_str()].len() > 1 { format!("{name} {}", row.mode.0) } else { name.clone() }
    };
    rows.iter().zip(&names).map(name).collect()
}

fn direction_of(mode: &str, score: &Score) -> Direction {
    match mode {
        "thrpt" => Direction::Higher,
        "avgt" | "sample" | "ss" => Direction::Lower,
        _ => direction_beside("", score),
    }
}

/// Returns the direction of what stands beside the score. A rate of allocation is nothing to have more
/// of, unlike a rate of operations.
fn direction_beside(measure: &str, score: &Score) -> Direction {
    let (unit, _) = units::unit_per(&score.unit.0);
    match unit {
        Unit::Named(name) if !measure.contains("gc.") && name.starts_with("op") => {
            units::usual_direction(&name)
        }
        _ => Direction::Lower,
    }
}

impl Score {
    fn forks(&self) -> usize {
        self.raw_data.len().max(self.raw_data_histogram.len())
    }

    /// Adds the values of every fork to the processes, and what JMH concluded.
    fn add(
        &self,
        imported: &mut Imported,
        subject: usize,
        metric: usize,
        factor: f64,
        processes: &mut Vec<Vec<Part>>,
    ) {
        let raw = self.raw_data.iter();
        let mut forks: Vec<Vec<f64>> =
            raw.map(|fork| fork.iter().filter_map(|one| one.0).collect()).collect();
        let is_empty = |forks: &[Vec<f64>]| forks.iter().all(Vec::is_empty);
        if is_empty(&forks) {
            let histograms = self.raw_data_histogram.iter();
            forks =
                histograms.map(|fork| fork.iter().filter_map(|one| mean(one)).collect()).collect();
            if !is_empty(&forks) {
                imported.known(ImportFact::JmhSamples);
            }
        }
        if is_empty(&forks)
            && let Some(score) = self.value.0
        {
            imported.stand_in(metric, "mean");
            forks = vec![vec![score]];
        }
        processes.resize_with(processes.len().max(forks.len()), Vec::new);
        for (process, values) in processes.iter_mut().zip(forks) {
            process.extend(part(metric, values.iter().map(|value| value * factor).collect()));
        }
        self.conclude(imported, subject, metric, factor);
    }

    fn conclude(&self, imported: &mut Imported, subject: usize, metric: usize, factor: f64) {
        let of_interval = |index: usize, sign: f64| {
            let number = self.confidence.get(index).and_then(|one| one.0);
            number.or_else(|| Some(self.value.0? + sign * self.error.0?))
        };
        let (low, high) = (of_interval(0, -1.0), of_interval(1, 1.0));
        let mut figures = vec![
            ("mean".to_owned(), self.value.0),
            ("low".to_owned(), low),
            ("high".to_owned(), high),
        ];
        for (percentile, value) in &self.percentiles.0 {
            let name = match percentile.trim_end_matches(".0") {
                "0" => "minimum".to_owned(),
                "50" => "median".to_owned(),
                "100" => "maximum".to_owned(),
                other => format!("p{other}"),
            };
            figures.push((name, value.0));
        }
        for (_, value) in &mut figures {
            *value = value.map(|value| value * factor);
        }
        if low.is_some() && high.is_some() {
            figures.push(("confidence".to_owned(), Some(CONFIDENCE)));
        }
        imported.summary(subject, metric, figures);
    }
}

/// Returns the mean of values with counts.
fn mean(histogram: &[(f64, f64)]) -> Option<f64> {
    let calls: f64 = histogram.iter().map(|(_, count)| count).sum();
    let sum: f64 = histogram.iter().map(|(value, count)| value * count).sum();
    Some(sum / calls).filter(|mean| mean.is_finite())
}
