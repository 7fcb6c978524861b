//! `becalm export`: records as files of other tools.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use becalm_formats::{Estimate, ExportError, Options, WRITERS, Writer, merge, writer};
use becalm_model::Record;
use becalm_report::note_sentence;
use becalm_session::files;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::records;
use crate::ui::Ui;

/// Write saved results as files of other tools
///
/// Reads what `becalm run` and `becalm compare` saved with --export-json, and the files of other
/// tools, so it also converts between other tools' formats. Several files count as further
/// processes of the same benchmarks. If a format cannot contain something, becalm reports that
/// on standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files and folders of other tools; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "formats")]
    files: Vec<PathBuf>,
    /// Format to write [default: from the ending of OUT, if only one format uses it]
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,
    /// File to write; `-` is standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Export this metric; may be repeated, and `all` exports every metric. By default, formats for
    /// results get the wall time, the benchmarks and the metrics read from the output; other
    /// formats get everything that they can contain
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Export this subject; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
    /// List the formats that becalm can write
    #[arg(long, exclusive = true)]
    formats: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.formats {
        let width = WRITERS.iter().map(|writer| writer.name.len()).max().unwrap_or(0);
        let lines = WRITERS.iter().map(|one| format!("{:width$}  {}\n", one.name, one.about));
        ui.print_folded(&lines.collect::<String>())?;
        return Ok(Exit::Done);
    }
    let writer = format(args)?;
    if let Some(path) = output(args) {
        files::check_writable(path)?;
    }
    let records = args.files.iter().map(|path| records::read_measured(path));
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let n_records = records.len();
    let Some(mut record) = merge(records) else { return Ok(Exit::Done) };
    if n_records > 1 {
        // What was concluded from the first alone says nothing about all of them.
        record.comparisons.clear();
    }
    let options = Options::choose(&record, &args.metric, &args.subject)
        .map_err(|error| refused(&error))?
        .with_sentences(note_sentence);
    let options = options.with_estimates(estimates(&record));
    let exported = (writer.write)(&record, &options).map_err(|error| refused(&error))?;
    match output(args) {
        Some(path) => files::write_bytes_atomically(path, &exported.bytes)?,
        None if std::io::stdout().is_terminal()
            && std::str::from_utf8(&exported.bytes).is_err() =>
        {
            return Err(CommandError::usage(format!(
                "{} is a binary format and cannot be printed to a terminal",
                writer.name
            ))
            .hint("add -o FILE"));
        }
        None => ui.print_bytes(&exported.bytes)?,
    }
    for note in &exported.notes {
        ui.say(format!("note: {note}"));
    }
    Ok(Exit::Done)
}

/// Returns the file to write, unless it is standard output.
fn output(args: &Args) -> Option<&Path> {
    args.output.as_deref().filter(|path| *path != Path::new("-"))
}

/// Returns the format that was asked for.
fn format(args: &Args) -> Result<&'static Writer, CommandError> {
    if let Some(name) = &args.to {
        return writer(name).map_err(|error| refused(&error));
    }
    let Some(path) = output(args) else {
        return Err(CommandError::usage("no format was given").hint(LISTED));
    };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let fitting: Vec<&Writer> = WRITERS.iter().filter(|one| one.ending == ending).collect();
    match fitting.as_slice() {
        [one] => Ok(one),
        [] => {
            Err(CommandError::usage(format!("no format uses the file ending `.{ending}`"))
                .hint(LISTED))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|one| one.name).collect();
            Err(CommandError::usage(format!(
                "several formats use the file ending `.{ending}`: {}",
                names.join(", ")
            ))
            .hint("choose one with --to"))
        }
    }
}

const LISTED: &str = "--to selects the format; `becalm export --formats` lists the formats";

fn refused(error: &ExportError) -> CommandError {
    match error {
        ExportError::NoFormat { .. } => CommandError::usage(error)
            .hint("`becalm export --formats` lists the formats that can contain it"),
        ExportError::Unknown { .. } => CommandError::usage(error),
        ExportError::NothingFits { .. } => CommandError::measure(error)
            .hint("--metric chooses others; csv and parquet can contain every metric"),
        ExportError::NoComparison { .. } => CommandError::measure(error)
            .hint("give one record that `becalm compare` saved with --export-json, or a load of `becalm load` with --objective"),
        ExportError::Directions { .. } => CommandError::usage(error).hint(
            "choose metrics with --metric, or export one direction at a time: \
                 customSmallerIsBetter, customBiggerIsBetter",
        ),
        ExportError::TooLarge { .. } => {
            CommandError::measure(error).hint("select less with --metric and --subject")
        }
    }
}

/// Returns intervals of the medians, if the data allow it.
fn estimates(record: &Record) -> Vec<Estimate> {
    // An interval over figures that stand for many values each would be too narrow.
    let of_runs = |metric: usize| record.metrics[metric].statistic.is_none();
    records::summaries(record)
        .filter(|(_, metric, _)| of_runs(*metric))
        .filter_map(|(subject, metric, summary)| {
            let interval = summary.median_interval?;
            Some(Estimate { subject, metric, low: interval.low, high: interval.high })
        })
        .collect()
}
