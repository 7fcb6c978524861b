//! A measurement of the new side alone, by the history of its series.

use std::collections::{HashMap, HashSet};

use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::history::{ChangeId, Entry, EntryId, SeriesId, SeriesKey};
use becalm_model::{Direction, GateReason, Record, Unit, metric};
use becalm_stats::changes::{State, errors};
use becalm_stats::multiplicity::bonferroni_confidence;
use becalm_stats::newest;
use becalm_stats::prediction::FEWEST;
use becalm_store::{EntryFilter, NewEntry, NewPoint, SeriesFilter, Store, StoreError, fingerprint};

use super::accepted::{Accepted, REACH};
use super::comparison::{is_beyond_all, worst_of};
use super::elsewhere::elsewhere;
use super::level::{AGAIN, ByHistory, History, Measured, against_level, against_limit};
use super::rules::{Limit, Rule, Rules};
use super::standing::{StandingTerms, Value};
use super::{Findings, GateTerms, MARGIN, judge_by_limits, named};
use crate::cut_off::{CutOff, cut_off};
use crate::follow::{Followed, follow};
use crate::points::margin_of;

/// Values since a change that was dismissed after which those before it are not compared with any more.
const STILL_COMPARED: usize = newest::REACH + AGAIN;

/// The working tree, as `becalm compare --rev` takes it.
const CHANGED: &str = ".";

/// A record of one side, as the entry that it would be.
#[derive(Debug)]
pub struct MeasuredSide<'a> {
    /// The record.
    pub record: &'a Record,
    /// The entry.
    pub entry: NewEntry,
}

/// A value with what its series knows.
struct Against {
    point: NewPoint,
    rule: Rule,
    margin: Option<f64>,
    known: KnownSeries,
    head: Option<String>,
}

/// What a series knows, and where.
#[derive(Default)]
struct KnownSeries {
    id: Option<SeriesId>,
    history: History,
    /// Entry and commit of its values, in the order in which the history has them.
    places: Vec<(EntryId, Option<String>)>,
    /// How many of these are of the accepted level.
    accepted: usize,
    /// The entry that is judged, if the history has it.
    itself: Option<EntryId>,
    /// Standard error of the value that is judged, if it is known.
    error: Option<f64>,
    /// What decides if the series is unstable: then all values since count as one level.
    unstable: Option<Unstable>,
}

impl KnownSeries {
    /// Says whether there are enough values to judge by.
    fn is_judged(&self) -> bool {
        let History { accepted, before, .. } = &self.history;
        !accepted.is_empty() && accepted.len() + before.len() >= FEWEST
    }

    /// Returns the entry and the commit of the first of so many newest values, the judged one included.
    fn first_of(&self, newest: usize, head: Option<&String>) -> (Option<EntryId>, Option<String>) {
        match (self.places.len() + 1).checked_sub(newest).and_then(|at| self.places.get(at)) {
            Some((entry, commit)) => (Some(*entry), commit.clone()),
            None => (self.itself, head.cloned()),
        }
    }
}

