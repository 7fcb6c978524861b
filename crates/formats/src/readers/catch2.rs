//! Catch2: what the console reporter prints, and what both reporters have in common.
//!
//! - A block between lines of `-` names the test case and, indented, its sections. A table follows per
//!   benchmark: name, samples, iterations and estimated time; the mean with its interval; the standard
//!   deviation with its interval. Long names take several lines, the last of which has the numbers.
//! - Version 2 has `estimated` for `est run time`. Single samples are never printed.
//! - Names are unique inside a section only, so benchmarks are named `test case/section/name`. With
//!   generators a test case runs several times: the benchmark gets a number then.
//! - The JSON reporter (version 3) writes no benchmarks at all.
//!
//! A run of the executable is a process.

use std::collections::HashMap;

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, single};
use crate::json;
use crate::lines::{self, lines, number, time};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CONSOLE: Entry = Entry {
    name: "catch2-console",
    about: "output of Catch2 (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, is_table)),
    read: Takes::File(read),
};

pub(crate) const JSON: Entry = Entry {
    name: "catch2-json",
    about: "Catch2 --reporter json, which has no benchmarks",
    recognise: Takes::File(|file| json::begins(file, '{', &["\"catch2-version\""])),
    read: Takes::File(|file| {
        let why = "Catch2's JSON reporter writes no benchmarks; use `--reporter xml`";
        Err(ImportError::nothing(file, why))
    }),
};

/// What is known of one benchmark.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) samples: Option<f64>,
    pub(crate) iterations: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) standard_deviation: Option<f64>,
    pub(crate) confidence: Option<f64>,
}

/// One run of the executable while it is read.
#[derive(Default)]
pub(crate) struct Process {
    parts: Vec<Part>,
    names: HashMap<String, u32>,
}

impl Process {
    /// Adds a benchmark with its mean in seconds.
    pub(crate) fn add(
        &mut self,
        imported: &mut Imported,
        subject: usize,
        name: &str,
        mean: f64,
        figures: &Figures,
    ) {
        let times = self.names.entry(name.to_owned()).or_default();
        *times += 1;
        let name = if *times == 1 { name.to_owned() } else { format!("{name} #{times}") };
        let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
        imported.mark(metric, "mean");
        let figures = [
            ("mean", Some(mean)),
            ("low", figures.low),
            ("high", figures.high),
            ("standard_deviation", figures.standard_deviation),
            ("confidence", figures.confidence),
            ("samples", figures.samples),
            ("iterations", figures.iterations),
        ];
        imported.summary(subject, metric, figures);
        self.parts.push(single(metric, mean));
    }

    /// Ends the process.
    pub(crate) fn end(&mut self, imported: &mut Imported, subject: usize) {
        imported.parts(subject, std::mem::take(self).parts);
    }
}

