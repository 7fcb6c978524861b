//! The changes of all series that are watched: found once, and where the history has changed since then again.

mod changes;
mod look;
mod reading;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use becalm_model::history::{Point, Series, SeriesId};
use becalm_model::wire::{
    SeriesStateDocument, WebChangeCounts, WebChangeDocument, WebUncountedDocument,
};
use becalm_series::{
    DetectorState, Followed, Group, Stamp, Store, StoreError, Uncounted, follow_in,
};

use super::noise::Noise;
use super::outline::Outline;
use crate::history::{History, locked, now};
use crate::kept::{LeftOut, Line};
use changes::forget_others;
use reading::{points_of, visit};

pub(super) use changes::of;

/// Series that are followed at once: their points are in memory together.
const TOGETHER: usize = 256;

/// What is known of the machines of a history, by their fingerprint.
type Machines = HashMap<String, BTreeMap<String, String>>;

/// What was found in a history at one moment.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) stamp: Stamp,
    /// Branches on machines, sorted.
    pub(crate) groups: Vec<Group>,
    /// All series, by name.
    pub(crate) series: Arc<[Series]>,
    /// Where each is among them.
    places: Arc<HashMap<SeriesId, usize>>,
    /// The changes of those that are watched, those that matter most first; without commands, and without parts of unstable
    /// series.
    pub(crate) changes: Vec<Arc<WebChangeDocument>>,
    /// What the detector left with series that are watched: it continues from there.
    states: HashMap<SeriesId, DetectorState>,
    /// Where the level of a series that is watched does not stay now.
    unsettled: Vec<SeriesStateDocument>,
    machines: Machines,
    /// What does not count of each branch, and all of that together.
    pub(crate) uncounted: BTreeMap<String, Uncounted>,
    pub(crate) left_out: LeftOut,
    /// Of each branch and machine, how many entries do not count, and the sum of their numbers.
    left: Vec<(usize, i64)>,
    /// The noise of series that are watched.
    noise: HashMap<SeriesId, Noise>,
    /// What is known of each branch and machine, as the groups.
    pub(crate) outlines: Vec<Arc<Outline>>,
    /// Of each branch and machine, where its series that are watched are among all.
    watched: Arc<[Vec<usize>]>,
    /// What each series measures, as a number: those that differ in branch and machine alone have the same one.
    pub(crate) alike: Arc<[u32]>,
}

