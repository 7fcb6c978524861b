//! Go: what `go test -bench` prints, and the events of `go test -json`.
//!
//! - Lines `key: value` (`goos`, `goarch`, `pkg`, `cpu`, and any that begin with a lower-case letter)
//!   hold for all results behind them; `key:` takes one back.
//! - `BenchmarkName/sub=v-8  N  value unit  value unit ...`; `-8` is GOMAXPROCS, which is not there when
//!   it is 1. A name part may end with `-16` too; a function's name cannot, which tells them apart.
//! - `Unit ns/op better=lower assume=exact`, a line of the format that benchstat reads.
//! - `-v` prints a line with only the name before each result. If the benchmark prints something, the
//!   name and the result stand on different lines.
//! - `go test -json` splits a result over several events.
//!
//! One package is a subject. A benchmark's lines inside one run of the package (`-count`) were made by
//! one process: they are its iterations. Go prints the header once per process, and `PASS` or `ok` at
//! its end, so a header or an end between results begins the next process of the package. Results with
//! other config lines, such as `toolchain: tip`, belong to subjects of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use becalm_model::{Direction, Metric, Unit};
use serde::Deserialize;

use crate::imported::{Imported, benchmark, part};
use crate::json;
use crate::lines::{self, lines, number};
use crate::readers::go_suffixes::Suffixes;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "go-test-json",
    about: "go test -bench -json",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            line.starts_with('{')
                && line.contains("\"Action\"")
                && line.contains("\"Package\"")
                && line.contains("\"Output\"")
        })
    }),
    read: Takes::File(read_json),
};

pub(crate) const TEXT: Entry = Entry {
    name: "go-bench",
    about: "output of go test -bench, and what benchstat reads",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            let mut fields = line.split_whitespace().peekable();
            let named = fields.next_if(|name| is_benchmark(name)).is_some();
            fields.next().is_some_and(is_count)
                && fields.next().is_some_and(|value| number(value).is_some())
                && fields.next().is_some_and(|unit| named || unit == "ns/op")
        })
    }),
    read: Takes::File(|file| {
        let mut results = Results::default();
        for (number, line) in lines(file)? {
            results.line(file, number, &line)?;
        }
        Ok(results.finish())
    }),
};

/// One event of `go test -json`.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "Package", default)]
    package: String,
    #[serde(rename = "Output", default)]
    output: String,
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    // Packages are tested at the same time. Inside of each, everything is in order.
    let mut packages: Vec<(String, String, Vec<usize>)> = Vec::new();
    let mut indices = HashMap::new();
    for (index, line) in file.text()?.lines().enumerate() {
        // The go command itself writes other lines, and so may what it starts.
        if !line.starts_with('{') || !line.contains("\"Action\"") {
            continue;
        }
        let event: Event = json::read_text(file, line, index)?;
        if event.output.is_empty() {
            continue;
        }
        let at = *indices.entry(event.package.clone()).or_insert_with(|| {
            packages.push((event.package.clone(), String::new(), Vec::new()));
            packages.len() - 1
        });
        let (_, text, numbers) = &mut packages[at];
        if text.is_empty() || text.ends_with('\n') {
            numbers.push(index + 1);
        }
        // Further lines of the same event are at the same place.
        let ends = event.output.matches('\n').count();
        let begun = ends.saturating_sub(usize::from(event.output.ends_with('\n')));
        numbers.extend(std::iter::repeat_n(index + 1, begun));
        text.push_str(&event.output);
    }
    let mut results = Results::default();
    for (package, text, numbers) in &packages {
        results.end_process();
        results.config.clear();
        results.set("pkg", package);
        for (line, number) in text.lines().zip(numbers) {
            results.line(file, *number, &lines::plain(line))?;
        }
    }
    Ok(results.finish())
}

/// More config keys than this are not kept: nobody has as many.
const MOST_KEYS: usize = 64;

