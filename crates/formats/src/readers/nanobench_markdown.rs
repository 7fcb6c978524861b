//! nanobench: the table that it prints in Markdown.
//!
//! - `| ns/op | op/s | err% | ins/op | cyc/op | IPC | bra/op | miss% | total | title`: the first two columns have the
//!   unit of the benchmark, as `ns/byte` and `byte/s`; `relative` may stand before, counters behind. Rows of other units
//!   have a head of their own.
//! - The value is the median of the epochs, and `err%` their median absolute percentage error.
//! - Names are between backquotes, with `:wavy_dash:` before those that vary too much. A backquote in a name is written
//!   twice, and a bar as it is.
//! - `complexityN` may stand before the others: a head has it if the first row below it has, so cells are counted from the
//!   end.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, Names, single};
use crate::lines::{self, lines, number};
use crate::readers::cells::{cells, is_rule};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const MARKDOWN: Entry = Entry {
    name: "nanobench-markdown",
    about: "table of nanobench (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| head(line).is_some())),
    read: Takes::File(read),
};

/// Returns the titles of the columns, and which of them is the time.
fn head(line: &str) -> Option<(Vec<String>, usize)> {
    if !line.trim_start().starts_with('|') {
        return None;
    }
    let titles: Vec<String> = cells(line).into_iter().map(str::to_owned).collect();
    let at = titles.iter().position(|title| {
        title
            .split_once('/')
            .is_some_and(|(unit, _)| matches!(units::unit(unit), (Unit::Second, _)))
    })?;
    let error = titles.get(at + 2).map(String::as_str);
    (titles.get(at + 1)?.ends_with("/s") && matches!(error, Some("err%" | "MdAPE")))
        .then_some((titles, at))
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("nanobench");
    let subject = imported.subject("nanobench");
    let mut names = Names::default();
    let mut table: Option<(Vec<String>, usize)> = None;
    let mut parts: Vec<Part> = Vec::new();
    for (at, line) in lines(file)? {
        if let Some(found) = head(&line) {
            table = Some(found);
        } else if let Some((titles, place)) = &table
            && line.trim_start().starts_with('|')
            && !is_rule(&line)
        {
            parts.extend(
                row(&mut imported, subject, (titles, *place), &line, &mut names).ok_or_else(
                    || ImportError::at_line(file, at, "a number below each title", line.trim()),
                )?,
            );
        }
    }
    imported.parts(subject, parts);
    Ok(imported)
}

/// Returns the cells of the figures in a row, and the name behind them.
fn split(line: &str) -> Option<(Vec<&str>, String)> {
    let (front, name) = match line.split_once('`') {
        Some((front, rest)) => (front, quoted(rest)),
        // Another program may have taken the backquotes away.
        None => line.trim().trim_end_matches('|').rsplit_once('|').map(|(front, name)| {
            (front, name.trim_start_matches(":wavy_dash:").trim().to_owned())
        })?,
    };
    let front = front.trim_end().trim_end_matches(":wavy_dash:").trim_end();
    Some((cells(front.strip_suffix('|').unwrap_or(front)), name))
}

/// Returns what stands until the next backquote that is not one of two.
fn quoted(text: &str) -> String {
    let mut name = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next == '`' && rest.next_if_eq(&'`').is_none() {
            break;
        }
        name.push(next);
    }
    name
}

/// Reads a row; `None` if it is none.
fn row(
    imported: &mut Imported,
    subject: usize,
    (titles, place): (&[String], usize),
    line: &str,
    names: &mut Names,
) -> Option<Vec<Part>> {
    let (cells, name) = split(line)?;
    // The last title is that of the names.
    let of = |place: usize| {
        let from_the_end = titles.len().checked_sub(place + 1)?;
        cells.get(cells.len().checked_sub(from_the_end)?).copied()
    };
    let name = names.unique(if name.is_empty() { "benchmark" } else { &name });
    let (unit, _) = titles[place].split_once('/')?;
    let (_, factor) = units::unit(unit);
    let value = number(of(place)?)? * factor;
    let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
    imported.stand_in(metric, "median");
    imported.summary(subject, metric, [("median", Some(value))]);
    let mut parts = vec![single(metric, value)];
    for (at, title) in titles.iter().enumerate().skip(place + 3) {
        let (counted, direction) = match title.split_once('/') {
            Some((counted @ ("ins" | "cyc" | "bra"), _)) => (counted, Direction::Lower),
            _ => continue,
        };
        // Where counters cannot be read, there is nothing in the cell.
        if let Some(count) = of(at).and_then(number) {
            let metric = imported.benchmark(&name, counted, Unit::Count, direction);
            imported.stand_in(metric, "median");
            parts.push(single(metric, count));
        }
    }
    Some(parts)
}
