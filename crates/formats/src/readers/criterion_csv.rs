//! criterion: `raw.csv`, which it writes beside the other files with the feature `csv_output`.
//!
//! - `group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count`: a row for each
//!   sample, whose value is that of all its iterations together, in nanoseconds.
//! - Up to 0.2, which always writes it: `group,function,value,sample_time_nanos,iteration_count`.
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
            let head = text.lines().next().unwrap_or_default();
            head.starts_with("group,function,value,")
                && VALUES.iter().any(|name| head.contains(name))
        })
    }),
    read: Takes::File(read),
};

/// What the column of the values is called: since 0.3 and before.
const VALUES: [&str; 2] = ["sample_measured_value", "sample_time_nanos"];

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    let has_unit = !table.header().iter().any(|name| name == VALUES[1]);
    let measured = VALUES[usize::from(!has_unit)];
    for column in [measured, "iteration_count"].into_iter().chain(has_unit.then_some("unit")) {
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
        let (all, iterations) = (value(measured)?, value("iteration_count")?);
        if iterations <= 0.0 {
            return Err(
                row.wrong("a number above 0 as iteration_count", row.text("iteration_count"))
            );
        }
        let names = ["group", "function", "value"].map(|column| row.text(column));
        let name = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/");
        let (unit, factor) = units::unit(if has_unit { row.text("unit") } else { "ns" });
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
        samples[place].1.push(all / iterations * factor);
    }
    let parts = samples.into_iter().filter_map(|(metric, values)| part(metric, values));
    imported.parts(subject, parts.collect());
    Ok(imported)
}
