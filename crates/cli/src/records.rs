//! Saved records: reading and writing them, and telling what is in several.

use std::io::Write;
use std::path::{Path, PathBuf};

use becalm_formats::File;
use becalm_model::wire::{self, SavedLoad};
use becalm_model::{Record, Run, SessionNote};
use becalm_session::files::write_with;
use becalm_session::{FileError, conclude_log, own_record};
use becalm_stats::{Sample, Summary};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::foreign;
use crate::old_arguments;
use crate::ui::Ui;

/// Reads a saved record: a document, or the log of a session with what follows from its runs.
pub(crate) fn read_record(path: &Path) -> Result<Record, CommandError> {
    record_of(path, &foreign::files(path)?)
}

/// Reads a saved record whose values are needed.
pub(crate) fn read_measured(path: &Path) -> Result<Record, CommandError> {
    let record = read_record(path)?;
    if record.is_of_one_program() { Err(nothing_in(path)) } else { Ok(record) }
}

/// Says that a record has no values.
pub(crate) fn nothing_in(path: &Path) -> CommandError {
    CommandError::measure(format!(
        "{} contains no measurement: all sides are the same program",
        path.display()
    ))
}

/// Makes the record of what was read from this path.
pub(crate) fn record_of(path: &Path, files: &[File]) -> Result<Record, CommandError> {
    let (mut record, is_log) = as_it_is(path, files)?;
    if is_log {
        old_arguments::complete(&mut record);
        conclude_log(&mut record);
        record.notes.push(SessionNote::FromLog.into());
    }
    Ok(record)
}

/// Reads only what a saved record holds; says whether it is a log.
pub(crate) fn read_as_it_is(path: &Path) -> Result<(Record, bool), CommandError> {
    as_it_is(path, &foreign::files(path)?)
}

fn as_it_is(path: &Path, files: &[File]) -> Result<(Record, bool), CommandError> {
    match own_text(path, files)? {
        Some(text) => own_record(text).map_err(|error| {
            if wire::is_search(text) { search(path) } else { refused(path, &error) }
        }),
        None => foreign::record(path, files, None).map(|record| (record, false)),
    }
}

/// Returns the text of a document of becalm; `None` if these files are something else.
fn own_text<'a>(path: &Path, files: &'a [File]) -> Result<Option<&'a str>, CommandError> {
    let own = match files {
        [one] if !path.is_dir() => Some(one.bytes()).filter(|bytes| is_own(bytes)),
        _ => None,
    };
    let Some(own) = own else { return Ok(None) };
    match str::from_utf8(own) {
        Ok(text) => Ok(Some(text)),
        // A log may end in the middle of a letter, as in the middle of a line.
        Err(error) if error.error_len().is_none() => str::from_utf8(&own[..error.valid_up_to()])
            .map(Some)
            .map_err(|_| FileError::NotText { path: path.to_owned() }.into()),
        Err(_) => Err(FileError::NotText { path: path.to_owned() }.into()),
    }
}

fn search(path: &Path) -> CommandError {
    let path = path.display();
    CommandError::measure(format!("{path} is a search for the highest rate, which has no runs"))
        .hint("`becalm show` shows it")
}

fn refused(path: &Path, error: &dyn std::error::Error) -> CommandError {
    CommandError::measure(format!("cannot read {}: {error}", path.display()))
        .hint("expected a file that `becalm run`, `becalm compare` or `becalm load` saved with --export-json")
}

/// What a file can show.
pub(crate) enum Shown {
    /// A record.
    Record(Box<Record>),
    /// What `becalm load` saved, which has more to show than a record of it.
    Load(SavedLoad),
}

/// Returns what a file can show as JSON: a load as the record that it is for everything that compares.
pub(crate) fn shown_json(path: &Path) -> Result<String, CommandError> {
    let files = foreign::files(path)?;
    Ok(match load_in(path, &files)? {
        Some(SavedLoad::Find(document)) => wire::json_text(&document),
        Some(SavedLoad::Run(_)) | None => json(&record_of(path, &files)?),
    })
}

/// Reads what `becalm load` saved, if these files are that.
fn load_in(path: &Path, files: &[File]) -> Result<Option<SavedLoad>, CommandError> {
    let Some(text) = own_text(path, files)? else { return Ok(None) };
    wire::read_load(text).map_err(|error| refused(path, &error))
}

/// Reads what a file can show.
pub(crate) fn read_shown(path: &Path) -> Result<Shown, CommandError> {
    let files = foreign::files(path)?;
    Ok(match load_in(path, &files)? {
        Some(load) => Shown::Load(load),
        None => Shown::Record(Box::new(record_of(path, &files)?)),
    })
}

/// Says whether this is a document of becalm: it names its schema, wherever another program may
/// have sorted that field to.
fn is_own(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, b"\"becalm/").any(|at| {
        let before = bytes[..at].trim_ascii_end();
        before.strip_suffix(b":").is_some_and(|name| {
            let name = name.trim_ascii_end();
            name.ends_with(b"\"schema\"") || name.ends_with(b"\"log\"")
        })
    })
}

