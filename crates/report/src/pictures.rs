//! The pictures of a record, each with a caption that says how to read it: in the HTML report and in `plot --svg`.

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use crate::disturbed;
use crate::escape;
use crate::iterations::{self, Iterations, more_not_drawn};
use crate::labels::Labels;
use crate::paired;
use crate::quantity::percent;
use crate::remarks;
use crate::scan::{self, Scan};
use crate::shown;
use crate::svg::{self, Svg};

/// The section of every run as a dot.
pub(crate) const EVERY_RUN: &str = "Every run";
/// The section of the ratio in each round.
pub(crate) const DIFFERENCES: &str = "Paired differences per round";

/// A picture with what stands around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    /// The section it stands in; pictures of one section follow each other.
    pub(crate) section: &'static str,
    pub(crate) drawing: Svg,
    pub(crate) caption: String,
}

impl Picture {
    /// Returns the picture with its caption, as a part of a web page.
    pub(crate) fn figure(&self) -> String {
        let (drawing, caption) = (svg::within(&self.drawing), escape::html(&self.caption));
        format!("<figure>\n{drawing}<figcaption>{caption}</figcaption>\n</figure>\n")
    }
}

/// Returns every picture of these metrics that the record has values for.
pub(crate) fn of(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metrics: &[usize],
) -> Vec<Picture> {
    let each = |of: &dyn Fn(usize) -> Option<Picture>| -> Vec<Picture> {
        metrics.iter().filter_map(|&metric| of(metric)).collect()
    };
    let scanned = scan::of(record);
    let mut all: Vec<Picture> = (scanned.iter())
        .flat_map(|scanned| each(&|metric| against(record, labels, scanned, metric)))
        .collect();
    all.extend(each(&|metric| strip(record, labels, metric)));
    all.extend(differences(record, labels, disturbed, metrics));
    all.extend(each(&|metric| sequence(record, labels, disturbed, metric)));
    all.extend(each(&|metric| histogram(record, labels, metric)));
    all.extend(iterations(record, labels));
    all
}

/// Returns box plots in violins, for whoever looks for them: every run is on the other pictures, and a box hides modes.
pub(crate) fn violins(record: &Record, labels: &Labels, metrics: &[usize]) -> Vec<Picture> {
    let caption = "Quartiles and median; whiskers to the farthest value within one and a half times the distance \
                   between the quartiles. The outline is a smooth density.";
    let one = |&metric: &usize| {
        let drawing = svg::violins(record, labels, metric, &format!("violin-{metric}"))?;
        Some(Picture { section: "Box plots and violins", drawing, caption: caption.to_owned() })
    };
    metrics.iter().filter_map(one).collect()
}

/// Draws what subjects take against the number by which they differ.
fn against(record: &Record, labels: &Labels, scanned: &Scan, metric: usize) -> Option<Picture> {
    let drawing = svg::scan(record, labels, scanned, metric, &format!("scan-{metric}"))?;
    let bars = if drawing.count_of("interval") > 0 {
        "Each mark is a median, the bar through it its interval"
    } else {
        "Each mark is a median"
    };
    let name = shown::metric_at(record, metric).name;
    let mut caption = format!("{name} against {}. {bars}.", scanned.parameter);
    caption.push_str(match drawing.count_of("decade") {
        0 => "",
        _ => " Equal distances on an axis without even steps are equal ratios.",
    });
    Some(Picture { section: "Against the parameter", drawing, caption })
}

fn strip(record: &Record, labels: &Labels, metric: usize) -> Option<Picture> {
    let drawing = svg::strip(record, labels, metric, &format!("strip-{metric}"))?;
    let below = if drawing.count_of("interval") > 0 {
        "The bar below the dots is the median with its interval."
    } else {
        "The bar below the dots is the median."
    };
    let caption = format!("One dot per run. {below}");
    Some(Picture { section: EVERY_RUN, drawing, caption })
}

