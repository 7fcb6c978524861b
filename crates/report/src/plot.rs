//! What `becalm plot` draws of a record: on a terminal, as SVG and as PNG.

use becalm_model::{DisturbedRun, Record, counted};

use crate::box_violin::Beside;
use crate::comparison::{legend, strip_plot};
use crate::curves;
use crate::distinct::distinct;
use crate::disturbed;
use crate::heading;
use crate::histogram::histogram;
use crate::labels::{Labels, meaning};
use crate::page::Page;
use crate::pictures::{self, Drawn, Kind};
use crate::png::{self, TooLarge};
use crate::samples::{Named, Samples};
use crate::scan;
use crate::sequence::{Point, PointKind, sequence};
use crate::shared_axes::SharedAxes;
use crate::shown;
use crate::single::say_if_nothing;
use crate::steady;
use crate::strip::Marks;
use crate::style::Style;
use crate::svg::{self, Svg};
use crate::trails;
use crate::width::printable;

/// Draws the strip plot of all subjects and the runs of each in time order: `becalm plot`.
/// `named` is the metric that is wanted, or a measure that many benchmarks have; without it the iterations inside
/// processes are drawn, too. Kinds that show samples of several records in one picture are not: see [`samples_text`].
pub fn plot_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    named: Option<&str>,
    axes: &SharedAxes,
    kinds: &[Kind],
    beside: &[Beside],
    style: &Style,
) -> String {
    let is_drawn = |kind| kinds.contains(&kind);
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    say_if_nothing(&mut page, record);
    let scanned = scan::of(record);
    for metric in shown::plotted_metrics(record, named) {
        let description = shown::metric_at(record, metric);
        let axis = axes.get(&description).map(|shared| shared.axis);
        let strips = strip_plot(record, &labels, metric, axis, beside, Marks::All, style);
        if strips.is_empty() {
            continue;
        }
        if let Some(scanned) = scanned.as_ref().filter(|_| is_drawn(Kind::Parameter)) {
            page.section(&format!("{} against {}", description.name, scanned.parameter));
            page.drawn(&scan::text(record, scanned, metric, style));
        }
        if is_drawn(Kind::Dots) {
            page.section(&format!("Runs, {}", description.name));
            page.drawn(&strips);
        }
        for subject in (0..record.subjects.len()).filter(|_| is_drawn(Kind::Order)) {
            let points = points(record, disturbed, subject, metric);
            if points.is_empty() {
                continue;
            }
            page.section(&format!("{} in time order, {}", labels.get(subject), description.name));
            page.drawn(&sequence(&points, &description.unit, axis, style));
        }
    }
    if named.is_none() && is_drawn(Kind::Iterations) {
        for subject in 0..record.subjects.len() {
            steady::pictures(&mut page, record, subject, labels.get(subject));
        }
    }
    if labels.needs_legend {
        page.gap();
        legend(&mut page, record, &labels);
    }
    page.finish()
}

/// Returns all runs of a subject, warm-up included, as points in time order.
pub(crate) fn points(
    record: &Record,
    disturbed: &[DisturbedRun],
    subject: usize,
    metric: usize,
) -> Vec<Point> {
    let positions = disturbed::positions(disturbed);
    let is_shown = shown::is_shown(record, subject, metric);
    shown::indexed_runs(record, subject)
        .filter(|_| is_shown)
        .filter_map(|(index, run)| {
            let value = run.value(metric).filter(|value| value.is_finite())?;
            let kind = if run.is_censored() {
                PointKind::Censored
            } else if run.warmup {
                PointKind::Warmup
            } else if run.discarded {
                PointKind::Discarded
            } else if positions.contains(&index) {
                PointKind::Disturbed
            } else {
                PointKind::Plain
            };
            Some(Point { value, kind })
        })
        .collect()
}

/// A record to be drawn, with the name of its file.
#[derive(Debug, Clone, Copy)]
pub struct Plotted<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// What was measured.
    pub record: &'a Record,
    /// Its runs that were disturbed.
    pub disturbed: &'a [DisturbedRun],
}