/// Everything that was read.
#[derive(Default)]
struct Results {
    config: BTreeMap<String, String>,
    /// The states of `config` that results were made in.
    states: Vec<BTreeMap<String, String>>,
    /// Whether `config` is not yet the last of `states`.
    is_changed: bool,
    units: HashMap<String, UnitLine>,
    words: Words,
    lines: Vec<BenchmarkLine>,
    process: usize,
    /// Whether the process has results.
    is_begun: bool,
    /// A name that stood alone on its line, whose result may follow.
    pending: Option<String>,
    failed: BTreeSet<String>,
}

/// Says whether a line begins with the name of a benchmark. Go takes no function for one whose name goes on with a
/// lower-case letter, and programs print `Benchmarking 10 items`.
fn is_benchmark(line: &str) -> bool {
    line.strip_prefix("Benchmark").is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// What a `Unit` line says.
#[derive(Default, Clone, Copy)]
struct UnitLine {
    direction: Option<Direction>,
    is_exact: bool,
}

/// Names and units of a file, each once: a file may have a million lines with the same few.
#[derive(Default)]
struct Words {
    all: Vec<String>,
    indices: HashMap<String, usize>,
}

impl Words {
    fn index(&mut self, word: &str) -> usize {
        if let Some(&index) = self.indices.get(word) {
            return index;
        }
        self.all.push(word.to_owned());
        self.indices.insert(word.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }

    /// Returns the names that results have, each once.
    fn names<'a>(&'a self, lines: &[BenchmarkLine]) -> impl Iterator<Item = &'a str> {
        let names: BTreeSet<usize> = lines.iter().map(|line| line.name).collect();
        names.into_iter().map(|name| self.all[name].as_str())
    }
}

struct BenchmarkLine {
    /// With the suffix, among the words.
    name: usize,
    /// Values with their units, among the words.
    values: Vec<(f64, usize)>,
    state: usize,
    process: usize,
}

