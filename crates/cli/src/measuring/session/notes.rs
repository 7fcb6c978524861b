//! What the reader of a record has to know beside its numbers.

use becalm_model::{Record, RecordKind};
use becalm_runner::session::SpawnPlan;

use super::Wanted;
use crate::measuring::same;
use crate::ui::Ui;

/// Returns what the reader has to know about the subjects, whatever the runs show.
pub(super) fn notes_before_start(wanted: &Wanted, plan: &SpawnPlan) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(builds) = &wanted.builds {
        notes.extend(builds.notes.iter().cloned());
    }
    if wanted.kind == RecordKind::Comparison && !wanted.aa {
        notes.extend(same::notes(&plan.subjects, &wanted.subjects, plan.backend.is_some()));
    }
    if let Some(resumed) = &wanted.resumed {
        notes.extend(same::changed_since(resumed.started_at, &plan.subjects));
    }
    notes
}

/// Says notes and keeps them in the record, each once.
pub(super) fn tell(notes: Vec<String>, record: &mut Record, ui: &Ui) {
    for note in notes {
        ui.say(format!("note: {note}"));
        if !record.notes.contains(&note) {
            record.notes.push(note);
        }
    }
}

/// How the note of a subject that failed ends.
const WITHOUT_IT: &str = "; the suite went on without it";

/// Notes a subject that failed.
pub(super) fn note_left_out(record: &mut Record, how: &str) {
    record.notes.push(format!("{how}{WITHOUT_IT}"));
}

/// Says whether a note is of a subject that failed: who goes on with the session tries it again.
pub(super) fn is_of_left_out(note: &str) -> bool {
    note.ends_with(WITHOUT_IT)
}

/// Returns the rounds after which a comparison ended as planned, with all of its error spent.
pub(super) fn planned_end(record: &Record) -> Option<u32> {
    let is_over = !record.comparisons.is_empty() && record.interrupted.is_none();
    is_over.then(|| record.rounds())
}

/// Notes that rounds were added to a session that was over; looking alone adds none.
pub(super) fn note_extension(record: &mut Record, planned_end: Option<u32>) {
    if let Some(end) = planned_end.filter(|&end| record.rounds() > end) {
        record.notes.push(format!(
            "continued after its planned end at round {end}, where all the error was spent: false alarms \
             can be up to twice as frequent as stated"
        ));
    }
}

/// Notes the settings that somebody else changed meanwhile.
pub(super) fn note_drift(record: &mut Record) {
    for moved in &record.conditions.knobs.drifted {
        record.notes.push(format!(
            "{} was {} at the start and {} at the end: somebody else changed it during the session.",
            moved.target, moved.from, moved.to
        ));
    }
}
