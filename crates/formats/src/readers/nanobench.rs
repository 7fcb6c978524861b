//! nanobench: its JSON template, `ankerl::nanobench::templates::json()`.
//!
//! - `results[].measurements[]`: one per epoch, with `elapsed` in seconds and counters, all of one
//!   iteration: they are divided already. With a `batch`, an iteration is so many units.
//! - Templates of people's own may leave out what they like; without measurements there are medians.

use becalm_model::{Direction, ImportNote, Unit};
use serde::Deserialize;

use crate::imported::{Imported, Names, part, single};
use crate::json::{self, Maybe, Number, Text};
use crate::objects::{Field, Objects, Shape};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "nanobench",
    about: "nanobench's JSON template",
    recognise: Takes::File(|file| {
        let names = |fields: &[&str]| json::names(file, &['{', '['], fields);
        names(&["\"median(elapsed)\""])
            || names(&["\"measurements\"", "\"elapsed\"", "\"results\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    results: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    title: Text,
    name: String,
    batch: Number,
    #[serde(rename = "median(elapsed)")]
    median: Number,
    measurements: Maybe<Objects>,
}

/// Counters and their names here.
const COUNTERS: [(&str, &str); 6] = [
    ("pagefaults", "page_faults"),
    ("cpucycles", "cycles"),
    ("contextswitches", "context_switches"),
    ("instructions", "instructions"),
    ("branchinstructions", "branches"),
    ("branchmisses", "branch_misses"),
];

fn read(file: &File) -> Result<Imported, ImportError> {
    let is_list = file.text()?.trim_start().starts_with('[');
    let rows = if is_list { json::read(file)? } else { json::read::<Document>(file)?.results };
    let mut imported = Imported::of("nanobench");
    let subject = imported.subject("nanobench");
    let mut names = Names::default();
    let mut parts = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        // "benchmark" is what nanobench writes if nobody chose a title.
        let has_title = !row.title.0.is_empty() && row.title.0 != "benchmark";
        let name =
            if has_title { format!("{} / {}", row.title.0, row.name) } else { row.name.clone() };
        let name = names.unique(&name);
        if let Some(batch) = row.batch.0.filter(|batch| (batch - 1.0).abs() > 0.0) {
            let (benchmark, units) = (name.clone(), batch.to_string());
            imported.note(ImportNote::Batches { benchmark, units });
        }
        let column = |field: &str| -> Result<Vec<f64>, ImportError> {
            let place = |shape: &Shape| match shape.get(field) {
                None | Some(Field::Null) => Ok(None),
                Some(Field::Number(place)) => Ok(Some(*place)),
                Some(_) => {
                    let place = format!("results[{index}].measurements[{}].{field}", shape.first);
                    let found = row.measurements.shown(shape.first, field);
                    Err(ImportError::at_field(file, &place, "a number", &found))
                }
            };
            let shapes = &row.measurements.shapes;
            let places: Vec<Option<usize>> = shapes.iter().map(place).collect::<Result<_, _>>()?;
            let rows = row.measurements.rows();
            Ok(rows.filter_map(|one| Some(one.numbers[places[one.shape]?])).collect())
        };
        let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
        imported.summary(subject, metric, [("median", row.median.0)]);
        let times = column("elapsed")?;
        if times.is_empty() {
            if let Some(median) = row.median.0 {
                imported.stand_in(metric, "median");
                parts.push(single(metric, median));
            }
            continue;
        }
        parts.extend(part(metric, times));
        for (field, measure) in COUNTERS {
            let values = column(field)?;
            // All zeros are counters that the machine does not have.
            if values.iter().any(|value| *value != 0.0) {
                let metric = imported.benchmark(&name, measure, Unit::Count, Direction::Lower);
                parts.extend(part(metric, values));
            }
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}
