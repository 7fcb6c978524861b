//! ASV: `results/<machine>/<commit>-<environment>.json`, one file or a folder of them.
//!
//! - Version 2: `results{name: [..]}`, whose places `result_columns` names; what is missing at the end is
//!   null. Version 1: `results{name: number | {result, params, stats, samples}}`.
//! - A benchmark with parameters has one result per combination, the last parameter changing first.
//!   `null` is a failure, `NaN` was skipped.
//! - Results are medians; `samples` are there with `--record-samples`, those of all processes together.
//! - Units stand in `benchmarks.json` of the folder. Without it the name tells: `time_`, `mem_`,
//!   `peakmem_`; of `track_` nothing is known.
//!
//! Commits are subjects.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::history::AtCommit;
use becalm_model::{Direction, ImportFact, Part, Unit, counted};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, parameters_of, part, single};
use crate::json::{self, Maybe, Text, text_of};
use crate::readers::short;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const FOLDER: Entry = Entry {
    name: "asv",
    about: "ASV's results: a file of a commit, or the folder of a machine",
    recognise: Takes::Files(|files| files.iter().any(is_result)),
    read: Takes::Files(read),
};

fn is_result(file: &File) -> bool {
    file.text().is_ok_and(|text| {
        let (start, end) = json::ends(text);
        let names = |field| start.contains(field) || end.contains(field);
        text.trim_start().starts_with('{')
            && names("\"commit_hash\"")
            && names("\"results\"")
            && (names("\"params\"") || names("\"result_columns\""))
    })
}

#[derive(Deserialize)]
struct Document {
    commit_hash: String,
    date: Maybe<f64>,
    env_name: Text,
    python: Text,
    params: Maybe<Map<String, Value>>,
    result_columns: Maybe<Vec<String>>,
    results: BTreeMap<String, Value>,
}

/// What is known of one benchmark in one file, one entry per combination of parameters.
#[derive(Default)]
struct Outcome<'a> {
    results: &'a [Value],
    parameters: Vec<Vec<String>>,
    samples: Vec<Vec<f64>>,
    /// If they are read.
    figures: Option<Vec<Figure>>,
}

/// The name of a figure and its values.
type Figure = (&'static str, Vec<Option<f64>>);

/// What is read of ASV's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Detail {
    /// Values, samples, and what ASV computed of them.
    #[default]
    All,
    /// Values and samples alone.
    Values,
}

fn read(files: &[File]) -> Result<Imported, ImportError> {
    let single = files.len() == 1;
    let mut documents: Vec<(&File, Document)> = Vec::new();
    let mut imported = Imported::of("ASV");
    let mut units = Map::new();
    for file in files {
        match file.base() {
            "benchmarks.json" if !single => units = json::read(file)?,
            "machine.json" if !single => facts(&mut imported, &json::read(file)?),
            _ if single || is_result(file) => documents.push((file, json::read(file)?)),
            _ => {}
        }
    }
    documents.sort_by(|(_, a), (_, b)| a.date.total_cmp(&b.date));
    imported.started_at(documents.first().map_or(0.0, |(_, one)| one.date.0 / 1000.0));
    // The machine is a folder, and environments are several files of one commit.
    let folders: BTreeSet<_> = documents.iter().map(|(file, _)| file.folder()).collect();
    let environments: BTreeSet<_> =
        documents.iter().map(|(file, document)| environment(file, document)).collect();
    for (file, document) in &documents {
        facts(&mut imported, &document.params);
        let mut name = short(&document.commit_hash).to_owned();
        let environment = environment(file, document);
        if environments.len() > 1 {
            name = format!("{name} {environment}");
        }
        if let Some(folder) = file.folder().filter(|_| folders.len() > 1) {
            name = format!("{name} {folder}");
        }
        let parameters = parameters_of([
            ("commit", &document.commit_hash),
            ("environment", environment),
            ("python", &document.python.0),
        ]);
        let subject = imported.another(&name, Vec::new(), parameters);
        let (parts, _) = import_all(&mut imported, file, document, subject, &units, Detail::All)?;
        imported.parts(subject, parts);
    }
    Ok(imported)
}

/// Reads every file of results as a commit, and says what has no value.
pub(crate) fn commits(files: &[File]) -> Result<(Vec<AtCommit>, Option<String>), ImportError> {
    let common: Vec<&File> =
        files.iter().filter(|file| files.len() > 1 && AsvFolder::is_common(&file.name)).collect();
    let mut folder = AsvFolder::of(common)?;
    let results = files.iter().filter(|file| is_result(file));
    let commits: Result<_, _> =
        results.filter_map(|file| folder.commit(file).transpose()).collect();
    Ok((commits?, folder.left_out()))
}

