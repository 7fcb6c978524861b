//! divan: the tree that it prints.
//!
//! - A header per executable: `name  fastest │ slowest │ median │ mean │ samples │ iters`. Below stand
//!   modules, functions, types, arguments and numbers of threads (`t=2`), as branches.
//! - Rows without a branch belong to the one above: a counter (`GB/s`, `Mitem/s`), or a block with a
//!   title (`max alloc:`, `alloc:`, `dealloc:`, `grow:`, `shrink:`) whose rows are a count and a size.
//! - `(ignored)` stands where a benchmark was not made. Single samples are never printed.
//! - Where a name is long the columns of the rows differ, so cells are told by `│` behind the name.
//!
//! An executable is a subject and a process. The value is the median.

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number, quantity};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "divan",
    about: "output of divan (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| header(line).is_some())),
    read: Takes::File(read),
};

/// What the rows below a benchmark belong to.
struct Last {
    name: String,
    /// Title of the block of allocations, and how many of its rows were read.
    block: Option<(String, usize)>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("divan");
    let mut executable = None;
    let mut path: Vec<String> = Vec::new();
    let mut last: Option<Last> = None;
    for (number, line) in lines(file)? {
        if let Some(name) = header(&line) {
            last = None;
            executable = Some(imported.subject(name));
            path.clear();
            continue;
        }
        let Some(subject) = executable else { continue };
        let Some((depth, rest)) = branch(&line) else {
            if line.trim().is_empty() || !line.contains('│') {
                last = None;
            } else if let Some(last) = &mut last {
                further(&mut imported, subject, last, &cells(&line));
            }
            continue;
        };
        last = None;
        let (front, others) = rest.split_once('│').unwrap_or((rest, ""));
        path.truncate(depth);
        let (name, fastest) = name_and_cell(front);
        path.push(name.to_owned());
        if fastest.is_empty() || fastest == "(ignored)" {
            continue;
        }
        let others: Vec<&str> = others.split('│').map(str::trim).collect();
        let full = path.join("::");
        let row = row(&full, fastest, &others);
        let row = row.ok_or_else(|| {
            let expected = "times in the columns fastest, slowest, median and mean";
            ImportError::at_line(file, number, expected, line.trim())
        })?;
        let metric = imported.benchmark(&full, "", row.unit, Direction::Lower);
        imported.mark(metric, "median");
        imported.summary(subject, metric, row.figures);
        imported.add(subject, vec![single(metric, row.median)]);
        last = Some(Last { name: full, block: None });
    }
    Ok(imported)
}

/// Returns the name of the executable if this is a header.
fn header(line: &str) -> Option<&str> {
    let (front, rest) = line.split_once('│')?;
    let columns: Vec<&str> = rest.split('│').map(str::trim).collect();
    let name = front.trim().strip_suffix("fastest")?;
    columns.starts_with(&["slowest", "median", "mean"]).then(|| name.trim())
}

/// Returns how deep a branch is, and what stands behind it; each level is three characters wide.
fn branch(line: &str) -> Option<(usize, &str)> {
    let at = line.find(['├', '╰'])?;
    let is_tree = line[..at].chars().all(|c| c == '│' || c == ' ');
    let depth = line[..at].chars().count() / 3;
    let rest = line[at..].trim_start_matches(['├', '╰', '─']);
    is_tree.then_some((depth, rest))
}

/// Splits `name   19.75 ns` or `name   (ignored)` at the gap before the first column. A name may hold
/// gaps; the first cell has one space at most.
fn name_and_cell(front: &str) -> (&str, &str) {
    let front = front.trim();
    let words: Vec<&str> = front.split(' ').collect();
    let tail = |count: usize| -> &str {
        let length: usize = words[words.len() - count..].iter().map(|word| word.len() + 1).sum();
        front.get(front.len() + 1 - length..).unwrap_or_default()
    };
    if front == "(ignored)" || words.last() == Some(&"(ignored)") {
        let cell = "(ignored)";
        return (front[..front.len() - cell.len()].trim_end(), cell);
    }
    if words.len() > 2 && quantity(tail(2)).is_some_and(|(_, unit)| unit == Unit::Second) {
        return (front[..front.len() - tail(2).len()].trim_end(), tail(2));
    }
    (front, "")
}

struct Row {
    median: f64,
    unit: Unit,
    figures: [(&'static str, Option<f64>); 6],
}

fn row(name: &str, fastest: &str, others: &[&str]) -> Option<Row> {
    let [slowest, median, mean, counts @ ..] = others else { return None };
    let (minimum, unit) = quantity(fastest).filter(|_| !name.is_empty())?;
    let cell = |text: &str| quantity(text).filter(|(_, own)| *own == unit).map(|(value, _)| value);
    let (maximum, median, mean) = (cell(slowest)?, cell(median)?, cell(mean)?);
    let count = |index: usize| counts.get(index).and_then(|text| number(text));
    Some(Row {
        median,
        unit,
        figures: [
            ("minimum", Some(minimum)),
            ("maximum", Some(maximum)),
            ("median", Some(median)),
            ("mean", Some(mean)),
            ("samples", count(0)),
            ("iterations", count(1)),
        ],
    })
}

/// Returns the cells of a row without a branch; the glyphs of the tree stand before the first.
fn cells(line: &str) -> Vec<&str> {
    line.trim_start_matches(['│', ' ']).split('│').map(str::trim).collect()
}

fn further(imported: &mut Imported, subject: usize, last: &mut Last, cells: &[&str]) {
    let Some(first) = cells.first() else { return };
    if let Some(title) = first.strip_suffix(':') {
        last.block = Some((title.to_owned(), 0));
        return;
    }
    // The columns are fastest, slowest, median and mean, in this order.
    let values: Vec<(f64, Unit)> = cells.iter().take(4).map_while(|cell| quantity(cell)).collect();
    let [fastest, slowest, median, mean] = values.as_slice() else { return };
    let (measure, direction) = match &mut last.block {
        None => (median.1.to_string(), Direction::Higher),
        Some((title, rows)) => {
            *rows += 1;
            let what = if *rows == 1 { "count" } else { "size" };
            (format!("{title} {what}"), Direction::Lower)
        }
    };
    let metric = imported.benchmark(&last.name, &measure, median.1.clone(), direction);
    if imported.is_open(subject, metric) {
        return;
    }
    imported.mark(metric, "median");
    // A counter is highest where the time is lowest.
    let least = fastest.0.min(slowest.0);
    let most = fastest.0.max(slowest.0);
    let figures = [
        ("minimum", Some(least)),
        ("maximum", Some(most)),
        ("median", Some(median.0)),
        ("mean", Some(mean.0)),
    ];
    imported.summary(subject, metric, figures);
    imported.add(subject, vec![single(metric, median.0)]);
}
