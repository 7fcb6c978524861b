//! Haskell's criterion and tasty-bench: `--csv`.
//!
//! - criterion: `Name,Mean,MeanLB,MeanUB,Stddev,StddevLB,StddevUB`, in seconds. The header comes again
//!   where several suites were appended to one file.
//! - tasty-bench: `Name,Mean (ps),2*Stdev (ps)` and, with `+RTS -T`, `Allocated`, `Copied` and
//!   `Peak Memory` in bytes.

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, single};
use crate::lines::number;
use crate::readers::table::{Row, Table};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "haskell-csv",
    about: "--csv of Haskell's criterion and tasty-bench (aggregates only)",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            text.starts_with("Name,Mean,MeanLB,") || text.starts_with("Name,Mean (ps),")
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    table.require("Name")?;
    let is_tasty = table.require("Mean (ps)").is_ok();
    if !is_tasty {
        table.require("Mean")?;
    }
    let (tool, mean, scale) =
        if is_tasty { ("tasty-bench", "Mean (ps)", 1e-12) } else { ("criterion", "Mean", 1.0) };
    let mut imported = Imported::of(format!("{tool} (Haskell)"));
    let subject = imported.subject(tool);
    while let Some(row) = table.next()? {
        let name = row.text("Name");
        if name == "Name" && row.text(mean) == mean {
            continue;
        }
        let value = cell(&row, mean)?.ok_or_else(|| row.wrong("a mean", ""))? * scale;
        let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
        imported.mark(metric, "mean");
        let deviation = match cell(&row, "2*Stdev (ps)")? {
            Some(twice) => Some(twice / 2.0 * scale),
            None => cell(&row, "Stddev")?,
        };
        let figures = [
            ("mean", Some(value)),
            ("low", cell(&row, "MeanLB")?),
            ("high", cell(&row, "MeanUB")?),
            ("standard_deviation", deviation),
        ];
        imported.summary(subject, metric, figures);
        let mut parts = vec![single(metric, value)];
        for measure in ["Allocated", "Copied", "Peak Memory"] {
            if let Some(bytes) = cell(&row, measure)? {
                let metric = imported.benchmark(name, measure, Unit::Byte, Direction::Lower);
                parts.push(single(metric, bytes));
            }
        }
        imported.add(subject, parts);
    }
    Ok(imported)
}

fn cell(row: &Row, column: &str) -> Result<Option<f64>, ImportError> {
    let text = row.text(column);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let read = number(text);
    read.map(Some).ok_or_else(|| row.wrong(&format!("a number as {column}"), text))
}
