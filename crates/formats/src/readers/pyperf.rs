//! pyperf: the JSON files of `pyperf timeit -o`, `pyperf command -o`, pyperformance, also compressed.
//!
//! - Version 1.0: metadata that all runs have in common stands with the benchmark, and what all
//!   benchmarks have in common with the suite. `values` are seconds (or `unit`) per loop, already
//!   divided. Runs without `values` only calibrated the number of loops.
//! - Before 1.0 (package `perf`): `common_metadata`, `samples`; warm-ups are not divided by the loops.
//!   The first versions had one `benchmark`, or the runs themselves on top.
//!
//! A run of pyperf is a process, and every benchmark has processes of its own.

use becalm_model::{Direction, ImportNote, Metric, Part, Unit, metric, parse_time};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, Names, part};
use crate::json::{self, Maybe, text_of};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "pyperf",
    about: "pyperf -o, pyperformance (also .json.gz)",
    recognise: Takes::File(|file| {
        let names = |field| json::names(file, &['{'], &["\"runs\"", field]);
        names("\"values\"") || names("\"warmups\"") || names("\"samples\"")
    }),
    read: Takes::File(read),
};

type Metadata = Map<String, Value>;

#[derive(Deserialize)]
struct Suite {
    metadata: Maybe<Metadata>,
    common_metadata: Maybe<Metadata>,
    benchmarks: Option<Vec<Benchmark>>,
    benchmark: Option<Benchmark>,
    runs: Option<Vec<OneRun>>,
    name: json::Text,
}

#[derive(Deserialize)]
struct Benchmark {
    metadata: Maybe<Metadata>,
    common_metadata: Maybe<Metadata>,
    name: json::Text,
    runs: Vec<OneRun>,
}

#[derive(Deserialize)]
struct OneRun {
    metadata: Maybe<Metadata>,
    values: Maybe<Vec<f64>>,
    /// What `values` were called before 1.0.
    samples: Maybe<Vec<f64>>,
    warmups: Maybe<Vec<Value>>,
}

/// Returns loops and seconds of a warm-up; the first versions had only the seconds.
fn warmup(value: &Value) -> Option<(f64, f64)> {
    match value {
        Value::Array(pair) if pair.len() == 2 => pair[0].as_f64().zip(pair[1].as_f64()),
        other => other.as_f64().map(|value| (1.0, value)),
    }
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let suite: Suite = json::read(file)?;
    let mut common = suite.common_metadata.0;
    common.extend(suite.metadata.0);
    let benchmarks = match (suite.benchmarks, suite.benchmark, suite.runs) {
        (Some(benchmarks), ..) => benchmarks,
        (None, Some(one), _) => vec![one],
        (None, None, Some(runs)) => vec![Benchmark {
            metadata: Maybe::default(),
            common_metadata: Maybe::default(),
            name: suite.name,
            runs,
        }],
        (None, None, None) => return Err(ImportError::nothing(file, "it contains no benchmarks")),
    };
    let all = benchmarks.iter().map(|one| merged(&common, one)).collect::<Vec<_>>();
    let tool = all.iter().find_map(|metadata| {
        let version = |key| metadata.get(key).map(text_of);
        version("pyperf_version").or_else(|| version("perf_version"))
    });
    let mut imported = Imported::of(format!("pyperf {}", tool.unwrap_or_default()).trim_end());
    for metadata in &all {
        facts(&mut imported, metadata);
    }
    let starts = benchmarks
        .iter()
        .flat_map(|one| &one.runs)
        .filter_map(|run| run.metadata.get("date").and_then(Value::as_str).and_then(parse_time));
    imported.started_at(starts.reduce(f64::min).unwrap_or(0.0));
    imported.expect(benchmarks.iter().map(|one| one.runs.len()).sum());
    let has_memory = benchmarks.iter().flat_map(|one| &one.runs).any(|run| memory(run).is_some());
    if has_memory {
        imported.metric(Metric::lower(metric::MAX_RSS, Unit::Byte));
    }
    let subject = subject(&mut imported, &all);
    let mut names = Names::default();
    let mut calibrations = 0;
    for (index, (benchmark, metadata)) in benchmarks.iter().zip(&all).enumerate() {
        let name = metadata.get("name").map(text_of).filter(|name| !name.is_empty());
        let name = name.or_else(|| Some(benchmark.name.0.clone()).filter(|n| !n.is_empty()));
        let name = names.unique(name.as_deref().unwrap_or("benchmark"));
        let (unit, factor) = match metadata.get("unit").map(text_of).as_deref() {
            None | Some("" | "second") => (Unit::Second, 1.0),
            Some("integer") => (Unit::Count, 1.0),
            Some(other) => units::unit(other),
        };
        let at = imported.benchmark(&name, "", unit, Direction::Lower);
        for (number, run) in benchmark.runs.iter().enumerate() {
            let place = format!("benchmarks[{index}].runs[{number}]");
            let (parts, is_calibration) = parts_of(file, &place, metadata, run, at, factor)?;
            calibrations += usize::from(is_calibration);
            let values = if has_memory { vec![memory(run)] } else { Vec::new() };
            imported.whole(subject, values, parts, is_calibration);
        }
    }
    if calibrations > 0 {
        imported.note(ImportNote::Calibrations { processes: calibrations });
    }
    Ok(imported)
}

