//! airspeed velocity (ASV): what `asv run` and `asv dev` print.
//!
//! - `[ 30.00%] ··· bench.Suite.time_keys   11.1±0.01μs`: the median and half of the interquartile range.
//!   What a benchmark measures is the beginning of its name: `time_`, `timeraw_`, `mem_`, `peakmem_`,
//!   `track_`. Sizes have the factors k, M and G of 1000.
//! - `failed`, `n/a`, `skipped` are no results. Benchmarks with parameters print `ok` or `1/3 failed` and a
//!   [table](super::asv_tables): each combination is a benchmark, named as in ASV's files, but without the
//!   quotes around texts, which ASV does not print.
//! - Tracked sizes have the same factors, but no unit.
//! - `·· Benchmarking virtualenv-py3.6` names the environment, which is a subject.

use becalm_model::{Direction, ImportFact, ImportNote, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number, split_quantity, time};
use crate::readers::asv_tables::{self, Combination};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "asv-console",
    about: "output of asv run (aggregates only)",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            progress(line).is_some_and(|rest| rest.starts_with("···") && result(rest).is_some())
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("asv");
    let mut environment = "asv".to_owned();
    let lines: Vec<_> = lines(file)?.map(|(_, line)| line).collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = progress(line) else { continue };
        if let Some((_, name)) = rest.split_once("·· Benchmarking ") {
            name.trim().clone_into(&mut environment);
            continue;
        }
        let Some((name, text)) = result(rest) else { continue };
        if !lines.get(at + 1).is_some_and(|next| asv_tables::begins(next)) {
            add(&mut imported, &environment, name, name, text);
            continue;
        }
        match asv_tables::read(&lines[at + 2..]) {
            Some(combinations) => {
                for Combination { parameters, printed } in combinations {
                    let combination = format!("{name}({parameters})");
                    add(&mut imported, &environment, name, &combination, &printed);
                }
            }
            None => imported.known(ImportFact::AsvTables),
        }
    }
    Ok(imported)
}

/// Adds what is printed of a benchmark, or of one combination of its parameters.
fn add(imported: &mut Imported, environment: &str, benchmark: &str, name: &str, text: &str) {
    let function = benchmark.rsplit('.').next().unwrap_or(benchmark);
    let is_size = function.starts_with("mem_") || function.starts_with("peakmem_");
    let is_tracked = function.starts_with("track_");
    let (value, error) = text.split_once('±').map_or((text, None), |(v, e)| (v, Some(e)));
    let found = match error {
        // The unit stands behind both.
        Some(error) => split_quantity(error).and_then(|(half, written)| {
            let value = number(value)?;
            let (unit, factor) = units::unit(written);
            Some((value * factor, Some(half * factor), unit))
        }),
        None if is_size => size(text).map(|bytes| (bytes, None, Unit::Byte)),
        None => number(text)
            .or_else(|| size(text).filter(|_| is_tracked))
            .map(|value| (value, None, Unit::Count))
            .or_else(|| time(text).map(|seconds| (seconds, None, Unit::Second))),
    };
    let Some((value, deviation, unit)) = found.filter(|(value, ..)| value.is_finite()) else {
        match text.split_whitespace().next() {
            // The table of its parameters is missing.
            Some("ok") => imported.known(ImportFact::AsvTables),
            Some("failed") => imported.failed(name, None),
            Some("n/a" | "skipped") => {
                imported.note(ImportNote::NotRun { benchmark: name.to_owned(), why: None });
            }
            _ => {}
        }
        return;
    };
    let subject = imported.subject(environment);
    let metric = imported.benchmark(name, "", unit, Direction::Lower);
    if deviation.is_some() {
        imported.mark(metric, "median");
        let figures = [("median", Some(value)), ("half_interquartile_range", deviation)];
        imported.summary(subject, metric, figures);
    }
    imported.add(subject, vec![single(metric, value)]);
}

/// Returns what stands behind `[ 30.00%]`.
fn progress(line: &str) -> Option<&str> {
    let (share, rest) = line.trim_start().strip_prefix('[')?.split_once("%]")?;
    number(share)?;
    Some(rest.trim())
}

/// Splits `··· name   result`.
fn result(rest: &str) -> Option<(&str, &str)> {
    let (name, result) = rest.trim_start_matches('·').trim().split_once(char::is_whitespace)?;
    (rest.starts_with('·') && name.contains('.')).then(|| (name, result.trim()))
}

fn size(text: &str) -> Option<f64> {
    let (value, suffix) = split_quantity(text)?;
    let factor = match suffix.trim_end_matches('B') {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    };
    Some(value * factor)
}