impl Results {
    fn line(&mut self, file: &File, number: usize, line: &str) -> Result<(), ImportError> {
        if is_benchmark(line) {
            let mut fields = line.split_whitespace();
            let name = fields.next().unwrap_or_default();
            let rest: Vec<&str> = fields.collect();
            match rest.first() {
                Some(count) if is_count(count) => {
                    let values = values(file, number, line, &rest[1..])?;
                    self.result(name, values);
                }
                // What the benchmark itself prints may follow the tab behind its name.
                _ if rest.is_empty() || line.contains('\t') => {
                    self.pending = Some(name.to_owned());
                }
                _ => {}
            }
        } else if let Some(rest) = line.strip_prefix("Unit ") {
            self.unit_line(rest);
        } else if is_end(line) {
            self.end_process();
        } else if let Some((key, value)) = key_value(line) {
            if self.is_begun && (key == "goos" || key == "pkg") {
                self.end_process();
            }
            self.set(key, value);
        } else if let Some(name) = line.trim_start().strip_prefix("--- FAIL: ") {
            let name = name.split_whitespace().next().unwrap_or_default();
            if name.starts_with("Benchmark") {
                self.failed.insert(name.to_owned());
            }
        } else if self.pending.is_some() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_result = fields.len() > 2 && is_count(fields[0]) && fields[2].contains('/');
            if is_result
                && let Ok(values) = values(file, number, line, &fields[1..])
                && let Some(name) = self.pending.take()
            {
                self.result(&name, values);
            }
        }
        Ok(())
    }

    fn result(&mut self, name: &str, values: Vec<(f64, &str)>) {
        if self.is_changed || self.states.is_empty() {
            self.states.push(self.config.clone());
            self.is_changed = false;
        }
        self.pending = None;
        self.is_begun = true;
        let values =
            values.into_iter().map(|(value, unit)| (value, self.words.index(unit))).collect();
        self.lines.push(BenchmarkLine {
            name: self.words.index(name),
            values,
            state: self.states.len() - 1,
            process: self.process,
        });
    }

    fn end_process(&mut self) {
        self.pending = None;
        if self.is_begun {
            self.process += 1;
            self.is_begun = false;
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            self.is_changed |= self.config.remove(key).is_some();
        } else if (self.config.len() < MOST_KEYS || self.config.contains_key(key))
            && self.config.insert(key.to_owned(), value.to_owned()).as_deref() != Some(value)
        {
            self.is_changed = true;
        }
    }

    fn unit_line(&mut self, rest: &str) {
        let mut fields = rest.split_whitespace();
        let Some(unit) = fields.next() else { return };
        let line = self.units.entry(unit.to_owned()).or_default();
        for field in fields {
            match field.split_once('=') {
                Some(("better", "higher")) => line.direction = Some(Direction::Higher),
                Some(("better", "lower")) => line.direction = Some(Direction::Lower),
                Some(("assume", "exact")) => line.is_exact = true,
                _ => {}
            }
        }
    }

    fn finish(self) -> Imported {
        let mut imported = Imported::of("go test");
        let varying = self.varying_keys();
        for (key, value) in self.states.first().into_iter().flatten() {
            if key != "pkg" && !varying.contains(key) {
                imported.fact(fact_of(key), value);
            }
        }
        let subjects: Vec<usize> =
            self.states.iter().map(|state| subject(&mut imported, state, &varying)).collect();
        let suffixes = Suffixes::of(self.words.names(&self.lines));
        if let Some(procs) = suffixes.only() {
            imported.fact("gomaxprocs", procs);
        }
        for name in &self.failed {
            imported.failed(name, None);
        }
        let mut process: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut current = None;
        let mut metrics: HashMap<(usize, usize), usize> = HashMap::new();
        for result in self.lines {
            let owner = (subjects[result.state], result.process);
            if current != Some(owner) {
                flush(&mut imported, current, &mut process);
                current = Some(owner);
            }
            for (value, unit) in result.values {
                let metric = *metrics.entry((result.name, unit)).or_insert_with(|| {
                    let (name, unit) = (&self.words.all[result.name], &self.words.all[unit]);
                    let line = self.units.get(unit).copied().unwrap_or_default();
                    imported.metric(measure(suffixes.name(name), unit, line))
                });
                process.entry(metric).or_default().push(value);
            }
        }
        flush(&mut imported, current, &mut process);
        imported
    }

    /// Returns the keys by which results have to be kept apart, the package aside. Times differ from
    /// process to process and tell nothing apart, and a word such as `warning` is no key.
    fn varying_keys(&self) -> BTreeSet<String> {
        let Some(first) = self.states.first() else { return BTreeSet::new() };
        let keys: BTreeSet<&String> = self.states.iter().flat_map(BTreeMap::keys).collect();
        keys.into_iter()
            .filter(|key| {
                let is_of_time = ["date", "time", "stamp"].iter().any(|word| key.contains(word));
                let is_log = ["error", "warning", "info", "debug", "panic"].contains(&key.as_str());
                !is_of_time
                    && !is_log
                    && *key != "pkg"
                    && self.states.iter().any(|state| state.get(*key) != first.get(*key))
            })
            .cloned()
            .collect()
    }
}

/// Ends a process. One that would have no value is none.
fn flush(
    imported: &mut Imported,
    owner: Option<(usize, usize)>,
    process: &mut BTreeMap<usize, Vec<f64>>,
) {
    if let Some((subject, _)) = owner {
        for (metric, values) in &*process {
            if values.iter().any(|value| value.total_cmp(&values[0]).is_ne()) {
                imported.inexact(*metric);
            }
        }
        let parts =
            std::mem::take(process).into_iter().filter_map(|(metric, values)| part(metric, values));
        imported.parts(subject, parts.collect());
    }
}

fn subject(
    imported: &mut Imported,
    state: &BTreeMap<String, String>,
    varying: &BTreeSet<String>,
) -> usize {
    let mut name = state.get("pkg").map_or("go test", String::as_str).to_owned();
    let mut parameters = Vec::new();
    for key in varying {
        if let Some(value) = state.get(key) {
            name.extend([" ", key, "=", value]);
            parameters.push((key.clone(), value.clone()));
        }
    }
    imported.command(&name, Vec::new(), parameters)
}

