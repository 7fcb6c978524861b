//! What the reader of a record has to know beside its numbers.

use becalm_model::{
    ConditionName, Conditions, Difference, Moved, Note, Record, RecordKind, SessionNote,
};
use becalm_runner::rounds::SpawnPlan;

use crate::conduct::Request;
use crate::event::{Event, Listener};
use crate::same;
use crate::servers;

/// Returns what the reader has to know about the subjects, whatever the runs show.
pub(crate) fn notes_before_start(request: &Request, plan: &SpawnPlan) -> Vec<Note> {
    let mut notes: Vec<SessionNote> = Vec::new();
    if let Some(builds) = &request.builds {
        notes.extend(builds.notes.iter().cloned());
    }
    if request.kind == RecordKind::Comparison && !request.aa {
        notes.extend(same::notes(&plan.subjects, &request.subjects, plan.backend.is_some()));
    }
    // Elsewhere the programs are copies, made a moment ago.
    if let (Some(resumed), None) = (&request.resumed, &request.terms.elsewhere) {
        let programs = same::given_programs(&plan.subjects);
        notes.extend(same::changed_since(resumed.started_at, programs));
    }
    let mut notes: Vec<Note> = notes.into_iter().map(Note::from).collect();
    notes.extend(servers::notes(&request.terms.runs, &request.terms.primary));
    notes
}

/// Reports notes and keeps them in the record, each once.
pub(crate) fn tell(notes: Vec<Note>, record: &mut Record, listener: Listener<'_>) {
    for note in notes {
        listener.hears(Event::Note(&note));
        if !record.notes.contains(&note) {
            record.notes.push(note);
        }
    }
}

/// Notes a subject that failed.
pub(crate) fn note_left_out(record: &mut Record, how: &str) {
    record.notes.push(SessionNote::LeftOut { failure: how.to_owned() }.into());
}

/// What a continued session has spent of its error in a way that its present plan does not know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// All: it had ended as planned, after this many rounds.
    All {
        /// The rounds.
        rounds: u32,
    },
    /// Some, on looks in so many rounds by another plan.
    ByAnotherPlan {
        /// The rounds.
        rounds: u32,
    },
}

/// Notes that rounds were added to a session that had spent its error; looking alone adds none.
pub(crate) fn note_spent(record: &mut Record, spent: Option<Spent>) {
    let note = match spent {
        Some(Spent::All { rounds }) if record.rounds() > rounds => {
            SessionNote::ContinuedAfterItsEnd { rounds }
        }
        Some(Spent::ByAnotherPlan { rounds }) if record.rounds() > rounds => {
            SessionNote::ContinuedByAnotherPlan { rounds }
        }
        _ => return,
    };
    record.notes.push(note.into());
}

/// Notes which conditions were different for the first rounds of a continued session: another user,
/// for example, or other free CPUs. Limits from then are kept.
pub(crate) fn note_other_conditions(record: &mut Record, before: &Conditions, rounds: u32) {
    let now = &record.conditions;
    let differing: Vec<Difference> = [
        (ConditionName::Scheduler, text(before.scheduler.as_ref()), text(now.scheduler.as_ref())),
        (ConditionName::Cpus, text(before.affinity.as_ref()), text(now.affinity.as_ref())),
        (ConditionName::Nice, before.nice.to_string(), now.nice.to_string()),
        (ConditionName::Aslr, text(before.aslr.as_ref()), text(now.aslr.as_ref())),
    ]
    .into_iter()
    .filter(|(_, then, now)| then != now && !then.is_empty())
    .map(|(what, then, now)| Difference { what, then, now })
    .collect();
    if record.rounds() > rounds && !differing.is_empty() {
        record.notes.push(SessionNote::OtherConditions { rounds, differing }.into());
    }
    let limits = &mut record.conditions.limits;
    for limit in &before.limits {
        if !limits.iter().any(|known| known == limit || known.is_same_cause(limit)) {
            limits.push(limit.clone());
        }
    }
}

/// Writes a condition that may be unknown.
fn text<T: ToString>(value: Option<&T>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

/// This many settings changed by others are noted one by one.
const MOST_NAMED: usize = 3;

/// Notes the settings that were changed meanwhile, by another becalm or something else.
pub(crate) fn note_drift(record: &mut Record, by_becalm: bool) {
    let drifted = &record.conditions.knobs.drifted;
    let notes: Vec<SessionNote> = match &drifted[..] {
        [first, ..] if drifted.len() > MOST_NAMED => {
            let (settings, target) = (drifted.len(), first.target.clone());
            vec![SessionNote::SettingsDrifted { settings, target, by_becalm }]
        }
        few => few
            .iter()
            .cloned()
            .map(|Moved { target, from, to }| SessionNote::SettingDrifted { target, from, to })
            .collect(),
    };
    record.notes.extend(notes.into_iter().map(Into::into));
}

#[cfg(test)]
mod tests {
    use becalm_model::{EvidenceLimit, Limit, Obstacle, Unseen};

    use super::*;

    #[test]
    fn settings_that_others_changed_are_named_while_they_are_few() {
        let noted = |n: usize| {
            let mut record = Record::empty(RecordKind::Run);
            let moved = |i| Moved { target: format!("/sys/{i}"), from: "1".into(), to: "0".into() };
            record.conditions.knobs.drifted = (0..n).map(moved).collect();
            note_drift(&mut record, true);
            record.notes
        };
        assert_eq!(noted(0), []);
        assert_eq!(noted(3).len(), 3);
        let folded = SessionNote::SettingsDrifted {
            settings: 30,
            target: "/sys/0".to_owned(),
            by_becalm: true,
        };
        assert_eq!(noted(30), [folded.into()]);
    }

    #[test]
    fn a_limit_that_was_met_in_every_session_stands_there_once() {
        let dear = |micros: u64| -> Limit {
            let because = Obstacle::Dear { path: "/proc/interrupts".to_owned(), micros };
            EvidenceLimit::NotSeen { what: Unseen::Interrupts, because }.into()
        };
        let with =
            |limits: &[Limit]| Conditions { limits: limits.to_vec(), ..Conditions::default() };
        let mut record = Record::empty(RecordKind::Run);
        record.conditions = with(&[dear(42)]);
        let other = Limit::text("becalm shares CPU 3 with the subject");
        let before = with(&[dear(39), dear(41), other.clone()]);
        note_other_conditions(&mut record, &before, 5);
        assert_eq!(record.conditions.limits, [dear(42), other]);
    }
}
