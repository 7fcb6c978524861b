//! The output of `becalm timeit`: how long an operation takes, and how reliable that is.

use becalm_model::{DisturbedRun, Record};
use becalm_stats::{Sample, Summary};

use crate::checks;
use crate::comparison::notes_and_limits;
use crate::disturbed;
use crate::estimate;
use crate::labels::Labels;
use crate::outcomes;
use crate::page::Page;
use crate::quantity::{NBSP, Scale, count, percent};
use crate::shown;
use crate::single::{one_strip, write_conditions};
use crate::strip::Marks;
use crate::style::{Role, Style};

/// If an operation of a compiled program takes less time than this, in seconds, the compiler has
/// probably removed it.
const NOTHING: f64 = 0.4e-9;

/// How a statement was timed, in addition to the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// Loops of each value, as text, one per subject.
    pub loops: Vec<String>,
    /// Values of each process.
    pub values: u32,
    /// Whether a compiler may have removed what nobody uses.
    pub is_compiled: bool,
}

/// Draws the estimate of each subject, which is an interpreter or a compiler, and how much its processes and
/// their values differ.
pub fn timeit_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    timed: &Timed,
    style: &Style,
) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    let Some(metric) = record.metrics.iter().position(|metric| metric.benchmark.is_some()) else {
        page.say("Nothing was measured.");
        return page.finish();
    };
    for subject in 0..record.subjects.len() {
        page.gap();
        one(&mut page, record, &labels, (subject, metric), timed);
        page.gap();
        page.say(&format!("Runs: {}.", disturbed::summary(record, disturbed, Some(subject))));
    }
    if let Some(remark) = outcomes::remark(record) {
        page.gap();
        page.say_as(Role::Warning, &remark);
    }
    write_conditions(&mut page, record);
    notes_and_limits(&mut page, record, &labels);
    page.finish()
}

fn one(
    page: &mut Page,
    record: &Record,
    labels: &Labels,
    (subject, metric): (usize, usize),
    timed: &Timed,
) {
    let style = *page.style;
    let description = shown::metric_at(record, metric);
    let Some(sample) = shown::sample(record, subject, metric) else {
        page.say_as(Role::Heading, &format!("{}: no value was measured.", description.name));
        return;
    };
    let summary = shown::summary(record, &sample);
    let at = shown::confidence(record);
    let scale = Scale::of(&description.unit, [summary.median], style.unicode);
    let times = if style.unicode { '×' } else { 'x' };
    let loops = timed.loops.get(subject).map_or("?", String::as_str);
    page.say_as(
        Role::Heading,
        &format!(
            "{}: {}, median of {} {times} {} of {loops}{NBSP}loops",
            description.name,
            estimate::headline(&summary, &scale, at),
            processes(summary.n),
            count(timed.values as usize, "value"),
        ),
    );
    page.gap();
    page.table(&estimate::statistics(&summary, &scale, Some(at)));
    page.gap();
    page.drawn(&one_strip(record, labels, subject, metric, Marks::All, &style));
    page.gap();
    if let Some(text) = spread(record, (subject, metric), &summary) {
        page.say(&text);
    }
    for finding in checks::findings(&sample, &scale) {
        if finding.is_warning {
            page.say_as(Role::Warning, &finding.text);
        } else {
            page.say(&finding.text);
        }
    }
    if timed.is_compiled && summary.median < NOTHING {
        page.say_as(
            Role::Warning,
            "That is the time of an empty loop: the compiler may have removed what nobody uses. \
             Pass the result to becalm_use(...).",
        );
    }
}

/// Says how much processes differ, and values inside one.
fn spread(record: &Record, (subject, metric): (usize, usize), summary: &Summary) -> Option<String> {
    let between = summary.cv?;
    let within: Vec<f64> = record
        .measured(subject)
        .filter_map(|run| {
            let sample = Sample::new(run.part(metric)?.iterations.clone()).ok()?;
            Summary::of(&sample, 0.95).cv
        })
        .collect();
    if within.is_empty() {
        return None;
    }
    let squares: f64 = within.iter().map(|cv| cv * cv).sum();
    let within = (squares / within.len() as f64).sqrt();
    Some(format!(
        "Processes differ by {} (standard deviation), the values of one process by {}.",
        percent(between),
        percent(within)
    ))
}

fn processes(n: usize) -> String {
    if n == 1 { format!("1{NBSP}process") } else { format!("{n}{NBSP}processes") }
}
