//! criterion: `raw.csv`, which it writes beside the other files with the feature `csv_output`.
//!
//! - `group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count`: a row for each
//!   sample, whose value is that of all its iterations together, in nanoseconds.
//!
//! A file has the samples of one benchmark; those of several may stand in one.

use std::collections::HashMap;

use becalm_model::Direction;

use crate::imported::{Imported, part};
use crate::lines::number;
use crate::readers::table::Table;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "criterion-csv",
    about: "criterion's raw.csv, of the feature csv_output",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            text.starts_with("group,function,value,") && text.contains("sample_measured_value")
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    for column in ["sample_measured_value", "unit", "iteration_count"] {
        table.require(column)?;
    }
    let mut imported = Imported::of("criterion");
    let subject = imported.subject("criterion");
    let mut samples: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    while let Some(row) = table.next()? {
        let value = |column: &str| {
            let text = row.text(column);
            number(text).ok_or_else(|| row.wrong(&format!("a number as {column}"), text))
        };
        let (measured, iterations) = (value("sample_measured_value")?, value("iteration_count")?);
        if iterations <= 0.0 {
            return Err(
                row.wrong("a number above 0 as iteration_count", row.text("iteration_count"))
            );
        }
        let names = ["group", "function", "value"].map(|column| row.text(column));
        let name = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/");
        let (unit, factor) = units::unit(row.text("unit"));
        let metric = imported.benchmark(
            if name.is_empty() { "benchmark" } else { &name },
            "",
            unit,
            Direction::Lower,
        );
        let place = *places.entry(metric).or_insert_with(|| {
            samples.push((metric, Vec::new()));
            samples.len() - 1
        });
        samples[place].1.push(measured / iterations * factor);
    }
    let parts = samples.into_iter().filter_map(|(metric, values)| part(metric, values));
    imported.parts(subject, parts.collect());
    Ok(imported)
}
