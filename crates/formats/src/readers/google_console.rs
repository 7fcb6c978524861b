//! google-benchmark: what it prints on a terminal.
//!
//! - A head `Benchmark  Time  CPU  Iterations` between lines of `-`: names end where the 13 letters of `Time` begin.
//! - A row: name, two times with their units, iterations, then counters and a label. Counters are
//!   `name=4.9G/s`, or with `--benchmark_counters_tabular` columns of their own with the names in the head.
//! - Rates have `/s` behind them; their prefixes are powers of 1000, those of `bytes_per_second` of 1024.
//! - `x_BigO` and `x_RMS` are no times: their units are none.
//! - In front stand the time, `Running ./program`, the processor and its caches.

use becalm_model::{Direction, ImportFact, Unit, parse_time};

use crate::imported::Imported;
use crate::lines::{self, lines, number};
use crate::readers::google_rates::counter;
use crate::readers::google_rows::{self, Measure, Row};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "google-benchmark-console",
    about: "output of google-benchmark on a terminal",
    recognise: Takes::File(|file| lines::any(file, |line| Head::of(line).is_some())),
    read: Takes::File(read),
};

/// Where the columns are.
#[derive(Debug, Clone)]
struct Head {
    /// Letters of a name.
    name: usize,
    /// Names of counters that have columns of their own.
    counters: Vec<String>,
}

impl Head {
    fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("Benchmark ")?;
        let mut words = rest.split_whitespace();
        let is_head = words.next() == Some("Time")
            && words.next() == Some("CPU")
            && words.next() == Some("Iterations");
        let name = (line.find("Time")? + 4).checked_sub(14)?;
        let counters = words.filter(|word| *word != "UserCounters...").map(str::to_owned).collect();
        is_head.then_some(Self { name, counters })
    }
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("google-benchmark");
    let mut program = "google-benchmark".to_owned();
    let mut head: Option<Head> = None;
    let mut rows = Vec::new();
    for (_, line) in lines(file)? {
        let line = line.as_ref();
        if let Some(found) = Head::of(line) {
            head = Some(found);
        } else if let Some(path) = line.strip_prefix("Running ") {
            // Another process.
            finish(&mut imported, &program, &mut rows);
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default().trim();
            if !name.is_empty() {
                name.clone_into(&mut program);
            }
            head = None;
        } else if let Some(head) = &head {
            row(&mut imported, head, line, &mut rows);
        } else {
            fact(&mut imported, line);
        }
    }
    finish(&mut imported, &program, &mut rows);
    Ok(imported)
}

fn finish(imported: &mut Imported, program: &str, rows: &mut Vec<Row>) {
    if !rows.is_empty() {
        let subject = imported.subject(program);
        google_rows::add(imported, subject, std::mem::take(rows));
    }
}

fn fact(imported: &mut Imported, line: &str) {
    if let Some(cpus) = line.strip_prefix("Run on (")
        && let Some((cpus, rest)) = cpus.split_once(" X ")
    {
        imported.fact("logical_cpus", cpus.trim());
        imported.fact("cpu_mhz", rest.split_whitespace().next().unwrap_or_default());
    } else if line.contains("Library was built as DEBUG") {
        imported.known(ImportFact::DebugLibrary);
    } else if line.contains('T')
        && line.contains(':')
        && let Some(time) = parse_time(line.trim())
    {
        imported.started_at(time);
    }
}

/// Reads a row; lines that are none are left out.
fn row(imported: &mut Imported, head: &Head, line: &str, rows: &mut Vec<Row>) {
    let Some((at, _)) = line.char_indices().nth(head.name) else { return };
    let (name, rest) = line.split_at(at);
    let name = name.trim();
    for (words, is_failure) in [("ERROR OCCURRED: ", true), ("SKIPPED: ", false)] {
        if let Some(why) = rest.trim().strip_prefix(words) {
            google_rows::not_measured(imported, name, why.trim_matches('\''), is_failure);
            return;
        }
    }
    let mut words = rest.split_whitespace();
    let mut time = || -> Option<f64> {
        let value = number(words.next()?)?;
        let (unit, factor) = units::unit(words.next()?);
        (unit == Unit::Second).then_some(value * factor)
    };
    let (Some(real), Some(cpu)) = (time(), time()) else { return };
    let iterations = words.next().and_then(number);
    let of_time = |name: &str, value| (name.to_owned(), Unit::Second, Direction::Lower, value);
    let mut measures = vec![of_time("", real), of_time("cpu_time", cpu)];
    if head.counters.is_empty() {
        measures.extend(words.map_while(|word| {
            let (name, value) = word.split_once('=')?;
            measure(name, value)
        }));
    } else {
        measures.extend(
            head.counters.iter().zip(words).map_while(|(name, value)| measure(name, value)),
        );
    }
    if !name.is_empty() {
        rows.push(Row { name: name.to_owned(), measures, iterations });
    }
}

/// Reads a counter: `4.93606G/s`, `48.3014ns`, `42`.
fn measure(name: &str, text: &str) -> Option<Measure> {
    let (value, is_rate) = match text.strip_suffix("/s") {
        Some(value) => (value, true),
        // Of a rate that was inverted: seconds.
        None => (text.strip_suffix('s').unwrap_or(text), false),
    };
    let end =
        value.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(value.len());
    let (figures, prefix) = value.split_at(end);
    let factor = match prefix.strip_suffix('i') {
        Some(prefix) => 1024_f64.powi(power(prefix)?),
        None if name == "bytes_per_second" => 1024_f64.powi(power(prefix)?),
        None => 1000_f64.powi(power(prefix)?),
    };
    let (unit, direction) = counter(name, is_rate);
    Some((name.to_owned(), unit, direction, number(figures)? * factor))
}

fn power(prefix: &str) -> Option<i32> {
    let prefixes = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];
    let small = ["", "m", "u", "n", "p", "f", "a", "z", "y"];
    let place = |of: &[&str]| {
        of.iter().position(|one| *one == prefix).and_then(|at| i32::try_from(at).ok())
    };
    if prefix == "K" {
        return Some(1);
    }
    place(&prefixes).or_else(|| place(&small).map(|at| -at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_prefixes() {
        let value = |name: &str, text: &str| measure(name, text).map(|one| (one.3, one.2));
        assert_eq!(value("a", "2k/s"), Some((2000.0, Direction::Higher)));
        assert_eq!(value("bytes_per_second", "2k/s"), Some((2048.0, Direction::Higher)));
        assert_eq!(value("a", "2Ki"), Some((2048.0, Direction::Lower)));
        assert_eq!(value("a", "1e+06"), Some((1e6, Direction::Lower)));
        assert_eq!(value("a", "5s"), Some((5.0, Direction::Lower)));
        assert_eq!(value("a", "3.76%"), None);
        assert_eq!(value("a", ""), None);
    }
}
