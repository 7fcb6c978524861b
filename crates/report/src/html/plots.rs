//! The plots of the HTML report, each with a caption that says how to read it.

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use crate::disturbed;
use crate::escape;
use crate::labels::Labels;
use crate::paired;
use crate::quantity::percent;
use crate::remarks;
use crate::shown;
use crate::svg;

/// Writes every plot that the record has values for.
pub(crate) fn all(out: &mut String, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    let metrics = shown::full_metrics(record);
    section(
        out,
        "Every run",
        metrics.iter().map(|&metric| {
            let plot = svg::strip(record, labels, metric, &format!("strip-{metric}"));
            (
                plot,
                "One dot per run. The bar below the dots is the median with its interval."
                    .to_owned(),
            )
        }),
    );
    let marked = disturbed::positions(disturbed);
    section(out, "Paired differences per round", remarks::deciding(record).iter().enumerate().map(|(n, comparison)| {
        let rounds = paired::rounds(record, comparison, &marked);
        let plot = svg::paired(record, labels, comparison, &rounds, &format!("paired-{n}"));
        let metric = shown::metric_at(record, comparison.metric).name;
        let caption = format!(
            "{} against {}, {metric}, round by round. Blue band around the solid line, which is no change: the \
             margin of {}; orange band around the dashed line: the interval of the estimate. \
             Crosses are rounds with a disturbed run.",
            labels.get(comparison.candidate),
            labels.get(comparison.baseline),
            percent(record.margin),
        );
        (plot, caption)
    }));
    section(
        out,
        "Runs in time order",
        metrics.iter().map(|&metric| {
            let plot =
                svg::sequence(record, labels, disturbed, metric, &format!("sequence-{metric}"));
            let caption = "Drift, steps and warm-up would show here. The shaded part is warm-up; \
                       crosses are disturbed runs.";
            (plot, caption.to_owned())
        }),
    );
    section(
        out,
        "Distribution",
        metrics.iter().map(|&metric| {
            let plot = svg::histogram(record, labels, metric, &format!("histogram-{metric}"));
            (plot, "How often each value came up, per subject.".to_owned())
        }),
    );
    folded(out, record, labels, &metrics);
}

/// Writes box plots in violins for who looks for them, closed: every run is on the plots above, and a box hides modes.
fn folded(out: &mut String, record: &Record, labels: &Labels, metrics: &[usize]) {
    let body = figures(metrics.iter().map(|&metric| {
        let plot = svg::violins(record, labels, metric, &format!("violin-{metric}"));
        let caption = "Quartiles and median; whiskers to the farthest value within one and a half times the distance \
                       of the quartiles. The outline is a smooth density.";
        (plot, caption.to_owned())
    }));
    if !body.is_empty() {
        let _ =
            write!(out, "<details>\n<summary>Box plots and violins</summary>\n{body}</details>\n");
    }
}

fn section(out: &mut String, title: &str, of: impl Iterator<Item = (Option<String>, String)>) {
    let body = figures(of);
    if !body.is_empty() {
        let _ = write!(out, "<h2>{title}</h2>\n{body}");
    }
}

fn figures(figures: impl Iterator<Item = (Option<String>, String)>) -> String {
    let mut body = String::new();
    for (plot, caption) in figures {
        if let Some(plot) = plot {
            let caption = escape::html(&caption);
            let _ = write!(body, "<figure>\n{plot}<figcaption>{caption}</figcaption>\n</figure>\n");
        }
    }
    body
}
