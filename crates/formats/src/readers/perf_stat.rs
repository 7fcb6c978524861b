//! `perf stat`: its text, and `-x,` with any letter between the fields.
//!
//! - Text: ` Performance counter stats for 'COMMAND' (3 runs):`, then `value [unit] event # ...`, then the seconds that
//!   elapsed and those of user and system. With `-r` values are means, and `--table` lists the elapsed time of each
//!   run. Where perf counts processors apart (`-A`, `--per-core`), these stand in front of the value.
//! - CSV: `value,unit,event,[deviation %,]runtime,share of it counted,...`; with `-I` the time stands in front, and
//!   each interval is a value of one process. Elapsed times are not in it.
//! - `<not supported>` and `<not counted>` are no values.
//!
//! Events have the names that becalm has for them, with `_` for `-`.

use std::collections::{BTreeMap, HashSet};

use becalm_model::{Metric, Outcome, Unit, metric};

use crate::imported::{Imported, part, single};
use crate::lines::{self, lines, number};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "perf-stat",
    about: "output of perf stat",
    recognise: Takes::File(|file| lines::any(file, |line| command(line).is_some())),
    read: Takes::File(read_text),
};

pub(crate) const CSV: Entry = Entry {
    name: "perf-stat-csv",
    about: "perf stat -x, (or another letter)",
    recognise: Takes::File(|file| lines::any(file, |line| fields(line).is_some())),
    read: Takes::File(read_csv),
};

/// Returns the command that counts are of, and how many runs they are means of.
fn command(line: &str) -> Option<(&str, f64)> {
    let rest = line.trim_start().strip_prefix("Performance counter stats for ")?;
    let rest = rest.trim_end().strip_suffix(':')?;
    let (name, runs) = match rest.strip_suffix(" runs)").and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, runs)) => (name, number(runs)?),
        None => (rest, 1.0),
    };
    let name = name.trim();
    let inner = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
    Some((inner.unwrap_or(name), runs))
}

/// What was counted of one command.
#[derive(Default)]
struct Counts {
    command: String,
    /// How many runs each value is the mean of.
    runs: f64,
    /// By metric in the order of the file: unit and value.
    values: Vec<(String, Unit, f64)>,
    names: HashSet<String>,
    /// The elapsed time of each run, where it is known.
    elapsed: Vec<f64>,
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut all: Vec<Counts> = Vec::new();
    for (at, line) in lines(file)? {
        if let Some((command, runs)) = command(&line) {
            all.push(Counts { command: command.to_owned(), runs, ..Counts::default() });
        } else if let Some(counts) = all.last_mut() {
            let words: Vec<&str> = line.split_whitespace().collect();
            counts
                .line(&words)
                .map_err(|expected| ImportError::at_line(file, at, expected, line.trim()))?;
        }
    }
    let mut imported = Imported::of("perf stat");
    // Metrics of whole processes have to be known before the first process.
    let is_mean = all.iter().any(|counts| counts.runs > 1.0);
    for counts in &all {
        for (name, unit, _) in &counts.values {
            let is_raw = name == metric::WALL_TIME && all.iter().all(Counts::has_elapsed);
            let statistic = (is_mean && !is_raw).then(|| "mean".to_owned());
            imported.metric(Metric { statistic, ..Metric::lower(name, unit.clone()) });
        }
    }
    if is_mean {
        imported.has_only("mean");
    }
    for counts in all {
        counts.add(&mut imported);
    }
    Ok(imported)
}

impl Counts {
    /// Says whether the elapsed time of every run is known.
    fn has_elapsed(&self) -> bool {
        self.runs <= 1.0 || self.elapsed.len() as f64 >= self.runs
    }