/// Puts together what was hoisted.
fn merged(suite: &Metadata, benchmark: &Benchmark) -> Metadata {
    let mut merged = suite.clone();
    merged.extend(benchmark.common_metadata.0.clone());
    merged.extend(benchmark.metadata.0.clone());
    // Of a single run nothing is hoisted in old versions.
    for key in ["name", "unit", "loops", "inner_loops", "perf_version", "pyperf_version"] {
        if let Some(value) = benchmark.runs.iter().find_map(|run| run.metadata.get(key)) {
            merged.insert(key.to_owned(), value.clone());
        }
    }
    merged
}

/// Returns the values of one process, and whether it is one that only calibrated.
fn parts_of(
    file: &File,
    place: &str,
    metadata: &Metadata,
    run: &OneRun,
    metric: usize,
    factor: f64,
) -> Result<(Vec<Part>, bool), ImportError> {
    let is_old = run.values.is_empty();
    let (field, values) = if is_old { ("samples", &run.samples) } else { ("values", &run.values) };
    for (at, value) in values.iter().enumerate() {
        if *value < 0.0 {
            let place = format!("{place}.{field}[{at}]");
            return Err(ImportError::at_field(file, &place, "a value from 0", &value.to_string()));
        }
    }
    let mut warmups = Vec::new();
    for (at, value) in run.warmups.iter().enumerate() {
        warmups.push(warmup(value).ok_or_else(|| {
            let place = format!("{place}.warmups[{at}]");
            ImportError::at_field(file, &place, "[loops, value]", &value.to_string())
        })?);
    }
    if !values.is_empty() {
        let values = values.iter().map(|value| value * factor).collect();
        return Ok((part(metric, values).into_iter().collect(), false));
    }
    // Before 1.0 nothing was divided, which only the version of the package tells.
    let version = metadata.get("perf_version").map(text_of).unwrap_or_default();
    let inner = metadata.get("inner_loops").and_then(Value::as_f64).unwrap_or(1.0);
    let share = |(loops, value): (f64, f64)| {
        let calls = if version.starts_with("0.") { loops * inner } else { 1.0 };
        value / calls * factor
    };
    let values = warmups.into_iter().map(share).filter(|value| value.is_finite()).collect();
    Ok((part(metric, values).into_iter().collect(), true))
}

/// Returns the largest resident set of the process, in bytes.
fn memory(run: &OneRun) -> Option<f64> {
    let field = |name| run.metadata.get(name).and_then(Value::as_f64);
    field("command_max_rss").or_else(|| field("mem_max_rss"))
}

/// Values of metadata and the facts that they are. Names of machines and paths of people's folders are
/// no facts.
const FACTS: [(&str, &str); 16] = [
    ("cpu_model_name", "cpu_model"),
    ("cpu_count", "logical_cpus"),
    ("cpu_affinity", "affinity"),
    ("cpu_config", "cpu_config"),
    ("aslr", "aslr"),
    ("platform", "platform"),
    ("python_implementation", "python_implementation"),
    ("python_version", "python_version"),
    ("python_compiler", "compiler"),
    ("python_cflags", "compiler_flags"),
    ("python_hash_seed", "python_hash_seed"),
    ("performance_version", "pyperformance_version"),
    ("timer", "timer"),
    ("commit_id", "commit_id"),
    ("commit_branch", "commit_branch"),
    ("commit_date", "commit_date"),
];

fn facts(imported: &mut Imported, metadata: &Metadata) {
    for (key, fact) in FACTS {
        imported.fact(fact, metadata.get(key).map(text_of).unwrap_or_default());
    }
}

/// Everything is one subject: what differs between files is the Python or the machine. Only the command
/// of `pyperf command` says what ran.
fn subject(imported: &mut Imported, all: &[Metadata]) -> usize {
    let command = match all {
        [one] => one.get("command").map(text_of).filter(|command| !command.is_empty()),
        _ => None,
    };
    let name = command.clone().unwrap_or_else(|| "pyperf".to_owned());
    imported.command(&name, command.into_iter().collect(), Vec::new())
}
