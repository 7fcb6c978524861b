//! `becalm plot`: pictures of saved records, on the terminal or as files.

use std::path::{Path, PathBuf};

use becalm_model::DisturbedRun;
use becalm_report::{
    Beside, PictureKind, Plotted, SharedAxes, html, plot_png, plot_svg, plot_text, samples_text,
};
use becalm_session::{disturbed_runs, files};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

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
///
/// Guide: docs/RESULTS.md
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write an HTML report instead of drawing in the terminal (one input file only)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the pictures of the HTML report as an SVG file; subjects of several input files share
    /// pictures
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the same as a PNG file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,

    /// Kinds of pictures, separated by commas [default: in the terminal parameter, dots, order and
    /// iterations; in SVG and PNG also differences and histogram]; the HTML report has all of them
    #[arg(long, value_name = "KIND", value_parser = kind(), value_delimiter = ',', conflicts_with = "html")]
    kind: Vec<PictureKind>,

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

    /// Returns the kinds that are asked for, or else the usual ones.
    fn kinds(&self, usual: &[PictureKind]) -> Vec<PictureKind> {
        let mut kinds = self.kind.clone();
        if kinds.is_empty() {
            kinds.extend(usual);
        }
        kinds
    }
}

/// Kinds that a terminal shows of each file if nobody asks for others.
const IN_TERMINAL: [PictureKind; 4] =
    [PictureKind::Parameter, PictureKind::Dots, PictureKind::Order, PictureKind::Iterations];

/// Reads the name of a kind of picture.
fn kind() -> impl TypedValueParser<Value = PictureKind> {
    let names = PictureKind::NAMED.map(|(_, name, shows)| PossibleValue::new(name).help(shows));
    PossibleValuesParser::new(names)
        .map(|name| PictureKind::of_name(&name).expect("no other name is possible"))
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
    let kinds = args.kinds(&IN_TERMINAL);
    if kinds == [PictureKind::Differences] {
        return Err(CommandError::usage("a terminal does not show differences")
            .hint("--svg and --png write them, and `becalm show` lists the comparison"));
    }
    for record in &records {
        records::check_metric(record, metric)?;
    }
    if kinds.iter().any(|kind| IN_TERMINAL.contains(kind)) {
        records::for_each_read(&args.files, &records, ui, |record| {
            let disturbed = disturbed_runs(record);
            Ok(plot_text(record, &disturbed, metric, &axes, &kinds, &args.beside(), ui.style()))
        })?;
    }
    let names = names(&args.files);
    let files = records.iter().zip(&names);
    let files: Vec<Plotted<'_>> =
        files.map(|(record, name)| Plotted { name, record, disturbed: &[] }).collect();
    let text = samples_text(&files, metric, &axes, &kinds, ui.style());
    if !text.is_empty() {
        ui.print(&text)?;
    }
    Ok(Exit::Done)
}

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|path| path.display().to_string()).collect()
}

/// Writes the pictures to files.
fn write(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.html.is_some() && args.files.len() > 1 {
        return Err(CommandError::usage("--html takes one input file"));
    }
    let targets = [&args.html, &args.svg, &args.png];
    check_files(targets.into_iter().flatten())?;
    let metric = args.metric.as_deref();
    let records = records::read_all(&args.files)?;
    for record in &records {
        records::check_metric(record, metric)?;
    }
    let disturbed: Vec<Vec<DisturbedRun>> = records.iter().map(disturbed_runs).collect();
    if let (Some(path), [record], [disturbed]) =
        (&args.html, records.as_slice(), disturbed.as_slice())
    {
        save(path, html(&with_traced_notes(record), disturbed).as_bytes(), ui)?;
    }
    let names = names(&args.files);
    let files = records.iter().zip(&disturbed).zip(&names);
    let files: Vec<Plotted<'_>> =
        files.map(|((record, disturbed), name)| Plotted { name, record, disturbed }).collect();
    let mut kinds = args.kinds(&PictureKind::USUAL);
    if !args.with.is_empty() {
        kinds.push(PictureKind::Violin);
    }
    if let Some(path) = &args.svg {
        save(path, plot_svg(&files, metric, &kinds).as_bytes(), ui)?;
    }
    if let Some(path) = &args.png {
        let png = plot_png(&files, metric, &kinds).map_err(|_| {
            CommandError::measure("these pictures together are too large for a PNG file")
                .hint("--svg has no such limit, and --metric draws one metric")
        })?;
        save(path, &png, ui)?;
    }
    Ok(Exit::Done)
}

fn save(path: &Path, bytes: &[u8], ui: &Ui) -> Result<(), CommandError> {
    files::write_bytes_atomically(path, bytes)?;
    ui.say(format!("wrote {}", path.display()));
    Ok(())
}
