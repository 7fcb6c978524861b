//! `becalm show`: what a saved record says.

use std::path::PathBuf;

use becalm_report::{metadata_text, show_text};
use becalm_session::disturbed_runs;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::traced_text;
use crate::records;
use crate::ui::Ui;

/// Show a saved result: what was measured, how, and what came out
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Show the facts about session, subjects and machine instead
    #[arg(long)]
    metadata: bool,

    /// Print the record as JSON, also that of a session that did not finish; one document per file
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.json {
        return records::documents(&args.files, ui, records::json);
    }
    records::for_each_record(&args.files, ui, |record| {
        Ok(if args.metadata {
            metadata_text(record, ui.style())
        } else {
            show_text(record, &disturbed_runs(record), ui.style()) + &traced_text(record, ui)
        })
    })
}
