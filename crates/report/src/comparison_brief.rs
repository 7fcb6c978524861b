//! A comparison on one screen: the verdict, the numbers, the runs, and a line each for the noise
//! that was observed and for what could not be observed.

use std::collections::BTreeSet;

use becalm_model::{DisturbedRun, Limit, Note, Record, SessionNote};

use crate::comparison::{headline, legend, strip_plot};
use crate::comparison_table;
use crate::disturbed;
use crate::labels::Labels;
use crate::notes;
use crate::outcomes;
use crate::page::Page;
use crate::remarks;
use crate::sentence;
use crate::shown;
use crate::strip::Marks;
use crate::style::{Role, Style};

/// How many lines notes may take; those that do not fit are counted.
const NOTES: usize = 2;

/// Earliest end of the first clause of a note.
const CLAUSE: usize = 30;

/// Most subjects whose runs are drawn.
const DRAWN: usize = 6;

/// Writes the short report.
pub(crate) fn write(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    headline(page, record, labels);
    page.gap();
    if labels.needs_legend {
        legend(page, record, labels);
        page.gap();
    }
    for (title, table) in comparison_table::tables(record, labels, page.style.unicode) {
        if !title.is_empty() {
            page.section(&title);
        }
        page.table(&table);
    }
    if let Some(metric) = shown::headline_metric(record)
        && record.subjects.len() <= DRAWN
    {
        page.gap();
        page.drawn(&strip_plot(record, labels, metric, None, &[], Marks::Runs, page.style));
    }
    page.gap();
    remarks(page, record, labels, disturbed);
}

/// Writes what stands beside the verdict.
fn remarks(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    if record.is_of_one_program() {
        for remark in remarks::measured(record, disturbed) {
            page.say(&remark);
        }
        return;
    }
    if let Some(rounds) = remarks::rounds(record) {
        page.say(&rounds);
    }
    if let Some(why) = remarks::against_the_medians(record) {
        page.say(&why);
    }
    page.say(&sentence::of_fragment(&disturbed::summary(record, disturbed, None)));
    if let Some(failures) = outcomes::remark(record) {
        page.say_as(Role::Warning, &failures);
    }
    limits(page, record, labels);
    for remark in remarks::next_steps(record, labels) {
        page.say_as(Role::Inconclusive, &remark);
    }
}

fn is_of_requests(note: &Note) -> bool {
    matches!(note, Note::Session(SessionNote::RequestsFailed { .. }))
}

/// Writes which requests failed, what could not be observed, and what puts the results in doubt.
pub(crate) fn limits(page: &mut Page, record: &Record, labels: &Labels) {
    for note in record.notes.iter().filter(|note| is_of_requests(note)) {
        page.say_as(Role::Warning, &sentence::of_fragment(&notes::sentence(note)));
    }
    let unseen = unseen(&record.conditions.limits);
    if !unseen.is_empty() {
        page.say(&format!("Not seen here: {}.", unseen.join(", ")));
    }
    doubts(page, record, labels);
}

/// Returns a word for each thing that could not be observed or controlled, each once.
fn unseen(limits: &[Limit]) -> Vec<String> {
    let mut known = BTreeSet::new();
    limits.iter().filter_map(notes::unseen).filter(|word| known.insert(word.clone())).collect()
}

/// Writes the notes and limits that put the verdict in doubt.
fn doubts(page: &mut Page, record: &Record, labels: &Labels) {
    let limits = record.conditions.limits.iter();
    let limits = limits.filter(|limit| !notes::is_aside(limit) && notes::unseen(limit).is_none());
    let mut doubts = remarks::notes_that(record, labels, |note: &Note| !notes::explains(note));
    doubts.extend(limits.map(notes::limit));
    let written = if doubts.len() > NOTES { NOTES - 1 } else { doubts.len() };
    for (at, doubt) in doubts[..written].iter().enumerate() {
        // Why a session ended early is the first of all.
        let is_whole = doubts.len() == 1 || at == 0 && record.interrupted.is_some();
        page.item(if is_whole { doubt } else { first_clause(doubt) });
    }
    let others = doubts.len() - written;
    if others > 0 {
        page.item(&format!("and {others} more notes: `becalm show`"));
    }
}

/// Returns the first clause of a note; the whole report has the rest.
fn first_clause(note: &str) -> &str {
    let ends = [": ", "; ", " ("]
        .into_iter()
        .filter_map(|end| note.match_indices(end).map(|(at, _)| at).find(|&at| at >= CLAUSE));
    ends.min().map_or(note, |at| &note[..at])
}

/// Returns the verdict alone, with what the rounds could have shown.
pub fn verdict_text(record: &Record, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(&mut page, record, &Labels::of(&record.subjects));
    if let Some(rounds) = remarks::rounds(record) {
        page.say(&rounds);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_cut_after_its_first_clause_and_not_after_its_label() {
        let note =
            "B, cpu_time: Both subjects are CPU-bound and single-threaded: CPU time decides.";
        assert_eq!(
            first_clause(note),
            "B, cpu_time: Both subjects are CPU-bound and single-threaded"
        );
        assert_eq!(first_clause("short: text"), "short: text");
    }
}