fn differences(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metrics: &[usize],
) -> Vec<Picture> {
    let marked = disturbed::positions(disturbed);
    let deciding = remarks::deciding(record);
    let drawn = deciding.iter().enumerate().filter_map(|(n, comparison)| {
        let rounds = paired::rounds(record, comparison, &marked);
        let drawing = svg::paired(record, labels, comparison, &rounds, &format!("paired-{n}"))?;
        let mut caption = format!(
            "{} against {}, {}, round by round. ",
            labels.get(comparison.candidate),
            labels.get(comparison.baseline),
            shown::metric_at(record, comparison.metric).name,
        );
        if drawing.count_of("margin-band") > 0 {
            let margin = percent(record.margin);
            let _ = write!(
                caption,
                "Blue band around the solid line, which is no change: the margin of {margin}"
            );
        } else {
            caption.push_str("The solid line is no change");
        }
        if drawing.count_of("interval-band") > 0 {
            caption.push_str("; orange band around the dashed line: the interval of the estimate");
        }
        caption.push('.');
        if drawing.count_of("cross") > 0 {
            caption.push_str(" Crosses are rounds with a disturbed run.");
        }
        metrics.contains(&comparison.metric).then_some(Picture {
            section: DIFFERENCES,
            drawing,
            caption,
        })
    });
    drawn.collect()
}

fn sequence(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metric: usize,
) -> Option<Picture> {
    let id = format!("sequence-{metric}");
    let drawing = svg::sequence(record, labels, disturbed, metric, &id)?;
    let mut caption = "Drift, steps and warm-up would show here.".to_owned();
    let is_shaded = drawing.count_of("warmup") > 0;
    let has_crosses = drawing.count_of("cross") > 0;
    caption.push_str(match (is_shaded, has_crosses) {
        (true, true) => " The shaded part is warm-up; crosses are disturbed runs.",
        (true, false) => " The shaded part is warm-up.",
        (false, true) => " Crosses are disturbed runs.",
        (false, false) => "",
    });
    Some(Picture { section: "Runs in time order", drawing, caption })
}

/// Subjects whose iterations are drawn, at most: each picture has hundreds of marks.
const ITERATED: usize = 8;

/// Draws what happens inside the processes of subjects that time their iterations themselves.
fn iterations(record: &Record, labels: &Labels) -> Vec<Picture> {
    let one = |subject: usize| {
        let (runs, others) = iterations::of(record, subject);
        let id = format!("iterations-{subject}");
        let drawing = svg::iterations(&runs, subject, labels.get(subject), &id)?;
        let caption = iterations_caption(labels.get(subject), &drawing, &runs, others);
        Some(Picture { section: "Iterations inside each process", drawing, caption })
    };
    let all: Vec<usize> = (0..record.subjects.len())
        .filter(|&subject| record.measured(subject).any(|run| !run.iterations.is_empty()))
        .collect();
    let mut pictures: Vec<Picture> = all.iter().take(ITERATED).copied().filter_map(one).collect();
    if let (Some(last), true) = (pictures.last_mut(), all.len() > ITERATED) {
        let _ = write!(last.caption, " {}", more_not_drawn(all.len() - ITERATED, "subject"));
    }
    pictures
}

fn iterations_caption(
    label: &str,
    drawing: &Svg,
    runs: &[Iterations<'_>],
    others: usize,
) -> String {
    let mut caption = format!("{label}, iteration by iteration. ");
    caption.push_str(match (drawing.count_of("dot"), drawing.count_of("span")) {
        (0, _) => "Each bar spans the iterations at its place, from the fastest to the slowest.",
        (_, 0) => "One dot per iteration.",
        _ => "One dot per iteration, or where there are many a bar from the fastest to the slowest at its place.",
    });
    if drawing.count_of("warmup") > 0 {
        let is_slower = runs.iter().any(Iterations::slows_down);
        let what = if is_slower { "what comes before" } else { "the warm-up before" };
        let _ = write!(caption, " The shaded part is {what} the steady state.");
    }
    if drawing.count_of("steady") > 0 {
        caption.push_str(" The dashed line is the level of the steady state.");
    }
    if drawing.count_of("cross") > 0 {
        caption.push_str(" Crosses are outliers.");
    }
    if others > 0 {
        let _ = write!(caption, " {}", more_not_drawn(others, "run"));
    }
    caption
}

fn histogram(record: &Record, labels: &Labels, metric: usize) -> Option<Picture> {
    let drawing = svg::histogram(record, labels, metric, &format!("histogram-{metric}"))?;
    let caption = "How often each value came up, per subject; the axis on the left counts runs.";
    let caption = caption.to_owned();
    Some(Picture { section: "Distribution", drawing, caption })
}
