//! hyperfine: `--export-markdown`, rounded aggregates for people.
//!
//! Version 1: `| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |`; version 2: `| Command | Mean Wall Time
//! [ms] | Change | Factor |`. A mean is `13.4 ± 2.4`; a `|` in a command stands as `\|`. What is relative to
//! another row is left out: it follows from the means.

use becalm_model::{Metric, Outcome, Unit, metric};

use crate::imported::Imported;
use crate::lines::{any, lines, number};
use crate::readers::cells::cells;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const MARKDOWN: Entry = Entry {
    name: "hyperfine-markdown",
    about: "hyperfine --export-markdown (aggregates only)",
    recognise: Takes::File(|file| any(file, |line| line.starts_with("| Command | Mean"))),
    read: Takes::File(read),
};

/// What a column holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Column {
    Command,
    Mean,
    Minimum,
    Maximum,
    Other,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("hyperfine");
    imported.has_only("mean");
    let mut columns: Vec<(Column, String)> = Vec::new();
    for (index, line) in lines(file)? {
        let Some(row) = line.trim().strip_prefix('|') else { continue };
        if row.trim_start().starts_with("Command |") {
            let titles = cells(&line);
            let titles = titles.into_iter().map(column);
            columns = titles.map(|(kind, unit)| (kind, unit.to_owned())).collect();
        } else if !columns.is_empty() && !row.starts_with(":--") {
            let mut values = Row::default();
            for ((kind, unit), cell) in columns.iter().zip(cells(&line)) {
                values.read(file, index, *kind, unit, cell)?;
            }
            values.add(&mut imported);
        }
    }
    Ok(imported)
}

/// Reads `Mean [ms]`.
pub(super) fn column(title: &str) -> (Column, &str) {
    let (words, unit) = title.split_once('[').unwrap_or((title, ""));
    let kind = match words.trim() {
        "Command" => Column::Command,
        "Min" => Column::Minimum,
        "Max" => Column::Maximum,
        words if words.starts_with("Mean") => Column::Mean,
        _ => Column::Other,
    };
    (kind, unit.trim_end_matches(']'))
}

/// A row while it is read.
#[derive(Default)]
pub(super) struct Row {
    command: String,
    mean: Option<f64>,
    deviation: Option<f64>,
    minimum: Option<f64>,
    maximum: Option<f64>,
}

impl Row {
    pub(super) fn read(
        &mut self,
        file: &File,
        line: usize,
        kind: Column,
        unit: &str,
        cell: &str,
    ) -> Result<(), ImportError> {
        let factor = units::unit(unit).1;
        let value = |text: &str| {
            let value = number(text).map(|number| number * factor);
            value.map(Some).ok_or_else(|| ImportError::at_line(file, line, "a number", text))
        };
        match kind {
            Column::Command => self.command = cell.trim_matches(['`', '=']).replace("\\|", "|"),
            Column::Mean => {
                let (mean, deviation) = cell.split_once('±').unwrap_or((cell, ""));
                self.mean = value(mean)?;
                self.deviation = if deviation.is_empty() { None } else { value(deviation)? };
            }
            Column::Minimum => self.minimum = value(cell)?,
            Column::Maximum => self.maximum = value(cell)?,
            Column::Other => {}
        }
        Ok(())
    }

    pub(super) fn add(self, imported: &mut Imported) {
        let subject = imported.another(&self.command, vec![self.command.clone()], Vec::new());
        let wall = imported.metric(Metric::lower(metric::WALL_TIME, Unit::Second));
        imported.mark(wall, "mean");
        imported.process(subject, vec![self.mean], Outcome::Unknown);
        imported.summary(
            subject,
            wall,
            [
                ("mean", self.mean),
                ("standard_deviation", self.deviation),
                ("minimum", self.minimum),
                ("maximum", self.maximum),
            ],
        );
    }
}
