//! A run on one screen: the estimate, the statistics, every run as a dot, and what puts them in doubt.

use becalm_model::{DisturbedRun, Record};

use crate::benchmarks;
use crate::checks;
use crate::comparison_brief;
use crate::disturbed;
use crate::estimate;
use crate::labels::Labels;
use crate::outcomes;
use crate::page::Page;
use crate::quantity::{Scale, count};
use crate::sentence;
use crate::shown;
use crate::single::{legend_of, one_strip, together};
use crate::steady;
use crate::strip::Marks;
use crate::style::Role;

/// Writes the short report.
pub(crate) fn write(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    for subject in 0..record.subjects.len() {
        page.gap();
        one(page, record, labels, subject);
        page.gap();
        page.say(&sentence::of_fragment(&disturbed::summary(record, disturbed, Some(subject))));
        steady::section(page, record, subject);
    }
    if record.subjects.len() > 1 {
        page.gap();
        page.say_as(
            Role::Hint,
            "These subjects were not compared: use `becalm compare` for a verdict.",
        );
    }
    outcomes::say(page, record);
    comparison_brief::limits(page, record, labels);
}

/// Writes the estimate of one subject.
fn one(page: &mut Page, record: &Record, labels: &Labels, subject: usize) {
    let style = *page.style;
    if let Some((title, table)) = benchmarks::of(record, labels, subject, style.unicode) {
        page.say_as(Role::Heading, &title);
        page.gap();
        page.table(&table);
        return;
    }
    let mut is_measured = false;
    for metric in shown::full_metrics(record) {
        let sample = shown::sample(record, subject, metric);
        let Some(sample) = sample.filter(|_| shown::is_shown(record, subject, metric)) else {
            continue;
        };
        let is_first = !std::mem::replace(&mut is_measured, true);
        let description = shown::metric_at(record, metric);
        let summary = shown::summary(record, &sample);
        let scale = Scale::of_summaries(&description.unit, [&summary], style.unicode);
        let said = estimate::said(record, subject, &description, &summary, &scale);
        page.gap();
        let runs = count(summary.n, "run");
        let title = format!("{}, {}: {said}, {runs}", labels.get(subject), description.name);
        page.say_as(Role::Heading, &title);
        if is_first && labels.are_letters {
            legend_of(page, record, subject);
        }
        page.gap();
        page.table(&estimate::statistics(&summary, &scale, Some(shown::confidence(record))));
        together(page, record, subject, metric, &scale);
        page.gap();
        page.drawn(&one_strip(record, labels, subject, metric, Marks::Runs, &style));
        for finding in checks::findings(&sample, &scale).into_iter().filter(|one| one.is_warning) {
            page.say_as(Role::Warning, &finding.text);
        }
    }
    if !is_measured {
        page.say_as(Role::Heading, &format!("{}: no value was measured.", labels.get(subject)));
    }
}
