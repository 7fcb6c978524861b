//! The output of `becalm run`: one subject at a time, with its whole distribution.

use becalm_model::{DisturbedRun, Record, counted};
use becalm_stats::Sample;

use crate::benchmarks;
use crate::checks;
use crate::comparison::{legend, notes_and_limits, strip_plot};
use crate::conditions;
use crate::disturbed;
use crate::estimate;
use crate::facts::pairs;
use crate::histogram::histogram;
use crate::labels::Labels;
use crate::outcomes;
use crate::page::Page;
use crate::quantity::{Scale, count};
use crate::shared_axes::SharedAxes;
use crate::shown;
use crate::steady;
use crate::strip::Marks;
use crate::style::{Role, Style};

/// Bins of the histogram inside a longer report.
const BINS: usize = 12;

/// Draws the estimate of each subject, its distribution, what the order of its runs reveals, and
/// under which conditions it was measured.
pub(crate) fn write(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    say_if_nothing(page, record);
    for subject in 0..record.subjects.len() {
        page.gap();
        estimates(page, record, labels, subject, Drawn::Everything);
        page.gap();
        page.say(&format!("Runs: {}.", disturbed::summary(record, disturbed, Some(subject))));
        steady::section(page, record, subject);
    }
    if record.subjects.len() > 1
        && let Some(metric) = shown::headline_metric(record)
    {
        page.section(&format!("All subjects, {}", shown::metric_at(record, metric).name));
        page.drawn(&strip_plot(record, labels, metric, None, &[], Marks::All, page.style));
        page.say_as(
            Role::Hint,
            "These subjects were not compared: use `becalm compare` for a verdict.",
        );
    }
    outcomes::say(page, record);
    write_conditions(page, record);
    notes_and_limits(page, record, labels);
}

/// Draws the statistics alone: the output of `becalm stats`.
pub fn stats_text(record: &Record, style: &Style) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    for subject in 0..record.subjects.len() {
        page.gap();
        estimates(&mut page, record, &labels, subject, Drawn::Nothing);
    }
    say_if_nothing(&mut page, record);
    given(&mut page, record, &labels);
    outcomes::say(&mut page, record);
    page.finish()
}

/// Says that nothing was measured, if that is so.
pub(crate) fn say_if_nothing(page: &mut Page, record: &Record) {
    if record.subjects.is_empty() {
        page.say("Nothing was measured.");
    }
}

/// Lists the conclusions of the tool that the results were imported from.
pub(crate) fn given(page: &mut Page, record: &Record, labels: &Labels) {
    if let Some((title, table)) = benchmarks::given(record, labels, page.style.unicode) {
        page.section(&title);
        page.table(&table);
    }
}

/// Says under which conditions becalm measured.
pub(crate) fn write_conditions(page: &mut Page, record: &Record) {
    let rows = conditions::rows(record);
    if !rows.is_empty() {
        page.section("Conditions");
    }
    pairs(page, rows.iter().map(|(name, value)| (*name, value.as_str())));
}

/// What is drawn of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Its statistics alone.
    Nothing,
    /// Its runs too, and of the checks those that warn; nothing about the other metrics.
    Runs,
    /// Its histogram too.
    Everything,
}

