//! Changes as the documents that leave the process.

use std::ops::Range;

use becalm_model::Direction;
use becalm_model::history::{ChangeId, ChangeState, Decision, StoredChange};
use becalm_model::wire::{
    ChangeInHistoryDocument, ChangePointDocument, ModesOfChangeDocument, NOISIER, QUIETER,
    SeriesStateDocument, SpreadChangeDocument, SpreadInHistoryDocument, StateInHistoryDocument,
};
use becalm_stats::changes::{
    Change, Shift, Sides, SpreadChange, State, StateKind, sides, stretches,
};

use crate::follow::{Followed, rose};

/// Makes a document of a change of this size, if it has one, between such values; whose place in a history and whose
/// direction are not known.
pub fn change_point(
    change: &Change,
    state: ChangeState,
    size: Option<Shift>,
    sides: &Sides,
) -> ChangePointDocument {
    let state = match state {
        ChangeState::Confirmed => "confirmed",
        ChangeState::Pending => "pending",
    };
    ChangePointDocument {
        index: change.index,
        earliest: change.earliest,
        latest: change.latest,
        // As far as it is known by now: the change itself has what was known when it was confirmed.
        before: sides.medians[0],
        after: sides.medians[1],
        mean_before: sides.means[0],
        mean_after: sides.means[1],
        modes: sides.modes.map(|modes| ModesOfChangeDocument {
            lower: modes.lower,
            upper: modes.upper,
            upper_share_before: modes.upper_shares[0],
            upper_share_after: modes.upper_shares[1],
        }),
        ratio: size.map(|size| size.ratio),
        ratio_low: size.map(|size| size.low),
        ratio_high: size.map(|size| size.high),
        state: state.to_owned(),
        kind: "change".to_owned(),
        part_of: None,
        history: None,
    }
}

/// Returns the word for a state.
pub fn state_word(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Unstable => "unstable",
        StateKind::Trend => "trend",
    }
}

/// Makes a document of a state of a series of so many values, whose parts begin at these places, and whose place in a
/// history and whose direction are not known.
pub fn series_state(state: &State, values: usize, changes: Vec<usize>) -> SeriesStateDocument {
    SeriesStateDocument {
        state: state_word(state.kind).to_owned(),
        kind: "change".to_owned(),
        start: state.start,
        end: state.end,
        current: state.is_current(values),
        from: state.from,
        to: state.to,
        ratio: (state.from > 0.0).then(|| state.to / state.from),
        changes,
        history: None,
    }
}

/// Makes a document of a state of a series in a history.
pub fn state_in_history(followed: &Followed, state: &State) -> SeriesStateDocument {
    let key = &followed.series.key;
    let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
    let parts = &followed.changes[state.parts()];
    let id = |stored: &StoredChange| ChangeId { series: followed.series.id, entry: stored.entry };
    let places = parts.iter().map(|(change, _)| change.index).collect();
    let kind = match state.kind {
        StateKind::Unstable => "change",
        StateKind::Trend => way(state.to > state.from, key.direction),
    };
    let history = StateInHistoryDocument {
        series: followed.series.id.0,
        benchmark: key.benchmark.clone(),
        metric: key.metric.clone(),
        unit: key.unit.to_string(),
        parameters: key.parameters.iter().cloned().collect(),
        branch: key.branch.clone(),
        fingerprint: key.fingerprint.clone(),
        entry: followed.points[state.start].entry.0,
        commit: commit(state.start),
        end_commit: commit(state.end),
        changes: parts.iter().map(|(_, stored)| id(stored).to_string()).collect(),
    };
    let document = series_state(state, followed.points.len(), places);
    SeriesStateDocument { kind: kind.to_owned(), history: Some(history), ..document }
}

/// Makes a document of a change of spread whose place in a history is not known.
pub fn spread_change(change: &SpreadChange) -> SpreadChangeDocument {
    SpreadChangeDocument {
        index: change.index,
        earliest: change.earliest,
        latest: change.latest,
        kind: if change.is_noisier() { NOISIER } else { QUIETER }.to_owned(),
        before: change.before,
        after: change.after,
        history: None,
    }
}

