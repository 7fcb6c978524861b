//! Of `BenchmarkDotNet`: the summary, `report-github.md` and what the console shows.
//!
//! - `| Method | N | Mean | Error | StdDev | Allocated |`: parameters and jobs stand before the first statistic, all times
//!   with their units, or with one in the title (`Mean [us]`). A `-` is no value, `NA` is a benchmark that failed.
//! - Above it stand the version, the processor and the runtimes.
//! - Rows of one group may be bold, and between groups stands an empty row.

use std::borrow::Cow;

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, Names, single};
use crate::lines::{self, lines, number, split_quantity};
use crate::readers::cells::{cells, is_rule, plain};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const MARKDOWN: Entry = Entry {
    name: "benchmarkdotnet-markdown",
    about: "BenchmarkDotNet's report-github.md (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| titles(line).is_some())),
    read: Takes::File(read),
};

/// Titles of columns that are no parameters and no jobs.
const STATISTICS: [&str; 21] = [
    "Mean",
    "Error",
    "StdDev",
    "StdErr",
    "Median",
    "Min",
    "Max",
    "Q1",
    "Q3",
    "P95",
    "Ratio",
    "RatioSD",
    "Rank",
    "Op/s",
    "Gen0",
    "Gen1",
    "Gen2",
    "Allocated",
    "Alloc Ratio",
    "Code Size",
    "Completed Work Items",
];

/// Returns the titles of the columns with the units in them.
fn titles(line: &str) -> Option<Vec<(String, String)>> {
    if !line.trim_start().starts_with('|') {
        return None;
    }
    let titles: Vec<(String, String)> = cells(line)
        .into_iter()
        .map(|title| match title.split_once(" [") {
            Some((title, unit)) => (title.to_owned(), unit.trim_end_matches(']').to_owned()),
            None => (title.to_owned(), String::new()),
        })
        .collect();
    let has = |name: &str| titles.iter().any(|(title, _)| title == name);
    (has("Mean") && (has("Method") || has("Type")) && (has("Error") || has("StdDev")))
        .then_some(titles)
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("BenchmarkDotNet");
    let subject = imported.subject("BenchmarkDotNet");
    let mut columns: Vec<(String, String)> = Vec::new();
    let mut names = Names::default();
    let mut parts = Vec::new();
    for (at, line) in lines(file)? {
        if let Some(found) = titles(&line) {
            columns = found;
        } else if line.trim_start().starts_with('|') && !columns.is_empty() && !is_rule(&line) {
            let cells = cells(&line);
            if cells.iter().all(|cell| cell.is_empty()) {
                continue;
            }
            parts.extend(row(&mut imported, subject, &columns, &cells, &mut names).ok_or_else(
                || ImportError::at_line(file, at, "a quantity below each title", line.trim()),
            )?);
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('|') {
            if !columns.is_empty() {
                imported.parts(subject, std::mem::take(&mut parts));
                columns.clear();
                names = Names::default();
            }
            fact(&mut imported, line.trim());
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}

fn fact(imported: &mut Imported, line: &str) {
    let version =
        line.strip_prefix("BenchmarkDotNet=v").or_else(|| line.strip_prefix("BenchmarkDotNet v"));
    if let Some(version) = version {
        imported
            .fact("benchmarkdotnet_version", version.split([',', ' ']).next().unwrap_or_default());
    } else if line.contains(" logical ") && line.contains(" physical ") {
        imported.fact("cpu_model", line.split(", ").next().unwrap_or_default());
    }
}

/// Reads a row; `None` if a cell is no quantity.
fn row(
    imported: &mut Imported,
    subject: usize,
    columns: &[(String, String)],
    cells: &[&str],
    names: &mut Names,
) -> Option<Vec<Part>> {
    let own = |wanted: &str| {
        let at = columns.iter().position(|(title, _)| title == wanted)?;
        cells.get(at).map(|cell| plain(cell))
    };
    let mut name =
        [own("Type"), own("Method")].into_iter().flatten().collect::<Vec<Cow<'_, str>>>().join(".");
    let statistics = columns
        .iter()
        .position(|(title, _)| STATISTICS.contains(&title.as_str()))
        .unwrap_or(columns.len());
    let parameters: Vec<String> = columns[..statistics]
        .iter()
        .zip(cells)
        .filter(|((title, _), cell)| {
            !["Type", "Method"].contains(&title.as_str()) && !cell.is_empty()
        })
        .map(|((title, _), cell)| format!("{title}={}", plain(cell)))
        .collect();
    if !parameters.is_empty() {
        name = format!("{name} ({})", parameters.join(", "));
    }
    let name = names.unique(&name);
    let mut figures = Vec::new();
    let mut bytes = None;
    for ((title, unit), cell) in columns.iter().zip(cells).skip(statistics) {
        let figure = match title.as_str() {
            "Mean" => "mean",
            "Error" => "error",
            "StdDev" => "standard_deviation",
            "Median" => "median",
            "Min" => "minimum",
            "Max" => "maximum",
            "P95" => "p95",
            "Allocated" => {
                bytes = quantity(&plain(cell), unit, true);
                continue;
            }
            _ => continue,
        };
        let cell = plain(cell);
        if ["-", "NA", "?", ""].contains(&cell.as_ref()) {
            continue;
        }
        figures.push((figure, quantity(&cell, unit, false)?));
    }
    let of = |wanted: &str| {
        figures.iter().find(|(figure, _)| *figure == wanted).map(|(_, value)| *value)
    };
    let known =
        ["median", "mean"].into_iter().find_map(|statistic| Some((statistic, of(statistic)?)));
    let Some((statistic, value)) = known else {
        imported.failed(name, None);
        return Some(Vec::new());
    };
    let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
    imported.stand_in(metric, statistic);
    if let (Some(mean), Some(error)) = (of("mean"), of("error")) {
        // Half of an interval of 99.9 %.
        figures.extend([("low", mean - error), ("high", mean + error), ("confidence", 0.999)]);
    }
    figures.retain(|(figure, _)| *figure != "error");
    imported.summary(
        subject,
        metric,
        figures.into_iter().map(|(figure, value)| (figure, Some(value))),
    );
    let mut parts = vec![single(metric, value)];
    if let Some(bytes) = bytes {
        let metric = imported.benchmark(&name, "allocated", Unit::Byte, Direction::Lower);
        parts.push(single(metric, bytes));
    }
    Some(parts)
}

/// Reads a quantity with its unit, or with that of the title; sizes have prefixes of powers of 1024.
fn quantity(cell: &str, title: &str, is_size: bool) -> Option<f64> {
    let (value, own) =
        if title.is_empty() { split_quantity(cell)? } else { (number(cell)?, title) };
    let factor = match (own, is_size) {
        ("B", true) => 1.0,
        ("KB", true) => 1024.0,
        ("MB", true) => 1024.0 * 1024.0,
        ("GB", true) => 1024.0 * 1024.0 * 1024.0,
        (_, true) => return None,
        (unit, false) => match units::unit(unit) {
            (Unit::Second, factor) => factor,
            _ => return None,
        },
    };
    Some(value * factor)
}
