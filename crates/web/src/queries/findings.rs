//! The changes of all series that are watched: found once, and where the history has changed since then again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use becalm_model::history::{EntryId, Point, Series, SeriesId, SeriesKey};
use becalm_model::wire::{
    SeriesStateDocument, WebChangeCounts, WebChangeDocument, WebUncountedDocument,
};
use becalm_series::{
    DetectorState, EntryFilter, Followed, Group, Moment, Placed, SeriesFilter, Snapshot, Stamp,
    Store, StoreError, Uncounted, change_in_history, fact, follow_in, state_in_history, state_word,
};
use becalm_stats::changes::StateKind;

use super::noise::Noise;
use super::outline::{Outline, Sketch};
use crate::history::{History, locked, now};
use crate::kept::{Brought, LeftOut, Line, OfGroup, visit_points};

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

    /// Looks at the series of those branches and machines that are not as they were `before`.
    fn anew(
        history: &History,
        store: &mut Store,
        stamp: Stamp,
        before: Option<&Self>,
    ) -> Result<Self, StoreError> {
        let groups = store.groups()?;
        let series = store.series(&SeriesFilter::default())?;
        let places: HashMap<SeriesId, usize> =
            series.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
        let (uncounted, left) = uncounted(history, store, &groups)?;
        let left_out: LeftOut =
            Arc::new(uncounted.values().flat_map(|of| of.entries.iter().copied()).collect());
        // What git has of a branch can change by itself.
        let is_same = |group: &Group| {
            let here = groups.iter().position(|one| one == group);
            let place = before.and_then(|it| it.groups.iter().position(|one| one == group));
            before
                .zip(place)
                .zip(here)
                .is_some_and(|((it, place), here)| it.left[place] == left[here])
        };
        let (same, other): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(|one| is_same(one));
        let of_same = |branch: &str, fingerprint: &str| {
            same.iter().any(|group| {
                (group.branch.as_str(), group.fingerprint.as_str()) == (branch, fingerprint)
            })
        };
        let mut found = Self {
            stamp,
            alike: alike(&series).into(),
            watched: watched(&groups, &series).into(),
            series: series.into(),
            places: Arc::new(places),
            changes: Vec::new(),
            unsettled: Vec::new(),
            states: HashMap::new(),
            machines: HashMap::new(),
            uncounted,
            left: Vec::new(),
            left_out,
            noise: HashMap::new(),
            outlines: Vec::new(),
            groups: Vec::new(),
        };
        if let Some(before) = before {
            found.machines.clone_from(&before.machines);
            let stays = |change: &&Arc<WebChangeDocument>| {
                let place = change.change.history.as_ref();
                place.is_some_and(|place| of_same(&place.branch, &place.fingerprint))
            };
            found.changes.extend(before.changes.iter().filter(stays).cloned());
            let stays = |state: &&SeriesStateDocument| {
                let place = state.history.as_ref();
                place.is_some_and(|place| of_same(&place.branch, &place.fingerprint))
            };
            found.unsettled.extend(before.unsettled.iter().filter(stays).cloned());
        }
        locked(&history.kept).retain(&groups);
        let (mut changes, mut unsettled) = (Vec::new(), Vec::new());
        let mut states = HashMap::new();
        let (mut noise, mut outlines) = (HashMap::new(), Vec::new());
        for (group, places) in groups.iter().zip(&*found.watched) {
            let series: Vec<Series> = places.iter().map(|at| found.series[*at].clone()).collect();
            let known = before.map(|before| &before.states);
            let state = |one: &Series| Some((one.id, known?.get(&one.id)?.clone()));
            let mut left: HashMap<SeriesId, DetectorState> =
                series.iter().filter_map(state).collect();
            if let Some(before) = before.filter(|_| is_same(group)) {
                states.extend(left);
                let known = |one: &Series| Some((one.id, *before.noise.get(&one.id)?));
                noise.extend(series.iter().filter_map(known));
                let place = before.groups.iter().position(|one| one == group);
                outlines.extend(place.map(|place| Arc::clone(&before.outlines[place])));
                continue;
            }
            // Only where points came at the ends, the detector goes on.
            if locked(&history.kept).bring(store, group, &found.left_out)? != Brought::Continued {
                left.clear();
            }
            let ids: Vec<SeriesId> = series.iter().map(|one| one.id).collect();
            let mut sketch = Sketch::default();
            visit(history, store, group, &found.left_out, &ids, &mut |one, line| {
                noise.extend(Noise::of(line.values).map(|noise| (one, noise)));
                sketch.take(&found.series[found.places[&one]], line);
            })?;
            outlines.push(Arc::new(sketch.done()));
            changes.extend(changes_of(
                history,
                store,
                group,
                &found.left_out,
                &series,
                &mut left,
                &mut unsettled,
            )?);
            states.extend(left);
        }
        let news = facts(store, other.iter().map(|group| group.last()).collect())?;
        found.machines.extend(news);
        found
            .machines
            .retain(|fingerprint, _| groups.iter().any(|group| group.fingerprint == *fingerprint));
        found.changes.extend(changes);
        sort(&mut found.changes);
        found.unsettled.extend(unsettled);
        Ok(Self { groups, states, noise, outlines, left, ..found })
    }

    /// Looks again at the series that have changes: only those can be decided about.
    fn decided_anew(
        &self,
        history: &History,
        store: &mut Store,
        stamp: Stamp,
    ) -> Result<Self, StoreError> {
        let changed: HashSet<SeriesId> =
            self.changes.iter().filter_map(|change| series_of(change)).collect();
        let (mut changes, mut states) = (Vec::new(), self.states.clone());
        for group in &self.groups {
            let of_group = self.series.iter().filter(|one| {
                changed.contains(&one.id)
                    && (&one.key.branch, &one.key.fingerprint)
                        == (&group.branch, &group.fingerprint)
            });
            let series: Vec<Series> = of_group.cloned().collect();
            let unsettled = &mut Vec::new();
            changes.extend(changes_of(
                history,
                store,
                group,
                &self.left_out,
                &series,
                &mut states,
                unsettled,
            )?);
        }
        sort(&mut changes);
        Ok(Self {
            stamp,
            groups: self.groups.clone(),
            series: Arc::clone(&self.series),
            places: Arc::clone(&self.places),
            changes,
            // Nobody decides about these.
            unsettled: self.unsettled.clone(),
            states,
            machines: self.machines.clone(),
            uncounted: self.uncounted.clone(),
            left_out: Arc::clone(&self.left_out),
            left: self.left.clone(),
            noise: self.noise.clone(),
            outlines: self.outlines.clone(),
            watched: Arc::clone(&self.watched),
            alike: Arc::clone(&self.alike),
        })
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

    /// Returns the branches with entries that do not count, or one of them.
    pub(crate) fn uncounted_of(&self, branch: Option<&str>) -> Vec<WebUncountedDocument> {
        let of = |(name, _): &(&String, &Uncounted)| branch.is_none_or(|branch| branch == *name);
        let document = |(name, of): (&String, &Uncounted)| WebUncountedDocument {
            branch: name.clone(),
            lost: of.lost,
            merged: of.merged,
            changed: of.changed,
        };
        self.uncounted.iter().filter(of).map(document).collect()
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

/// Returns of each branch and machine where its series that are watched are.
fn watched(groups: &[Group], series: &[Series]) -> Vec<Vec<usize>> {
    let of_group: HashMap<(&str, &str), usize> = groups
        .iter()
        .enumerate()
        .map(|(at, group)| ((group.branch.as_str(), group.fingerprint.as_str()), at))
        .collect();
    let mut all = vec![Vec::new(); groups.len()];
    for (place, one) in series.iter().enumerate().filter(|(_, one)| one.main) {
        if let Some(at) = of_group.get(&(one.key.branch.as_str(), one.key.fingerprint.as_str())) {
            all[*at].push(place);
        }
    }
    all
}

/// Numbers what series measure, whatever the branch and machine.
fn alike(series: &[Series]) -> Vec<u32> {
    let mut known = HashMap::new();
    let number = |one: &Series| {
        let SeriesKey { benchmark, metric, unit, parameters, .. } = &one.key;
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known
            .entry((benchmark.clone(), metric.clone(), unit.to_string(), parameters.clone()))
            .or_insert(next)
    };
    series.iter().map(number).collect()
}

/// Returns the points of series of one branch and machine: from memory, or else from the history.
fn points_of(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
    ids: &[SeriesId],
    last: Option<usize>,
) -> Result<Vec<Vec<Point>>, StoreError> {
    if let Some(kept) = kept(history, store, group, left_out)? {
        return Ok(kept.points(ids, last));
    }
    let mut all = match last {
        None => store.points(ids)?,
        Some(last) => store.last_points(ids, last)?,
    };
    for points in &mut all {
        points.retain(|point| !left_out.contains(&point.entry));
    }
    Ok(all)
}

/// Returns the points of a branch and machine that are in memory. Whoever looks at them holds nobody up.
fn kept(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
) -> Result<Option<Arc<OfGroup>>, StoreError> {
    locked(&history.kept).of(store, group, left_out)
}

/// Returns what does not count of each branch, and how much of each branch and machine that is.
fn uncounted(
    history: &History,
    store: &mut Store,
    groups: &[Group],
) -> Result<(BTreeMap<String, Uncounted>, Vec<(usize, i64)>), StoreError> {
    let mut of_branch: BTreeMap<&str, Vec<(usize, Vec<Moment>)>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        let moments = store.moments(group, EntryId(0))?;
        of_branch.entry(&group.branch).or_default().push((at, moments));
    }
    let mut left = vec![(0, 0); groups.len()];
    let mut uncounted = BTreeMap::new();
    for (branch, moments) in of_branch {
        let placed: Vec<Placed<'_>> =
            moments.iter().flat_map(|(_, of)| of).map(Placed::from).collect();
        let found = history.uncounted(branch, &placed);
        for (at, of) in &moments {
            for one in of.iter().filter(|one| found.entries.contains(&one.entry)) {
                left[*at].0 += 1;
                left[*at].1 += one.entry.0;
            }
        }
        if !found.entries.is_empty() {
            uncounted.insert(branch.to_owned(), found);
        }
    }
    Ok((uncounted, left))
}

/// Shows the points of series of one branch and machine: from memory, or else from the history.
fn visit(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
    ids: &[SeriesId],
    see: &mut dyn FnMut(SeriesId, Line<'_>),
) -> Result<(), StoreError> {
    if let Some(kept) = kept(history, store, group, left_out)? {
        kept.visit(ids, see);
        return Ok(());
    }
    let mut moments = store.moments(group, EntryId(0))?;
    moments.retain(|moment| !left_out.contains(&moment.entry));
    for together in ids.chunks(TOGETHER) {
        visit_points(&moments, together, &store.points(together)?, see);
    }
    Ok(())
}

/// Finds the changes of series of one branch and machine, and where their levels do not stay, in the light of what the
/// detector left, and keeps what it leaves.
fn changes_of(
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
fn forget_others(snapshot: &mut Snapshot, left_out: &LeftOut) {
    if !left_out.is_empty() {
        snapshot.detectors.fill(None);
    }
}

/// Puts those that matter most first.
fn sort(changes: &mut [Arc<WebChangeDocument>]) {
    changes.sort_by(|a, b| {
        let rank = |one: &WebChangeDocument| {
            (one.change.state == "confirmed", one.at_least.unwrap_or(f64::INFINITY))
        };
        let ((a_sure, a_size), (b_sure, b_size)) = (rank(a), rank(b));
        b_sure.cmp(&a_sure).then(b_size.total_cmp(&a_size)).then(b.seen.total_cmp(&a.seen))
    });
}

/// Makes documents of the changes of a series, in time order.
pub(super) fn of(followed: &Followed) -> Vec<WebChangeDocument> {
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

/// Reads what is known of the machines of entries.
fn facts(store: &mut Store, ids: Vec<EntryId>) -> Result<Machines, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let split = store.split()?;
    let filter = EntryFilter { ids, ..EntryFilter::default() };
    let entries = store.entries(&filter)?.into_iter().map(|entry| {
        let names = split.iter().map(String::as_str).chain(NAMING);
        let known = names.filter_map(|name| Some((name.to_owned(), fact(&entry.facts, name)?)));
        (entry.fingerprint.clone(), known.collect())
    });
    Ok(entries.collect())
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
