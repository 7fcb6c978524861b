//! Go's benchmark format, as benchstat reads it
//! (<https://golang.org/design/14313-benchmark-format>).
//!
//! - A subject is a package: `benchstat -col pkg FILE` compares the subjects of a file.
//! - What is of the whole process is the benchmark `BenchmarkProcess`, others have their own names, in which
//!   white space becomes `_`.
//! - Iterations inside a process are repeated lines, and `PASS` ends a process. benchstat takes all lines
//!   of a benchmark as equal; becalm reads the processes again.
//! - Times are in ns/op, with their digits as they are and the point moved.
//! - Config lines are `goos`, `goarch` and `cpu` only: benchstat makes a table of its own for each
//!   different value.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use becalm_model::{Metric, Record, RecordKind, Run, Unit, metric};

use crate::readers::go::kept;
use crate::units::usual_direction;
use crate::writers::names::{Unique, one_line};
use crate::writers::selection::{Selection, Usual, inside};
use crate::writers::{ExportError, Exported, Options, Writer, numbers};

pub(crate) const TEXT: Writer = Writer {
    name: "go-bench",
    about: "Go's benchmark format, for benchstat (`benchstat -col pkg` compares subjects)",
    ending: "txt",
    write,
};

/// Benchmarks with their names for Go, and their metrics with the units for Go.
struct Benchmark {
    name: String,
    metrics: Vec<(usize, String)>,
}

/// Name of what is of the whole process.
const PROCESS: &str = "BenchmarkProcess";

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut selection = Selection::new(record, options, TEXT.name, Usual::Results, |_| Ok(()))?;
    selection.note_own_values();
    let benchmarks = benchmarks(&mut selection);
    let mut text = String::new();
    config(record, &mut text);
    unit_lines(&mut selection, &benchmarks, &mut text);
    let of_metric: HashMap<usize, usize> = (benchmarks.iter().zip(0..))
        .flat_map(|(one, place)| one.metrics.iter().map(move |(at, _)| (*at, place)))
        .collect();
    let (mut lines, mut packages) = (0, Unique::default());
    for &subject in &selection.subjects {
        let name = one_line(&record.subjects[subject].name);
        let name = packages.unique_or(&name, "unnamed");
        push(&mut text, format_args!("pkg: {name}\n"));
        for run in selection.measured(subject) {
            let before = lines;
            let there = record.metrics_of([run]);
            let mut there: Vec<usize> =
                there.iter().filter_map(|at| of_metric.get(at).copied()).collect();
            there.sort_unstable();
            there.dedup();
            for place in there {
                lines += process(run, &benchmarks[place], record, &mut text);
            }
            if lines > before {
                text.push_str("PASS\n");
            }
        }
    }
    if lines == 0 {
        return Err(ExportError::nothing(TEXT.name, "no measured run has a value"));
    }
    Ok(Exported { bytes: text.into_bytes(), notes: selection.notes })
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a text can be written");
}

/// Writes the lines of one benchmark in one process and returns how many there are.
fn process(run: &Run, benchmark: &Benchmark, record: &Record, text: &mut String) -> usize {
    let columns: Vec<(Vec<f64>, &str, i32)> = benchmark
        .metrics
        .iter()
        .map(|(at, unit)| (inside(run, *at), unit.as_str(), power(&record.metrics[*at], unit)))
        .collect();
    let lines = columns.iter().map(|(values, ..)| values.len()).max().unwrap_or(0);
    for line in 0..lines {
        // Each value is of one call as far as anybody knows.
        push(text, format_args!("{}\t1", benchmark.name));
        for (values, unit, power) in &columns {
            if let Some(value) = values.get(line) {
                push(text, format_args!("\t{} {unit}", numbers::shifted(*value, *power)));
            }
        }
        text.push('\n');
    }
    lines
}

/// Returns the power of ten that leads from the unit in which values are kept to Go's.
fn power(metric: &Metric, unit: &str) -> i32 {
    let (read_as, power) = kept(unit);
    if read_as == metric.unit { -power } else { 0 }
}

fn config(record: &Record, text: &mut String) {
    let fact = |name: &str| record.machine.facts.get(name).map(|value| one_line(value));
    let own = (record.kind != RecordKind::Import).then(|| "linux".to_owned());
    let lines = [
        ("goos", fact("os").or(own).map(|os| os.to_lowercase())),
        ("goarch", fact("architecture")),
        ("cpu", fact("cpu_model")),
    ];
    for (key, value) in lines {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            push(text, format_args!("{key}: {value}\n"));
        }
    }
}

