//! Julia's `BenchmarkTools`: `BenchmarkTools.save`.
//!
//! - An array: the versions, and what was saved. Everything is a pair of a type and its fields.
//! - `BenchmarkGroup` has `data`, a map of further pairs; a benchmark is named by its path.
//! - `Trial` has `times` and `gctimes` (nanoseconds per evaluation, one per sample), `memory` and
//!   `allocs`. `TrialEstimate` has one `time`, and nothing tells which statistic it is.

use becalm_model::{Direction, Part, Unit};
use serde_json::Value;

use crate::imported::{Imported, part, single};
use crate::json;
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "julia",
    about: "BenchmarkTools.save of Julia",
    recognise: Takes::File(|file| {
        ["\"Julia\"", "\"BenchmarkGroup\""]
            .iter()
            .any(|field| json::begins(file, '[', &["\"BenchmarkTools\"", field]))
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Value = json::read(file)?;
    let version = document.pointer("/0/BenchmarkTools").and_then(Value::as_str).unwrap_or_default();
    let mut imported = Imported::of(format!("BenchmarkTools {version}").trim_end());
    if let Some(julia) = document.pointer("/0/Julia").and_then(Value::as_str) {
        imported.fact("runtime", format!("Julia {julia}"));
    }
    let Some(saved) = document.get(1).and_then(Value::as_array) else {
        return Err(ImportError::at_field(file, "[1]", "an array of what was saved", "none"));
    };
    let mut reader = Reader { file, imported, parts: Vec::new() };
    for (index, one) in saved.iter().enumerate() {
        // Several things that were saved together have no names.
        let mut path = Vec::new();
        if saved.len() > 1 {
            path.push((index + 1).to_string());
        }
        reader.pair(&format!("[1][{index}]"), &mut path, one)?;
    }
    let subject = reader.imported.subject("Julia");
    reader.imported.parts(subject, reader.parts);
    Ok(reader.imported)
}

struct Reader<'a> {
    file: &'a File,
    imported: Imported,
    parts: Vec<Part>,
}

impl Reader<'_> {
    /// Reads a pair. How deep they are nested is bounded by what the JSON reader takes.
    fn pair(
        &mut self,
        place: &str,
        path: &mut Vec<String>,
        pair: &Value,
    ) -> Result<(), ImportError> {
        let wrong = |place: &str, expected: &str, found: &Value| {
            Err(ImportError::at_field(self.file, place, expected, &found.to_string()))
        };
        let (kind, fields) = match pair.as_array().map(Vec::as_slice) {
            Some([Value::String(kind), fields]) => (kind.as_str(), fields),
            _ => return wrong(place, "a pair of a type and its fields", pair),
        };
        match kind {
            "BenchmarkGroup" => {
                let Some(data) = fields.get("data").and_then(Value::as_object) else {
                    return wrong(&format!("{place}[1].data"), "an object", fields);
                };
                for (name, one) in data {
                    path.push(name.trim_matches('"').to_owned());
                    self.pair(&format!("{place}[1].data[{name:?}]"), path, one)?;
                    path.pop();
                }
                Ok(())
            }
            "Trial" | "TrialEstimate" => {
                let name = if path.is_empty() { "benchmark".to_owned() } else { path.join("/") };
                let times = self.times(place, fields, "times")?;
                let time = fields.get("time").and_then(Value::as_f64);
                let metric = self.imported.benchmark(&name, "", Unit::Second, Direction::Lower);
                match (part(metric, times), time) {
                    (Some(part), _) => self.parts.push(part),
                    (None, Some(time)) => {
                        self.imported.mark(metric, "estimate");
                        self.parts.push(single(metric, time * NANOSECOND));
                    }
                    (None, None) => return wrong(place, "`times` or `time`", fields),
                }
                let gc = self.times(place, fields, "gctimes")?;
                let measure =
                    self.imported.benchmark(&name, "gc time", Unit::Second, Direction::Lower);
                self.parts.extend(part(measure, gc));
                for (field, unit) in [("memory", Unit::Byte), ("allocs", Unit::Count)] {
                    if let Some(value) = fields.get(field).and_then(Value::as_f64) {
                        let metric = self.imported.benchmark(&name, field, unit, Direction::Lower);
                        self.parts.push(single(metric, value));
                    }
                }
                Ok(())
            }
            // Parameters and ratios are saved the same way.
            _ => Ok(()),
        }
    }

    fn times(&self, place: &str, fields: &Value, name: &str) -> Result<Vec<f64>, ImportError> {
        let Some(times) = fields.get(name).and_then(Value::as_array) else {
            return Ok(Vec::new());
        };
        let read = |(index, time): (usize, &Value)| {
            let place = format!("{place}[1].{name}[{index}]");
            time.as_f64().map(|time| time * NANOSECOND).ok_or_else(|| {
                ImportError::at_field(self.file, &place, "a time", &time.to_string())
            })
        };
        times.iter().enumerate().map(read).collect()
    }
}