impl Findings {
    /// Returns what is found in the history as it is now.
    pub(crate) fn of(history: &History, store: &mut Store) -> Result<Arc<Self>, StoreError> {
        // Most find what they need, and need not wait for each other to ask whether it still holds.
        let stamp = store.stamp()?;
        // Whoever comes while somebody looks waits for the answer, and does not look, too.
        let mut kept = locked(&history.findings);
        if let Some(found) = kept.as_ref().filter(|found| found.stamp == stamp) {
            return Ok(Arc::clone(found));
        }
        let stamp = store.stamp()?;
        let found = match kept.as_ref() {
            Some(found) if found.stamp == stamp => return Ok(Arc::clone(found)),
            Some(before) if before.stamp.has_points_of(&stamp) => {
                before.decided_anew(history, store, stamp)?
            }
            before => Self::anew(history, store, stamp, before.map(|before| &**before))?,
        };
        let found = Arc::new(found);
        *kept = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Returns what is known of a machine.
    pub(crate) fn machine(&self, fingerprint: &str) -> BTreeMap<String, String> {
        self.machines.get(fingerprint).cloned().unwrap_or_default()
    }

    /// Returns one fact of a machine, empty if it is unknown.
    pub(crate) fn fact(&self, fingerprint: &str, name: &str) -> &str {
        let known = self.machines.get(fingerprint).and_then(|facts| facts.get(name));
        known.map_or("", String::as_str)
    }

    /// Returns the noise of a series, if it has enough values.
    pub(crate) fn noise(&self, id: SeriesId) -> Option<Noise> {
        self.noise.get(&id).copied()
    }

    /// Shows the points of all series that are watched of a branch on a machine, with their places among all.
    pub(crate) fn visit(
        &self,
        history: &History,
        store: &mut Store,
        group: usize,
        see: &mut dyn FnMut(usize, Line<'_>),
    ) -> Result<(), StoreError> {
        let ids: Vec<SeriesId> =
            self.watched[group].iter().map(|place| self.series[*place].id).collect();
        visit(history, store, &self.groups[group], &self.left_out, &ids, &mut |id, line| {
            if let Some(place) = self.places.get(&id) {
                see(*place, line);
            }
        })
    }

    /// Returns the series that are watched: those of main metrics.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|one| one.main)
    }

    /// Returns the series of this number, if there is one.
    pub(crate) fn one(&self, id: SeriesId) -> Option<&Series> {
        self.places.get(&id).map(|place| &self.series[*place])
    }

    /// Returns the others that measure the same as a series, on other machines and branches.
    pub(crate) fn like(&self, id: SeriesId) -> impl Iterator<Item = &Series> {
        let measured = self.places.get(&id).map(|place| self.alike[*place]);
        let all = self.series.iter().zip(self.alike.iter());
        all.filter(move |(one, other)| one.id != id && Some(**other) == measured)
            .map(|(one, _)| one)
    }

    /// Returns the points of series, of the last so many entries of their branches and machines or all.
    pub(crate) fn points(
        &self,
        history: &History,
        store: &mut Store,
        series: &[SeriesId],
        last: Option<usize>,
    ) -> Result<Vec<Vec<Point>>, StoreError> {
        let mut all: Vec<Vec<Point>> = series.iter().map(|_| Vec::new()).collect();
        for group in &self.groups {
            let is_of = |one: &Series| {
                (&one.key.branch, &one.key.fingerprint) == (&group.branch, &group.fingerprint)
            };
            let here: Vec<usize> =
                (0..series.len()).filter(|at| self.one(series[*at]).is_some_and(is_of)).collect();
            if here.is_empty() {
                continue;
            }
            let ids: Vec<SeriesId> = here.iter().map(|at| series[*at]).collect();
            for (at, points) in
                here.into_iter().zip(points_of(history, store, group, &self.left_out, &ids, last)?)
            {
                all[at] = points;
            }
        }
        Ok(all)
    }

    /// Follows one series, with all of its points.
    pub(crate) fn follow(
        &self,
        history: &History,
        store: &mut Store,
        series: &Series,
    ) -> Result<Option<Followed>, StoreError> {
        let points = self.points(history, store, &[series.id], None)?;
        let mut snapshot = store.snapshot_of(&[series.id], points)?;
        forget_others(&mut snapshot, &self.left_out);
        if let Some(state) = self.states.get(&series.id) {
            snapshot.detectors = vec![Some(state.clone())];
        }
        Ok(follow_in(snapshot, vec![series.clone()], &history.terms, now()).0.pop())
    }

    /// Returns where the level of a series of a branch, or of any, does not stay.
    pub(crate) fn states_of(&self, branch: Option<&str>) -> Vec<SeriesStateDocument> {
        let of = |state: &&SeriesStateDocument| {
            let place = state.history.as_ref().map(|place| place.branch.as_str());
            branch.is_none_or(|branch| place == Some(branch))
        };
        self.unsettled.iter().filter(of).cloned().collect()
    }

    /// Returns the word for the level of a series, if that does not stay.
    pub(crate) fn state_of(&self, series: SeriesId) -> Option<String> {
        let is_it = |state: &&SeriesStateDocument| {
            state.history.as_ref().is_some_and(|place| place.series == series.0)
        };
        self.unsettled.iter().find(is_it).map(|state| state.state.clone())
    }

    /// Returns the branches with entries that do not count, or one of them.
    pub(crate) fn uncounted_of(&self, branch: Option<&str>) -> Vec<WebUncountedDocument> {
        let of = |(name, _): &(&String, &Uncounted)| branch.is_none_or(|branch| branch == *name);
        let document = |(name, of): (&String, &Uncounted)| WebUncountedDocument {
            branch: name.clone(),
            lost: of.lost,
            newer: of.newer,
            merged: of.merged,
            changed: of.changed,
        };
        self.uncounted.iter().filter(of).map(document).collect()
    }

    /// Says whether there are entries of a branch.
    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        self.groups.iter().any(|group| group.branch == branch)
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

fn series_of(change: &WebChangeDocument) -> Option<SeriesId> {
    change.change.history.as_ref().map(|place| SeriesId(place.series))
}
