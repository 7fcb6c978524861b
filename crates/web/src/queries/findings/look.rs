//! Looks at the history: at all of it once, and then at what is not as it was.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use becalm_model::history::{EntryId, Series, SeriesId, SeriesKey};
use becalm_model::wire::{SeriesStateDocument, WebChangeDocument};
use becalm_series::{
    DetectorState, EntryFilter, Group, Moment, Placed, SeriesFilter, Stamp, Store, StoreError,
    Uncounted, fact,
};

use super::super::noise::Noise;
use super::super::outline::Sketch;
use super::changes::{changes_of, sort};
use super::reading::visit;
use super::{Findings, Machines, series_of};
use crate::history::{History, locked};
use crate::kept::{Brought, LeftOut};

/// Facts that name a machine, beside those that split series.
const NAMING: [&str; 2] = ["cpu_model", "kernel_release"];

/// What does not count, by branch.
type OfBranches = BTreeMap<String, Uncounted>;

impl Findings {
    /// Looks at the series of those branches and machines that are not as they were `before`.
    pub(super) fn anew(
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
        Ok(Self { groups, states, left, noise, outlines, ..found })
    }

    /// Looks again at the series that have changes: only those can be decided about.
    pub(super) fn decided_anew(
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

/// Returns what does not count of each branch, and how much of each branch and machine that is.
fn uncounted(
    history: &History,
    store: &mut Store,
    groups: &[Group],
) -> Result<(OfBranches, Vec<(usize, i64)>), StoreError> {
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
