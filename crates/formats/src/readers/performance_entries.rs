//! JavaScript's performance entries: a JSON array of what `performance.getEntries()` returns.
//!
//! `entryType` of a measurement is `measure`, with `duration` in milliseconds. Marks have no duration.
//! The same name again is one more iteration inside the process.

use std::collections::BTreeMap;

use becalm_model::{Direction, Unit};
use serde::Deserialize;

use crate::imported::{Imported, part};
use crate::json;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "performance-entries",
    about: "performance.getEntries() of JavaScript as JSON",
    recognise: Takes::File(|file| json::begins(file, '[', &["\"entryType\"", "\"duration\""])),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Performance {
    name: String,
    #[serde(rename = "entryType")]
    kind: String,
    duration: f64,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let entries: Vec<Performance> = json::read(file)?;
    let mut imported = Imported::of("performance entries");
    let subject = imported.subject("JavaScript");
    let mut durations: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.kind != "mark") {
        let metric = imported.benchmark(&entry.name, "", Unit::Second, Direction::Lower);
        durations.entry(metric).or_default().push(entry.duration * 1e-3);
    }
    let parts = durations.into_iter().filter_map(|(metric, values)| part(metric, values));
    imported.parts(subject, parts.collect());
    Ok(imported)
}