/// Writes the statistics of one subject, with what is drawn of it.
pub(crate) fn estimates(
    page: &mut Page,
    record: &Record,
    labels: &Labels,
    subject: usize,
    drawn: Drawn,
) {
    let style = *page.style;
    let metrics: Vec<usize> = (shown::full_metrics(record).into_iter())
        .filter(|&metric| shown::is_shown(record, subject, metric))
        .collect();
    let mut measured = false;
    for &metric in &metrics {
        let Some(sample) = shown::sample(record, subject, metric) else { continue };
        let is_first = !std::mem::replace(&mut measured, true);
        let description = shown::metric_at(record, metric);
        let summary = shown::summary(record, &sample);
        let scale = Scale::of_summaries(&description.unit, [&summary], style.unicode);
        if !is_first {
            page.gap();
        }
        let is_given = estimate::is_given(&description, &summary);
        let said = estimate::said(record, subject, &description, &summary, &scale);
        let runs = if is_given { String::new() } else { format!(", {}", count(summary.n, "run")) };
        page.say_as(
            Role::Heading,
            &format!("{}, {}: {said}{runs}", labels.get(subject), description.name),
        );
        if is_first && labels.needs_legend {
            legend_of(page, record, subject);
        }
        if is_given {
            continue;
        }
        page.gap();
        let at = Some(shown::confidence(record));
        page.table(&estimate::statistics(&summary, &scale, at));
        together(page, record, subject, metric, &scale);
        if drawn == Drawn::Everything {
            page.gap();
            page.drawn(&histogram(&sample, &description.unit, BINS, None, &style));
        }
        if drawn != Drawn::Nothing {
            page.gap();
            let marks = if drawn == Drawn::Runs { Marks::Runs } else { Marks::All };
            page.drawn(&one_strip(record, labels, subject, metric, marks, &style));
        }
        if drawn != Drawn::Runs {
            page.gap();
        }
        for finding in checks::findings(&sample, &scale) {
            if finding.is_warning {
                page.say_as(Role::Warning, &finding.text);
            } else if drawn != Drawn::Runs {
                page.say(&finding.text);
            }
        }
    }
    if let Some((title, table)) = benchmarks::of(record, labels, subject, style.unicode) {
        page.say_as(Role::Heading, &title);
        if labels.needs_legend {
            legend_of(page, record, subject);
        }
        page.gap();
        page.table(&table);
        return;
    }
    if !measured {
        page.say_as(Role::Heading, &format!("{}: no value was measured.", labels.get(subject)));
        return;
    }
    let others = estimate::other_metrics(record, subject, &metrics, style.unicode);
    if drawn != Drawn::Runs && !others.is_empty() {
        page.gap();
        page.table(&others);
    }
}

/// Lists the values of all processes together, if each gave several.
fn together(page: &mut Page, record: &Record, subject: usize, metric: usize, scale: &Scale) {
    let parts = record.measured(subject).filter_map(|run| run.part(metric));
    let values: Vec<f64> = parts.flat_map(|part| part.iterations.iter().copied()).collect();
    let runs = record.measured(subject).count();
    let (all, Ok(sample)) = (values.len(), Sample::new(values)) else { return };
    if all <= runs {
        return;
    }
    page.gap();
    page.say(&format!("All {} of the {} together:", count(all, "value"), counted(runs, "process")));
    page.gap();
    let summary = shown::summary(record, &sample);
    page.table(&estimate::statistics(&summary, scale, None));
}

fn legend_of(page: &mut Page, record: &Record, subject: usize) {
    if let Some(subject) = record.subjects.get(subject) {
        page.indented(&crate::labels::description(subject));
    }
}

/// Draws the values of one subject.
pub(crate) fn one_strip(
    record: &Record,
    labels: &Labels,
    subject: usize,
    metric: usize,
    marks: Marks,
    style: &Style,
) -> String {
    let Some(sample) = shown::sample(record, subject, metric) else { return String::new() };
    let summary = shown::summary(record, &sample);
    let strip = crate::strip::Strip {
        label: labels.get(subject),
        values: sample.values(),
        median: Some(shown::median(&summary)),
        beside: &[],
    };
    crate::strip::strips(&[strip], &shown::metric_at(record, metric).unit, None, marks, style)
}

/// Draws the histograms alone: the output of `becalm hist`. Every subject has its own bins.
/// `metric` is the name of the requested one, or of a measure that many benchmarks have.
pub fn hist_text(
    record: &Record,
    metric: Option<&str>,
    max_bins: usize,
    axes: &SharedAxes,
    style: &Style,
) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    say_if_nothing(&mut page, record);
    for metric in shown::plotted_metrics(record, metric) {
        let description = shown::metric_at(record, metric);
        for subject in 0..record.subjects.len() {
            let Some(sample) = shown::sample(record, subject, metric) else { continue };
            page.section(&format!("{}, {}", labels.get(subject), description.name));
            page.drawn(&histogram(
                &sample,
                &description.unit,
                max_bins,
                axes.get(&description),
                style,
            ));
        }
    }
    if labels.needs_legend {
        page.gap();
        legend(&mut page, record, &labels);
    }
    outcomes::say(&mut page, record);
    page.finish()
}