/// Returns what there is to say about each subject and metric, by their indices.
pub(crate) fn summaries(record: &Record) -> impl Iterator<Item = (usize, usize, Summary)> {
    (0..record.subjects.len()).flat_map(move |subject| {
        // Once for all metrics: an imported history has thousands of subjects and of metrics.
        let runs: Vec<&Run> = record.measured(subject).collect();
        record.metrics_of(runs.iter().copied()).into_iter().filter_map(move |metric| {
            let values = runs.iter().filter_map(|run| run.value(metric)).collect();
            let sample = Sample::new(values).ok()?;
            Some((subject, metric, Summary::of(&sample, record.confidence)))
        })
    })
}

/// Returns the document of a record, with an estimate for every subject and metric.
pub(crate) fn document(record: &Record) -> wire::Document<wire::Runs<'_>> {
    let estimate = |(subject, metric, summary): (usize, usize, Summary)| {
        let metric = &record.metrics[metric];
        wire::EstimateDocument {
            subject: record.subjects[subject].name.clone(),
            metric: metric.name.clone(),
            unit: metric.unit.clone(),
            statistic: metric.statistic.clone(),
            runs: summary.n,
            minimum: summary.minimum,
            median: summary.median,
            median_low: summary.median_interval.map(|interval| interval.low),
            median_high: summary.median_interval.map(|interval| interval.high),
            mean: summary.mean,
            standard_deviation: summary.standard_deviation,
            cv: summary.cv,
            mad: summary.mad,
            maximum: summary.maximum,
        }
    };
    let estimates = summaries(record).map(estimate).collect();
    wire::document(record, estimates, &becalm_report::WORDS)
}

/// Returns a record as JSON text.
pub(crate) fn json(record: &Record) -> String {
    let mut text = Vec::new();
    write_json(record, &mut text).expect("memory can be written");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Records with more runs are written without line breaks, which would be most of them.
const MANY_RUNS: usize = 10_000;

/// Writes a record as JSON, run by run.
pub(crate) fn write_json(record: &Record, out: &mut dyn Write) -> std::io::Result<()> {
    let document = document(record);
    if record.runs.len() > MANY_RUNS {
        serde_json::to_writer(&mut *out, &document)?;
    } else {
        serde_json::to_writer_pretty(&mut *out, &document)?;
    }
    out.write_all(b"\n")
}

/// Saves a record.
pub(crate) fn write_record(path: &Path, record: &Record) -> Result<(), CommandError> {
    write_with(path, |file| {
        let mut out = std::io::BufWriter::new(file);
        write_json(record, &mut out)?;
        out.flush()
    })?;
    Ok(())
}

/// Prints what `json` makes of each file, one document after the other.
pub(crate) fn documents(
    paths: &[PathBuf],
    ui: &Ui,
    json: impl Fn(&Record) -> String,
) -> Result<Exit, CommandError> {
    read_stdin_once(paths)?;
    for path in paths {
        ui.print(&json(&read_record(path)?))?;
    }
    Ok(Exit::Done)
}

/// Metrics that an error lists.
const MOST_NAMED: usize = 20;

/// Refuses a metric, or a measure of benchmarks, that a record does not have.
pub(crate) fn check_metric(record: &Record, name: Option<&str>) -> Result<(), CommandError> {
    let Some(name) = name.filter(|_| !record.is_of_one_program()) else { return Ok(()) };
    if record.metrics.iter().any(|metric| metric.is_called(name)) {
        return Ok(());
    }
    let mut names: Vec<&str> =
        record.metrics.iter().take(MOST_NAMED).map(|metric| metric.name.as_str()).collect();
    if record.metrics.len() > MOST_NAMED {
        names.push("others");
    }
    Err(CommandError::usage(format!("there is no metric called {name}"))
        .hint(format!("the metrics are {}", names.join(", "))))
}

/// Prints what `text` makes of each file, under its name where there are several.
pub(crate) fn for_each_record(
    paths: &[PathBuf],
    ui: &Ui,
    text: impl Fn(&Record) -> Result<String, CommandError>,
) -> Result<Exit, CommandError> {
    for_each_read(paths, &read_all(paths)?, ui, text)
}

/// Refuses standard input that is named twice: the second time it would be empty.
pub(crate) fn read_stdin_once(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), CommandError> {
    let named = paths.into_iter().filter(|path| path.as_ref() == Path::new("-")).count();
    if named > 1 {
        return Err(CommandError::usage("standard input (`-`) can be read only once"));
    }
    Ok(())
}

/// Reads every file.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Record>, CommandError> {
    read_stdin_once(paths)?;
    paths.iter().map(|path| read_record(path)).collect()
}

/// Prints a text for what was read of each of these files, under the name of its file where there are several.
pub(crate) fn for_each_read<T>(
    paths: &[PathBuf],
    all: &[T],
    ui: &Ui,
    text: impl Fn(&T) -> Result<String, CommandError>,
) -> Result<Exit, CommandError> {
    for (index, (path, read)) in paths.iter().zip(all).enumerate() {
        if paths.len() > 1 {
            let gap = if index > 0 { "\n" } else { "" };
            ui.print(&format!("{gap}{}:\n", path.display()))?;
        }
        ui.print(&text(read)?)?;
    }
    Ok(Exit::Done)
}
