//! Views of a saved record: `becalm show` and `show --metadata`, and what was imported.

use becalm_model::{DisturbedRun, Record, RecordKind};

use crate::benchmarks;
use crate::comparison::{body, headlines, legend, notes_and_limits};
use crate::conditions;
use crate::disturbed;
use crate::estimate;
use crate::facts::{pairs, write_facts};
use crate::labels::Labels;
use crate::notes::sentence;
use crate::outcomes;
use crate::page::Page;
use crate::quantity::{Scale, count};
use crate::shown;
use crate::single::{Drawn, estimates, given, write_conditions};
use crate::steady;
use crate::style::{Role, Style};
use crate::suite;

/// Says what a record holds: what was measured, when, under which conditions, with what result.
pub fn show_text(record: &Record, disturbed: &[DisturbedRun], style: &Style) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    results(&mut page, record, &labels);
    page.gap();
    legend(&mut page, record, &labels);
    page.gap();
    let (measured, warmups): (Vec<_>, Vec<_>) = record.runs.iter().partition(|run| !run.warmup);
    let warmups = if warmups.is_empty() {
        String::new()
    } else {
        format!(", {}", count(warmups.len(), "warm-up run"))
    };
    if !record.is_of_one_program() {
        page.say(&format!(
            "{} of {}{warmups}; {}.",
            count(measured.len(), "run"),
            count(record.subjects.len(), "subject"),
            disturbed::summary(record, disturbed, None),
        ));
    }
    outcomes::say(&mut page, record);
    details(&mut page, record, &labels, disturbed);
    page.section("Session");
    let session = conditions::session(record);
    pairs(&mut page, session.iter().map(|(name, value)| (*name, value.as_str())));
    write_conditions(&mut page, record);
    notes_and_limits(&mut page, record, &labels);
    page.finish()
}

/// Says what was imported: where it comes from, how much of it there is, what the reader has to
/// know, and the estimates.
pub fn import_text(record: &Record, style: &Style) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    let tool = record.source.as_ref().map_or("a tool", |source| source.tool.as_str());
    let values: usize = record
        .runs
        .iter()
        .map(|run| {
            let inside: usize = run.parts.iter().map(|part| part.iterations.len().max(1)).sum();
            inside + run.values.iter().flatten().count()
        })
        .sum();
    let processes = if record.runs.len() == 1 {
        "1 process".to_owned()
    } else {
        format!("{} processes", record.runs.len())
    };
    page.say_as(
        Role::Heading,
        &format!(
            "From {tool}: {} and {}, {processes}, {}.",
            count(record.subjects.len(), "subject"),
            count(record.metrics.len(), "metric"),
            count(values, "value"),
        ),
    );
    let marked = record.metrics.iter().filter(|metric| metric.statistic.is_some()).count();
    if marked > 0 {
        page.say_as(
            Role::Warning,
            &format!(
                "{} of {} are aggregates without the single values: they are shown, but never \
                 tested.",
                marked,
                count(record.metrics.len(), "metric"),
            ),
        );
    }
    for note in &record.notes {
        page.item(&sentence(note));
    }
    results(&mut page, record, &labels);
    page.gap();
    legend(&mut page, record, &labels);
    given(&mut page, record, &labels);
    if !record.machine.facts.is_empty() {
        page.section("Machine and build, according to the file");
        let facts = &record.machine.facts;
        pairs(&mut page, facts.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    }
    page.finish()
}

/// Writes what a session printed beside its answer; for a suite or another tool's file that would
/// be pages.
fn details(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    match record.kind {
        RecordKind::Comparison if !record.is_of_one_program() => {
            body(page, record, labels, disturbed);
        }
        RecordKind::Run if !shown::is_suite(record) => {
            for subject in 0..record.subjects.len() {
                page.gap();
                estimates(page, record, labels, subject, Drawn::Everything);
                steady::section(page, record, subject);
            }
        }
        _ => {}
    }
}

fn results(page: &mut Page, record: &Record, labels: &Labels) {
    if record.kind == RecordKind::Comparison {
        for (role, text) in headlines(record, labels) {
            page.say_as(role, &text);
        }
        return;
    }
    if shown::is_suite(record) {
        page.table(&suite::table(record, page.style.unicode));
        return;
    }
    let metrics = shown::headline_metrics(record);
    if metrics.is_empty() {
        page.say("Nothing was measured.");
    }
    for subject in 0..record.subjects.len() {
        if let Some((title, table)) = benchmarks::of(record, labels, subject, page.style.unicode) {
            page.say_as(Role::Heading, &title);
            page.table(&table);
            continue;
        }
        for &metric in &metrics {
            let Some(sample) = shown::sample(record, subject, metric) else { continue };
            let description = shown::metric_at(record, metric);
            let summary = shown::summary(record, &sample);
            let scale = Scale::of_summaries(&description.unit, [&summary], page.style.unicode);
            let said = estimate::said(record, subject, &description, &summary, &scale);
            page.say_as(
                Role::Heading,
                &format!("{}: {} {said}.", labels.get(subject), description.name),
            );
        }
    }
}

/// Lists everything known about the session, the conditions and the machine, as pyperf's
/// `show --metadata` does.
pub fn metadata_text(record: &Record, style: &Style) -> String {
    let mut page = Page::new(style);
    page.section("Session");
    let session = conditions::session(record);
    pairs(&mut page, session.iter().map(|(name, value)| (*name, value.as_str())));
    for subject in &record.subjects {
        page.section(&format!("Subject {}", subject.name));
        let command = becalm_model::shell_line(&subject.command);
        let command = std::iter::once(("command", command.as_str()));
        pairs(&mut page, command.chain(subject.labels()));
    }
    write_conditions(&mut page, record);
    if !record.machine.facts.is_empty() || !record.machine.unreadable.is_empty() {
        page.section("Machine");
        write_facts(&mut page, &record.machine);
    }
    let labels = Labels::of(&record.subjects);
    notes_and_limits(&mut page, record, &labels);
    page.finish()
}
