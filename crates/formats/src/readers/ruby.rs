//! Ruby's `Benchmark.bm` and `Benchmark.bmbm`.
//!
//! - A header `user system total real`, then per line a label, three CPU times and, in parentheses, the
//!   elapsed time, in seconds. The value is the elapsed time.
//! - `bmbm` prints a rehearsal before, from `Rehearsal ---` up to the next header: it is a warm-up.
//! - Labels that begin with `>` are sums or means that the script computed, and are read as they are.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "ruby-benchmark",
    about: "output of Ruby's Benchmark.bm",
    recognise: Takes::File(|file| lines::any(file, is_header)),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("ruby benchmark");
    let subject = imported.subject("ruby");
    let mut parts: Vec<Part> = Vec::new();
    let mut is_inside = false;
    let mut is_rehearsal = false;
    for (_, line) in lines(file)? {
        let begins_rehearsal = line.starts_with("Rehearsal -");
        if begins_rehearsal || is_header(&line) {
            imported.parts_of(subject, std::mem::take(&mut parts), is_rehearsal);
            is_inside = true;
            is_rehearsal = begins_rehearsal;
        } else if is_inside && let Some((label, [user, system, total, real])) = row(&line) {
            let name = label.trim().trim_end_matches(':');
            let name = if name.is_empty() { "benchmark" } else { name };
            for (measure, value) in
                [("", real), ("user", user), ("system", system), ("total", total)]
            {
                let metric = imported.benchmark(name, measure, Unit::Second, Direction::Lower);
                parts.push(single(metric, value));
            }
        }
    }
    imported.parts_of(subject, parts, is_rehearsal);
    Ok(imported)
}

fn is_header(line: &str) -> bool {
    line.split_whitespace().eq(["user", "system", "total", "real"])
}

/// Reads `label  user  system  total (  real)`.
fn row(line: &str) -> Option<(&str, [f64; 4])> {
    let (front, real) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let (front, total) = last(front)?;
    let (front, system) = last(front)?;
    let (label, user) = last(front)?;
    Some((label, [user, system, total, number(real)?]))
}

fn last(text: &str) -> Option<(&str, f64)> {
    let text = text.trim_end();
    let at = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    Some((text.get(..at)?, number(text.get(at..)?)?))
}
