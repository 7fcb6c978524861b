//! tinybench, and vitest, whose `bench` runs it.
//!
//! - vitest 1 to 3, `--outputJson`: `files[].groups[].benchmarks[]`, in milliseconds. `samples` is there
//!   and empty unless they were asked for. vitest 0: `testResults{group: [..]}`, the same rows.
//! - vitest 5 has its benchmarks in the report of its tests, see `vitest_report`.
//! - tinybench 6: the tasks as JSON, `[{name, result: {latency, throughput}}]`, in milliseconds. Versions
//!   3 to 5 have the figures of `latency` in `result` as well, and versions up to 2 only there.
//! - `hz` is one divided by the mean: it says nothing more.
//!
//! vitest runs each file in a process or a thread of its own; a file counts as a process.

use std::collections::BTreeMap;

use becalm_model::ImportNote;
use serde::Deserialize;

use super::tinybench_figures::Figures;
use super::vitest_report;
use crate::imported::{Imported, Names};
use crate::json::{self, Maybe, Text};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const VITEST: Entry = Entry {
    name: "vitest",
    about: "vitest bench --outputJson (and the json reporter of vitest 0 and 5)",
    recognise: Takes::File(|file| {
        json::names(file, &['{'], &["\"files\"", "\"groups\"", "\"benchmarks\""])
            || json::names(file, &['{'], &["\"testResults\"", "\"rme\"", "\"hz\""])
            || json::names(file, &['{'], &["\"testResults\"", "\"benchmarks\"", "\"latency\""])
    }),
    read: Takes::File(read_vitest),
};

pub(crate) const TINYBENCH: Entry = Entry {
    name: "tinybench",
    about: "tinybench's tasks as JSON",
    recognise: Takes::File(|file| {
        let names = |fields: &[&str]| json::names(file, &['[', '{'], fields);
        names(&["\"result\"", "\"name\"", "\"latency\""])
            || names(&["\"result\"", "\"name\"", "\"hz\"", "\"rme\""])
            || names(&["\"latency\"", "\"throughput\"", "\"p75\""])
            || json::names(file, &['['], &["\"hz\"", "\"rme\"", "\"p75\""])
    }),
    read: Takes::File(read_tinybench),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    files: Maybe<Vec<OneFile>>,
    test_results: Maybe<BTreeMap<String, Vec<Benchmark>>>,
}

#[derive(Deserialize)]
struct OneFile {
    filepath: Text,
    groups: Maybe<Vec<Group>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    full_name: Text,
    benchmarks: Maybe<Vec<Benchmark>>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Deserialize)]
struct Task {
    name: Text,
    result: Option<TaskResult>,
    /// People also write the fields of the result beside the name.
    #[serde(flatten)]
    own: TaskResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskResult {
    state: Text,
    latency: Option<Figures>,
    runtime: Text,
    runtime_version: Text,
    error: Option<serde_json::Value>,
    #[serde(flatten)]
    flat: Figures,
}

fn read_vitest(file: &File) -> Result<Imported, ImportError> {
    if vitest_report::is_one(file.text()?) {
        return vitest_report::read(file);
    }
    let report: Report = json::read(file)?;
    let mut imported = Imported::of("vitest");
    let subject = imported.subject("vitest");
    let mut names = Names::default();
    for one in &report.files.0 {
        let mut parts = Vec::new();
        for group in &one.groups.0 {
            // The full name of a group begins with its file.
            let group_name =
                if group.full_name.0.is_empty() { &one.filepath.0 } else { &group.full_name.0 };
            for benchmark in &group.benchmarks.0 {
                let name = names.unique(&joined(group_name, &benchmark.name));
                parts.extend(benchmark.figures.import(&mut imported, subject, &name));
            }
        }
        imported.parts(subject, parts);
    }
    let mut parts = Vec::new();
    for (group, benchmarks) in &report.test_results.0 {
        for benchmark in benchmarks {
            let name = names.unique(&joined(group, &benchmark.name));
            parts.extend(benchmark.figures.import(&mut imported, subject, &name));
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}

fn joined(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group} > {name}") }
}

fn read_tinybench(file: &File) -> Result<Imported, ImportError> {
    // An untagged enum would say of any error only that nothing fits.
    let tasks: Vec<Task> = if file.text()?.trim_start().starts_with('{') {
        json::read::<Bench>(file)?.tasks
    } else {
        json::read(file)?
    };
    let mut imported = Imported::of("tinybench");
    let subject = imported.subject("tinybench");
    let mut names = Names::default();
    let mut parts = Vec::new();
    for task in tasks {
        let name = if task.name.0.is_empty() { "task" } else { &task.name.0 };
        let name = names.unique(name);
        let is_own = task.own.latency.is_some() || task.own.flat.mean.0.is_some();
        let Some(result) = task.result.or_else(|| is_own.then_some(task.own)) else {
            imported.note(ImportNote::NotRun { benchmark: name, why: None });
            continue;
        };
        let runtime = format!("{} {}", result.runtime.0, result.runtime_version.0);
        imported.fact("runtime", runtime.trim());
        if result.error.is_some() || result.state.0 == "errored" {
            imported.failed(name, None);
            continue;
        }
        let figures = result.latency.as_ref().unwrap_or(&result.flat);
        parts.extend(figures.import(&mut imported, subject, &name));
    }
    imported.parts(subject, parts);
    Ok(imported)
}

#[derive(Deserialize)]
struct Bench {
    tasks: Vec<Task>,
}