    /// Reads a line; an error says what was expected.
    fn line(&mut self, words: &[&str]) -> Result<(), &'static str> {
        const SECONDS: &str = "a number of seconds";
        match words {
            [value, "seconds", "time", "elapsed", ..]
            | [value, "+-", _, "seconds", "time", "elapsed", ..] => {
                self.push(metric::WALL_TIME, Unit::Second, number(value).ok_or(SECONDS)?);
            }
            [value, "seconds", "user"] => {
                self.push(metric::USER_TIME, Unit::Second, number(value).ok_or(SECONDS)?);
            }
            [value, "seconds", "sys"] => {
                self.push(metric::SYSTEM_TIME, Unit::Second, number(value).ok_or(SECONDS)?);
            }
            // A row of the table of elapsed times: `0.0347 (-0.0091) ######`.
            [value, difference, ..]
                if difference.starts_with("(+") || difference.starts_with("(-") =>
            {
                self.elapsed.extend(number(value));
            }
            [first, ..] if *first == "#" || first.starts_with('#') => {}
            _ => return self.event(words),
        }
        Ok(())
    }

    fn event(&mut self, words: &[&str]) -> Result<(), &'static str> {
        let (mut words, mut place) = (words, "");
        // `S0-D0-C0 1 71.96 msec task-clock`, `CPU0 71.96 msec task-clock`.
        if let [first, rest @ ..] = words
            && first.starts_with(['S', 'N', 'C', 'D'])
            && first.ends_with(|c: char| c.is_ascii_digit())
            && rest.len() > 1
        {
            place = first;
            let is_count =
                !first.starts_with("CPU") && number(rest[0]).is_some() && number(rest[1]).is_some();
            words = if is_count { &rest[1..] } else { rest };
        }
        let [value, rest @ ..] = words else { return Ok(()) };
        if value.starts_with('<') || !value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(());
        }
        let (written, event) = match rest {
            [unit, event, ..] if is_unit(unit) && is_event(event) => (*unit, *event),
            [event, ..] if is_event(event) => ("", *event),
            _ => return Ok(()),
        };
        // A comma may be a decimal point, which `number` does not take for one.
        let value = number(value).ok_or("a number with a decimal point, as with LC_ALL=C")?;
        let (unit, factor) = units::unit(written);
        let name = name_of(event);
        let name = if place.is_empty() { name } else { format!("{name} {place}") };
        self.push(&name, unit, value * factor);
        Ok(())
    }

    fn push(&mut self, name: &str, unit: Unit, value: f64) {
        // Of an event that is counted twice the first counts.
        if self.names.insert(name.to_owned()) {
            self.values.push((name.to_owned(), unit, value));
        }
    }

    fn add(self, imported: &mut Imported) {
        let subject = imported.command(&self.command, vec![self.command.clone()], Vec::new());
        let mut values = Vec::new();
        for (name, unit, value) in &self.values {
            let at = imported.metric(Metric::lower(name, unit.clone()));
            if values.len() <= at {
                values.resize(at + 1, None);
            }
            values[at] = Some(*value);
        }
        if self.runs > 1.0 && self.has_elapsed() {
            let wall = imported.metric(Metric::lower(metric::WALL_TIME, Unit::Second));
            for (run, elapsed) in self.elapsed.iter().enumerate() {
                let mut own = if run == 0 { values.clone() } else { vec![None; wall + 1] };
                if own.len() <= wall {
                    own.resize(wall + 1, None);
                }
                own[wall] = Some(*elapsed);
                imported.process(subject, own, Outcome::Unknown);
            }
        } else if !values.is_empty() {
            imported.process(subject, values, Outcome::Unknown);
        }
    }
}

fn is_unit(text: &str) -> bool {
    [
        "msec", "nsec", "usec", "sec", "ns", "us", "ms", "s", "Joules", "MiB", "KiB", "GiB",
        "Bytes", "C",
    ]
    .contains(&text)
}

fn is_event(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '{')
}

/// Returns the name that becalm has for an event.
fn name_of(event: &str) -> String {
    match event {
        "cpu-cycles" => metric::CYCLES.to_owned(),
        "branch-instructions" => metric::BRANCHES.to_owned(),
        "cs" => metric::CONTEXT_SWITCHES.to_owned(),
        "faults" => metric::PAGE_FAULTS.to_owned(),
        "migrations" => metric::CPU_MIGRATIONS.to_owned(),
        other if other.contains(['/', ':', '.']) => other.to_owned(),
        other => other.replace('-', "_"),
    }
}

