//! `becalm plot`: strip plots and run sequences of saved records.

use std::path::PathBuf;

use becalm_report::plot_text;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::measuring::disturbed_runs;
use crate::ui::Ui;

/// Draw saved results: every run as a dot, and the runs in time order
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files that `run` or `compare` saved; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write an HTML report instead of drawing in the terminal (one input file only)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let Some(path) = &args.html else {
        return files::for_each_record(&args.files, ui, |record| {
            plot_text(record, &disturbed_runs(record), ui.style())
        });
    };
    let [file] = args.files.as_slice() else {
        return Err(CommandError::usage("--html takes one input file"));
    };
    let record = files::read_record(file)?;
    files::write_atomically(path, &becalm_report::html(&record, &disturbed_runs(&record)))?;
    ui.say(format!("wrote {}", path.display()));
    Ok(Exit::Done)
}
