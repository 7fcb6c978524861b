//! Sightglass (Wasmtime): `--raw --output-format csv` and `json`.
//!
//! - Columns `arch,engine,wasm,process,iteration,phase,event,count`, and `engine_flags` since 2023. The
//!   JSON is an array of objects with the same names.
//! - `phase` is Compilation, Instantiation or Execution. `event` is `cycles`, `nanoseconds`, or a
//!   counter of perf.
//!
//! An engine is a subject; `process` tells processes apart, and all of one are made together.

use std::collections::{BTreeMap, HashMap};

use becalm_model::{Direction, Record, Unit};
use serde::Deserialize;

use crate::error::ImportError;
use crate::file::{File, only};
use crate::format::Entry;
use crate::imported::{Imported, part};
use crate::json;
use crate::lines::number;
use crate::readers::table::Table;

pub(crate) const CSV: Entry = Entry {
    name: "sightglass-csv",
    about: "sightglass benchmark --raw --output-format csv",
    recognise: |files| {
        only(files).and_then(File::text).is_ok_and(|text| {
            let header = text.lines().next().unwrap_or_default();
            header.starts_with("arch,engine,") && header.ends_with(",phase,event,count")
        })
    },
    read: read_csv,
};

pub(crate) const JSON: Entry = Entry {
    name: "sightglass",
    about: "sightglass benchmark --raw --output-format json",
    recognise: |files| {
        only(files).and_then(File::text).is_ok_and(|text| {
            let start = json::beginning(text);
            let keys = ["\"engine\"", "\"wasm\"", "\"phase\"", "\"event\"", "\"count\""];
            start.starts_with('[') && keys.iter().all(|key| start.contains(key))
        })
    },
    read: read_json,
};

#[derive(Deserialize)]
struct Measurement {
    #[serde(default)]
    arch: String,
    engine: String,
    #[serde(default)]
    engine_flags: Option<String>,
    wasm: String,
    process: u64,
    iteration: u64,
    phase: String,
    event: String,
    count: f64,
}

fn read_csv(files: &[File]) -> Result<Record, ImportError> {
    let file = only(files)?;
    let mut table = Table::of(file)?;
    for column in ["engine", "wasm", "process", "iteration", "phase", "event", "count"] {
        table.require(column)?;
    }
    let mut measurements = Vec::new();
    while let Some(row) = table.next()? {
        let text = |column: &str| row.text(column).to_owned();
        let whole = |column: &str| {
            let cell = row.text(column);
            cell.parse::<u64>().map_err(|_| row.wrong(&format!("a number as {column}"), cell))
        };
        let count = row.text("count");
        measurements.push(Measurement {
            arch: text("arch"),
            engine: text("engine"),
            engine_flags: Some(text("engine_flags")),
            wasm: text("wasm"),
            process: whole("process")?,
            iteration: whole("iteration")?,
            phase: text("phase"),
            event: text("event"),
            count: number(count).ok_or_else(|| row.wrong("a number as count", count))?,
        });
    }
    record(file, measurements)
}

fn read_json(files: &[File]) -> Result<Record, ImportError> {
    let file = only(files)?;
    record(file, json::read(file)?)
}

/// The values of each metric, with the number of the iteration.
type Series = BTreeMap<usize, Vec<(u64, f64)>>;

fn record(file: &File, measurements: Vec<Measurement>) -> Result<Record, ImportError> {
    let mut imported = Imported::of("sightglass");
    let mut processes: Vec<(usize, Series)> = Vec::new();
    let mut indices = HashMap::new();
    for one in measurements {
        imported.fact("architecture", one.arch);
        let flags = one.engine_flags.unwrap_or_default();
        let subject = imported.subject(format!("{} {flags}", one.engine).trim_end());
        let (unit, factor) = match one.event.as_str() {
            "nanoseconds" => (Unit::Second, 1e-9),
            "microseconds" => (Unit::Second, 1e-6),
            _ => (Unit::Count, 1.0),
        };
        let benchmark = format!("{} {}", one.wasm, one.phase);
        let metric = imported.benchmark(&benchmark, &one.event, unit, Direction::Lower);
        let at = *indices.entry((subject, one.process)).or_insert_with(|| {
            processes.push((subject, BTreeMap::new()));
            processes.len() - 1
        });
        let values = processes[at].1.entry(metric).or_default();
        values.push((one.iteration, one.count * factor));
    }
    for (subject, metrics) in processes {
        let parts = metrics.into_iter().filter_map(|(metric, mut values)| {
            values.sort_by_key(|(iteration, _)| *iteration);
            part(metric, values.into_iter().map(|(_, value)| value).collect())
        });
        imported.parts(subject, parts.collect());
    }
    imported.finish(file)
}
