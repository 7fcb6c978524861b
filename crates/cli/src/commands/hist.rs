//! `becalm hist`: histograms of saved records.

use std::path::PathBuf;

use becalm_report::{SharedAxes, hist_text};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::records;
use crate::ui::Ui;

/// Print histograms of saved results
///
/// Subjects and files share their bins, unless their values are so far apart that each would be a
/// single bar.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Use at most this many bins
    #[arg(short = 'n', long, value_name = "N", default_value_t = 25)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=200))]
    bins: u16,

    /// Metric to draw, or a measure of all benchmarks such as `B/op` [default: the metric that
    /// decides or was read from the output, else the wall time; with many benchmarks, the main
    /// metric of each]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let metric = args.metric.as_deref();
    let records = records::read_all(&args.files)?;
    let axes = SharedAxes::of(&records, metric);
    records::for_each_read(&args.files, &records, ui, |record| {
        records::check_metric(record, metric)?;
        Ok(hist_text(record, metric, usize::from(args.bins), &axes, ui.style()))
    })
}