/// Judges the values of measurements that are what their benchmarks are about, and those that a rule names.
pub fn judge_by_history(
    measured: &[MeasuredSide<'_>],
    mut store: Option<&mut Store>,
    terms: &GateTerms,
    rules: &mut Rules,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut all = Vec::new();
    for MeasuredSide { record, entry } in measured {
        let known = match &mut store {
            Some(store) => Known::of(store, entry, terms)?,
            None => Known { is_changed: entry.dirty, ..Known::default() },
        };
        // Where it was added before, somebody may have said which commit it is of.
        let commit = known.itself.as_ref().and_then(|itself| itself.commit.as_ref());
        let of_commit = commit.or(entry.commit.as_ref()).map(|commit| commit.id.clone());
        let head = if known.is_changed { Some(CHANGED.to_owned()) } else { of_commit.clone() };
        let mut lacking = Vec::new();
        for point in &entry.points {
            let rule = rules.of(
                (&point.benchmark, &point.parameters),
                &point.metric,
                &point.unit,
                point.main,
            );
            if point.main || rule.names_metric {
                let series = known.series(point, of_commit.as_deref(), terms.last);
                let margin = rule.margin.or_else(|| margin_of(record, point));
                if series.history.accepted.len() + series.history.before.len() < needed(point) {
                    lacking.push(point);
                }
                let (point, head) = (point.clone(), head.clone());
                all.push(Against { point, rule, margin, known: series, head });
            }
        }
        if let Some(store) = store.as_mut().filter(|_| !lacking.is_empty()) {
            findings.notes.extend(elsewhere(store, entry, &lacking, &terms.branch)?);
        }
    }
    let tested = all.iter().filter(|one| !one.point.exact && one.known.is_judged()).count();
    let confidence = bonferroni_confidence(terms.confidence, tested);
    for Against { point, rule, margin, known, head } in all {
        let of = named(&point.benchmark, &point.metric, &point.unit, &point.parameters);
        let NewPoint { value, runs, exact, direction, .. } = point;
        let measured = Measured { value: Value { value, error: known.error }, runs, exact };
        let margin = margin.unwrap_or(MARGIN);
        let by = StandingTerms { direction, margin, confidence };
        let ByHistory { mut result, newest } =
            against_level(of.clone(), measured, &known.history, &by);
        let (entry, commit) = known.first_of(newest, head.as_ref());
        if let GateReason::StillWorse { since, .. } = &mut result.reason {
            *since = commit;
        }
        let unstable = known.unstable.as_ref();
        let is_beyond = |one: &Unstable| one.is_beyond(value, margin, direction);
        let is_worse = result.outcome == GateOutcome::Fail && unstable.is_some_and(is_beyond);
        if let Some(unstable) = unstable.filter(|_| !is_worse) {
            result.unsettle(unstable.why.clone());
        }
        if result.outcome == GateOutcome::Fail {
            let id = known.id.zip(entry);
            result.accept = id.map(|(series, entry)| ChangeId { series, entry });
        }
        let before = (known.places.len() + 1).saturating_sub(newest).min(known.accepted);
        let base = before.checked_sub(1).and_then(|at| known.places[at].1.clone());
        let base = base.filter(|id| Some(id) != head.as_ref());
        // What has a limit is decided by that until there is a history.
        let has_history = matches!(result.by, GateBy::History { missing: None, .. });
        if has_history || rule.limits.is_empty() {
            findings.results.push(GateResult { base, head, ..result });
        }
        judge_by_limits(value, &rule, &of, findings);
    }
    for one in measured.iter().flat_map(|one| cut_off(one.record)) {
        doubt(&one, rules, findings);
    }
    Ok(())
}

/// Returns how many values of its level a value needs.
fn needed(point: &NewPoint) -> usize {
    if point.exact { 1 } else { FEWEST }
}

/// What was cut off at its timeout may be too slow, and never good enough.
pub(super) fn doubt(cut_off: &CutOff, rules: &mut Rules, findings: &mut Findings) {
    let CutOff { benchmark, parameters, at_least, .. } = cut_off;
    let of = named(benchmark, metric::WALL_TIME, &Unit::Second, parameters);
    let is_of_it = |result: &GateResult| {
        cut_off.all.contains(&result.of.benchmark) && result.of.parameters == of.parameters
    };
    for result in findings.results.iter_mut().filter(|one| is_of_it(one)) {
        result.doubt(cut_off.reason());
    }
    if !cut_off.is_without_value() {
        return;
    }
    // It has no value that could be judged, but is longer than its timeout.
    let (by, reason) = (GateBy::CutOff, cut_off.reason());
    findings.results.push(GateResult::new(of.clone(), by, GateOutcome::Inconclusive, reason));
    if !cut_off.is_about_wall_time {
        return;
    }
    let rule = rules.of((benchmark, parameters), metric::WALL_TIME, &Unit::Second, true);
    // A lower bound may be beyond the largest value, and says nothing about the smallest.
    let beyond = |limit: &Limit| {
        let outcome = at_least.map(|least| against_limit(least, *limit).0);
        matches!(limit, Limit::Max(_)) && outcome == Some(GateOutcome::Fail)
    };
    let rule = Rule { limits: rule.limits.iter().copied().filter(beyond).collect(), ..rule };
    if let Some(least) = *at_least {
        judge_by_limits(least, &rule, &of, findings);
    }
}

/// Returns benchmark and metric of a series.
fn key_of(key: &SeriesKey) -> (String, String) {
    (key.benchmark.clone(), key.metric.clone())
}

/// What the history knows of the series of an entry.
#[derive(Default)]
struct Known {
    followed: Vec<Followed>,
    /// Where the series of each benchmark and metric are.
    places: HashMap<(String, String), Vec<usize>>,
    /// The entry itself, if it was added before.
    itself: Option<Entry>,
    /// Whether it is of a working tree with changes that no commit has.
    is_changed: bool,
    /// Other entries of its commit that are.
    changed: HashSet<EntryId>,
}

impl Known {
    fn of(store: &mut Store, entry: &NewEntry, terms: &GateTerms) -> Result<Self, StoreError> {
        let machine = fingerprint(&entry.facts, &store.split()?);
        let wanted: HashSet<(&str, &str)> =
            entry.points.iter().map(|one| (one.benchmark.as_str(), one.metric.as_str())).collect();
        let filter = SeriesFilter { branch: Some(terms.branch.clone()), ..SeriesFilter::default() };
        let mut series = store.series(&filter)?;
        series.retain(|one| {
            one.key.fingerprint == machine
                && wanted.contains(&(one.key.benchmark.as_str(), one.key.metric.as_str()))
        });
        let followed = follow(store, series, &terms.changes, false, terms.now)?;
        let by_benchmark = followed.iter().map(|one| key_of(&one.series.key)).zip(0..);
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        by_benchmark.for_each(|(key, at)| places.entry(key).or_default().push(at));
        let itself = itself(store, entry)?;
        let is_changed = itself.as_ref().map_or(entry.dirty, |itself| itself.dirty);
        let commit = itself.as_ref().map_or(&entry.commit, |itself| &itself.commit).as_ref();
        let changed = match commit {
            Some(commit) => changed(store, &commit.id, &terms.branch)?,
            None => HashSet::new(),
        };
        Ok(Self { followed, places, itself, is_changed, changed })
    }

    /// Returns what the series of a point knows. Values of its own commit are judged together with it and are no
    /// evidence for it, else what fails would pass when it is measured again; unless there is no other commit, as where
    /// one program is watched. With changes that no commit has it is another program, and a point of its own. Changes
    /// before the last `last` values count as accepted.
    fn series(&self, point: &NewPoint, commit: Option<&str>, last: Option<usize>) -> KnownSeries {
        let mut parameters = point.parameters.clone();
        parameters.sort();
        let places = self.places.get(&(point.benchmark.clone(), point.metric.clone()));
        let series = places.into_iter().flatten().map(|&at| &self.followed[at]);
        let followed = series.into_iter().find(|one| {
            let key = &one.series.key;
            key.unit == point.unit
                && key.direction == point.direction
                && key.parameters == parameters
        });
        let itself = self.itself.as_ref().map(|itself| itself.id);
        let commit = commit.filter(|_| !self.is_changed);
        let Some(followed) = followed else {
            return KnownSeries { itself, error: point.error, ..KnownSeries::default() };
        };
        let points = &followed.points;
        let known = points.iter().map(|one| (one.error, one.runs));
        let errors = errors(&known.chain([(point.error, point.runs)]).collect::<Vec<_>>());
        let first = last.map_or(0, |last| points.len().saturating_sub(last));
        let accepted = Accepted::of(followed, first);
        // What is exact is compared with the last value that passed: its changes are of no use.
        let unstable = if point.exact { None } else { accepted.unstable(followed) };
        let apart = accepted.apart(followed).filter(|_| !point.exact && unstable.is_none());
        let begin = accepted.indices().next().unwrap_or(0);
        let dismissed = accepted.dismissed;
        let is_own_level = accepted.indices().all(|at| itself == Some(points[at].entry));
        let mut before: Vec<usize> = accepted.before.iter().cloned().flatten().collect();
        before.drain(..before.len().saturating_sub(REACH));
        let accepted: Vec<usize> = if point.exact {
            (begin..points.len()).collect()
        } else if let Some(state) = unstable {
            (state.start..points.len()).collect()
        } else {
            accepted.indices().filter(|at| apart.is_none_or(|apart| *at < apart)).collect()
        };
        let apart: Vec<usize> = apart.map_or(Vec::new(), |apart| (apart..points.len()).collect());
        let is_kept = |at: &usize| itself != Some(points[*at].entry);
        let is_other = |at: &usize| {
            commit.is_none()
                || points[*at].commit.as_deref() != commit
                || self.changed.contains(&points[*at].entry)
        };
        let counts = |all: &[usize], is: &dyn Fn(&usize) -> bool| -> Vec<usize> {
            all.iter().copied().filter(|at| is_kept(at) && is(at)).collect()
        };
        let has_others = accepted.iter().chain(&apart).any(|at| is_kept(at) && is_other(at));
        let is_earlier = |at: &usize| !has_others || is_other(at);
        let accepted_counts = counts(&accepted, &is_earlier);
        let apart_counts = counts(&apart, &is_earlier);
        let every: Vec<usize> = accepted.iter().chain(&apart).copied().collect();
        let own = counts(&every, &|at| !is_earlier(at));
        let since = |index: usize| accepted_counts.iter().filter(move |at| **at >= index).count();
        let dismissed = dismissed.map_or(0, since);
        // Of an exact metric one value is its level; of others all that are still compared with what was before.
        let settled = match dismissed {
            0 => 0,
            values if point.exact => accepted_counts.len() - values + 1,
            values if values <= STILL_COMPARED => accepted_counts.len(),
            _ => 0,
        };
        let settled = settled.max(accepted_counts.len() - since(first));
        let values = |all: &[usize]| -> Vec<Value> {
            let value =
                |at: &usize| Value { value: points[*at].value, error: known_error(errors[*at]) };
            all.iter().map(value).collect()
        };
        let place =
            |at: &usize| (points[*at].entry, points[*at].commit.as_deref().map(str::to_owned));
        KnownSeries {
            id: Some(followed.series.id),
            places: accepted_counts.iter().chain(&apart_counts).chain(&own).map(place).collect(),
            accepted: accepted_counts.len(),
            itself,
            error: known_error(errors[points.len()]),
            unstable: unstable.map(|state| Unstable::of(followed, state, itself)),
            history: History {
                accepted: values(&accepted_counts),
                before: values(&counts(&before, &is_earlier)),
                apart: values(&apart_counts),
                own: values(&own),
                settled,
                dismissed,
                is_own_level,
            },
        }
    }
}

/// What is known of a series that is unstable.
struct Unstable {
    why: GateReason,
    /// Its worst level.
    level: f64,
    /// Its worst value.
    worst: f64,
}

impl Unstable {
    /// Of a series without the entry that is judged.
    fn of(followed: &Followed, state: &State, itself: Option<EntryId>) -> Self {
        let others = followed.points[state.start..].iter();
        let values = others.filter(|point| itself != Some(point.entry)).map(|point| point.value);
        let direction = followed.series.key.direction;
        let level = match direction {
            Direction::Lower => state.to,
            Direction::Higher => state.from,
        };
        let worst = worst_of(values, direction);
        Self { why: why_unstable(followed, state), level, worst }
    }

    /// Says whether a value is worse than all of them, and than the worst level by more than the margin.
    fn is_beyond(&self, value: f64, margin: f64, direction: Direction) -> bool {
        is_beyond_all(value, self.level, self.worst, margin, direction)
    }
}

/// Says why nothing can be decided about a series.
pub(super) fn why_unstable(followed: &Followed, state: &State) -> GateReason {
    let point = &followed.points[state.start];
    GateReason::Unstable {
        range: (state.from > 0.0).then(|| state.to / state.from - 1.0),
        since: point.commit.as_deref().map(str::to_owned),
        entry: point.entry.0,
    }
}

/// Returns a standard error; nothing where neither the value nor the others of its series tell one.
fn known_error(error: f64) -> Option<f64> {
    Some(error).filter(|error| *error > 0.0)
}

/// Finds the entries of a commit that were measured with changes that no commit has.
fn changed(store: &mut Store, commit: &str, branch: &str) -> Result<HashSet<EntryId>, StoreError> {
    let (commit, branch) = (Some(commit.to_owned()), Some(branch.to_owned()));
    let entries = store.entries(&EntryFilter { commit, branch, ..EntryFilter::default() })?;
    Ok(entries.into_iter().filter(|entry| entry.dirty).map(|entry| entry.id).collect())
}

/// Finds the entry in the history, if it was added before it is judged: a value is no evidence for itself. What becalm
/// measured is found under whatever commit it was added, and a file of another tool under that which it is judged as.
fn itself(store: &mut Store, entry: &NewEntry) -> Result<Option<Entry>, StoreError> {
    let filter = EntryFilter { content: Some(entry.content.clone()), ..EntryFilter::default() };
    Ok(store.entries(&filter)?.pop())
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{followed, noise, open_and_unstable};
    use super::*;

    /// What a history of these values knows.
    fn known(values: &[f64]) -> Known {
        let followed = vec![followed(values, &HashMap::new())];
        let places = HashMap::from([(key_of(&followed[0].series.key), vec![0])]);
        Known { followed, places, ..Known::default() }
    }

    fn point(value: f64, error: Option<f64>, runs: u32) -> NewPoint {
        NewPoint {
            benchmark: "a".to_owned(),
            metric: "t".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            parameters: Vec::new(),
            main: true,
            exact: false,
            value,
            error,
            runs,
        }
    }

    fn outcome(known: &KnownSeries, point: &NewPoint, margin: f64) -> GateOutcome {
        let of = named(&point.benchmark, &point.metric, &point.unit, &[]);
        let value = Value { value: point.value, error: known.error };
        let measured = Measured { value, runs: point.runs, exact: false };
        let terms = StandingTerms { direction: Direction::Lower, margin, confidence: 0.95 };
        against_level(of, measured, &known.history, &terms).result.outcome
    }

    #[test]
    fn a_value_is_judged_by_the_level_before_an_open_regression_that_goes_back_and_forth() {
        let history = known(&open_and_unstable(190));
        assert!(history.followed[0].unstable().is_some());
        for (value, expected) in [(121.0, GateOutcome::Fail), (101.0, GateOutcome::Pass)] {
            let point = point(value, None, 1);
            let series = history.series(&point, Some("new"), None);
            assert!(series.unstable.is_none());
            assert_eq!((series.accepted, outcome(&series, &point, 0.05)), (60, expected));
        }
    }

    #[test]
    fn a_working_tree_with_changes_is_not_the_commit_that_it_is_based_on() {
        let values: Vec<f64> = (0..40).map(|i| 100.0 + noise(i)).collect();
        let mut history = known(&values);
        let counts = |history: &Known| {
            let series = history.series(&point(101.0, None, 1), Some("c39"), None);
            (series.history.accepted.len(), series.history.own.len())
        };
        assert_eq!(counts(&history), (39, 1));
        history.is_changed = true;
        assert_eq!(counts(&history), (40, 0));
        // Nor the other way round.
        history.is_changed = false;
        history.changed = HashSet::from([EntryId(40)]);
        assert_eq!(counts(&history), (40, 0));
    }

    #[test]
    fn a_value_of_one_run_is_less_certain_than_those_of_more() {
        let values: Vec<f64> = (0..60).map(|i| 100.0 + noise(i)).collect();
        let mut history = known(&values);
        for point in &mut history.followed[0].points {
            (point.error, point.runs) = (Some(0.5), 16);
        }
        let judge = |point: &NewPoint| {
            let series = history.series(point, Some("new"), None);
            (series.error, outcome(&series, point, 0.04))
        };
        assert_eq!(judge(&point(102.0, Some(0.5), 16)), (Some(0.5), GateOutcome::Pass));
        assert_eq!(judge(&point(102.0, None, 1)), (Some(2.0), GateOutcome::Inconclusive));
    }
}