/// A folder of ASV's results, of which one file is read after the other: such a folder may be larger than the memory.
#[derive(Debug, Default)]
pub struct AsvFolder {
    /// One list of benchmarks for all machines.
    units: Map<String, Value>,
    /// What is known of each machine, by the folder that it has.
    machines: BTreeMap<Option<String>, Map<String, Value>>,
    detail: Detail,
    /// Results so far that have no value.
    lacking: usize,
    /// Files so far in which none has one.
    failed: usize,
}

impl AsvFolder {
    /// Says whether a file of this name is about all results and has none itself.
    pub fn is_common(name: &str) -> bool {
        let base = name.rsplit('/').next().unwrap_or_default();
        base == "benchmarks.json" || base == "machine.json"
    }

    /// Says whether a file has results.
    pub fn is_result(file: &File) -> bool {
        is_result(file)
    }

    /// Reads what the files say that are about all results.
    ///
    /// # Errors
    ///
    /// If one of them is no JSON.
    pub fn of<'a>(common: impl IntoIterator<Item = &'a File>) -> Result<Self, ImportError> {
        let mut folder = Self::default();
        for file in common {
            let content: Map<String, Value> = json::read(file)?;
            if file.base() == "benchmarks.json" {
                folder.units.extend(content);
            } else {
                folder.machines.insert(file.folder().map(str::to_owned), content);
            }
        }
        Ok(folder)
    }

    /// Leaves what ASV computed of the values, for whoever keeps the values alone: it is most of a file.
    #[must_use]
    pub fn values_alone(self) -> Self {
        Self { detail: Detail::Values, ..self }
    }

    /// Reads a file of results; `None` if everything failed at its commit.
    ///
    /// # Errors
    ///
    /// If the file is not as ASV writes it.
    pub fn commit(&mut self, file: &File) -> Result<Option<AtCommit>, ImportError> {
        let document: Document = json::read(file)?;
        let mut imported = Imported::of("ASV");
        if let Some(machine) = self.machines.get(&file.folder().map(str::to_owned)) {
            facts(&mut imported, machine);
        }
        facts(&mut imported, &document.params);
        // What ASV keeps is the date of the commit; when it was measured nobody knows.
        let parameters = parameters_of([("environment", environment(file, &document))]);
        let subject = imported.another("asv", Vec::new(), parameters);
        let (parts, lacking) =
            import_all(&mut imported, file, &document, subject, &self.units, self.detail)?;
        // A commit of which everything failed has nothing to be kept.
        self.lacking += lacking;
        if parts.is_empty() {
            self.failed += 1;
            return Ok(None);
        }
        imported.parts(subject, parts);
        let mut record = imported.finish(file)?;
        if let Some(source) = &mut record.source {
            FOLDER.name.clone_into(&mut source.format);
        }
        let commit = Some(document.commit_hash.clone()).filter(|commit| !commit.is_empty());
        let time = Some(document.date.0 / 1000.0).filter(|time| *time > 0.0);
        Ok(Some(AtCommit { time, ..AtCommit::of(commit, record) }))
    }

    /// Says what was left out of the files that were read, as a sentence.
    pub fn left_out(&self) -> Option<String> {
        let results = (self.lacking > 0).then(|| {
            let results = counted(self.lacking, "result");
            format!("{results} without a value, which failed or which ASV skipped")
        });
        let files = (self.failed > 0)
            .then(|| format!("{} in which no result has a value", counted(self.failed, "file")));
        let all: Vec<String> = results.into_iter().chain(files).collect();
        (!all.is_empty()).then(|| format!("skipped: {}", all.join("; ")))
    }
}

/// Imports every benchmark of a document as one subject, and says how many results have no value.
fn import_all(
    imported: &mut Imported,
    file: &File,
    document: &Document,
    subject: usize,
    units: &Map<String, Value>,
    detail: Detail,
) -> Result<(Vec<Part>, usize), ImportError> {
    let (mut parts, mut lacking) = (Vec::new(), 0);
    for (benchmark, value) in &document.results {
        let place = format!("results.{benchmark}");
        let outcome = outcome(file, &place, value, &document.result_columns, detail)?;
        let described = units.get(benchmark);
        let found = import(imported, file, &place, subject, benchmark, described, &outcome)?;
        // A single null may stand for all combinations, or for a benchmark.
        lacking += outcome.results.len().max(1).saturating_sub(found.len());
        parts.extend(found);
    }
    Ok((parts, lacking))
}

