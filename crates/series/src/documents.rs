//! Changes as the documents that leave the process.

use becalm_model::Direction;
use becalm_model::history::{ChangeId, ChangeState, Decision, StoredChange};
use becalm_model::wire::{ChangeInHistoryDocument, ChangePointDocument};
use becalm_stats::changes::{Change, Shift};

use crate::follow::{Followed, rose};

/// Makes a document of a change of this size, if it has one; whose place in a history and whose direction are not known.
pub fn change_point(
    change: &Change,
    state: ChangeState,
    size: Option<Shift>,
) -> ChangePointDocument {
    let state = match state {
        ChangeState::Confirmed => "confirmed",
        ChangeState::Pending => "pending",
    };
    ChangePointDocument {
        index: change.index,
        earliest: change.earliest,
        latest: change.latest,
        before: change.before,
        after: change.after,
        ratio: size.map(|size| size.ratio),
        ratio_low: size.map(|size| size.low),
        ratio_high: size.map(|size| size.high),
        state: state.to_owned(),
        kind: "change".to_owned(),
        history: None,
    }
}

/// Makes a document of a change of a series in a history.
pub fn change_in_history(
    followed: &Followed,
    change: &Change,
    stored: &StoredChange,
) -> ChangePointDocument {
    let key = &followed.series.key;
    let kind = if rose(change, stored) == (key.direction == Direction::Lower) {
        "regression"
    } else {
        "improvement"
    };
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
    let point = change_point(change, stored.state, size);
    ChangePointDocument { kind: kind.to_owned(), history: Some(history), ..point }
}

fn review_word(stored: &StoredChange) -> &'static str {
    match stored.review.as_ref().map(|review| &review.decision) {
        None => "open",
        Some(Decision::Acknowledged { .. }) => "acknowledged",
        Some(Decision::Dismissed { .. }) => "dismissed",
    }
}