/// The fields of a line of CSV.
struct Fields<'a> {
    /// When the interval ended, if there are intervals.
    time: Option<&'a str>,
    value: &'a str,
    unit: &'a str,
    event: &'a str,
    is_mean: bool,
}

/// Reads a line of CSV with whatever letter there is between the fields.
fn fields(line: &str) -> Option<Fields<'_>> {
    [',', ';', '\t', '|', ':'].into_iter().find_map(|separator| fields_by(line, separator))
}

fn fields_by(line: &str, separator: char) -> Option<Fields<'_>> {
    let all: Vec<&str> = line.split(separator).map(str::trim).collect();
    let is_value =
        |text: &str| text == "<not supported>" || text == "<not counted>" || number(text).is_some();
    let of = |time, all: &[&'_ str]| -> Option<(usize, bool)> {
        let [value, unit, event, rest @ ..] = all else { return None };
        let is_mean = rest.first().is_some_and(|text| text.ends_with('%'));
        let [runtime, share, ..] = &rest[usize::from(is_mean)..] else { return None };
        let is_one = is_value(value)
            && (unit.is_empty() || is_unit(unit))
            && is_event(event)
            && runtime.bytes().all(|b| b.is_ascii_digit())
            && !runtime.is_empty()
            && number(share).is_some_and(|share| (0.0..=100.0).contains(&share));
        is_one.then_some((time, is_mean))
    };
    let (from, is_mean) = of(0, &all).or_else(|| of(1, all.get(1..)?))?;
    let time = (from == 1).then(|| all[0]);
    if let Some(time) = time {
        number(time)?;
    }
    Some(Fields { time, value: all[from], unit: all[from + 1], event: all[from + 2], is_mean })
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("perf stat");
    let subject = imported.subject("command");
    // A process for each time that an event comes again, or one with the intervals as its iterations.
    let mut processes: Vec<BTreeMap<String, f64>> = Vec::new();
    let mut intervals: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut order: Vec<(String, Unit, bool)> = Vec::new();
    let mut names = HashSet::new();
    for (_, line) in lines(file)? {
        let Some(fields) = fields(&line) else { continue };
        let Some(value) = number(fields.value) else { continue };
        let (unit, factor) = units::unit(fields.unit);
        let (name, value) = (name_of(fields.event), value * factor);
        if names.insert(name.clone()) {
            order.push((name.clone(), unit, fields.is_mean));
        }
        if fields.time.is_some() {
            intervals.entry(name).or_default().push(value);
        } else {
            if processes.last().is_none_or(|last| last.contains_key(&name)) {
                processes.push(BTreeMap::new());
            }
            if let Some(last) = processes.last_mut() {
                last.insert(name, value);
            }
        }
    }
    if !intervals.is_empty() {
        let mut parts = Vec::new();
        for (name, unit, _) in order {
            let Some(values) = intervals.remove(&name) else { continue };
            let metric = imported.benchmark(&name, "", unit, becalm_model::Direction::Lower);
            parts.extend(part(metric, values).or_else(|| Some(single(metric, 0.0))));
        }
        imported.parts(subject, parts);
        return Ok(imported);
    }
    if order.iter().any(|(.., is_mean)| *is_mean) {
        imported.has_only("mean");
    }
    let mut places = Vec::new();
    for (name, unit, is_mean) in order {
        let statistic = is_mean.then(|| "mean".to_owned());
        let at = imported.metric(Metric { statistic, ..Metric::lower(&name, unit) });
        places.push((name, at));
    }
    for process in processes {
        let mut values = vec![None; places.len()];
        for (name, at) in &places {
            values[*at] = process.get(name).copied();
        }
        imported.process(subject, values, Outcome::Unknown);
    }
    Ok(imported)
}
