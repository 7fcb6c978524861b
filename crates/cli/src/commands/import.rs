//! `becalm import`: files of other tools as records.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use becalm_formats::{FORMATS, merge};
use becalm_report::import_text;
use becalm_session::files;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::foreign;
use crate::records;
use crate::ui::Ui;

/// Read the files of other benchmark tools into a record
///
/// Several files count as further processes of the same benchmarks; differences are judged across
/// processes. If a file has only a mean or median and not the values themselves, that figure
/// is marked and never tested, however many files there are. All commands that read saved results
/// (stats, hist, show, plot, diff, export) also read such files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of other tools, or folders such as target/criterion; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "formats")]
    files: Vec<PathBuf>,
    /// Format of the files [default: detected from their content]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Save the record
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Print the whole record as JSON
    #[arg(long)]
    json: bool,
    /// List the formats that becalm can read
    #[arg(long, exclusive = true)]
    formats: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.formats {
        let width = FORMATS.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
        let lines = FORMATS.iter().map(|entry| format!("{:width$}  {}\n", entry.name, entry.about));
        ui.print_folded(&lines.collect::<String>())?;
        return Ok(Exit::Done);
    }
    if let Some(path) = &args.export_json {
        files::check_writable(path)?;
    }
    refuse_twice(&args.files)?;
    let format = args.format.as_deref();
    let records = args.files.iter().map(|path| foreign::read(path, format));
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let Some(record) = merge(records) else { return Ok(Exit::Done) };
    if let Some(path) = &args.export_json {
        records::write_record(path, &record)?;
    }
    if args.json {
        ui.print_with(|out| records::write_json(&record, out))?;
    } else {
        ui.print(&import_text(&record, ui.style()))?;
    }
    Ok(Exit::Done)
}

/// Refuses a file that is named twice: its processes would be counted twice.
fn refuse_twice(files: &[PathBuf]) -> Result<(), CommandError> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut places = HashSet::new();
    match files.iter().position(|path| !places.insert(place(path))) {
        Some(at) => Err(CommandError::usage(format!(
            "{} is named twice; its processes would be counted twice",
            files[at].display()
        ))),
        None => Ok(()),
    }
}
