//! google-benchmark: `--benchmark_format=csv`.
//!
//! - `name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,
//!   error_message`, then a column for each counter. Numbers have six digits.
//! - Aggregates are known by their names; the `_cv` of a time is in the unit of nothing, and `_BigO` and `_RMS` are no
//!   times.
//! - What the program prints on standard error may stand in front.
//! - Nothing tells which counters are rates, see `google_rates`.

use std::collections::HashMap;

use becalm_model::{Direction, ImportFact, Unit};

use crate::imported::Imported;
use crate::lines::{self, number};
use crate::readers::google_rates::{counter, is_of_whole, known};
use crate::readers::google_rows::{self, Row};
use crate::readers::table::Table;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "google-benchmark-csv",
    about: "google-benchmark --benchmark_format=csv",
    recognise: Takes::File(|file| lines::any(file, |line| line.starts_with(HEAD))),
    read: Takes::File(read),
};

const HEAD: &str = "name,iterations,real_time,cpu_time,time_unit,";

/// Columns of the format; all others are counters of the user.
const COLUMNS: [&str; 8] = [
    "name",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
];

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("google-benchmark");
    let subject = imported.subject("google-benchmark");
    let mut table = Table::behind(file, |line| line.starts_with(HEAD))?;
    let counters: Vec<String> =
        table.header().iter().filter(|name| !COLUMNS.contains(name)).map(str::to_owned).collect();
    if counters.iter().any(|name| known(name).is_none()) {
        imported.known(ImportFact::CountersGuessed);
    }
    let mut rows = Vec::new();
    let mut rates: HashMap<String, bool> = HashMap::new();
    while let Some(row) = table.next()? {
        let name = row.text("name");
        if row.text("error_occurred") == "true" || row.text("error_occurred") == "false" {
            let why = row.text("error_message");
            google_rows::not_measured(
                &mut imported,
                name,
                why,
                row.text("error_occurred") == "true",
            );
            continue;
        }
        let (unit, factor) = units::unit(row.text("time_unit"));
        if unit != Unit::Second || row.text("time_unit").is_empty() {
            continue;
        }
        let value = |column: &str| match row.text(column) {
            "" => Ok(None),
            text => number(text)
                .map(Some)
                .ok_or_else(|| row.wrong(&format!("a number as {column}"), text)),
        };
        let mut measures = Vec::new();
        let mut times = Vec::new();
        for (measure, column) in [("", "real_time"), ("cpu_time", "cpu_time")] {
            if let Some(time) = value(column)? {
                times.push(time * factor);
                measures.push((measure.to_owned(), Unit::Second, Direction::Lower, time * factor));
            }
        }
        for name in &counters {
            let Some(value) = value(name)? else { continue };
            let is_rate = times.iter().any(|time| is_of_whole(value * time));
            *rates.entry(name.clone()).or_insert(true) &= is_rate;
            measures.push((name.clone(), Unit::Count, Direction::Lower, value));
        }
        let iterations = value("iterations")?;
        rows.push(Row { name: name.to_owned(), measures, iterations });
    }
    for (name, unit, direction, _) in rows.iter_mut().flat_map(|row| &mut row.measures) {
        if let Some(is_rate) = rates.get(name) {
            (*unit, *direction) = counter(name, *is_rate);
        }
    }
    google_rows::add(&mut imported, subject, rows);
    Ok(imported)
}
