//! criterion: what `cargo bench` prints.
//!
//! - `name  time:   [low estimate high]`; a name of more than 23 characters stands on the line before.
//!   The estimate is criterion's slope, or the mean with flat sampling.
//! - `thrpt:  [low estimate high]` follows where a throughput is set. Its units are of 1000 or 1024.
//! - `change:` compares with the last run, in per cent. It is left out: `becalm diff` does that. Its
//!   minus is U+2212 since 0.8.
//! - `--output-format bencher` prints lines as Rust's own harness does; both may stand in one file.
//!
//! Each target of `cargo bench` is a process of its own.

use becalm_model::{Direction, ImportFact, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines};
use crate::readers::libtest::{self, target_of};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "criterion-text",
    about: "output of criterion (aggregates only)",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            bracket(line, "time:").is_some_and(|(_, inside)| three(inside).is_some())
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("criterion");
    let mut libtest = libtest::Reader::default();
    let mut target = "cargo bench".to_owned();
    let mut before = String::new();
    let mut samples = None;
    // The last benchmark and its subject, which lines of throughput belong to.
    let mut last: Option<(String, usize)> = None;
    for (number, line) in lines(file)? {
        if let Some((name, inside)) = bracket(&line, "time:") {
            if inside.contains('%') {
                continue;
            }
            let expected = "`[LOW ESTIMATE HIGH]` with units";
            let wrong = || ImportError::at_line(file, number, expected, inside);
            let [low, value, high] = three(inside).ok_or_else(wrong)?;
            let name = if name.is_empty() { name_of(&before) } else { name };
            if name.is_empty() {
                let expected = "a name before the times";
                return Err(ImportError::at_line(file, number, expected, &line));
            }
            let subject = imported.subject(&target);
            let metric = imported.benchmark(name, "", value.1, Direction::Lower);
            imported.mark(metric, "mean");
            let figures = [
                ("mean", Some(value.0)),
                ("low", Some(low.0)),
                ("high", Some(high.0)),
                ("samples", samples.take()),
            ];
            imported.summary(subject, metric, figures);
            imported.add(subject, vec![single(metric, value.0)]);
            last = Some((name.to_owned(), subject));
        } else if let Some((_, inside)) = bracket(&line, "thrpt:") {
            // A throughput is set per benchmark, so it follows one.
            if let (Some((name, subject)), Some([low, value, high])) = (&last, three(inside)) {
                let measure = value.1.to_string();
                let metric = imported.benchmark(name, &measure, value.1, Direction::Higher);
                imported.mark(metric, "mean");
                let figures =
                    [("mean", Some(value.0)), ("low", Some(low.0)), ("high", Some(high.0))];
                imported.summary(*subject, metric, figures);
                imported.add(*subject, vec![single(metric, value.0)]);
            }
        } else {
            if let Some(name) = target_of(&line) {
                last = None;
                target = name;
            }
            if let Some((_, plan)) = line.split_once(": Collecting ") {
                samples = plan.split_whitespace().next().and_then(lines::number);
            }
            libtest.line(&mut imported, &target, file, number, &line)?;
        }
        if !line.trim().is_empty() {
            before = line.into_owned();
        }
    }
    imported.known(ImportFact::CriterionSlope);
    Ok(imported)
}

/// Splits `name   time:   [inside] more` into the name and what is inside.
fn bracket<'a>(line: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    // A name may hold anything, brackets too, so the label is looked for that stands before a bracket.
    line.rmatch_indices(label).find_map(|(at, _)| {
        let inside = line[at + label.len()..].trim_start().strip_prefix('[')?;
        Some((line[..at].trim(), inside.split_once(']')?.0))
    })
}

/// Reads `274.28 ns 286.82 ns 303.01 ns`. The three may have different scales of one unit.
fn three(inside: &str) -> Option<[(f64, Unit); 3]> {
    let words: Vec<&str> = inside.split_whitespace().collect();
    let [a, ua, b, ub, c, uc] = words.as_slice() else { return None };
    let read = |number: &str, unit: &str| {
        let (unit, factor) = lines::scaled(unit);
        let value = lines::number(number)? * factor;
        value.is_finite().then_some((value, unit))
    };
    let three = [read(a, ua)?, read(b, ub)?, read(c, uc)?];
    (three[0].1 == three[1].1 && three[1].1 == three[2].1).then_some(three)
}

/// Returns the name that a line before the times holds.
fn name_of(line: &str) -> &str {
    let name = line.trim();
    match name.strip_prefix("Benchmarking ") {
        Some(progress) => progress.split(": ").next().unwrap_or_default(),
        None => name,
    }
}
