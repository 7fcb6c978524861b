//! The changes of all series that are watched: found once, and again when the history has changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use becalm_model::history::{EntryId, Series, SeriesId};
use becalm_model::wire::{WebChangeCounts, WebChangeDocument};
use becalm_series::{
    EntryFilter, Followed, SeriesFilter, Stamp, Store, StoreError, change_in_history, fact, follow,
};

use crate::history::{History, locked, now};

/// Series that are followed at once: their points are in memory together.
const TOGETHER: usize = 256;

/// Values that are shown on each side of a change.
const REACH: usize = 30;

/// Facts that name a machine, beside those that split series.
const NAMING: [&str; 2] = ["cpu_model", "kernel_release"];

/// What is known of the machines of a history, by their fingerprint.
type Machines = HashMap<String, BTreeMap<String, String>>;

/// What was found in a history at one moment.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) stamp: Stamp,
    /// The series that are watched: those of main metrics.
    pub(crate) series: Vec<Series>,
    /// Their changes, those that matter most first; without commands.
    pub(crate) changes: Vec<WebChangeDocument>,
    machines: Machines,
}

impl Findings {
    /// Returns what is found in the history as it is now.
    pub(crate) fn of(history: &History, store: &mut Store) -> Result<Arc<Self>, StoreError> {
        // Whoever comes while somebody looks waits for the answer, and does not look, too.
        let mut kept = locked(&history.findings);
        let stamp = store.stamp()?;
        if let Some(found) = kept.as_ref().filter(|found| found.stamp == stamp) {
            return Ok(Arc::clone(found));
        }
        let same_points = kept.as_ref().filter(|found| found.stamp.has_points_of(&stamp));
        let found = match same_points {
            Some(before) => before.decided_anew(history, store, stamp)?,
            None => Self::anew(history, store, stamp)?,
        };
        let found = Arc::new(found);
        *kept = Some(Arc::clone(&found));
        Ok(found)
    }

    fn anew(history: &History, store: &mut Store, stamp: Stamp) -> Result<Self, StoreError> {
        let series = store.series(&SeriesFilter { main: true, ..SeriesFilter::default() })?;
        let mut machines = HashMap::new();
        let changes = changes(history, store, series.clone(), &mut machines)?;
        let machines = facts(store, &machines)?;
        Ok(Self { stamp, series, changes, machines })
    }

    /// Looks again at the series that have changes: only those can be decided about.
    fn decided_anew(
        &self,
        history: &History,
        store: &mut Store,
        stamp: Stamp,
    ) -> Result<Self, StoreError> {
        let changed: HashSet<i64> = self.changes.iter().filter_map(series_of).collect();
        let series = self.series.iter().filter(|one| changed.contains(&one.id.0)).cloned();
        let changes = changes(history, store, series.collect(), &mut HashMap::new())?;
        let (series, machines) = (self.series.clone(), self.machines.clone());
        Ok(Self { stamp, series, changes, machines })
    }

    /// Returns what is known of a machine.
    pub(crate) fn machine(&self, fingerprint: &str) -> BTreeMap<String, String> {
        self.machines.get(fingerprint).cloned().unwrap_or_default()
    }

    /// Counts the changes of a branch, or of all, by state.
    pub(crate) fn counts(&self, branch: Option<&str>) -> WebChangeCounts {
        let mut counts = WebChangeCounts::default();
        for change in self.changes.iter().filter(|change| is_of(change, branch)) {
            match state(change) {
                "acknowledged" => counts.acknowledged += 1,
                "dismissed" => counts.dismissed += 1,
                _ => counts.open += 1,
            }
            let worse = change.change.kind == "regression" && change.change.state == "confirmed";
            counts.open_regressions += usize::from(worse && state(change) == "open");
        }
        counts
    }
}

/// Returns `open`, `acknowledged` or `dismissed`.
pub(super) fn state(change: &WebChangeDocument) -> &str {
    change.change.history.as_ref().map_or("open", |place| place.review.as_str())
}

/// Says whether a change is of this branch, if one is asked for.
pub(super) fn is_of(change: &WebChangeDocument, branch: Option<&str>) -> bool {
    let of = change.change.history.as_ref().map(|place| place.branch.as_str());
    branch.is_none_or(|branch| of == Some(branch))
}

fn series_of(change: &WebChangeDocument) -> Option<i64> {
    change.change.history.as_ref().map(|place| place.series)
}

/// Finds the changes of series, and an entry of each machine.
fn changes(
    history: &History,
    store: &mut Store,
    mut series: Vec<Series>,
    machines: &mut HashMap<String, EntryId>,
) -> Result<Vec<WebChangeDocument>, StoreError> {
    // Those of one branch and machine are in the same rows.
    series.sort_by(|a, b| {
        let group = |one: &Series| (one.key.branch.clone(), one.key.fingerprint.clone(), one.id);
        group(a).cmp(&group(b))
    });
    let mut changes = Vec::new();
    for together in series.chunks(TOGETHER) {
        for followed in follow(store, together.to_vec(), &history.terms, false, now())? {
            if let Some(last) = followed.points.last() {
                machines.insert(followed.series.key.fingerprint.clone(), last.entry);
            }
            changes.extend(of(&followed));
        }
    }
    changes.sort_by(|a, b| {
        let rank = |one: &WebChangeDocument| {
            (one.change.state == "confirmed", one.at_least.unwrap_or(f64::INFINITY))
        };
        let ((a_sure, a_size), (b_sure, b_size)) = (rank(a), rank(b));
        b_sure.cmp(&a_sure).then(b_size.total_cmp(&a_size)).then(b.seen.total_cmp(&a.seen))
    });
    Ok(changes)
}

/// Makes documents of the changes of a series, in time order.
pub(super) fn of(followed: &Followed) -> Vec<WebChangeDocument> {
    let documents = followed.changes.iter().map(|(change, stored)| {
        let document = change_in_history(followed, change, stored);
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

/// Reads what is known of machines of entries.
fn facts(store: &mut Store, machines: &HashMap<String, EntryId>) -> Result<Machines, StoreError> {
    if machines.is_empty() {
        return Ok(HashMap::new());
    }
    let split = store.split()?;
    let filter =
        EntryFilter { ids: machines.values().copied().collect(), ..EntryFilter::default() };
    let entries = store.entries(&filter)?.into_iter().map(|entry| {
        let names = split.iter().map(String::as_str).chain(NAMING);
        let known = names.filter_map(|name| Some((name.to_owned(), fact(&entry.facts, name)?)));
        (entry.fingerprint.clone(), known.collect())
    });
    Ok(entries.collect())
}

/// Returns the series of this number, if there is one.
pub(super) fn one_series(store: &mut Store, id: SeriesId) -> Result<Option<Series>, StoreError> {
    Ok(store.series(&SeriesFilter { ids: vec![id], ..SeriesFilter::default() })?.pop())
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
