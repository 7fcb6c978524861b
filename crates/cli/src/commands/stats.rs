//! `becalm stats`: estimates from saved records, and whether iterations settle.

use std::path::PathBuf;

use becalm_model::wire::{json_text, stats_document};
use becalm_report::{stats_text, steady_text};
use becalm_stats::steady::TOLERANCE;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::change;
use crate::records;
use crate::steady;
use crate::ui::Ui;

/// Print minimum, median, mean, spread and outliers of results
///
/// With --steady it reports whether the iterations inside runs reach a steady state, and after how many.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Report whether and after how many iterations the runs reach a steady state, and how many
    /// iterations to skip. Files: a record with iterations (`run --iterations`), the output of
    /// `becalm workload --iterations N --json`, or seconds, either one per line or as a JSON array.
    /// All of them count as runs of one program
    #[arg(long)]
    steady: bool,

    /// Relative difference up to which means count as one level [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = change, requires = "steady")]
    tolerance: Option<f64>,

    /// Print the estimates as JSON, one document per file; with --steady one document for all files
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.steady {
        let runs = steady::read(&args.files, args.tolerance.unwrap_or(TOLERANCE))?;
        ui.print(&if args.json { steady::json(&runs) } else { steady_text(&runs, ui.style()) })?;
        return Ok(Exit::Done);
    }
    if args.json {
        return records::documents(&args.files, ui, |record| {
            json_text(&stats_document(records::document(record).estimates))
        });
    }
    records::for_each_record(&args.files, ui, |record| Ok(stats_text(record, ui.style())))
}
