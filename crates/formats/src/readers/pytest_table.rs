//! pytest-benchmark: the tables that it prints.
//!
//! - `benchmark 'GROUP': 3 tests` stands above each, and the head is `Name (time in us)` with the columns of
//!   `--benchmark-columns`; the unit is that of all times of the table. `OPS` has a unit of its own.
//! - Behind each number stands its ratio to the best one of the column, in parentheses.
//! - Of files that are compared, names end with `(NOW)` or with the beginning of the file's name: these are
//!   subjects of their own.
//!
//! The median stands for the values, or the mean where it is not among the columns.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "pytest-benchmark-table",
    about: "tables of pytest-benchmark (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| Head::of(line).is_some())),
    read: Takes::File(read),
};

struct Head {
    /// Seconds of the unit of times.
    factor: f64,
    columns: Vec<String>,
}

impl Head {
    fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("Name (time in ")?;
        let (unit, columns) = rest.split_once(')')?;
        let (Unit::Second, factor) = units::unit(unit) else { return None };
        // `OPS (Kops/s)` is one title.
        let columns = columns.split("  ").map(str::trim).filter(|name| !name.is_empty());
        Some(Self { factor, columns: columns.map(str::to_owned).collect() })
    }
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("pytest-benchmark");
    let mut head: Option<Head> = None;
    for (at, line) in lines(file)? {
        if let Some(found) = Head::of(&line) {
            head = Some(found);
        } else if line.trim().is_empty() {
            head = None;
        } else if let Some(head) = &head
            && !line.starts_with("---")
        {
            row(&mut imported, head, &line).ok_or_else(|| {
                ImportError::at_line(file, at, "a name and a number for each column", &line)
            })?;
        }
    }
    Ok(imported)
}

/// Reads a row; `None` if it is none.
fn row(imported: &mut Imported, head: &Head, line: &str) -> Option<()> {
    let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let name = cells.next()?;
    let (name, subject) = match name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, "NOW")) => (name, "pytest"),
        Some((name, file)) => (name, file),
        None => (name, "pytest"),
    };
    let mut figures = Vec::new();
    let mut outliers_seen = false;
    for (column, cell) in head.columns.iter().zip(cells) {
        let figure = match column.as_str() {
            "Min" => "minimum",
            "Max" => "maximum",
            "Mean" => "mean",
            "StdDev" => "standard_deviation",
            "Median" => "median",
            "Rounds" => "samples",
            "Iterations" => "iterations",
            "Outliers" => {
                outliers_seen = true;
                continue;
            }
            _ => continue,
        };
        let value = number(cell.split(" (").next()?)?;
        let is_count = ["samples", "iterations"].contains(&figure);
        figures.push((figure, if is_count { value } else { value * head.factor }));
    }
    let of =
        |wanted: &str| figures.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let known = ["median", "mean", "minimum"].into_iter().find_map(|name| Some((name, of(name)?)));
    let Some((statistic, value)) = known else { return outliers_seen.then_some(()) };
    let subject = imported.subject(subject);
    let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
    imported.stand_in(metric, statistic);
    imported.summary(subject, metric, figures.into_iter().map(|(name, value)| (name, Some(value))));
    let parts: Vec<Part> = vec![single(metric, value)];
    imported.add(subject, parts);
    Some(())
}
