//! `becalm plot`: strip plots and run sequences of saved records.

use std::path::PathBuf;

use becalm_report::{Beside, SharedAxes, plot_text};
use becalm_session::{disturbed_runs, files};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::with_traced_notes;
use crate::records;
use crate::ui::Ui;

/// Draw saved results: every run as a dot, and in time order
///
/// Subjects and files share the axis of their values, unless they lie so far apart that each would be one dot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write an HTML report instead of drawing in the terminal (one input file only)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Which metric to draw, or which measure of all benchmarks, such as `B/op`; by default what decides or was read
    /// from the output, else the wall time, and where there are many benchmarks what each is about
    #[arg(long, value_name = "NAME", conflicts_with = "html")]
    metric: Option<String>,

    /// Draw these below the dots of each subject, too; the HTML report has them folded in
    #[arg(long, value_name = "SHAPE", value_enum, value_delimiter = ',', conflicts_with = "html")]
    with: Vec<Shape>,
}

/// What can be drawn beside every run as a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    /// Quartiles, median, and whiskers to the farthest values within one and a half times their distance
    Box,
    /// A smooth density
    Violin,
}

impl From<Shape> for Beside {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Box => Self::Box,
            Shape::Violin => Self::Violin,
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let Some(path) = &args.html else {
        let metric = args.metric.as_deref();
        let records = records::read_all(&args.files)?;
        let axes = SharedAxes::of(&records, metric);
        let beside: Vec<Beside> = args.with.iter().copied().map(Beside::from).collect();
        return records::for_each_read(&args.files, &records, ui, |record| {
            records::check_metric(record, metric)?;
            Ok(plot_text(record, &disturbed_runs(record), metric, &axes, &beside, ui.style()))
        });
    };
    let [file] = args.files.as_slice() else {
        return Err(CommandError::usage("--html takes one input file"));
    };
    let record = records::read_record(file)?;
    let page = becalm_report::html(&with_traced_notes(&record), &disturbed_runs(&record));
    files::write_atomically(path, &page)?;
    ui.say(format!("wrote {}", path.display()));
    Ok(Exit::Done)
}