/// Returns what is to be exported by benchmark, in the order of the record.
fn benchmarks(selection: &mut Selection) -> Vec<Benchmark> {
    let record = selection.record;
    // The ending that the reader has taken off all names.
    let procs = record.machine.facts.get("gomaxprocs").filter(|procs| is_digits(procs));
    let mut by_name: Vec<(Option<&str>, Benchmark, Unique)> = Vec::new();
    let mut index: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let (mut names, mut renamed) = (Unique::default(), Vec::new());
    for &at in &selection.metrics.clone() {
        let metric = &record.metrics[at];
        let key = metric.benchmark.as_deref();
        let place = *index.entry(key).or_insert_with(|| {
            let safe = names.unique(&safe_name(key));
            if key.is_some_and(|key| key != safe) {
                renamed.push(safe.clone());
            }
            let name = match procs {
                Some(procs) => format!("{safe}-{procs}"),
                None => safe,
            };
            by_name.push((key, Benchmark { name, metrics: Vec::new() }, Unique::default()));
            by_name.len() - 1
        });
        let (_, benchmark, units) = &mut by_name[place];
        let unit = units.unique(&unit_of(metric, selection.measure(at)));
        benchmark.metrics.push((at, unit));
    }
    if !renamed.is_empty() {
        let named = super::names::list(renamed.iter().map(String::as_str));
        selection.note(format!("names were changed to the form of Go benchmarks: {named}"));
    }
    by_name.into_iter().map(|(_, benchmark, _)| benchmark).collect()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a name that is one word, begins with `Benchmark` and does not end like GOMAXPROCS.
fn safe_name(benchmark: Option<&str>) -> String {
    let Some(name) = benchmark else { return PROCESS.to_owned() };
    let safe = one_word(name);
    let mut safe = match safe.strip_prefix("Benchmark") {
        // As go test wants it: a function of this name would not be a benchmark.
        Some(rest) if !rest.is_empty() && !rest.starts_with(char::is_lowercase) => safe,
        _ => {
            let mut letters = safe.chars();
            let first = letters.next().map(char::to_uppercase);
            let first: String = first.into_iter().flatten().collect();
            format!("Benchmark{first}{}", letters.as_str())
        }
    };
    if let Some((base, ending)) = safe.rsplit_once('-')
        && is_digits(ending)
    {
        safe = format!("{base}_{ending}");
    }
    safe
}

fn one_word(text: &str) -> String {
    let word = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
    text.trim().chars().map(word).collect()
}

/// Returns Go's unit for a metric: one that says the same when it is read.
fn unit_of(metric: &Metric, measure: &str) -> String {
    let measure = one_word(measure);
    let is_main = measure.is_empty() || metric.name == metric::WALL_TIME;
    if is_main {
        return match &metric.unit {
            Unit::Second => "ns/op".to_owned(),
            Unit::Byte => "B/op".to_owned(),
            Unit::Count => "count/op".to_owned(),
            Unit::Named(unit) => match one_word(unit) {
                // An empty unit would not be a word.
                unit if unit.is_empty() => "value/op".to_owned(),
                unit => unit,
            },
        };
    }
    let is_same = kept(&measure).0 == metric.unit;
    match &metric.unit {
        _ if is_same => measure,
        Unit::Second => format!("{measure}-ns"),
        Unit::Byte => format!("{measure}-B"),
        Unit::Count | Unit::Named(_) => measure,
    }
}

/// Writes what units do not say by themselves: which way is better, and whether values are exact. A unit
/// has one direction in a file; metrics that contradict are told.
fn unit_lines(selection: &mut Selection, benchmarks: &[Benchmark], text: &mut String) {
    let record = selection.record;
    let mut units: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, unit) in benchmarks.iter().flat_map(|one| &one.metrics) {
        units.entry(unit).or_default().push(*at);
    }
    for (unit, metrics) in units {
        let metrics: Vec<&Metric> = metrics.into_iter().map(|at| &record.metrics[at]).collect();
        let direction = metrics[0].direction;
        if metrics.iter().any(|one| one.direction != direction) {
            selection.note(format!(
                "for {unit}, less is better in some benchmarks and more in others, but Go's \
                 format has one direction for a unit"
            ));
        }
        let is_exact = metrics.iter().all(|one| one.exact);
        if !is_exact && metrics.iter().any(|one| one.exact) {
            selection
                .note(format!("{unit} is exact in some benchmarks only, so that is not exported"));
        }
        if direction != usual_direction(unit) || is_exact {
            let exact = if is_exact { " assume=exact" } else { "" };
            push(text, format_args!("Unit {unit} better={direction}{exact}\n"));
        }
    }
}
