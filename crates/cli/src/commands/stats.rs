//! `becalm stats`: estimates from saved records.

use std::path::PathBuf;

use becalm_report::stats_text;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::ui::Ui;

/// Print minimum, median, mean, spread, percentiles and outliers of saved results
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files that `run` or `compare` saved; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the estimates as JSON, one document per file
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    files::for_each_record(&args.files, ui, |record| {
        if args.json {
            let estimates = files::document(record).estimates;
            let text = serde_json::to_string_pretty(&estimates).expect("estimates can be written");
            format!("{text}\n")
        } else {
            stats_text(record, ui.style())
        }
    })
}
