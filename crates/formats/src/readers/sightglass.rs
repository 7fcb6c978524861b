//! Sightglass (Wasmtime): `--raw --output-format csv` and `json`.
//!
//! - Columns `arch,engine,wasm,process,iteration,phase,event,count`, and `engine_flags` since 2023. The
//!   JSON is an array of objects with the same names.
//! - `phase` is Compilation, Instantiation or Execution. `event` is `cycles`, `nanoseconds`, or a
//!   counter of perf.
//!
//! An engine is a subject; `process` tells processes apart, and all of one are made together.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use becalm_model::{Direction, Unit, whole};

use crate::imported::{Imported, part};
use crate::json;
use crate::lines::number;
use crate::objects::{Field, Objects};
use crate::readers::table::Table;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "sightglass-csv",
    about: "sightglass benchmark --raw --output-format csv",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            let header = text.lines().next().unwrap_or_default();
            header.starts_with("arch,engine,") && header.ends_with(",phase,event,count")
        })
    }),
    read: Takes::File(read_csv),
};

pub(crate) const JSON: Entry = Entry {
    name: "sightglass",
    about: "sightglass benchmark --raw --output-format json",
    recognise: Takes::File(|file| {
        let keys = ["\"engine\"", "\"wasm\"", "\"phase\"", "\"event\"", "\"count\""];
        json::begins(file, '[', &keys)
    }),
    read: Takes::File(read_json),
};

struct Measurement<'a> {
    arch: &'a str,
    engine: &'a str,
    flags: &'a str,
    wasm: &'a str,
    process: u64,
    iteration: u64,
    phase: &'a str,
    event: &'a str,
    count: f64,
}

impl<'a> Measurement<'a> {
    /// Makes one of its texts, by the names of their columns, of process and iteration, and of the count.
    fn of(text: impl Fn(&str) -> &'a str, (process, iteration): (u64, u64), count: f64) -> Self {
        Self {
            arch: text("arch"),
            engine: text("engine"),
            flags: text("engine_flags"),
            wasm: text("wasm"),
            process,
            iteration,
            phase: text("phase"),
            event: text("event"),
            count,
        }
    }
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    for column in ["engine", "wasm", "process", "iteration", "phase", "event", "count"] {
        table.require(column)?;
    }
    let mut values = Values::new();
    while let Some(row) = table.next()? {
        let whole = |column: &str| {
            let cell = row.text(column);
            cell.parse::<u64>().map_err(|_| row.wrong(&format!("a number as {column}"), cell))
        };
        let count = row.text("count");
        let place = (whole("process")?, whole("iteration")?);
        let count = number(count).ok_or_else(|| row.wrong("a number as count", count))?;
        values.add(&Measurement::of(|column| row.text(column), place, count));
    }
    Ok(values.finish())
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let objects: Objects = json::read(file)?;
    let wrong = |index: usize, field: &str, expected: &str| {
        let found = objects.shown(index, field);
        ImportError::at_field(file, &format!("[{index}].{field}"), expected, &found)
    };
    for shape in &objects.shapes {
        for field in ["engine", "wasm", "phase", "event", "arch", "engine_flags"] {
            let is_optional = ["arch", "engine_flags"].contains(&field);
            match shape.get(field) {
                Some(Field::Text(_)) => {}
                None | Some(Field::Null) if is_optional => {}
                _ => return Err(wrong(shape.first, field, "a text")),
            }
        }
    }
    let mut values = Values::new();
    for (index, row) in objects.rows().enumerate() {
        let shape = &objects.shapes[row.shape];
        let number = |field: &str| {
            let place = shape.number(field);
            place.map(|place| row.numbers[place]).ok_or_else(|| wrong(index, field, "a number"))
        };
        let whole = |field: &str| {
            counted(number(field)?).ok_or_else(|| wrong(index, field, "a whole number"))
        };
        let place = (whole("process")?, whole("iteration")?);
        values.add(&Measurement::of(|field| shape.text(field), place, number("count")?));
    }
    Ok(values.finish())
}

/// Returns the number of a process or an iteration.
fn counted(number: f64) -> Option<u64> {
    // All whole numbers up to there are told apart.
    let is_whole = number.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&number);
    is_whole.then(|| whole(number))
}

/// The values of each metric, with the number of the iteration.
type Series = BTreeMap<usize, Vec<(u64, f64)>>;

/// What is measured, while the file is read.
struct Values {
    imported: Imported,
    /// The subject of each process, and its values.
    processes: Vec<(usize, Series)>,
    indices: HashMap<(usize, u64), usize>,
    /// Subject, metric and factor, by the texts of a measurement, which are few.
    kinds: HashMap<String, (usize, usize, f64)>,
    key: String,
}

impl Values {
    fn new() -> Self {
        Self {
            imported: Imported::of("sightglass"),
            processes: Vec::new(),
            indices: HashMap::new(),
            kinds: HashMap::new(),
            key: String::new(),
        }
    }

    fn add(&mut self, one: &Measurement) {
        self.key.clear();
        for text in [one.arch, one.engine, one.flags, one.wasm, one.phase, one.event] {
            // The length before it, because a text may hold any letter.
            let _ = write!(self.key, "{} {text}", text.len());
        }
        let known = self.kinds.get(&self.key).copied();
        let (subject, metric, factor) = known.unwrap_or_else(|| self.kind(one));
        let at = *self.indices.entry((subject, one.process)).or_insert_with(|| {
            self.processes.push((subject, BTreeMap::new()));
            self.processes.len() - 1
        });
        let values = self.processes[at].1.entry(metric).or_default();
        values.push((one.iteration, one.count * factor));
    }

    /// Makes the subject and the metric of a measurement, and keeps them under its key.
    fn kind(&mut self, one: &Measurement) -> (usize, usize, f64) {
        self.imported.fact("architecture", one.arch);
        let subject = self.imported.subject(format!("{} {}", one.engine, one.flags).trim_end());
        let (unit, factor) = match one.event {
            "nanoseconds" => (Unit::Second, 1e-9),
            "microseconds" => (Unit::Second, 1e-6),
            _ => (Unit::Count, 1.0),
        };
        let benchmark = format!("{} {}", one.wasm, one.phase);
        let metric = self.imported.benchmark(&benchmark, one.event, unit, Direction::Lower);
        self.kinds.insert(self.key.clone(), (subject, metric, factor));
        (subject, metric, factor)
    }

    fn finish(mut self) -> Imported {
        for (subject, metrics) in self.processes {
            let parts = metrics.into_iter().filter_map(|(metric, mut values)| {
                values.sort_by_key(|(iteration, _)| *iteration);
                part(metric, values.into_iter().map(|(_, value)| value).collect())
            });
            self.imported.parts(subject, parts.collect());
        }
        self.imported
    }
}
