//! CSV as Apache Otava reads it: a row for each commit, and a column for each metric.
//!
//! - The first column that is called `time` (or `timestamp`, `date`) is seconds since the epoch or a date, also
//!   `2021.01.01 3:00:00 +0100`; `commit` and `branch` are read where they are. `,` or `;` divides.
//! - Every other column whose values are numbers is a metric. Neither unit nor direction stands in the file:
//!   less is taken as better, as Otava does. Columns of texts are left out.
//! - An empty cell is no value.

use becalm_model::{Direction, Unit};

use crate::error::ImportError;
use crate::file::{File, only};
use crate::history::AtCommit;
use crate::imported::{Imported, single};
use crate::time;

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

/// Reads every row as a commit.
pub(crate) fn commits(files: &[File]) -> Result<Vec<AtCommit>, ImportError> {
    let file = only(files)?;
    let text = file.text()?;
    let first = text.lines().next().unwrap_or_default();
    let divided_by = u8::try_from(delimiter(first)).expect("it is ASCII");
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(divided_by)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let at_line = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let line = usize::try_from(line).unwrap_or(1);
        ImportError::at_line(file, line, "a row of CSV", &error.to_string())
    };
    let header = reader.headers().map_err(|error| at_line(&error))?.clone();
    let column =
        |names: &[&str]| header.iter().position(|cell| names.contains(&named(cell).as_str()));
    let Some(time_at) = column(&TIMES) else {
        return Err(ImportError::at_line(file, 1, "a column `time`", first));
    };
    let (commit_at, branch_at) = (column(&["commit"]), column(&["branch"]));
    let mut commits = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| at_line(&error))?;
        let line = row.position().map_or(1, csv::Position::line);
        let line = usize::try_from(line).unwrap_or(1);
        let written = row.get(time_at).unwrap_or_default();
        let Some(time) = when(written) else {
            return Err(ImportError::at_line(file, line, "a time", written));
        };
        let mut imported = Imported::of("CSV for Otava");
        imported.started_at(time);
        imported.note("the file tells neither units nor which way is better: less is taken");
        let subject = imported.subject("csv");
        let mut parts = Vec::new();
        for (at, name) in header.iter().enumerate() {
            let is_about = at == time_at || ABOUT.contains(&named(name).as_str());
            let cell = row.get(at).unwrap_or_default();
            let Some(value) = cell.parse().ok().filter(|v: &f64| !is_about && v.is_finite()) else {
                continue;
            };
            let metric = imported.benchmark(name, "", Unit::Count, Direction::Lower);
            parts.push(single(metric, value));
        }
        if parts.is_empty() {
            continue;
        }
        imported.parts(subject, parts);
        let cell = |at: Option<usize>| {
            at.and_then(|at| row.get(at)).filter(|cell| !cell.is_empty()).map(str::to_owned)
        };
        commits.push(AtCommit {
            commit: cell(commit_at),
            time: Some(time),
            branch: cell(branch_at),
            record: imported.finish(file)?,
        });
    }
    if commits.is_empty() {
        return Err(ImportError::nothing(file, "it holds no measurement"));
    }
    Ok(commits)
}

/// Reads a time as Otava does.
fn when(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| number.is_finite());
    }
    let (date, rest) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    // An hour of one digit.
    let zero = if rest.find(':') == Some(1) { "0" } else { "" };
    time::seconds(format!("{} {zero}{rest}", date.replace('.', "-")).trim())
}
