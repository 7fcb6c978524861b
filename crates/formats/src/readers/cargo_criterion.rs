//! cargo-criterion: `--message-format=json`, one message per line.
//!
//! - `benchmark-complete` has `measured_values` (sums over `iteration_count` iterations, in `unit`) and
//!   the estimates per iteration. `group-complete` says nothing more.
//! - `change` says `%` and holds fractions; it is left out: `becalm diff` does that.
//! - Lines of cargo may stand between the messages. Somebody may have put them into an array, or one
//!   value on each line.

use becalm_model::{Direction, Record};
use serde::Deserialize;

use crate::entry::Entry;
use crate::error::ImportError;
use crate::file::{File, only};
use crate::imported::{Imported, part, single};
use crate::json::{self, Number};
use crate::messages::messages;
use crate::processes::Processes;
use crate::units;

pub(crate) const NDJSON: Entry = Entry {
    name: "cargo-criterion",
    about: "cargo criterion --message-format=json",
    recognise: |files| {
        only(files).is_ok_and(|file| {
            ["\"reason\"", "\"benchmark-complete\"", "\"id\""].iter().all(|word| file.holds(word))
        })
    },
    read,
};

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    iteration_count: Vec<f64>,
    #[serde(default)]
    measured_values: Vec<f64>,
    #[serde(default)]
    unit: String,
    typical: Option<Estimate>,
    mean: Option<Estimate>,
    median: Option<Estimate>,
    slope: Option<Estimate>,
    #[serde(default)]
    throughput: Vec<Throughput>,
}

#[derive(Deserialize)]
struct Throughput {
    #[serde(default)]
    per_iteration: Number,
    #[serde(default)]
    unit: String,
}

#[derive(Deserialize)]
struct Estimate {
    #[serde(default, rename = "estimate")]
    point: Number,
    #[serde(default)]
    lower_bound: Number,
    #[serde(default)]
    upper_bound: Number,
    #[serde(default)]
    unit: String,
}

fn read(files: &[File]) -> Result<Record, ImportError> {
    let file = only(files)?;
    let mut imported = Imported::of("cargo-criterion");
    let mut processes = Processes::default();
    for (lines_before, text) in messages(file.text()?) {
        // Cargo's own messages stand between those of criterion.
        if text.contains("\"benchmark-complete\"") {
            let message: Message = json::read_text(file, text, lines_before)?;
            if message.reason == "benchmark-complete" {
                benchmark(&mut imported, &mut processes, file, lines_before + 1, &message)?;
            }
        }
    }
    processes.finish(&mut imported);
    imported.finish(file)
}

fn benchmark(
    imported: &mut Imported,
    processes: &mut Processes,
    file: &File,
    line: usize,
    message: &Message,
) -> Result<(), ImportError> {
    let wrong = |expected: &str, found: &str| ImportError::at_line(file, line, expected, found);
    if message.id.is_empty() {
        return Err(wrong("a message with `id`", "none"));
    }
    let subject = imported.subject("cargo criterion");
    let written = match &message.typical {
        Some(typical) if message.unit.is_empty() => typical.unit.as_str(),
        _ => message.unit.as_str(),
    };
    let (unit, factor) = units::unit(written);
    let metric = imported.benchmark(&message.id, "", unit, Direction::Lower);
    for throughput in &message.throughput {
        if let Some(number) = throughput.per_iteration.0 {
            let name = format!("throughput of {}", message.id);
            imported.fact(&name, format!("{number} {}", throughput.unit));
        }
    }
    if message.measured_values.len() != message.iteration_count.len() {
        let found = message.iteration_count.len().to_string();
        return Err(wrong("as many `iteration_count` as `measured_values`", &found));
    }
    let mut iterations = Vec::with_capacity(message.measured_values.len());
    for (value, count) in message.measured_values.iter().zip(&message.iteration_count) {
        let one = value / count * factor;
        if *count <= 0.0 || !one.is_finite() {
            return Err(wrong("a number of iterations above 0", &count.to_string()));
        }
        iterations.push(one);
    }
    let scaled = |number: Option<f64>| number.map(|number| number * factor);
    let of = |estimate: &Option<Estimate>| scaled(estimate.as_ref().and_then(|e| e.point.0));
    let mean = message.mean.as_ref();
    let figures = [
        ("mean", of(&message.mean)),
        ("median", of(&message.median)),
        ("slope", of(&message.slope)),
        ("low", scaled(mean.and_then(|mean| mean.lower_bound.0))),
        ("high", scaled(mean.and_then(|mean| mean.upper_bound.0))),
        ("samples", Some(message.measured_values.len() as f64).filter(|count| *count > 0.0)),
    ];
    imported.summary(subject, metric, figures);
    let part = if let Some(part) = part(metric, iterations) {
        part
    } else {
        imported.mark(metric, "mean");
        let value = of(&message.mean).or(of(&message.typical)).filter(|v| v.is_finite());
        single(metric, value.ok_or_else(|| wrong("`measured_values` or `mean`", "neither"))?)
    };
    processes.add(imported, subject, vec![part]);
    Ok(())
}
