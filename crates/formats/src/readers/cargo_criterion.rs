//! cargo-criterion: `--message-format=json`, one message per line.
//!
//! - `benchmark-complete` has `measured_values` (sums over `iteration_count` iterations, in `unit`) and
//!   the estimates per iteration. `group-complete` says nothing more.
//! - `change` says `%` and holds fractions; it is left out: `becalm diff` does that.
//! - Lines of cargo may stand between the messages. Somebody may have put them into an array, or one
//!   value on each line.

use becalm_model::Direction;
use serde::Deserialize;

use crate::imported::{Imported, part, single};
use crate::json::{self, Maybe, Number};
use crate::messages::messages;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const NDJSON: Entry = Entry {
    name: "cargo-criterion",
    about: "cargo criterion --message-format=json",
    recognise: Takes::File(|file| {
        ["\"reason\"", "\"benchmark-complete\"", "\"id\""].iter().all(|word| file.holds(word))
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Message {
    reason: Maybe<String>,
    id: Maybe<String>,
    iteration_count: Maybe<Vec<f64>>,
    measured_values: Maybe<Vec<f64>>,
    unit: Maybe<String>,
    typical: Maybe<Estimate>,
    mean: Maybe<Estimate>,
    median: Maybe<Estimate>,
    slope: Maybe<Estimate>,
    throughput: Maybe<Vec<Throughput>>,
}

#[derive(Deserialize)]
struct Throughput {
    per_iteration: Number,
    unit: Maybe<String>,
}

#[derive(Deserialize, Default)]
struct Estimate {
    #[serde(rename = "estimate")]
    point: Number,
    lower_bound: Number,
    upper_bound: Number,
    unit: Maybe<String>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("cargo-criterion");
    for (lines_before, text) in messages(file.text()?) {
        // Cargo's own messages stand between those of criterion.
        if text.contains("\"benchmark-complete\"") {
            let message: Message = json::read_text(file, text, lines_before)?;
            if *message.reason == "benchmark-complete" {
                benchmark(&mut imported, file, lines_before + 1, &message)?;
            }
        }
    }
    Ok(imported)
}

fn benchmark(
    imported: &mut Imported,
    file: &File,
    line: usize,
    message: &Message,
) -> Result<(), ImportError> {
    let wrong = |expected: &str, found: &str| ImportError::at_line(file, line, expected, found);
    if message.id.is_empty() {
        return Err(wrong("a message with `id`", "none"));
    }
    let subject = imported.subject("cargo criterion");
    let written = if message.unit.is_empty() { &message.typical.unit } else { &message.unit };
    let (unit, factor) = units::unit(written);
    let metric = imported.benchmark(&message.id, "", unit, Direction::Lower);
    for throughput in &message.throughput.0 {
        if let Some(number) = throughput.per_iteration.0 {
            let name = format!("throughput of {}", *message.id);
            imported.fact(&name, format!("{number} {}", throughput.unit.0));
        }
    }
    if message.measured_values.len() != message.iteration_count.len() {
        let found = message.iteration_count.len().to_string();
        return Err(wrong("as many `iteration_count` as `measured_values`", &found));
    }
    let mut iterations = Vec::with_capacity(message.measured_values.len());
    for (value, count) in message.measured_values.iter().zip(&message.iteration_count.0) {
        let one = value / count * factor;
        if *count <= 0.0 || !one.is_finite() {
            return Err(wrong("a number of iterations above 0", &count.to_string()));
        }
        iterations.push(one);
    }
    let scaled = |number: Option<f64>| number.map(|number| number * factor);
    let mean = scaled(message.mean.point.0);
    let figures = [
        ("mean", mean),
        ("median", scaled(message.median.point.0)),
        ("slope", scaled(message.slope.point.0)),
        ("low", scaled(message.mean.lower_bound.0)),
        ("high", scaled(message.mean.upper_bound.0)),
        ("samples", Some(message.measured_values.len() as f64).filter(|count| *count > 0.0)),
    ];
    imported.summary(subject, metric, figures);
    let part = if let Some(part) = part(metric, iterations) {
        part
    } else {
        imported.mark(metric, "mean");
        let value = mean.or(scaled(message.typical.point.0)).filter(|v| v.is_finite());
        single(metric, value.ok_or_else(|| wrong("`measured_values` or `mean`", "neither"))?)
    };
    imported.add(subject, vec![part]);
    Ok(())
}
