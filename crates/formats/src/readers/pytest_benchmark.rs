//! pytest-benchmark: `--benchmark-json`, `--benchmark-autosave`, `--benchmark-save`.
//!
//! - All times are seconds per call: a round of several calls (`stats.iterations`) is divided already.
//! - `stats.data` has one value per round, if the data was saved; otherwise there are only statistics.
//! - All benchmarks of a file ran in one process of pytest.
//! - `commit_info` has placeholders outside of a repository and where no branch is checked out.
//! - Names of machines and of people's folders stand in `machine_info` and are no facts.

use becalm_model::{Direction, ImportNote, Unit, parse_time};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, Names, part, single};
use crate::json::{self, Maybe, Number, Text, text_of};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "pytest-benchmark",
    about: "pytest --benchmark-json",
    recognise: Takes::File(|file| {
        json::names(file, &['{'], &["\"benchmarks\"", "\"machine_info\""])
            || json::names(file, &['{'], &["\"benchmarks\"", "\"stats\"", "\"fullname\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    machine_info: Maybe<Map<String, Value>>,
    commit_info: Maybe<Map<String, Value>>,
    benchmarks: Vec<Benchmark>,
    datetime: Text,
    version: Text,
}

#[derive(Deserialize)]
struct Benchmark {
    name: Text,
    fullname: Text,
    stats: Option<Stats>,
}

#[derive(Deserialize)]
struct Stats {
    min: Number,
    max: Number,
    mean: Number,
    stddev: Number,
    median: Number,
    q1: Number,
    q3: Number,
    rounds: Number,
    iterations: Number,
    data: Maybe<Vec<f64>>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let mut imported = Imported::of(format!("pytest-benchmark {}", document.version.0).trim_end());
    facts(&mut imported, &document);
    imported.started_at(parse_time(&document.datetime.0).unwrap_or(0.0));
    let commit = |field: &str| document.commit_info.get(field).map(text_of).unwrap_or_default();
    let parameters = [("commit", "id"), ("branch", "branch"), ("dirty", "dirty")];
    let parameters = parameters.map(|(name, field)| (name.to_owned(), commit(field)));
    let parameters = parameters
        .into_iter()
        .filter(|(_, value)| !value.is_empty() && !is_placeholder(value))
        .collect();
    let project = Some(commit("project")).filter(|name| !name.is_empty());
    let subject = imported.command(project.as_deref().unwrap_or("pytest"), Vec::new(), parameters);

    let mut names = Names::default();
    let mut parts = Vec::new();
    for (index, benchmark) in document.benchmarks.into_iter().enumerate() {
        let name =
            if benchmark.fullname.0.is_empty() { benchmark.name.0 } else { benchmark.fullname.0 };
        if name.is_empty() {
            let place = format!("benchmarks[{index}].fullname");
            return Err(ImportError::at_field(file, &place, "a name", "nothing"));
        }
        let name = names.unique(&name);
        let Some(stats) = benchmark.stats else {
            imported.failed(name, None);
            continue;
        };
        if let Some(at) = stats.data.iter().position(|value| *value < 0.0) {
            let place = format!("benchmarks[{index}].stats.data[{at}]");
            return Err(ImportError::at_field(file, &place, "a time", &stats.data[at].to_string()));
        }
        let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
        imported.summary(subject, metric, stats.figures());
        let rounds = stats.rounds.0.unwrap_or(0.0);
        let is_cut = !stats.data.is_empty() && rounds > stats.data.len() as f64;
        if is_cut {
            let values = stats.data.len();
            let benchmark = name.clone();
            imported.note(ImportNote::FewerValues { benchmark, values, rounds });
        }
        let statistics =
            [("median", stats.median.0), ("mean", stats.mean.0), ("minimum", stats.min.0)];
        if !stats.data.is_empty() {
            parts.extend(part(metric, stats.data.0));
            continue;
        }
        let first = statistics.into_iter().find_map(|(name, value)| Some((name, value?)));
        if let Some((statistic, value)) = first {
            imported.stand_in(metric, statistic);
            parts.push(single(metric, value));
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}

/// Says whether this stands where pytest-benchmark found no commit or no branch: `unversioned`, `(detached head)`.
fn is_placeholder(value: &str) -> bool {
    ["unversioned", "unknown"].contains(&value) || value.starts_with('(') && value.ends_with(')')
}

impl Stats {
    fn figures(&self) -> [(&'static str, Option<f64>); 9] {
        [
            ("minimum", self.min.0),
            ("maximum", self.max.0),
            ("mean", self.mean.0),
            ("standard_deviation", self.stddev.0),
            ("median", self.median.0),
            ("p25", self.q1.0),
            ("p75", self.q3.0),
            ("samples", self.rounds.0),
            ("iterations", self.iterations.0),
        ]
    }
}

fn facts(imported: &mut Imported, document: &Document) {
    let machine = |field: &str| document.machine_info.get(field).map(text_of).unwrap_or_default();
    let cpu = |field: &str| {
        let cpu = document.machine_info.get("cpu");
        cpu.and_then(|cpu| cpu.get(field)).map(text_of).unwrap_or_default()
    };
    imported.fact("os", machine("system"));
    imported.fact("kernel_release", machine("release"));
    imported.fact("architecture", machine("machine"));
    imported.fact("compiler", machine("python_compiler"));
    imported.fact("python_implementation", machine("python_implementation"));
    imported.fact("python_version", machine("python_version"));
    // Old versions call the model `brand`, or have only a text for all of it.
    imported.fact("cpu_model", machine("cpu"));
    imported.fact("cpu_model", cpu("brand"));
    imported.fact("cpu_model", cpu("brand_raw"));
    imported.fact("logical_cpus", cpu("count"));
}
