//! Tools that print one short line per benchmark, and no more than that.
//!
//! - Dart's `benchmark_harness`: `Template(RunTime): 1.0 us.`, the mean time of a run.
//! - Node's `console.time`: `name: 7617ms - timer ended`; before Node 12 without the words, which could
//!   be anything, so those are not read.
//! - Luau's `bench.py`: `SUCCESS: base64   :   15.041ms +/-  0.636% on luau`, the mean time and the relative
//!   standard deviation. The table behind it has the same.
//! - Crystal's `Benchmark.ips`: `fib(10)   2.12M (472.18ns) (±10.19%)  0.0B/op   fastest`, the mean time
//!   and the relative standard deviation.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number, time};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const DART: Entry = Entry {
    name: "dart",
    about: "output of Dart's benchmark_harness (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| dart(line).is_some())),
    read: Takes::File(|file| read(file, "benchmark_harness", dart)),
};

pub(crate) const NODE: Entry = Entry {
    name: "console-time",
    about: "output of console.time of Node",
    recognise: Takes::File(|file| lines::any(file, |line| node(line).is_some())),
    read: Takes::File(|file| read(file, "console.time", node)),
};

pub(crate) const LUAU: Entry = Entry {
    name: "luau",
    about: "output of Luau's bench.py (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| luau(line).is_some())),
    read: Takes::File(|file| read(file, "luau", luau)),
};

pub(crate) const CRYSTAL: Entry = Entry {
    name: "crystal",
    about: "output of Crystal's Benchmark.ips (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| crystal(line).is_some())),
    read: Takes::File(|file| read(file, "Benchmark.ips", crystal)),
};

/// What a line says.
struct Line<'a> {
    name: &'a str,
    seconds: f64,
    /// Which statistic of many the time is.
    statistic: Option<&'static str>,
    deviation: Option<f64>,
    bytes: Option<f64>,
}

fn read(
    file: &File,
    tool: &str,
    parse: fn(&str) -> Option<Line<'_>>,
) -> Result<Imported, ImportError> {
    let mut imported = Imported::of(tool);
    for (_, text) in lines(file)? {
        let Some(line) = parse(&text) else { continue };
        let subject = imported.subject(tool);
        let metric = imported.benchmark(line.name, "", Unit::Second, Direction::Lower);
        if let Some(statistic) = line.statistic {
            imported.mark(metric, statistic);
            let figures = [("mean", Some(line.seconds)), ("standard_deviation", line.deviation)];
            imported.summary(subject, metric, figures);
        }
        let mut parts: Vec<Part> = vec![single(metric, line.seconds)];
        if let Some(bytes) = line.bytes {
            let metric = imported.benchmark(line.name, "B/op", Unit::Byte, Direction::Lower);
            imported.mark(metric, "mean");
            parts.push(single(metric, bytes));
        }
        imported.add(subject, parts);
    }
    Ok(imported)
}

fn dart(line: &str) -> Option<Line<'_>> {
    let (name, rest) = line.split_once("(RunTime): ")?;
    let seconds = time(rest.trim().strip_suffix('.')?)?;
    let name = name.trim();
    Some(Line { name, seconds, statistic: Some("mean"), deviation: None, bytes: None })
}

fn node(line: &str) -> Option<Line<'_>> {
    let front = line.trim_end();
    let front = front
        .strip_suffix(" - timer ended")
        // Deno says so.
        .or_else(|| front.strip_suffix(", timer ended"))?;
    // The name may have colons too.
    let (name, rest) = front.rsplit_once(": ")?;
    Some(Line {
        name: name.trim(),
        seconds: time(rest)?,
        statistic: None,
        deviation: None,
        bytes: None,
    })
}

fn luau(line: &str) -> Option<Line<'_>> {
    let (name, rest) = line.strip_prefix("SUCCESS: ")?.rsplit_once(" : ")?;
    let (mean, rest) = rest.split_once("+/-")?;
    let (deviation, _driver) = rest.split_once("% on ")?;
    let seconds = time(mean)?;
    Some(Line {
        name: name.trim(),
        seconds,
        statistic: Some("mean"),
        deviation: Some(number(deviation)? / 100.0 * seconds),
        bytes: None,
    })
}

fn crystal(line: &str) -> Option<Line<'_>> {
    let (front, rest) = line.rsplit_once(") (±")?;
    let (front, seconds) = front.rsplit_once(" (")?;
    let (deviation, rest) = rest.split_once("%)")?;
    let (name, _rate) = front.trim_end().rsplit_once(' ')?;
    let seconds = time(seconds)?;
    let mut words = rest.split_whitespace();
    let bytes = words.next().and_then(|word| word.strip_suffix("B/op")).and_then(by_1024);
    Some(Line {
        name: name.trim(),
        seconds,
        statistic: Some("mean"),
        deviation: Some(number(deviation)? / 100.0 * seconds),
        bytes,
    })
}

/// Reads a number of bytes with Crystal's prefixes, which are powers of 1024.
fn by_1024(text: &str) -> Option<f64> {
    let prefixes = [("k", 1024.0), ("M", 1_048_576.0), ("G", 1_073_741_824.0)];
    let scaled = prefixes.iter().find_map(|(prefix, by)| Some((text.strip_suffix(prefix)?, *by)));
    let (figures, by) = scaled.unwrap_or((text, 1.0));
    Some(number(figures)? * by)
}
