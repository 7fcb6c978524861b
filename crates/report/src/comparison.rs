//! The headline output of `becalm compare`: the verdict first, then what it rests on.

use becalm_model::{Record, Verdict};

use crate::axis::Axis;
use crate::box_violin::Beside;
use crate::comparison_table;
use crate::estimate;
use crate::facts::pairs;
use crate::labels::{Labels, meaning};
use crate::notes;
use crate::page::Page;
use crate::remarks;
use crate::sentence;
use crate::shown;
use crate::strip::{Marks, Strip, strips};
use crate::style::{Role, Style};
use becalm_model::DisturbedRun;

/// Draws a comparison: the verdict in one sentence, the numbers, every run of both subjects on
/// one axis, and what the reader has to know beside them.
pub(crate) fn write(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    headline(page, record, labels);
    page.gap();
    legend(page, record, labels);
    body(page, record, labels, disturbed);
    notes_and_limits(page, record, labels);
}

/// Writes what follows the verdict: the tables, every run, what they rest on, and what to do next.
pub(crate) fn body(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    for (title, table) in comparison_table::tables(record, labels, page.style.unicode) {
        if title.is_empty() {
            page.gap();
        } else {
            page.section(&title);
        }
        page.table(&table);
    }
    if comparison_table::has_star(record) {
        page.indented("* decides");
    }
    distributions(page, record, labels);

    page.gap();
    for remark in remarks::measured(record, disturbed) {
        page.say(&remark);
    }
    for remark in remarks::next_steps(record, labels) {
        page.say_as(Role::Inconclusive, &remark);
    }
}

/// How many comparisons are shown with a sentence each.
const MANY: usize = 4;

/// Returns the verdict as one sentence per deciding comparison, in the order to be shown, after a
/// count of the verdicts if there are several candidates.
pub(crate) fn headlines(record: &Record, labels: &Labels) -> Vec<(Role, String)> {
    if record.is_of_one_program() {
        let same = "Nothing was measured: all sides are the same program.";
        return vec![(Role::Equivalent, same.to_owned())];
    }
    let deciding = remarks::deciding(record);
    if deciding.is_empty() {
        return vec![(Role::Inconclusive, "Nothing was compared.".to_owned())];
    }
    let mut lines = Vec::new();
    if deciding.len() > 2 {
        let count = |verdict: Verdict| deciding.iter().filter(|c| c.verdict == verdict).count();
        let parts: Vec<String> = Verdict::ALL
            .into_iter()
            .filter(|&verdict| count(verdict) > 0)
            .map(|verdict| format!("{} {verdict}", count(verdict)))
            .collect();
        let baseline = labels.get(deciding[0].baseline);
        lines.push((Role::Heading, format!("Against {baseline}: {}.", parts.join(", "))));
    }
    // The table has them all; of many only those that differ are said.
    let are_many = deciding.len() > MANY;
    for comparison in shown::ranked(record, &deciding) {
        let differs = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
        if are_many && !differs {
            continue;
        }
        let metric = shown::metric_at(record, comparison.metric);
        let claim = remarks::claim(record, labels, &metric, comparison);
        let is_warning = sentence::is_warning(&claim);
        let role = if is_warning { Role::Inconclusive } else { Role::of(comparison.verdict) };
        lines.push((role, sentence::verdict(&claim)));
    }
    lines
}

pub(crate) fn headline(page: &mut Page, record: &Record, labels: &Labels) {
    for (role, text) in headlines(record, labels) {
        page.say_as(role, &text);
    }
}

/// Says what each label stands for.
pub(crate) fn legend(page: &mut Page, record: &Record, labels: &Labels) {
    let meanings: Vec<(&str, String)> = record
        .subjects
        .iter()
        .enumerate()
        .map(|(index, subject)| (labels.get(index), meaning(subject, labels.get(index))))
        .collect();
    pairs(page, meanings.iter().map(|(label, meaning)| (*label, meaning.as_str())));
}

/// Draws the strip plot and the table of the subjects for the metrics shown in full.
fn distributions(page: &mut Page, record: &Record, labels: &Labels) {
    for metric in shown::full_metrics(record) {
        let description = shown::metric_at(record, metric);
        let plot = strip_plot(record, labels, metric, None, &[], Marks::All, page.style);
        if plot.is_empty() {
            continue;
        }
        page.section(&format!("Runs, {}", description.name));
        page.drawn(&plot);
        page.gap();
        page.table(&estimate::subjects(record, labels, metric, page.style.unicode));
    }
}

/// Draws all subjects of a record on one axis, with the requested drawings beside the dots.
pub(crate) fn strip_plot(
    record: &Record,
    labels: &Labels,
    metric: usize,
    axis: Option<Axis>,
    beside: &[Beside],
    marks: Marks,
    style: &Style,
) -> String {
    let samples: Vec<_> = (0..record.subjects.len())
        .filter_map(|subject| Some((subject, shown::sample(record, subject, metric)?)))
        .collect();
    let drawn: Vec<Strip> = samples
        .iter()
        .map(|(subject, sample)| Strip {
            label: labels.get(*subject),
            values: sample.values(),
            median: Some(shown::median(&shown::summary(record, sample))),
            beside,
        })
        .collect();
    strips(&drawn, &shown::metric_at(record, metric).unit, axis, marks, style)
}

/// Lists the notes and what could not be controlled.
pub(crate) fn notes_and_limits(page: &mut Page, record: &Record, labels: &Labels) {
    page.list("Notes", remarks::notes(record, labels));
    page.list("Limits", record.conditions.limits.iter().map(notes::limit));
}
