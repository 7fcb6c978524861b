//! tinybench: what `console.table(bench.table())` prints.
//!
//! - From 3: `Task name`, `Latency avg (ns)`, `Latency med (ns)`, `Throughput avg (ops/s)`, ..., `Samples`. A cell is
//!   `3908.7 ± 96.70%` or `902.00 ± 21.00`, in quotes: those that need no escape, as Node chooses them.
//! - Up to 2: `Task Name`, `ops/sec`, `Average Time (ns)`, `Margin`, `Samples`.
//! - A task that failed has its error in a column.
//! - Node calls the first column `(index)` and quotes texts, Deno `(idx)`, and Bun has no name for it and no quotes; there,
//!   the stack of an error goes over several lines.

use std::borrow::Cow;

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, Names, single};
use crate::lines::{self, lines, number};
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "tinybench-table",
    about: "table of tinybench on a terminal (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| head(line).is_some())),
    read: Takes::File(read),
};

/// Returns the cells of a row of `console.table`.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('│')?;
    // A cell of several lines ends the first of them.
    let inner = inner.strip_suffix('│').unwrap_or(inner);
    Some(inner.split('│').map(str::trim).collect())
}

/// Returns the text that stands in a cell, without quotes and escapes.
fn plain(cell: &str) -> Cow<'_, str> {
    let quoted =
        ['\'', '"', '`'].iter().find_map(|quote| cell.strip_prefix(*quote)?.strip_suffix(*quote));
    let Some(inner) = quoted.filter(|inner| inner.contains('\\')) else {
        return Cow::Borrowed(quoted.unwrap_or(cell));
    };
    let mut text = String::new();
    let mut rest = inner.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.extend(rest.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

fn head(line: &str) -> Option<Vec<String>> {
    let titles = cells(line)?;
    let has = |names: &[&str]| titles.iter().any(|title| names.contains(title));
    let is_one = titles.first().is_some_and(|title| ["(index)", "(idx)", ""].contains(title))
        && has(&["Task name", "Task Name"])
        && has(&[
            "Latency avg (ns)",
            "Latency average (ns)",
            "Latency med (ns)",
            "Latency median (ns)",
            "Average Time (ns)",
        ]);
    is_one.then(|| titles.into_iter().map(str::to_owned).collect())
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("tinybench");
    let subject = imported.subject("tinybench");
    let mut titles: Vec<String> = Vec::new();
    let mut names = Names::default();
    let mut parts = Vec::new();
    for (at, line) in lines(file)? {
        if let Some(found) = head(&line) {
            titles = found;
        } else if line.starts_with('└') {
            imported.parts(subject, std::mem::take(&mut parts));
            names = Names::default();
            titles.clear();
        } else if let Some(cells) = cells(&line).filter(|_| !titles.is_empty()) {
            let of = |wanted: &[&str]| {
                let at = titles.iter().position(|title| wanted.contains(&title.as_str()))?;
                cells.get(at).map(|cell| plain(cell)).filter(|cell| !cell.is_empty())
            };
            let name = names.unique(of(&["Task name", "Task Name"]).as_deref().unwrap_or("task"));
            let time = |wanted: &[&str]| -> Result<Option<f64>, ImportError> {
                let Some(cell) = of(wanted) else { return Ok(None) };
                let figure = cell.split('±').next().unwrap_or(&cell);
                let value = number(figure)
                    .ok_or_else(|| ImportError::at_line(file, at, "a time in each row", &cell))?;
                Ok(Some(value * NANOSECOND))
            };
            let mean = time(&["Latency avg (ns)", "Latency average (ns)", "Average Time (ns)"])?;
            let median = time(&["Latency med (ns)", "Latency median (ns)"])?;
            let known = median.map(|median| ("median", median)).or_else(|| Some(("mean", mean?)));
            let Some((statistic, value)) = known else {
                imported.failed(name, of(&["Error"]).map(Cow::into_owned));
                continue;
            };
            let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
            imported.stand_in(metric, statistic);
            let samples = of(&["Samples"]).as_deref().and_then(number);
            imported.summary(
                subject,
                metric,
                [("mean", mean), ("median", median), ("samples", samples)],
            );
            parts.push(single(metric, value));
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}
