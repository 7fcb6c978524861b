//! What `becalm plot` draws of a record: on a terminal, as SVG and as PNG.

use becalm_model::{DisturbedRun, Record};

use crate::box_violin::Beside;
use crate::comparison::{legend, strip_plot};
use crate::disturbed;
use crate::heading;
use crate::labels::{Labels, meaning};
use crate::page::Page;
use crate::pictures;
use crate::png::{self, TooLarge};
use crate::scan;
use crate::sequence::{Point, PointKind, sequence};
use crate::shared_axes::SharedAxes;
use crate::shown;
use crate::single::say_if_nothing;
use crate::steady;
use crate::strip::Marks;
use crate::style::Style;
use crate::svg::{self, Svg};

/// Draws the strip plot of all subjects and the runs of each in time order: `becalm plot`.
/// `named` is the metric that is wanted, or a measure that many benchmarks have; without it the iterations inside
/// processes are drawn, too.
pub fn plot_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    named: Option<&str>,
    axes: &SharedAxes,
    beside: &[Beside],
    style: &Style,
) -> String {
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
        if let Some(scanned) = &scanned {
            page.section(&format!("{} against {}", description.name, scanned.parameter));
            page.drawn(&scan::text(record, scanned, metric, style));
        }
        page.section(&format!("Runs, {}", description.name));
        page.drawn(&strips);
        for subject in 0..record.subjects.len() {
            let points = points(record, disturbed, subject, metric);
            if points.is_empty() {
                continue;
            }
            page.section(&format!("{} in time order, {}", labels.get(subject), description.name));
            page.drawn(&sequence(&points, &description.unit, axis, style));
        }
    }
    if named.is_none() {
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

/// Returns the pictures of a record, below each other on one sheet, as an SVG file: those of the HTML report. It has its
/// own colours, for light and dark surroundings.
pub fn plot_svg(
    record: &Record,
    disturbed: &[DisturbedRun],
    metric: Option<&str>,
    beside: &[Beside],
) -> String {
    svg::alone(&sheet(record, disturbed, metric, beside))
}

/// Returns the same sheet as a PNG file, in light colours.
pub fn plot_png(
    record: &Record,
    disturbed: &[DisturbedRun],
    metric: Option<&str>,
    beside: &[Beside],
) -> Result<Vec<u8>, TooLarge> {
    png::of(&sheet(record, disturbed, metric, beside))
}

fn sheet(
    record: &Record,
    disturbed: &[DisturbedRun],
    metric: Option<&str>,
    beside: &[Beside],
) -> Svg {
    let labels = Labels::of(&record.subjects);
    let metrics = shown::plotted_metrics(record, metric);
    let mut all = pictures::of(record, &labels, disturbed, &metrics);
    if !beside.is_empty() {
        all.extend(pictures::violins(record, &labels, &metrics));
    }
    let mut lines: Vec<String> =
        heading::lines(record, &labels).into_iter().map(|(_, text)| text).collect();
    if lines.is_empty() {
        lines.push("Nothing was measured".to_owned());
    }
    let subjects = record.subjects.iter().enumerate();
    let legend: Vec<String> = subjects
        .map(|(index, subject)| match labels.get(index) {
            label if subject.command.is_empty() && !labels.needs_legend => label.to_owned(),
            label => format!("{label}: {}", meaning(subject, label)),
        })
        .collect();
    svg::sheet(&lines, &legend, &all)
}
