//! Rust's own harness: `test name ... bench: 325.42 ns/iter (+/- 387.18) = 67147 MB/s`.
//!
//! - Whole numbers before 1.78, with commas between thousands; fractions since. Harnesses that print the
//!   same lines have other units too, such as `cycles/iter`.
//! - The value is the median; `+/-` is the largest sample less the smallest.
//! - `cargo bench` runs one target after another, each of which is a process, and prints `Running` with
//!   the path of the executable before each. Lines of tests say nothing.

use std::borrow::Cow;

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "libtest-bench",
    about: "cargo bench with #[bench] (aggregates only)",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            line.trim_start()
                .strip_prefix("test ")
                .is_some_and(|rest| rest.contains(" ... bench:") && rest.contains(" (+/- "))
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("cargo bench");
    let mut target = "cargo bench".to_owned();
    let mut reader = Reader::default();
    for (number, line) in lines(file)? {
        if let Some(name) = target_of(&line) {
            target = name;
        }
        reader.line(&mut imported, &target, file, number, &line)?;
    }
    Ok(imported)
}

/// Reads such lines; a benchmark that prints something has its result behind that.
#[derive(Default)]
pub(crate) struct Reader {
    pending: Option<String>,
}

impl Reader {
    /// Reads a line, which may be another. Says whether it is a result.
    pub(crate) fn line(
        &mut self,
        imported: &mut Imported,
        target: &str,
        file: &File,
        line_number: usize,
        line: &str,
    ) -> Result<bool, ImportError> {
        let line = line.trim();
        let (name, result) = if let Some(rest) = line.strip_prefix("test ") {
            if let Some((name, result)) = rest.split_once(" ... bench:") {
                (Cow::Borrowed(name.trim()), result)
            } else {
                let begun = rest.split_once(" ...").filter(|(_, state)| !is_outcome(state.trim()));
                self.pending = begun.map(|(name, _)| name.trim().to_owned());
                return Ok(false);
            }
        } else if let (Some(result), Some(name)) =
            (line.strip_prefix("bench:"), self.pending.take())
        {
            (Cow::Owned(name), result)
        } else {
            return Ok(false);
        };
        let wrong = || {
            let expected = "`NUMBER UNIT/iter (+/- NUMBER)` after `bench:`";
            ImportError::at_line(file, line_number, expected, line)
        };
        let (measured, throughput) = match result.split_once(" = ") {
            Some((measured, throughput)) => (measured, Some(throughput)),
            None => (result, None),
        };
        let (measured, range) = match measured.split_once("(+/-") {
            Some((measured, range)) => {
                let range = range.trim().strip_suffix(')').and_then(number).ok_or_else(wrong)?;
                (measured, Some(range))
            }
            None => (measured, None),
        };
        let (value, written) = measured.trim().split_once(' ').ok_or_else(wrong)?;
        let value = number(value).ok_or_else(wrong)?;
        let written = written.trim();
        let (unit, factor) = units::unit(written.strip_suffix("/iter").unwrap_or(written));
        let subject = imported.subject(target);
        let metric = imported.benchmark(&name, "", unit, units::usual_direction(written));
        imported.mark(metric, "median");
        let mut parts = vec![single(metric, value * factor)];
        let figures = [("median", Some(value * factor)), ("range", range.map(|r| r * factor))];
        imported.summary(subject, metric, figures);
        if let Some(throughput) = throughput {
            let megabytes = throughput.trim().strip_suffix("MB/s").and_then(number);
            let bytes = megabytes.ok_or_else(wrong)? * 1e6;
            let unit = Unit::Named("B/s".to_owned());
            let metric = imported.benchmark(&name, "MB/s", unit, Direction::Higher);
            imported.mark(metric, "median");
            parts.push(single(metric, bytes));
        }
        if parts.iter().any(|part| !part.value.is_finite()) {
            return Err(wrong());
        }
        imported.add(subject, parts);
        Ok(true)
    }
}

fn is_outcome(state: &str) -> bool {
    ["ok", "FAILED", "ignored"].iter().any(|outcome| state.starts_with(outcome))
}

/// Returns the name of the target that cargo says it runs: the executable without its hash.
pub(crate) fn target_of(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("Running ")?;
    let path = match rest.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((_, path)) => path,
        None => rest.trim().trim_matches('`'),
    };
    if !path.contains('/') && !path.contains('\\') {
        return None;
    }
    let executable = path.rsplit(['/', '\\']).next()?;
    let name = match executable.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name
        }
        _ => executable,
    };
    (!name.is_empty()).then(|| name.to_owned())
}
