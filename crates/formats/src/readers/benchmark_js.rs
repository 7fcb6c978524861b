//! benchmark.js: `name x 1,234 ops/sec ±1.23% (88 runs sampled)`.
//!
//! The value is the inverse of the mean time; the share behind it is half of the interval at 95 %. A name
//! may have ` x ` in it, so the last one counts. A benchmark that failed prints `name: error` and has no
//! result.

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "benchmark-js",
    about: "output of benchmark.js (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| parse(line).is_some())),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("benchmark.js");
    for (line_number, line) in lines(file)? {
        let Some((name, rate, error, samples)) = parse(&line) else {
            if line.contains(" ops/sec ±") {
                let expected = "`NAME x NUMBER ops/sec ±NUMBER% (NUMBER runs sampled)`";
                return Err(ImportError::at_line(file, line_number, expected, &line));
            }
            continue;
        };
        let subject = imported.subject("benchmark.js");
        let unit = Unit::Named("ops/s".to_owned());
        let metric = imported.benchmark(name, "", unit, Direction::Higher);
        imported.mark(metric, "mean");
        let figures = [
            ("mean", Some(rate)),
            // The interval is that of the time.
            ("low", Some(rate / (1.0 + error))),
            ("high", Some(rate / (1.0 - error)).filter(|_| error < 1.0)),
            ("confidence", Some(0.95)),
            ("samples", Some(samples)),
        ];
        imported.summary(subject, metric, figures);
        imported.add(subject, vec![single(metric, rate)]);
    }
    Ok(imported)
}

/// Returns the name, the rate, half of the interval as a share, and the number of samples.
fn parse(line: &str) -> Option<(&str, f64, f64, f64)> {
    let (front, rest) = line.split_once(" ops/sec ±")?;
    let (name, rate) = front.rsplit_once(" x ")?;
    let (error, rest) = rest.split_once('%')?;
    let samples = rest.trim().strip_prefix('(')?.split_whitespace().next()?;
    let error = number(error).filter(|error| *error >= 0.0)?;
    Some((name.trim(), number(rate)?, error / 100.0, number(samples)?))
}
