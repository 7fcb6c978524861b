//! `BenchmarkDotNet`: `*-report-full.json`, `-report-full-compressed.json`, `-report-brief.json`.
//!
//! - `Measurements[]` has one row per iteration of every stage, in nanoseconds for all of its
//!   operations. What counts is mode `Workload`, stage `Result`; up to 0.10 there was only the mode
//!   `Result`. `LaunchIndex` is the process.
//! - Brief files have no measurements, and from 0.13 `Statistics.OriginalValues`: the results of all
//!   processes one after another, without a word on where one ends.
//! - `Namespace` is null for a class outside of all.
//! - Of several jobs, such as runtimes, only `DisplayInfo` tells which one a benchmark ran in.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::{Direction, ImportFact, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, Names, part, single};
use crate::json::{self, Maybe, Number, Text, text_of};
use crate::units::{self, NANOSECOND};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "benchmarkdotnet",
    about: "BenchmarkDotNet's JSON exporters (full, brief, compressed)",
    recognise: Takes::File(|file| {
        json::names(file, &['{'], &["\"HostEnvironmentInfo\"", "\"Benchmarks\""])
            || json::names(file, &['{'], &["\"Benchmarks\"", "\"DisplayInfo\"", "\"Statistics\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    title: Text,
    host_environment_info: Maybe<Map<String, Value>>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Benchmark {
    display_info: Text,
    namespace: Text,
    #[serde(rename = "Type")]
    class: Text,
    method: Text,
    parameters: Text,
    full_name: Text,
    statistics: Option<Statistics>,
    memory: Option<Memory>,
    measurements: Maybe<Vec<Measurement>>,
    metrics: Maybe<Vec<Measure>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Statistics {
    original_values: Maybe<Vec<Number>>,
    n: Number,
    min: Number,
    q1: Number,
    median: Number,
    mean: Number,
    q3: Number,
    max: Number,
    standard_deviation: Number,
    confidence_interval: Maybe<Interval>,
    percentiles: Maybe<BTreeMap<String, Number>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Interval {
    /// A share in new versions, and in old ones a name such as `L999`.
    level: Text,
    lower: Number,
    upper: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    bytes_allocated_per_operation: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Measurement {
    iteration_mode: Text,
    iteration_stage: Text,
    launch_index: Text,
    operations: f64,
    nanoseconds: f64,
}

/// What a diagnoser adds.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Measure {
    value: Number,
    descriptor: Option<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Descriptor {
    id: Text,
    display_name: Text,
    unit: Text,
    the_greater_the_better: Maybe<bool>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let host =
        |field: &str| document.host_environment_info.get(field).map(text_of).unwrap_or_default();
    let version = host("BenchmarkDotNetVersion");
    let mut imported = Imported::of(format!("BenchmarkDotNet {version}").trim_end());
    for (field, fact) in FACTS {
        imported.fact(fact, host(field));
    }
    if host("HasAttachedDebugger") == "true" {
        imported.known(ImportFact::Debugger);
    }
    if host("Configuration").eq_ignore_ascii_case("debug") {
        imported.known(ImportFact::NotOptimised);
    }
    let subject = imported.subject(title(&document.title.0));
    let jobs: BTreeSet<&str> = document.benchmarks.iter().filter_map(Benchmark::job).collect();
    let mut names = Names::default();
    for (index, benchmark) in document.benchmarks.iter().enumerate() {
        let mut name = benchmark.name();
        if name.is_empty() {
            let place = format!("Benchmarks[{index}].FullName");
            return Err(ImportError::at_field(file, &place, "a name", "nothing"));
        }
        // One method may be there for several runtimes, which only the display tells apart. A number would say in which
        // order they ran.
        if let Some(job) = benchmark.job().filter(|_| jobs.len() > 1) {
            name = format!("{name} [{job}]");
        }
        let name = names.unique(&name);
        benchmark.import(&mut imported, subject, &name, file, index)?;
    }
    Ok(imported)
}

const FACTS: [(&str, &str); 9] = [
    ("OsVersion", "os"),
    ("ProcessorName", "cpu_model"),
    ("PhysicalCoreCount", "physical_cores"),
    ("LogicalCoreCount", "logical_cpus"),
    ("Architecture", "architecture"),
    ("ClrVersion", "runtime"),
    ("RuntimeVersion", "runtime"),
    ("DotNetCliVersion", "dotnet_cli"),
    ("JitModules", "jit"),
];

/// Titles end with date and time, which no name needs: `Sorting-20260101-120000`.
fn title(title: &str) -> &str {
    let bare = title.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    if bare.is_empty() { "BenchmarkDotNet" } else { bare }
}

impl Benchmark {
    fn name(&self) -> String {
        if !self.full_name.0.is_empty() {
            return self.full_name.0.clone();
        }
        let parts = [&self.namespace.0, &self.class.0, &self.method.0];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        match (parts.is_empty(), self.parameters.0.is_empty()) {
            (true, _) => self.display_info.0.clone(),
            (false, true) => parts.join("."),
            (false, false) => format!("{}({})", parts.join("."), self.parameters.0),
        }
    }

    /// Returns the job that it ran in, by the name that somebody gave it, or else by what makes it one: of
    /// `T.M: Job-YRHGTP(Runtime=.NET 8.0) [n=1]` that is `Runtime=.NET 8.0`.
    fn job(&self) -> Option<&str> {
        let (_, job) = self.display_info.0.split_once(": ")?;
        let job = job.split(" [").next().unwrap_or(job).trim();
        let (name, made_of) = job.split_once('(').unwrap_or((job, ""));
        let made_of = made_of.strip_suffix(')').unwrap_or(made_of);
        let is_made_up = name.starts_with("Job-") && !made_of.is_empty();
        Some(if is_made_up { made_of } else { name }).filter(|job| !job.is_empty())
    }

    fn import(
        &self,
        imported: &mut Imported,
        subject: usize,
        name: &str,
        file: &File,
        index: usize,
    ) -> Result<(), ImportError> {
        let statistics = self.statistics.as_ref();
        if statistics.is_none() && self.measurements.is_empty() {
            imported.failed(name, None);
            return Ok(());
        }
        let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
        let mut processes = Vec::new();
        for values in self.launches(file, index)? {
            processes.extend(part(metric, values).map(|part| vec![part]));
        }
        if processes.is_empty()
            && let Some(statistics) = statistics
        {
            let values =
                statistics.original_values.iter().filter_map(|one| Some(one.0? * NANOSECOND));
            let stand_in = [("median", statistics.median.0), ("mean", statistics.mean.0)];
            let stand_in = stand_in.into_iter().find_map(|(name, value)| Some((name, value?)));
            if let Some(part) = part(metric, values.collect()) {
                imported.known(ImportFact::ProcessesUnknown);
                processes.push(vec![part]);
            } else if let Some((statistic, value)) = stand_in {
                imported.stand_in(metric, statistic);
                processes.push(vec![single(metric, value * NANOSECOND)]);
            }
        }
        // What diagnosers found is of the benchmark, not of one of its processes.
        if let Some(first) = processes.first_mut() {
            for (measure, unit, direction, value) in self.beside() {
                first.push(single(imported.benchmark(name, &measure, unit, direction), value));
            }
        }
        for parts in processes {
            imported.parts(subject, parts);
        }
        if let Some(statistics) = statistics {
            imported.summary(subject, metric, statistics.figures());
        }
        Ok(())
    }

    /// Returns the seconds per operation of every process.
    fn launches(&self, file: &File, index: usize) -> Result<Vec<Vec<f64>>, ImportError> {
        let is = |one: &Measurement, stage: &str, old_mode: &str| {
            let (mode, its_stage) = (&one.iteration_mode.0, &one.iteration_stage.0);
            mode == "Workload" && its_stage == stage || mode == old_mode
        };
        let has_results = self.measurements.iter().any(|one| is(one, "Result", "Result"));
        let (stage, old_mode) =
            if has_results { ("Result", "Result") } else { ("Actual", "MainTarget") };
        let mut launches: Vec<(&str, Vec<f64>)> = Vec::new();
        let all = self.measurements.iter().enumerate();
        for (at, one) in all.filter(|(_, one)| is(one, stage, old_mode)) {
            if one.operations <= 0.0 {
                let place = format!("Benchmarks[{index}].Measurements[{at}].Operations");
                let found = one.operations.to_string();
                return Err(ImportError::at_field(file, &place, "a number above 0", &found));
            }
            let value = one.nanoseconds / one.operations * NANOSECOND;
            // Processes follow one another.
            match launches.last_mut() {
                Some((launch, values)) if *launch == one.launch_index.0 => values.push(value),
                _ => launches.push((&one.launch_index.0, vec![value])),
            }
        }
        Ok(launches.into_iter().map(|(_, values)| values).collect())
    }

    /// Returns what stands beside the time: measure, unit, direction and value.
    fn beside(&self) -> Vec<(String, Unit, Direction, f64)> {
        let mut beside = Vec::new();
        let allocated = self.memory.as_ref().and_then(|one| one.bytes_allocated_per_operation.0);
        if let Some(bytes) = allocated {
            beside.push(("allocated".to_owned(), Unit::Byte, Direction::Lower, bytes));
        }
        for metric in &self.metrics.0 {
            let (Some(descriptor), Some(value)) = (&metric.descriptor, metric.value.0) else {
                continue;
            };
            if descriptor.id.0 == "Allocated Memory" && allocated.is_some() {
                continue;
            }
            let names = [&descriptor.display_name.0, &descriptor.id.0];
            let name = names.into_iter().find(|name| !name.is_empty());
            let (unit, factor) = match descriptor.unit.0.as_str() {
                "Count" | "#" => (Unit::Count, 1.0),
                other => units::unit(other),
            };
            let direction = if *descriptor.the_greater_the_better {
                Direction::Higher
            } else {
                Direction::Lower
            };
            if let Some(name) = name {
                beside.push((name.clone(), unit, direction, value * factor));
            }
        }
        beside
    }
}

impl Statistics {
    fn figures(&self) -> Vec<(String, Option<f64>)> {
        let times = [
            ("minimum", self.min.0),
            ("maximum", self.max.0),
            ("median", self.median.0),
            ("mean", self.mean.0),
            ("standard_deviation", self.standard_deviation.0),
            ("p25", self.q1.0),
            ("p75", self.q3.0),
            ("low", self.confidence_interval.lower.0),
            ("high", self.confidence_interval.upper.0),
        ];
        let level = &self.confidence_interval.level.0;
        let confidence = match level.strip_prefix('L') {
            // `L999` is 0.999.
            Some(digits) => format!("0.{digits}").parse().ok(),
            None => level.parse().ok().filter(|share| (0.0..=1.0).contains(share)),
        };
        let mut figures: Vec<(String, Option<f64>)> = times
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.map(|value| value * NANOSECOND)))
            .collect();
        for (name, value) in &self.percentiles.0 {
            let is_new = !["P0", "P25", "P50", "P75", "P100"].contains(&name.as_str());
            if let Some(percentile) = name.strip_prefix('P').filter(|_| is_new) {
                figures.push((format!("p{percentile}"), value.0.map(|value| value * NANOSECOND)));
            }
        }
        figures.push(("confidence".to_owned(), confidence));
        figures.push(("samples".to_owned(), self.n.0));
        figures
    }
}