/// What the next line of a table is.
enum Expected {
    /// A name, or a part of one, and the counts.
    Name(String),
    Mean(String, Figures),
    Deviation(String, f64, Figures),
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of(tool(file)?);
    let mut process = Process::default();
    let mut subject = None;
    let mut path = String::new();
    // The lines since the last one of dashes, and whether a table begins at the next.
    let mut block: Vec<String> = Vec::new();
    let mut begins = false;
    let mut table: Option<Expected> = None;
    for (line_number, line) in lines(file)? {
        if let Some(name) = host(&line) {
            if let Some(subject) = subject {
                process.end(&mut imported, subject);
            }
            subject = Some(imported.subject(name));
            table = None;
        } else if is_table(&line) {
            begins = true;
        } else if is_rule(&line, '-') {
            table = begins.then(|| Expected::Name(String::new()));
            if !begins && let Some(named) = path_of(&block) {
                path = named;
            }
            begins = false;
            block.clear();
        } else if is_rule(&line, '=') || is_rule(&line, '.') {
            table = None;
            block.clear();
        } else if let Some(expected) = table.take() {
            let subject = *subject.get_or_insert_with(|| imported.subject("Catch2"));
            let wrong =
                |expected: &str| ImportError::at_line(file, line_number, expected, line.trim());
            table = Some(match expected {
                Expected::Name(begun) => match counts(&line) {
                    Some((rest, figures)) => Expected::Mean(joined(&begun, rest), figures),
                    None => Expected::Name(joined(&begun, line.trim())),
                },
                Expected::Mean(name, figures) => match three(&line) {
                    Some([mean, low, high]) => {
                        let interval = Figures { low: Some(low), high: Some(high), ..figures };
                        Expected::Deviation(name, mean, interval)
                    }
                    // The message of an exception stands here instead.
                    None if line.contains("failed") || line.trim().is_empty() => {
                        imported.failed(format!("{path}/{name}"), None);
                        Expected::Name(String::new())
                    }
                    None => return Err(wrong("the mean with its low and high bound")),
                },
                Expected::Deviation(name, mean, figures) => {
                    let deviation = three(&line)
                        .ok_or_else(|| wrong("the standard deviation with its bounds"))?[0];
                    let figures = Figures { standard_deviation: Some(deviation), ..figures };
                    let full = if path.is_empty() { name } else { format!("{path}/{name}") };
                    process.add(&mut imported, subject, &full, mean, &figures);
                    Expected::Name(String::new())
                }
            });
        } else if !begins && block.len() < 64 {
            block.push(line.into_owned());
        }
    }
    if let Some(subject) = subject {
        process.end(&mut imported, subject);
    }
    Ok(imported)
}

fn is_table(line: &str) -> bool {
    let mut words = line.split_whitespace();
    line.starts_with("benchmark name")
        && words.nth(2) == Some("samples")
        && words.next() == Some("iterations")
}

fn is_rule(line: &str, of: char) -> bool {
    line.len() >= 40 && line.chars().all(|c| c == of)
}

/// Returns the name of the executable: `t is a Catch2 v3.7.1 host application.`
fn host(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" is a Catch")?;
    (rest.contains("host application") && !name.is_empty()).then(|| name.trim())
}

fn tool(file: &File) -> Result<String, ImportError> {
    let version = lines(file)?.find_map(|(_, line)| {
        host(&line)?;
        line.split_whitespace().find_map(|word| word.strip_prefix('v').map(str::to_owned))
    });
    Ok(version.map_or_else(|| "Catch2".to_owned(), |version| format!("Catch2 {version}")))
}

/// Returns the test case and its sections; a block that begins otherwise is none.
fn path_of(block: &[String]) -> Option<String> {
    let first = block.iter().position(|line| !line.trim().is_empty())?;
    if block[first].starts_with(' ') {
        return None;
    }
    let names: Vec<&str> =
        block[first..].iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    Some(names.join("/"))
}

fn joined(begun: &str, rest: &str) -> String {
    format!("{begun} {}", rest.trim()).trim().to_owned()
}

/// Splits `name  samples  iterations  estimate unit`.
fn counts(line: &str) -> Option<(&str, Figures)> {
    let mut name = line.trim();
    let mut last = || {
        let (rest, word) = name.rsplit_once(char::is_whitespace)?;
        name = rest.trim_end();
        Some(word)
    };
    let (unit, estimate, iterations, samples) = (last()?, last()?, last()?, last()?);
    time(&format!("{estimate} {unit}"))?;
    let count = |text: &str| number(text).filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let figures = Figures {
        samples: Some(count(samples)?),
        iterations: Some(count(iterations)?),
        ..Figures::default()
    };
    Some((name, figures))
}

/// Reads three times in a row.
fn three(line: &str) -> Option<[f64; 3]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [a, ua, b, ub, c, uc] = words.as_slice() else { return None };
    let read = |number: &str, unit: &str| time(&format!("{number} {unit}"));
    Some([read(a, ua)?, read(b, ub)?, read(c, uc)?])
}