/// Returns the name of the environment, which version 1 has only in the name of the file.
fn environment<'a>(file: &'a File, document: &'a Document) -> &'a str {
    let of_file = file.base().strip_suffix(".json").and_then(|base| base.split_once('-'));
    let of_file = of_file.filter(|(commit, _)| document.commit_hash.starts_with(commit));
    let name = document.env_name.0.as_str();
    if name.is_empty() { of_file.map_or("", |(_, environment)| environment) } else { name }
}

/// The name of the machine is no fact.
fn facts(imported: &mut Imported, machine: &Map<String, Value>) {
    let facts = [
        ("arch", "architecture"),
        ("cpu", "cpu_model"),
        ("num_cpu", "logical_cpus"),
        ("os", "os"),
        ("ram", "memory_total"),
    ];
    for (field, fact) in facts {
        imported.fact(fact, machine.get(field).map(text_of).unwrap_or_default());
    }
}

/// Returns a list of what may be a single value, or nothing.
fn list(value: Option<&Value>) -> &[Value] {
    match value {
        None | Some(Value::Null) => &[],
        Some(Value::Array(values)) => values,
        Some(other) => std::slice::from_ref(other),
    }
}

/// Reads a result of either version.
fn outcome<'a>(
    file: &File,
    place: &str,
    value: &'a Value,
    columns: &[String],
    detail: Detail,
) -> Result<Outcome<'a>, ImportError> {
    let figures = Some(Vec::new()).filter(|_| detail == Detail::All);
    let mut outcome = Outcome { figures, ..Outcome::default() };
    match value {
        Value::Null => {}
        Value::Number(_) => outcome.results = std::slice::from_ref(value),
        Value::Array(row) => {
            let column = |name: &str| {
                let at = columns.iter().position(|column| column == name)?;
                row.get(at)
            };
            if columns.is_empty() {
                return Err(ImportError::at_field(file, "result_columns", "names", "nothing"));
            }
            outcome.results = list(column("result"));
            outcome.parameters = parameters(file, place, column("params"))?;
            // A benchmark without parameters may have its samples without a list of combinations.
            outcome.samples = samples(column("samples"), outcome.parameters.is_empty());
            if let Some(figures) = &mut outcome.figures {
                figures.extend(FIGURES.map(|(name, figure)| {
                    (figure, list(column(name)).iter().map(Value::as_f64).collect())
                }));
            }
        }
        Value::Object(fields) => {
            let field = |name: &str| fields.get(name);
            outcome.results = list(field("result"));
            outcome.parameters = parameters(file, place, field("params"))?;
            outcome.samples = samples(field("samples"), outcome.parameters.is_empty());
            let stats = list(field("stats"));
            let of = |get: &dyn Fn(&'a Value) -> Option<&'a Value>| {
                stats.iter().map(|one| get(one)?.as_f64()).collect::<Vec<_>>()
            };
            if let Some(figures) = &mut outcome.figures {
                figures.extend(FIGURES.map(|(name, figure)| {
                    let old = name.strip_prefix("stats_").unwrap_or(name);
                    let values = match old {
                        "ci_99_a" => of(&|one| one.get("ci_99")?.get(0)),
                        "ci_99_b" => of(&|one| one.get("ci_99")?.get(1)),
                        other => of(&|one| one.get(other)),
                    };
                    (figure, values)
                }));
            }
        }
        other => {
            let found = json::shown(other);
            return Err(ImportError::at_field(file, place, "a result", &found));
        }
    }
    Ok(outcome)
}

const FIGURES: [(&str, &str); 6] = [
    ("stats_ci_99_a", "low"),
    ("stats_ci_99_b", "high"),
    ("stats_q_25", "p25"),
    ("stats_q_75", "p75"),
    ("stats_repeat", "samples"),
    ("stats_number", "iterations"),
];

fn samples(value: Option<&Value>, is_one: bool) -> Vec<Vec<f64>> {
    let samples = list(value);
    let numbers = |values: &[Value]| values.iter().filter_map(Value::as_f64).collect();
    if is_one && samples.iter().any(Value::is_number) {
        return vec![numbers(samples)];
    }
    samples.iter().map(|one| numbers(one.as_array().map_or(&[], Vec::as_slice))).collect()
}

