//! mitata: `run({format: 'json'})`.
//!
//! - `{layout, benchmarks, context}`: a benchmark has a `runs[]` for each of its arguments, with `stats` in nanoseconds
//!   or an `error`. `samples` are there if they were asked for, sorted, so that their order in time is lost.
//! - `layout[]` has the names of groups, by the index that a benchmark has as `group`.
//!
//! A file is one process.

use becalm_model::{Direction, ImportNote, Part, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::{Imported, Names, part, single};
use crate::json::{self, Maybe, Number, Text};
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "mitata",
    about: "mitata's format: 'json'",
    recognise: Takes::File(|file| {
        json::names(file, &['{'], &["\"layout\"", "\"benchmarks\"", "\"runs\"", "\"p999\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Benchmark>,
    layout: Maybe<Vec<Group>>,
    context: Maybe<Context>,
}

#[derive(Deserialize)]
struct Group {
    name: Text,
}

#[derive(Deserialize, Default)]
struct Context {
    arch: Text,
    runtime: Text,
    version: Text,
    cpu: Maybe<Cpu>,
}

#[derive(Deserialize, Default)]
struct Cpu {
    name: Text,
}

#[derive(Deserialize)]
struct Benchmark {
    alias: Text,
    group: Option<usize>,
    runs: Maybe<Vec<OneRun>>,
}

#[derive(Deserialize)]
struct OneRun {
    name: Text,
    stats: Option<Stats>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Stats {
    samples: Maybe<Vec<f64>>,
    min: Number,
    max: Number,
    avg: Number,
    p25: Number,
    p50: Number,
    p75: Number,
    p99: Number,
    p999: Number,
    heap: Option<Heap>,
}

#[derive(Deserialize)]
struct Heap {
    avg: Number,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let mut imported = Imported::of("mitata");
    let Context { arch, runtime, version, cpu } = &document.context.0;
    imported.fact("runtime", format!("{} {}", runtime.0, version.0).trim());
    imported.fact("architecture", &arch.0);
    imported.fact("cpu_model", &cpu.name.0);
    let subject = imported.subject("mitata");
    let mut names = Names::default();
    let mut parts = Vec::new();
    for benchmark in &document.benchmarks {
        let group = benchmark.group.and_then(|at| document.layout.get(at));
        let group = group.map_or("", |group| group.name.0.as_str());
        for run in benchmark.runs.iter() {
            let own = if run.name.0.is_empty() { &benchmark.alias.0 } else { &run.name.0 };
            let name = names.unique(&in_group(group, own));
            if let Some(stats) = &run.stats {
                parts.extend(stats.import(&mut imported, subject, &name));
            } else {
                imported.failed(name, run.error.as_ref().map(json::shown));
            }
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}

/// Names a benchmark with its group, if it has one.
pub(super) fn in_group(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group} > {name}") }
}

impl Stats {
    fn import(&self, imported: &mut Imported, subject: usize, name: &str) -> Vec<Part> {
        let stand_in = self.p50.0.map(|p50| ("median", p50));
        let stand_in = stand_in.or_else(|| Some(("mean", self.avg.0?)));
        if self.samples.is_empty() && stand_in.is_none() {
            imported.note(ImportNote::NoResults { benchmark: name.to_owned() });
            return Vec::new();
        }
        let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
        let figures = [
            ("minimum", self.min.0),
            ("maximum", self.max.0),
            ("mean", self.avg.0),
            ("p25", self.p25.0),
            ("median", self.p50.0),
            ("p75", self.p75.0),
            ("p99", self.p99.0),
            ("p99.9", self.p999.0),
        ];
        let figures = figures.map(|(name, value)| (name, value.map(|value| value * NANOSECOND)));
        imported.summary(subject, metric, figures);
        let mut parts = Vec::new();
        if self.samples.is_empty() {
            parts.extend(stand_in.map(|(statistic, value)| {
                imported.stand_in(metric, statistic);
                single(metric, value * NANOSECOND)
            }));
        } else {
            let samples = self.samples.iter().map(|one| one * NANOSECOND).collect();
            parts.extend(part(metric, samples));
        }
        if let Some(bytes) = self.heap.as_ref().and_then(|heap| heap.avg.0) {
            let metric = imported.benchmark(name, "heap", Unit::Byte, Direction::Lower);
            imported.stand_in(metric, "mean");
            parts.push(single(metric, bytes));
        }
        parts
    }
}
