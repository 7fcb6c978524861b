//! CSV as Apache Otava reads it: a row for each commit, and a column for each metric.
//!
//! - The first column that is called `time` (or `timestamp`, `date`) is seconds since the epoch or a date, also
//!   `2021.01.01 3:00:00 +0100`; `commit` and `branch` are read where they are. `,` or `;` divides.
//! - Every other column whose values are numbers is a metric. Neither unit nor direction stands in the file:
//!   less is taken as better, as Otava does. Columns of texts are left out.
//! - An empty cell is no value, and neither is `nan` or `inf`: how many there are is told. A row that is longer
//!   than the header, and two columns of one name, are refused.

use becalm_model::history::AtCommit;
use becalm_model::{Direction, ImportFact, Unit, counted, is_of_calendar, parse_time};

use crate::error::ImportError;
use crate::file::{File, only};
use crate::imported::{Imported, single};
use crate::readers::table::{line_of, refused};

/// Name of the format.
pub(crate) const NAME: &str = "otava-csv";

const TIMES: [&str; 3] = ["time", "timestamp", "date"];

/// Columns that say something of the commit and measure nothing.
const ABOUT: [&str; 6] = ["commit", "branch", "version", "message", "author", "tag"];

/// Says whether the header has a time, and something to be measured.
pub(crate) fn is_history(files: &[File]) -> bool {
    only(files).and_then(File::text).is_ok_and(|text| {
        let header = text.lines().next().unwrap_or_default();
        let names: Vec<String> = header.split(delimiter(header)).map(named).collect();
        names.len() > 1 && names.iter().any(|name| TIMES.contains(&name.as_str()))
    })
}

fn named(cell: &str) -> String {
    cell.trim().trim_matches('"').to_lowercase()
}

fn delimiter(header: &str) -> char {
    if header.matches(';').count() > header.matches(',').count() { ';' } else { ',' }
}

/// Reads every row as a commit, and says what was left out.
pub(crate) fn read(files: &[File]) -> Result<(Vec<AtCommit>, Option<String>), ImportError> {
    let file = only(files)?;
    let text = file.text()?;
    let first = text.lines().next().unwrap_or_default();
    let divided_by = u8::try_from(delimiter(first)).expect("it is ASCII");
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(divided_by)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| refused(file, &error))?.clone();
    let column =
        |names: &[&str]| header.iter().position(|cell| names.contains(&named(cell).as_str()));
    let Some(time_at) = column(&TIMES) else {
        return Err(ImportError::at_line(file, 1, "a column `time`", first));
    };
    let (commit_at, branch_at) = (column(&["commit"]), column(&["branch"]));
    let twice =
        header.iter().enumerate().find(|(at, name)| header.iter().take(*at).any(|n| n == *name));
    if let Some((_, name)) = twice {
        return Err(ImportError::at_line(file, 1, "unique column names", name));
    }
    let rows: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|error| refused(file, &error))?;
    if let Some(row) = rows.iter().find(|row| row.len() > header.len()) {
        let expected = format!("{} as in the header", counted(header.len(), "cell"));
        let found = counted(row.len(), "cell");
        return Err(ImportError::at_line(file, line_of(row.position()), &expected, &found));
    }
    // A column in which no cell is a number is one of texts.
    let is_metric = |at: usize, name: &str| {
        at != time_at
            && !ABOUT.contains(&named(name).as_str())
            && rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.parse::<f64>().is_ok()))
    };
    let metrics: Vec<(usize, &str)> =
        header.iter().enumerate().filter(|(at, name)| is_metric(*at, name)).collect();
    let mut commits = Vec::new();
    let mut left_out = LeftOut::default();
    for row in &rows {
        let line = line_of(row.position());
        let written = row.get(time_at).unwrap_or_default();
        let Some(time) = when(written) else {
            return Err(ImportError::at_line(file, line, "a time from 1970 to 9999", written));
        };
        let mut imported = Imported::of("CSV for Otava");
        imported.started_at(time);
        imported.known(ImportFact::NoUnits);
        let subject = imported.subject("csv");
        let mut parts = Vec::new();
        for &(at, name) in &metrics {
            let cell = row.get(at).unwrap_or_default();
            match cell.parse().ok().filter(|value: &f64| value.is_finite()) {
                Some(value) => {
                    let metric = imported.benchmark(name, "", Unit::Count, Direction::Lower);
                    parts.push(single(metric, value));
                }
                None => left_out.cell(line, name, cell),
            }
        }
        if parts.is_empty() {
            continue;
        }
        imported.parts(subject, parts);
        let cell = |at: Option<usize>| {
            at.and_then(|at| row.get(at)).filter(|cell| !cell.is_empty()).map(str::to_owned)
        };
        commits.push(AtCommit {
            time: Some(time),
            branch: cell(branch_at),
            ..AtCommit::of(cell(commit_at), imported.finish(file)?)
        });
    }
    Ok((commits, left_out.told()))
}

/// Cells of metrics that are no values.
#[derive(Default)]
struct LeftOut {
    empty: usize,
    other: usize,
    /// Where the first of each kind stands, and what.
    first_empty: String,
    first_other: String,
}

impl LeftOut {
    fn cell(&mut self, line: usize, column: &str, cell: &str) {
        let (count, first) = if cell.is_empty() {
            (&mut self.empty, &mut self.first_empty)
        } else {
            (&mut self.other, &mut self.first_other)
        };
        *count += 1;
        if *count == 1 {
            *first = format!("column {column} in line {line}");
            if !cell.is_empty() {
                *first = format!("{first}: `{}`", cell.escape_debug());
            }
        }
    }

    fn told(&self) -> Option<String> {
        let part = |count: usize, what: &str, first: &str| {
            (count > 0).then(|| format!("{} {what} (first {first})", counted(count, "cell")))
        };
        let parts: Vec<String> = [
            part(self.other, "without a finite number", &self.first_other),
            part(self.empty, "without anything", &self.first_empty),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then(|| format!("skipped: {}", parts.join(", ")))
    }
}

/// Reads a time as Otava does.
fn when(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| is_of_calendar(*number));
    }
    let (date, rest) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    // An hour of one digit.
    let zero = if rest.find(':') == Some(1) { "0" } else { "" };
    parse_time(format!("{} {zero}{rest}", date.replace('.', "-")).trim())
}
