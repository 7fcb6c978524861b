//! The changes of series as documents, found from where the detector stopped, in the order in which they matter.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use becalm_model::history::{Series, SeriesId};
use becalm_model::wire::{SeriesStateDocument, WebChangeDocument};
use becalm_series::{
    DetectorState, Followed, Group, Snapshot, Store, StoreError, change_in_history, follow_in,
    state_in_history, state_word,
};
use becalm_stats::changes::StateKind;

use super::TOGETHER;
use super::reading::points_of;
use crate::history::{History, now};
use crate::kept::LeftOut;

/// Values that are shown on each side of a change.
const REACH: usize = 30;

/// Finds the changes of series of one branch and machine, and where their levels do not stay, in the light of what the
/// detector left, and keeps what it leaves.
pub(super) fn changes_of(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
    series: &[Series],
    states: &mut HashMap<SeriesId, DetectorState>,
    unsettled: &mut Vec<SeriesStateDocument>,
) -> Result<Vec<Arc<WebChangeDocument>>, StoreError> {
    let mut changes = Vec::new();
    for together in series.chunks(TOGETHER) {
        let ids: Vec<SeriesId> = together.iter().map(|one| one.id).collect();
        let points = points_of(history, store, group, left_out, &ids, None)?;
        let mut snapshot: Snapshot = store.snapshot_of(&ids, points)?;
        forget_others(&mut snapshot, left_out);
        for (id, state) in ids.iter().zip(&mut snapshot.detectors) {
            if let Some(left) = states.get(id) {
                *state = Some(left.clone());
            }
        }
        let stored = ids.iter().zip(&snapshot.detectors);
        states.extend(stored.filter_map(|(id, state)| Some((*id, state.clone()?))));
        let (followed, news) = follow_in(snapshot, together.to_vec(), &history.terms, now());
        for one in news {
            match one.detector {
                Some(left) => states.insert(one.series, left),
                None => states.remove(&one.series),
            };
        }
        let unstable = state_word(StateKind::Unstable);
        let is_part = |one: &WebChangeDocument| one.change.part_of.as_deref() == Some(unstable);
        let found = followed.iter().flat_map(of).filter(|one| !is_part(one));
        changes.extend(found.map(Arc::new));
        unsettled.extend(followed.iter().flat_map(|followed| {
            let current =
                followed.states.iter().filter(|one| one.is_current(followed.points.len()));
            current.map(|state| state_in_history(followed, state))
        }));
    }
    Ok(changes)
}

/// Where the history keeps what a detector left, that is of all entries.
pub(super) fn forget_others(snapshot: &mut Snapshot, left_out: &LeftOut) {
    if !left_out.is_empty() {
        snapshot.detectors.fill(None);
    }
}

/// Puts those that matter most first.
pub(super) fn sort(changes: &mut [Arc<WebChangeDocument>]) {
    changes.sort_by(|a, b| {
        let rank = |one: &WebChangeDocument| {
            (one.change.state == "confirmed", one.at_least.unwrap_or(f64::INFINITY))
        };
        let ((a_sure, a_size), (b_sure, b_size)) = (rank(a), rank(b));
        b_sure.cmp(&a_sure).then(b_size.total_cmp(&a_size)).then(b.seen.total_cmp(&a.seen))
    });
}

/// Makes documents of the changes of a series, in time order.
pub(in super::super) fn of(followed: &Followed) -> Vec<WebChangeDocument> {
    let documents = followed.changes.iter().enumerate().map(|(at, (change, _))| {
        let document = change_in_history(followed, at);
        let from = change.index.saturating_sub(REACH);
        let until = followed.points.len().min(change.index + REACH);
        WebChangeDocument {
            at_least: at_least(document.ratio_low, document.ratio_high),
            seen: followed.points[change.seen].at,
            entries_between: change.latest + 1 - change.earliest,
            trend: followed.points[from..until].iter().map(|point| point.value).collect(),
            trend_at: change.index - from,
            machine: BTreeMap::new(),
            command: None,
            flags: Vec::new(),
            author: None,
            title: None,
            change: document,
        }
    });
    documents.collect()
}

/// Returns the smallest change that an interval includes, as an absolute logarithm.
fn at_least(low: Option<f64>, high: Option<f64>) -> Option<f64> {
    let low = low?;
    let high = high.unwrap_or(f64::INFINITY);
    Some(match (low > 1.0, high < 1.0) {
        (true, _) => low.ln(),
        (_, true) => -high.ln(),
        _ => 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_ranked_by_the_end_that_is_nearer_to_none() {
        let size = |low, high| at_least(Some(low), Some(high));
        assert_eq!(size(0.9, 1.2), Some(0.0));
        assert!(size(1.1, 9.0) > size(1.05, 1.06));
        assert!((size(0.5, 0.8).unwrap() - 1.25f64.ln()).abs() < 1e-12);
        assert_eq!(at_least(Some(2.0), None), Some(2f64.ln()));
        assert_eq!(at_least(None, None), None);
    }
}
