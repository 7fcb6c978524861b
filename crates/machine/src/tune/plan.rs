//! Which changes a request comes to, all known before the first is made.

use becalm_model::Change;
use serde::{Deserialize, Serialize};

use crate::knobs::{KNOBS, Note, STOPPING, Situation};

/// All changes of a request, in the order in which they are to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TuningPlan {
    /// The changes, one per target.
    pub changes: Vec<Change>,
    /// What is not possible or not needed here.
    pub notes: Vec<Note>,
}

/// A knob was named that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("there is no knob `{name}`; the knobs are {}", names().join(", "))]
pub struct UnknownKnob {
    /// The name.
    pub name: String,
}

/// Returns the names of all knobs, in order.
pub fn names() -> Vec<&'static str> {
    KNOBS.iter().map(|knob| knob.name).collect()
}

/// Plans what `situation.request` asks for.
pub fn plan(situation: &Situation<'_>) -> Result<TuningPlan, UnknownKnob> {
    let request = situation.request;
    let named = [&request.only, &request.skip, &request.also];
    for name in named.into_iter().flatten() {
        if !names().contains(&name.as_str()) {
            return Err(UnknownKnob { name: name.clone() });
        }
    }
    let mut plan = TuningPlan::default();
    for knob in KNOBS.iter().filter(|knob| request.wants(knob)) {
        let planned = knob.planned(situation);
        planned.changes.into_iter().for_each(|change| add(&mut plan.changes, change));
        plan.notes.extend(planned.notes);
    }
    Ok(plan)
}

impl TuningPlan {
    /// Returns the part of it that stops programs.
    pub(super) fn stopping(&self) -> Self {
        let stops = |knob: &str| STOPPING.contains(&knob);
        let changes = self.changes.iter().filter(|change| stops(&change.knob));
        let notes = self.notes.iter().filter(|note| stops(&note.knob));
        Self { changes: changes.cloned().collect(), notes: notes.cloned().collect() }
    }

    /// Appends another plan.
    pub(super) fn followed_by(mut self, later: Self) -> Self {
        self.changes.extend(later.changes);
        self.notes.extend(later.notes);
        self
    }
}

/// Plans what `situation.request` asks for, but for what stops programs.
pub(super) fn plan_the_rest(situation: &Situation<'_>) -> Result<TuningPlan, UnknownKnob> {
    let mut request = situation.request.clone();
    request.skip.extend(STOPPING.map(str::to_owned));
    let Situation { root, topology, ref cpus, ref housekeeping, .. } = *situation;
    let (cpus, housekeeping) = (cpus.clone(), housekeeping.clone());
    plan(&Situation { root, topology, cpus, housekeeping, request: &request })
}

/// Adds a change. A target has one: what is set hides what is guarded, and of two values the later
/// one, in its place. The old value is always the same, because nothing was changed between.
fn add(changes: &mut Vec<Change>, change: Change) {
    let Some(earlier) = changes.iter().position(|one| one.target == change.target) else {
        return changes.push(change);
    };
    if change.new.is_some() {
        changes.remove(earlier);
        changes.push(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(knob: &str, path: &str, new: &str) -> Change {
        Change::file(knob, path, "old", new, "why")
    }

    fn guard(knob: &str, path: &str) -> Change {
        Change { new: None, ..set(knob, path, "") }
    }

    #[test]
    fn a_target_is_changed_once() {
        let check = |given: &[Change], expected: &[Change]| {
            let mut changes = Vec::new();
            given.iter().cloned().for_each(|change| add(&mut changes, change));
            assert_eq!(changes, expected);
        };
        let (a, b) = (set("a", "/x", "1"), set("b", "/x", "2"));
        check(&[a.clone(), b.clone()], std::slice::from_ref(&b));
        check(&[a.clone(), guard("b", "/x")], std::slice::from_ref(&a));
        let other = set("c", "/y", "1");
        check(&[guard("g", "/x"), other.clone(), a.clone()], &[other, a]);
    }
}
