//! airspeed velocity (ASV): what `asv run` and `asv dev` print.
//!
//! - `[ 30.00%] ··· bench.Suite.time_keys   11.1±0.01μs`: the median and half of the interquartile range.
//!   What a benchmark measures is the beginning of its name: `time_`, `timeraw_`, `mem_`, `peakmem_`,
//!   `track_`. Sizes have the factors k, M and G of 1000.
//! - `failed`, `n/a`, `skipped` are no results. Benchmarks with parameters print `ok` and a table, which
//!   is cut to the width of the terminal; they are left out: the JSON files of ASV have all of it.
//! - `·· Benchmarking virtualenv-py3.6` names the environment, which is a subject.

use becalm_model::{Direction, ImportFact, ImportNote, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number, split_quantity, time};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "asv-console",
    about: "what asv run prints (aggregates only)",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            progress(line).is_some_and(|rest| rest.starts_with("···") && result(rest).is_some())
        })
    }),
    read: Takes::File(read),
};

const TABLES: &str =
    "benchmarks with parameters are left out; import the JSON files that ASV stored instead";

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("asv");
    let mut environment = "asv".to_owned();
    let mut has_tables = false;
    for (_, line) in lines(file)? {
        let Some(rest) = progress(&line) else { continue };
        if let Some((_, name)) = rest.split_once("·· Benchmarking ") {
            name.trim().clone_into(&mut environment);
            continue;
        }
        let Some((name, text)) = result(rest) else { continue };
        let last = name.rsplit('.').next().unwrap_or(name);
        let outcome = text.split_whitespace().next().unwrap_or_default();
        if outcome == "ok" {
            imported.known(ImportFact::AsvTables);
            has_tables = true;
            continue;
        }
        let (value, error) = text.split_once('±').map_or((text, None), |(v, e)| (v, Some(e)));
        let is_size = last.starts_with("mem_") || last.starts_with("peakmem_");
        let (value, deviation, unit) = match error {
            // The unit stands behind both.
            Some(error) => {
                let Some((half, written)) = split_quantity(error) else { continue };
                let Some(value) = number(value) else { continue };
                let (unit, factor) = units::unit(written);
                (value * factor, Some(half * factor), unit)
            }
            None if is_size => match size(text) {
                Some(bytes) => (bytes, None, Unit::Byte),
                None => continue,
            },
            None => match (time(text), number(text)) {
                (_, Some(value)) => (value, None, Unit::Count),
                (Some(seconds), None) => (seconds, None, Unit::Second),
                (None, None) => {
                    match outcome {
                        "failed" => imported.failed(name, None),
                        "n/a" | "skipped" => {
                            let benchmark = name.to_owned();
                            imported.note(ImportNote::NotRun { benchmark, why: None });
                        }
                        _ => {}
                    }
                    continue;
                }
            },
        };
        if !value.is_finite() {
            continue;
        }
        let subject = imported.subject(&environment);
        let metric = imported.benchmark(name, "", unit, Direction::Lower);
        if deviation.is_some() {
            imported.mark(metric, "median");
            let figures = [("median", Some(value)), ("half_interquartile_range", deviation)];
            imported.summary(subject, metric, figures);
        }
        imported.add(subject, vec![single(metric, value)]);
    }
    if has_tables && imported.is_empty() {
        return Err(ImportError::nothing(file, TABLES));
    }
    Ok(imported)
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