/// Returns pictures of records, below each other on one sheet, as an SVG file: those of the HTML report, or these kinds. It
/// has its own colours, for light and dark surroundings. Samples of several records share a picture.
pub fn plot_svg(files: &[Plotted<'_>], metric: Option<&str>, kinds: &[Kind]) -> String {
    svg::alone(&sheet(files, metric, kinds))
}

/// Returns the same sheet as a PNG file, in light colours.
pub fn plot_png(
    files: &[Plotted<'_>],
    metric: Option<&str>,
    kinds: &[Kind],
) -> Result<Vec<u8>, TooLarge> {
    png::of(&sheet(files, metric, kinds))
}

/// Draws samples of one metric in one picture, whichever records they are of: those of these kinds that a terminal can
/// show.
pub fn samples_text(
    files: &[Plotted<'_>],
    metric: Option<&str>,
    axes: &SharedAxes,
    kinds: &[Kind],
    style: &Style,
) -> String {
    let labels = all_labels(files);
    let mut from = 0;
    let mut named = Vec::new();
    for (file, labels) in files.iter().zip(&labels) {
        named.push(Named { record: file.record, labels, from });
        from += file.record.subjects.len();
    }
    let mut page = Page::new(style);
    let all = Samples::of_all(&named, metric);
    for kind in kinds {
        for samples in &all {
            let name = &samples.metric.name;
            match kind {
                Kind::Ecdf => {
                    page.section(&format!("Cumulative distribution, {name}"));
                    page.drawn(&curves::ecdf(samples, style));
                }
                Kind::Spectrum => {
                    page.section(&format!("Percentiles, {name}"));
                    page.drawn(&curves::spectrum(samples, style));
                }
                Kind::Ridges => {
                    page.section(&format!("Ridges, {name}"));
                    page.drawn(&trails::trails(samples, style));
                }
                Kind::Histogram => {
                    let (unit, shared) = (&samples.metric.unit, axes.get(&samples.metric));
                    for row in &samples.rows {
                        page.section(&format!("{}, {name}", row.label));
                        page.drawn(&histogram(&row.sample, unit, BINS, shared, style));
                    }
                }
                _ => {}
            }
        }
    }
    if let ([file], [labels]) = (files, labels.as_slice())
        && labels.needs_legend
        && !all.is_empty()
    {
        page.gap();
        legend(&mut page, file.record, labels);
    }
    page.finish()
}

/// Bins of a histogram in text, at most.
const BINS: usize = 25;

/// Letters of the name of a file in the label of a subject.
const FILE_COLUMNS: usize = 28;

/// Names subjects: with several files by their files.
fn all_labels(files: &[Plotted<'_>]) -> Vec<Labels> {
    if let [one] = files {
        return vec![Labels::of(&one.record.subjects)];
    }
    let names: Vec<String> = files.iter().map(|file| printable(file.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = distinct(&names, FILE_COLUMNS, true);
    let all = files.iter().zip(&names);
    all.map(|(file, name)| Labels::in_file(name, &file.record.subjects)).collect()
}

fn sheet(files: &[Plotted<'_>], metric: Option<&str>, kinds: &[Kind]) -> Svg {
    let all_labels = all_labels(files);
    let drawn = files.iter().zip(&all_labels).map(|(file, labels)| {
        let Plotted { name, record, disturbed } = *file;
        (name, Drawn { record, labels, disturbed })
    });
    let drawn: Vec<(&str, Drawn<'_>)> = drawn.collect();
    let (all, mut lines) = match drawn.as_slice() {
        [(_, one)] => {
            let metrics = shown::plotted_metrics(one.record, metric);
            let lines = heading::lines(one.record, one.labels);
            let lines: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
            (pictures::of(*one, &metrics, kinds), lines)
        }
        several => {
            let lines = vec![format!("Results of {}", counted(several.len(), "file"))];
            (pictures::of_several(several, metric, kinds), lines)
        }
    };
    if lines.is_empty() {
        lines.push("Nothing was measured".to_owned());
    }
    let legend = drawn.iter().flat_map(|(_, Drawn { record, labels, .. })| {
        record.subjects.iter().enumerate().map(|(index, subject)| match labels.get(index) {
            label if subject.command.is_empty() && !labels.needs_legend => label.to_owned(),
            label => format!("{label}: {}", meaning(subject, label)),
        })
    });
    let legend: Vec<String> = legend.collect();
    svg::sheet(&lines, &legend, &all)
}