fn fact_of(key: &str) -> &str {
    match key {
        "goos" => "os",
        "goarch" => "architecture",
        "cpu" => "cpu_model",
        other => other,
    }
}

fn is_count(field: &str) -> bool {
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_end(line: &str) -> bool {
    line == "PASS"
        || line == "FAIL"
        || line.starts_with("ok  \t")
        || line.starts_with("ok \t")
        || line.starts_with("FAIL\t")
}

/// A key begins with a lower-case letter, and has neither upper-case letters nor white space.
fn key_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let is_separated = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_separated).then(|| (key, value.trim()))
}

/// Reads values, in the units that they are kept in, and their units. What is no finite number is left out, as `NaN` is.
fn values<'a>(
    file: &File,
    line_number: usize,
    line: &str,
    fields: &[&'a str],
) -> Result<Vec<(f64, &'a str)>, ImportError> {
    let wrong = |expected| Err(ImportError::at_line(file, line_number, expected, line));
    if fields.is_empty() {
        return wrong("a value after the number of iterations");
    }
    let mut values = Vec::with_capacity(fields.len() / 2);
    for pair in fields.chunks(2) {
        let [value, unit] = pair else { return wrong("a unit after every value") };
        match moved(value, kept(unit).1) {
            Some(value) => values.push((value, *unit)),
            None if ["NaN", "+Inf", "-Inf", "Inf"].contains(value) => {}
            None => return Err(ImportError::at_line(file, line_number, "a finite number", value)),
        }
    }
    Ok(values)
}

/// Units of time and size in names of custom units, with what they are tens of seconds or bytes to the
/// power of. `m` and `min` are none: they may mean anything.
const KNOWN: [(&str, Unit, i32); 8] = [
    ("ns", Unit::Second, -9),
    ("us", Unit::Second, -6),
    ("µs", Unit::Second, -6),
    ("ms", Unit::Second, -3),
    ("s", Unit::Second, 0),
    ("sec", Unit::Second, 0),
    ("B", Unit::Byte, 0),
    ("bytes", Unit::Byte, 0),
];

/// Returns the unit that values of a unit of Go are kept in, and the power of ten that leads there.
pub(crate) fn kept(unit: &str) -> (Unit, i32) {
    match unit {
        "ns/op" => (Unit::Second, -9),
        "sec/op" => (Unit::Second, 0),
        "MB/s" => (Unit::Named("B/s".to_owned()), 6),
        "allocs/op" => (Unit::Count, 0),
        _ => {
            // `p99-ns` and `ns/GC`, `peak-RSS-bytes` and `B/object`, but no rates.
            let counted = unit.split('/').next().unwrap_or_default();
            let counted = counted.rsplit('-').next().unwrap_or_default();
            match KNOWN.into_iter().find(|(name, ..)| *name == counted) {
                Some((_, kept, power)) if !unit.ends_with("/s") => (kept, power),
                _ => (Unit::Named(unit.to_owned()), 0),
            }
        }
    }
}

/// Reads a number times ten to a power. The point is moved in the text, because a multiplication would
/// round a second time.
fn moved(text: &str, power: i32) -> Option<f64> {
    if power == 0 || text.contains(['e', 'E']) {
        return number(text).map(|value| value * 10.0_f64.powi(power)).filter(|v| v.is_finite());
    }
    number(text).and_then(|_| number(&format!("{text}e{power}")))
}

/// Returns the metric of a unit.
fn measure(name: &str, unit: &str, line: UnitLine) -> Metric {
    let measure = if ["ns/op", "sec/op"].contains(&unit) { "" } else { unit };
    let direction = line.direction.unwrap_or_else(|| units::usual_direction(unit));
    let metric = benchmark(name, measure, kept(unit).0, direction);
    Metric { exact: line.is_exact, ..metric }
}