fn parameters(
    file: &File,
    place: &str,
    value: Option<&Value>,
) -> Result<Vec<Vec<String>>, ImportError> {
    let refused = |found: &Value| {
        let found = json::shown(found);
        ImportError::at_field(file, &format!("{place}.params"), "lists of values", &found)
    };
    list(value)
        .iter()
        .map(|one| match one {
            Value::Array(values) => Ok(values.iter().map(text_of).collect()),
            other => Err(refused(other)),
        })
        .collect()
}

fn import(
    imported: &mut Imported,
    file: &File,
    place: &str,
    subject: usize,
    benchmark: &str,
    described: Option<&Value>,
    outcome: &Outcome<'_>,
) -> Result<Vec<Part>, ImportError> {
    let lengths = outcome.parameters.iter().map(|values| values.len() as u64);
    let combinations = lengths.fold(1_u64, u64::saturating_mul);
    if !outcome.results.is_empty() && outcome.results.len() as u64 != combinations {
        // A single null stands for all of them.
        if outcome.results.iter().all(Value::is_null) {
            return Ok(Vec::new());
        }
        let expected = format!(
            "{}, one per combination of parameters",
            counted(usize::try_from(combinations).unwrap_or(usize::MAX), "result")
        );
        let found = outcome.results.len().to_string();
        return Err(ImportError::at_field(file, &format!("{place}.result"), &expected, &found));
    }
    let (kind, unit, factor) = unit(benchmark, described);
    let mut parts = Vec::new();
    for (index, result) in outcome.results.iter().enumerate() {
        let name = combination(benchmark, &outcome.parameters, index);
        let value = match result {
            Value::Null => None,
            Value::Number(number) => number.as_f64(),
            other => {
                let place = format!("{place}.result[{index}]");
                let found = json::shown(other);
                return Err(ImportError::at_field(file, &place, "a number", &found));
            }
        };
        let samples = outcome.samples.get(index).map_or(&[][..], Vec::as_slice);
        let samples: Vec<f64> = samples.iter().map(|value| value * factor).collect();
        if value.is_none() && samples.is_empty() {
            continue;
        }
        let metric = imported.benchmark(&name, "", unit.clone(), Direction::Lower);
        let value = value.map(|value| value * factor);
        if let Some(figures) = &outcome.figures {
            let median = ("median", value.filter(|_| kind == Kind::Time));
            let of_place = figures.iter().map(|(figure, values)| {
                let factor = if ["samples", "iterations"].contains(figure) { 1.0 } else { factor };
                let value = values.get(index).copied().flatten();
                (*figure, value.map(|value| value * factor))
            });
            let has_interval =
                of_place.clone().any(|(name, value)| name == "low" && value.is_some());
            let confidence = [("confidence", has_interval.then_some(0.99))];
            let all = [median].into_iter().chain(of_place).chain(confidence);
            imported.summary(subject, metric, all);
        }
        if let Some(part) = part(metric, samples) {
            imported.known(ImportFact::AsvSamples);
            parts.push(part);
        } else if let Some(value) = value {
            if kind == Kind::Time {
                imported.stand_in(metric, "median");
            }
            if kind == Kind::Track {
                imported.known(ImportFact::AsvTracked);
            }
            parts.push(single(metric, value));
        }
    }
    Ok(parts)
}

/// Names one combination, the last parameter changing first: `sort(10, 'a')`.
fn combination(benchmark: &str, parameters: &[Vec<String>], index: usize) -> String {
    if parameters.is_empty() {
        return benchmark.to_owned();
    }
    let mut left = index;
    let mut chosen: Vec<&str> = Vec::new();
    for values in parameters.iter().rev() {
        chosen.push(values.get(left % values.len().max(1)).map_or("", String::as_str));
        left /= values.len().max(1);
    }
    chosen.reverse();
    format!("{benchmark}({})", chosen.join(", "))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Time,
    Memory,
    Track,
}

/// Returns the kind of a benchmark, its unit and factor.
fn unit(benchmark: &str, described: Option<&Value>) -> (Kind, Unit, f64) {
    let field = |name: &str| described.and_then(|one| one.get(name)).and_then(Value::as_str);
    let function = benchmark.rsplit('.').next().unwrap_or(benchmark);
    let kind = field("type").unwrap_or_else(|| function.split('_').next().unwrap_or_default());
    let (kind, usual) = match kind {
        "time" | "timeraw" => (Kind::Time, "seconds"),
        "mem" | "memory" | "peakmem" | "peakmemory" => (Kind::Memory, "bytes"),
        _ => (Kind::Track, ""),
    };
    let (unit, factor) = match field("unit").unwrap_or(usual) {
        "unit" => (Unit::Count, 1.0),
        other => units::unit(other),
    };
    (kind, unit, factor)
}
