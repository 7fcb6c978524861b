//! A measurement of the new side alone, by the history of its series.

use std::collections::{BTreeSet, HashMap, HashSet};

use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::history::{ChangeState, Decision, Entry, Point, Review, SeriesKey, StoredChange};
use becalm_model::{GateNote, Note, Record, Unit, metric};
use becalm_stats::multiplicity::bonferroni_confidence;
use becalm_stats::prediction::FEWEST;
use becalm_store::{EntryFilter, NewEntry, NewPoint, SeriesFilter, Store, StoreError, fingerprint};

use super::level::{Level, against_level, against_limit};
use super::rules::{Limit, Rule, Rules};
use super::{Findings, GateTerms, MARGIN, judge_by_limits, named};
use crate::cut_off::{CutOff, cut_off};
use crate::follow::{Followed, follow};
use crate::points::margin_of;

/// A record of one side, as the entry that it would be.
#[derive(Debug)]
pub struct MeasuredSide<'a> {
    /// The record.
    pub record: &'a Record,
    /// The entry.
    pub entry: NewEntry,
}

/// A value with the earlier ones of its level.
struct Against {
    point: NewPoint,
    rule: Rule,
    margin: Option<f64>,
    level: KnownLevel,
    head: Option<String>,
}

/// The values since the last change of a series.
#[derive(Default)]
struct KnownLevel {
    points: Vec<Point>,
    /// Where among them a change may begin that is not confirmed yet.
    pending: Option<usize>,
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
            None => Known::default(),
        };
        // Where it was added before, somebody may have said which commit it is of.
        let commit = known.itself.as_ref().and_then(|itself| itself.commit.as_ref());
        let head = commit.or(entry.commit.as_ref()).map(|commit| commit.id.clone());
        for point in &entry.points {
            let rule = rules.of(
                (&point.benchmark, &point.parameters),
                &point.metric,
                &point.unit,
                point.main,
            );
            if point.main || rule.names_metric {
                let level = known.level(point, head.as_deref());
                let margin = rule.margin.or_else(|| margin_of(record, point));
                all.push(Against { point: point.clone(), rule, margin, level, head: head.clone() });
            }
        }
        findings.notes.extend(known.elsewhere(entry, &terms.branch));
    }
    let tested =
        all.iter().filter(|one| !one.point.exact && one.level.points.len() >= FEWEST).count();
    let confidence = bonferroni_confidence(terms.confidence, tested);
    for Against { point, rule, margin, level, head } in all {
        let of = named(&point.benchmark, &point.metric, &point.unit, &point.parameters);
        let values: Vec<f64> = level.points.iter().map(|point| point.value).collect();
        let margin = margin.unwrap_or(MARGIN);
        let NewPoint { value, exact, direction, .. } = point;
        let earlier = Level { values: &values, pending: level.pending };
        let result =
            against_level(of.clone(), value, earlier, exact, direction, margin, confidence);
        let base = level.points.last().and_then(|last| last.commit.as_deref().map(str::to_owned));
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
    /// Series of the same branch on other machines.
    others: usize,
    /// The branches that have the benchmarks, where the one asked for has none of them.
    branches: BTreeSet<String>,
    /// The entry itself, if it was added before.
    itself: Option<Entry>,
}

impl Known {
    fn of(store: &mut Store, entry: &NewEntry, terms: &GateTerms) -> Result<Self, StoreError> {
        let machine = fingerprint(&entry.facts, &store.split()?);
        let wanted: HashSet<(&str, &str)> =
            entry.points.iter().map(|one| (one.benchmark.as_str(), one.metric.as_str())).collect();
        let fits = |key: &SeriesKey| wanted.contains(&(&key.benchmark, &key.metric));
        let every = store.series(&SeriesFilter::default())?.into_iter();
        let (all, elsewhere): (Vec<_>, Vec<_>) =
            every.filter(|one| fits(&one.key)).partition(|one| one.key.branch == terms.branch);
        let count = all.len();
        let branches = if count > 0 { Vec::new() } else { elsewhere };
        let branches = branches.into_iter().map(|one| one.key.branch).collect();
        let here: Vec<_> = all.into_iter().filter(|one| one.key.fingerprint == machine).collect();
        let others = count - here.len();
        let followed = follow(store, here, &terms.changes, false, terms.now)?;
        let by_benchmark = followed.iter().map(|one| key_of(&one.series.key)).zip(0..);
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        by_benchmark.for_each(|(key, at)| places.entry(key).or_default().push(at));
        Ok(Self { followed, places, others, branches, itself: itself(store, entry)? })
    }

    /// Returns the values of the present level of the series of a point, since its last change. Those of its own
    /// commit are no evidence for it, else what fails would pass when it is measured again; unless there is no other
    /// commit, as where one program is watched.
    fn level(&self, point: &NewPoint, commit: Option<&str>) -> KnownLevel {
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
        let Some(followed) = followed else { return KnownLevel::default() };
        // Where somebody decided, that counts: what is acknowledged is a new level, what is dismissed is none.
        let begins_one = |one: &StoredChange| match &one.review {
            Some(Review { decision: Decision::Acknowledged, .. }) => true,
            Some(Review { decision: Decision::Dismissed { .. }, .. }) => false,
            None => one.state == ChangeState::Confirmed,
        };
        let starts = followed.changes.iter().filter(|(_, one)| begins_one(one));
        let start = starts.map(|(change, _)| change.index).max().unwrap_or(0);
        let pending = followed.changes.iter().filter(|(change, one)| {
            change.index > start && one.review.is_none() && one.state == ChangeState::Pending
        });
        let pending = pending.map(|(change, _)| change.index).min();
        let is_kept =
            |one: &Point| self.itself.as_ref().is_none_or(|itself| itself.id != one.entry);
        let is_other = |one: &Point| commit.is_none() || one.commit.as_deref() != commit;
        let points = &followed.points[start..];
        let has_others = points.iter().any(|one| is_kept(one) && is_other(one));
        let counts = |one: &Point| is_kept(one) && (!has_others || is_other(one));
        KnownLevel {
            points: points.iter().filter(|one| counts(one)).cloned().collect(),
            pending: pending.map(|index| {
                followed.points[start..index].iter().filter(|one| counts(one)).count()
            }),
        }
    }

    /// Says that the history is of other machines or branches, where it has nothing of these.
    fn elsewhere(&self, entry: &NewEntry, branch: &str) -> Option<Note> {
        if !self.followed.is_empty() || entry.points.is_empty() {
            None
        } else if self.others > 0 {
            Some(GateNote::OtherMachinesOnly.into())
        } else {
            let (branch, branches) = (branch.to_owned(), self.branches.iter().cloned().collect());
            (!self.branches.is_empty())
                .then(|| GateNote::OtherBranchesOnly { branch, branches }.into())
        }
    }
}

/// Finds the entry in the history, if it was added before it is judged: a value is no evidence for itself. What becalm
/// measured is found under whatever commit it was added, and a file of another tool under that which it is judged as.
fn itself(store: &mut Store, entry: &NewEntry) -> Result<Option<Entry>, StoreError> {
    let filter = EntryFilter { content: Some(entry.content.clone()), ..EntryFilter::default() };
    Ok(store.entries(&filter)?.pop())
}
