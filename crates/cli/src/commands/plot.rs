//! `becalm plot`: pictures of saved records, on the terminal or as files.

use std::path::PathBuf;

use becalm_report::{Beside, SharedAxes, html, plot_png, plot_svg, plot_text};
use becalm_session::{disturbed_runs, files};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::with_traced_notes;
use crate::records;
use crate::ui::Ui;
use crate::written::check_files;

/// Draw saved results: every run as a dot, and in time order
///
/// Subjects and files share an axis, unless their values are so far apart that each would be a
/// single dot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write an HTML report instead of drawing in the terminal (one input file only)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the pictures of the HTML report as an SVG file (one input file only)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the same as a PNG file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,

    /// Metric to draw, or a measure of all benchmarks such as `B/op` [default: the metric that
    /// decides or was read from the output, else the wall time; with many benchmarks, the main
    /// metric of each]
    #[arg(long, value_name = "NAME", conflicts_with = "html")]
    metric: Option<String>,

    /// Also draw these below the dots of each subject; SVG and PNG show both, the HTML report always
    /// has them, folded
    #[arg(long, value_name = "SHAPE", value_enum, value_delimiter = ',', conflicts_with = "html")]
    with: Vec<Shape>,
}

impl Args {
    fn beside(&self) -> Vec<Beside> {
        self.with.iter().copied().map(Beside::from).collect()
    }
}

/// What can be drawn beside the dots of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    /// Quartiles, median, and whiskers to the farthest values within one and a half times their distance
    Box,
    /// A smooth density curve
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
    if args.html.is_some() || args.svg.is_some() || args.png.is_some() {
        return write(args, ui);
    }
    let metric = args.metric.as_deref();
    let records = records::read_all(&args.files)?;
    let axes = SharedAxes::of(&records, metric);
    records::for_each_read(&args.files, &records, ui, |record| {
        records::check_metric(record, metric)?;
        Ok(plot_text(record, &disturbed_runs(record), metric, &axes, &args.beside(), ui.style()))
    })
}

/// Writes the pictures to files.
fn write(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let named = [("--html", &args.html), ("--svg", &args.svg), ("--png", &args.png)];
    let named = named.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
    let named: Vec<(&str, &PathBuf)> = named.collect();
    let [file] = args.files.as_slice() else {
        return Err(CommandError::usage(format!("{} takes one input file", named[0].0)));
    };
    check_files(named.iter().map(|(_, path)| *path))?;
    let record = records::read_record(file)?;
    let metric = args.metric.as_deref();
    records::check_metric(&record, metric)?;
    let (disturbed, beside) = (disturbed_runs(&record), args.beside());
    for (flag, path) in named {
        let bytes = match flag {
            "--html" => html(&with_traced_notes(&record), &disturbed).into_bytes(),
            "--svg" => plot_svg(&record, &disturbed, metric, &beside).into_bytes(),
            _ => plot_png(&record, &disturbed, metric, &beside).map_err(|_| {
                CommandError::measure("these pictures together are too large for a PNG file")
                    .hint("--svg has no such limit, and --metric draws one metric")
            })?,
        };
        files::write_bytes_atomically(path, &bytes)?;
        ui.say(format!("wrote {}", path.display()));
    }
    Ok(Exit::Done)
}