/// Makes a document of a change of spread of a series in a history.
pub fn spread_in_history(followed: &Followed, change: &SpreadChange) -> SpreadChangeDocument {
    let key = &followed.series.key;
    let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
    let history = SpreadInHistoryDocument {
        series: followed.series.id.0,
        benchmark: key.benchmark.clone(),
        metric: key.metric.clone(),
        unit: key.unit.to_string(),
        parameters: key.parameters.iter().cloned().collect(),
        branch: key.branch.clone(),
        entry: followed.points[change.index].entry.0,
        commit: commit(change.index),
        after_commit: change.earliest.checked_sub(1).and_then(commit),
        until_commit: commit(change.latest),
    };
    SpreadChangeDocument { history: Some(history), ..spread_change(change) }
}

/// Returns the word for a level that rose or fell.
fn way(rose: bool, better: Direction) -> &'static str {
    if rose == (better == Direction::Lower) { "regression" } else { "improvement" }
}

/// Makes a document of one of the changes of a series in a history.
pub fn change_in_history(followed: &Followed, at: usize) -> ChangePointDocument {
    let (change, stored) = &followed.changes[at];
    let key = &followed.series.key;
    let kind = way(rose(change, stored), key.direction);
    let part_of = followed.state_of(at).map(|state| state_word(state.kind).to_owned());
    let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
    let review = stored.review.as_ref();
    let reason = review.and_then(|review| match &review.decision {
        Decision::Dismissed { reason } => Some(reason.clone()),
        Decision::Acknowledged { reason } => reason.clone(),
    });
    let history = ChangeInHistoryDocument {
        id: ChangeId { series: followed.series.id, entry: stored.entry }.to_string(),
        series: followed.series.id.0,
        benchmark: key.benchmark.clone(),
        metric: key.metric.clone(),
        unit: key.unit.to_string(),
        parameters: key.parameters.iter().cloned().collect(),
        branch: key.branch.clone(),
        fingerprint: key.fingerprint.clone(),
        entry: stored.entry.0,
        commit: commit(change.index),
        after_commit: change.earliest.checked_sub(1).and_then(commit),
        until_commit: commit(change.latest),
        first_seen_entry: stored.first_seen.entry.0,
        first_seen: stored.first_seen.time,
        review: review_word(stored).to_owned(),
        reason,
        by: review.map(|review| review.by.clone()).filter(|by| !by.is_empty()),
        decided: review.map(|review| review.time),
    };
    let size = Some(stored).filter(|stored| stored.ratio.is_finite()).map(|stored| Shift {
        ratio: stored.ratio,
        low: stored.ratio_low,
        high: stored.ratio_high,
    });
    let beside = |at: Option<usize>| Some(&followed.changes.get(at?)?.0);
    let (previous, next) = (beside(at.checked_sub(1)), beside(Some(at + 1)));
    let (before, after) = stretches(previous, change, next, followed.points.len());
    let values = |places: Range<usize>| -> Vec<f64> {
        followed.points[places].iter().map(|point| point.value).collect()
    };
    let sides = sides(&values(before), &values(after));
    let point = change_point(change, stored.state, size, &sides);
    ChangePointDocument { kind: kind.to_owned(), part_of, history: Some(history), ..point }
}

fn review_word(stored: &StoredChange) -> &'static str {
    match stored.review.as_ref().map(|review| &review.decision) {
        None => "open",
        Some(Decision::Acknowledged { .. }) => "acknowledged",
        Some(Decision::Dismissed { .. }) => "dismissed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_what_is_known_by_now_and_not_what_was_known_at_first() {
        // Of the first three values of the new level.
        let change = Change {
            index: 10,
            earliest: 10,
            latest: 10,
            seen: 12,
            z: 5.0,
            before: 100.0,
            after: 130.0,
            correlation: 0.0,
        };
        let after = [[130.0; 3].as_slice(), &[120.0; 50]].concat();
        let document =
            change_point(&change, ChangeState::Confirmed, None, &sides(&[100.0; 10], &after));
        assert_eq!((document.before, document.after), (100.0, 120.0));
    }
}
