//! The changes of level of a history, and its newest values.

use std::collections::{BTreeSet, HashMap};

use becalm_model::gate::{GateBy, GateOutcome, GateResult, GateSeries};
use becalm_model::history::{
    ChangeId, ChangeState, Decision, Point, Review, SeriesKey, StoredChange,
};
use becalm_model::wire::{SuiteGateChanges, read_document};
use becalm_model::{GateNote, GateReason, RatioInterval, Unit};
use becalm_stats::center::median_of;
use becalm_stats::changes::{self, Shift, State, StateKind};
use becalm_store::{EntryFilter, SeriesFilter, Store};

use super::accepted::{Accepted, CONFIDENCE, REACH};
use super::comparison::{Loss, Worse};
use super::history::{doubt, why_unstable};
use super::level::{ByHistory, History, Measured, against_level};
use super::rules::Rules;
use super::standing::{StandingTerms, Value};
use super::{Findings, GateError, GateTerms, MARGIN, judge_by_limits, named};
use crate::cut_off::{CutOff, cut_off};
use crate::few::{Unchanged, too_few};
use crate::follow::{Followed, follow};

/// Judges the present level of each series by the accepted one, if it got worse since, and the last value by the limits;
/// doubts what the newest commit has no value of. What is found is kept where `keep` is set.
pub fn judge_changes(
    store: &mut Store,
    keep: bool,
    terms: &GateTerms,
    rules: &mut Rules,
    findings: &mut Findings,
) -> Result<(), GateError> {
    let branch = &terms.branch;
    let filter = SeriesFilter { branch: Some(branch.clone()), ..SeriesFilter::default() };
    let mut series = store.series(&filter)?;
    if series.is_empty() {
        return Err(nothing_of(branch, store));
    }
    series.retain(|one| {
        let key = &one.key;
        one.main
            || rules
                .of((&key.benchmark, &key.parameters), &key.metric, &key.unit, false)
                .names_metric
    });
    let all = follow(store, series, &terms.changes, keep, terms.now)?;
    let mut pending = 0;
    let ends = ends(&all);
    for one in &all {
        // Where the same was measured on another machine since, that series goes on where this one ends.
        let is_newest = end(one) == ends.get(&measured(one)).copied();
        pending += usize::from(judge_one(one, is_newest, terms, rules, findings));
    }
    if pending > 0 {
        findings.notes.push(GateNote::PendingPass { changes: pending }.into());
    }
    for cut_off in without_value(store, branch, &all)? {
        doubt(&cut_off, rules, findings);
    }
    let (branch, series) =
        (branch.clone(), all.iter().filter(|one| !one.points.is_empty()).count());
    findings.notes.push(match series {
        0 => GateNote::NothingCounts { branch }.into(),
        _ => GateNote::LookedAt { series, branch }.into(),
    });
    // An exact series needs no change that is confirmed.
    let unchanged = all.iter().filter(|one| !one.points.is_empty() && !one.series.exact);
    let unchanged = unchanged.filter(|one| one.changes.is_empty());
    let few = too_few(unchanged.map(|one| {
        let SeriesKey { benchmark, metric, .. } = &one.series.key;
        Unchanged { values: one.points.len(), rules: terms.changes.rules(benchmark, metric) }
    }));
    findings.notes.extend(few.map(|few| GateNote::TooFewValues { few, of: series }.into()));
    Ok(())
}

/// Returns what the newest commit of a branch has no value of, because its runs were cut off at the timeout. No series
/// tells of that. It is over with a run that has a value, and with a newer commit of which it is not measured.
fn without_value(
    store: &mut Store,
    branch: &str,
    all: &[Followed],
) -> Result<Vec<CutOff>, GateError> {
    let of_branch = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
    let last = EntryFilter { limit: Some(1), ..of_branch.clone() };
    let Some(newest) = store.entries(&last)?.pop() else { return Ok(Vec::new()) };
    let of_commit = EntryFilter { since: Some(newest.at()), ..of_branch };
    let mut found: Vec<CutOff> = Vec::new();
    for entry in store.entries(&of_commit)?.iter().rev() {
        let Some(text) = store.document(entry.id)? else { continue };
        let record =
            read_document(&text).map_err(|source| GateError::Record { entry: entry.id, source })?;
        let has_later_value = |one: &CutOff| {
            let is_later = |points: &[Point]| {
                points.last().is_some_and(|last| (last.at, last.entry) > (entry.at(), entry.id))
            };
            all.iter().any(|other| one.has(&other.series.key) && is_later(&other.points))
        };
        let is_new = |one: &CutOff| found.iter().all(|known| known.name() != one.name());
        let more: Vec<CutOff> = cut_off(&record)
            .into_iter()
            .filter(|one| one.is_without_value() && !has_later_value(one) && is_new(one))
            .collect();
        found.extend(more);
    }
    Ok(found)
}

/// Says that there is nothing to judge.
fn nothing_of(branch: &str, store: &mut Store) -> GateError {
    let all = match store.series(&SeriesFilter::default()) {
        Ok(all) => all,
        Err(error) => return error.into(),
    };
    let branches: BTreeSet<String> = all.into_iter().map(|one| one.key.branch).collect();
    let (branch, branches) = (branch.to_owned(), branches.into_iter().collect());
    GateError::NoSeries { branch, branches }
}

/// What is measured, on whatever machine.
type What<'a> = (&'a str, &'a str, &'a Unit, &'a [(String, String)]);

fn measured(one: &Followed) -> What<'_> {
    let key = &one.series.key;
    (&key.benchmark, &key.metric, &key.unit, &key.parameters)
}

/// Returns where a series stands. Machines that measure the same commits side by side stand at the same one.
fn end(one: &Followed) -> Option<f64> {
    one.points.last().map(|last| last.at)
}

/// Returns where the newest series of each thing that is measured stands.
fn ends(all: &[Followed]) -> HashMap<What<'_>, f64> {
    let mut ends = HashMap::new();
    for one in all {
        let Some(end) = end(one) else { continue };
        let last = ends.entry(measured(one)).or_insert(end);
        *last = last.max(end);
    }
    ends
}

/// `is_newest` says whether the series has values of the latest machine that has any; limits are for that one. Returns
/// whether a change is pending that the rule lets pass.
fn judge_one(
    followed: &Followed,
    is_newest: bool,
    terms: &GateTerms,
    rules: &mut Rules,
    findings: &mut Findings,
) -> bool {
    let key = &followed.series.key;
    let rule =
        rules.of((&key.benchmark, &key.parameters), &key.metric, &key.unit, followed.series.main);
    let of = named(&key.benchmark, &key.metric, &key.unit, &key.parameters);
    let first = terms.last.map_or(0, |last| followed.points.len().saturating_sub(last));
    let accepted = Accepted::of(followed, first);
    // Without a margin any change that was found is one.
    let margin = rule.margin.unwrap_or(0.0);
    let mut pending_passes = false;
    if rule.changes != SuiteGateChanges::None {
        let unstable = followed.unstable();
        // What an unstable series consists of is not open.
        let is_open = accepted.unstable(followed).is_none();
        let (mut fails, mut open) = (false, None);
        if let Some(at) = accepted.open.filter(|_| is_open) {
            let (_, stored) = &followed.changes[at];
            let of_size = terms.changes.size();
            let size = still(followed, &accepted, at, of_size).unwrap_or_else(|| Size::of(stored));
            let result = judged(followed, at, size, margin, &of);
            fails = result.outcome == GateOutcome::Fail;
            open = Some(result);
        }
        if let Some(state) = unstable.filter(|_| !fails) {
            findings.results.push(judged_unstable(followed, state, margin, &of));
        }
        let margin_of_exact = rule.margin.unwrap_or(MARGIN);
        // Beyond a change that is within the margin it may creep on.
        let exact = Some(followed).filter(|_| !fails && unstable.is_none());
        let exact = exact.and_then(|one| judged_exact(one, &accepted, first, margin_of_exact, &of));
        let is_pending = unstable.is_none() && exact.is_none();
        findings.results.extend(exact.or(open));
        if let Some(at) = accepted.pending.filter(|_| is_pending) {
            let (_, stored) = &followed.changes[at];
            let result = judged(followed, at, Size::of(stored), margin, &of);
            if rule.changes == SuiteGateChanges::Pending {
                findings.results.push(result);
            } else {
                pending_passes = result.outcome != GateOutcome::Pass;
            }
        }
    }
    if let Some(last) = followed.points.last().filter(|_| is_newest) {
        judge_by_limits(last.value, &rule, &of, findings);
    }
    pending_passes
}

/// A level against the one before.
#[derive(Debug, Clone, Copy)]
struct Size {
    before: f64,
    after: f64,
    ratio: RatioInterval,
}

impl Size {
    /// Returns that of a change as it was found.
    fn of(stored: &StoredChange) -> Self {
        Self {
            before: stored.before,
            after: stored.after,
            ratio: RatioInterval {
                estimate: stored.ratio,
                low: stored.ratio_low,
                high: stored.ratio_high,
            },
        }
    }
}

/// Returns how the present level stands against the accepted one: since the change it may have got worse still, or
/// somewhat better.
fn still(followed: &Followed, accepted: &Accepted, open: usize, of: changes::Size) -> Option<Size> {
    let is_level = |stored: &StoredChange| {
        let is_dismissed =
            matches!(&stored.review, Some(Review { decision: Decision::Dismissed { .. }, .. }));
        stored.state == ChangeState::Confirmed && !is_dismissed
    };
    let levels = followed.changes.iter().filter(|(_, stored)| is_level(stored));
    let start = levels.map(|(change, _)| change.index).max()?;
    let end = match accepted.pending {
        Some(pending) => followed.changes[pending].0.index,
        None => followed.points.len(),
    };
    let value = |at: usize| followed.points[at].value;
    // A change that was dismissed may be one all the same: it is the level just before that counts.
    let earlier = followed.changes.iter().filter(|(change, stored)| {
        stored.state == ChangeState::Confirmed && change.index < followed.changes[open].0.index
    });
    let from = earlier.map(|(change, _)| change.index).max().unwrap_or(0);
    let mut before: Vec<f64> = accepted.indices().filter(|at| *at >= from).map(value).collect();
    before.drain(..before.len().saturating_sub(REACH));
    let mut after: Vec<f64> = (start..end).map(value).collect();
    after.drain(..after.len().saturating_sub(REACH));
    let correlation = followed.changes[open].0.correlation;
    let Shift { ratio, low, high } = changes::size(&before, &after, correlation, CONFIDENCE, of)?;
    Some(Size {
        before: median_of(&mut before),
        after: median_of(&mut after),
        ratio: RatioInterval { estimate: ratio, low, high },
    })
}

/// Judges a series that is unstable: it passes if its levels are all within the margin of each other.
fn judged_unstable(followed: &Followed, state: &State, margin: f64, of: &GateSeries) -> GateResult {
    let reason = why_unstable(followed, state);
    let is_within =
        matches!(reason, GateReason::Unstable { range: Some(range), .. } if range <= margin);
    let outcome = if is_within { GateOutcome::Pass } else { GateOutcome::Inconclusive };
    let parts = &followed.changes[state.parts()];
    let entry = parts.last().map_or(followed.points[state.end].entry, |(_, last)| last.entry);
    let id = ChangeId { series: followed.series.id, entry };
    let last = followed.points.last();
    let head = last.and_then(|last| last.commit.as_deref().map(str::to_owned));
    GateResult {
        value: last.map(|last| last.value),
        margin: Some(margin),
        head,
        ..GateResult::new(of.clone(), GateBy::Change(id), outcome, reason)
    }
}

/// Judges the last value of an exact metric by the best one of the accepted level, if it fails: what creeps up without any
/// noise is no change of level. Changes before the point `first` are accepted.
fn judged_exact(
    followed: &Followed,
    accepted: &Accepted,
    first: usize,
    margin: f64,
    of: &GateSeries,
) -> Option<GateResult> {
    let points = &followed.points;
    let begin = accepted.indices().next()?.max(accepted.dismissed.unwrap_or(0));
    // Of what is accepted the last value is what others are compared with.
    let begin = begin.max(first.saturating_sub(1));
    let (last, earlier) = points.get(begin..)?.split_last()?;
    if !followed.series.exact || earlier.is_empty() {
        return None;
    }
    let value = |point: &Point| Value { value: point.value, error: None };
    let history = History { accepted: earlier.iter().map(value).collect(), ..History::default() };
    let measured = Measured { value: value(last), runs: last.runs, exact: true };
    // Where nothing is estimated any confidence is the same.
    let terms =
        StandingTerms { direction: followed.series.key.direction, margin, confidence: CONFIDENCE };
    let ByHistory { mut result, newest } = against_level(of.clone(), measured, &history, &terms);
    if result.outcome != GateOutcome::Fail {
        return None;
    }
    let commit = |place: usize| points[place].commit.as_deref().map(str::to_owned);
    let worse = points.len() - newest;
    if let GateReason::StillWorse { since, .. } = &mut result.reason {
        *since = commit(worse);
    }
    let accept = ChangeId { series: followed.series.id, entry: points[worse].entry };
    let base = worse.checked_sub(1).and_then(commit);
    Some(GateResult { accept: Some(accept), base, head: commit(points.len() - 1), ..result })
}

/// Judges a change by the size that it has now.
fn judged(followed: &Followed, at: usize, size: Size, margin: f64, of: &GateSeries) -> GateResult {
    let (change, stored) = &followed.changes[at];
    let known = size.ratio.estimate.is_finite();
    let outcome = if known && margin > 0.0 {
        let worse = Worse::of(&size.ratio, followed.series.key.direction, Loss::OfOld);
        worse.outcome_of_level(margin)
    } else {
        GateOutcome::Fail
    };
    let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
    // A trend has the id of its last change: with that all of it is accepted.
    let trend = followed.state_of(at).filter(|state| state.kind == StateKind::Trend);
    let whole = trend.map_or(at, |trend| trend.parts().end - 1);
    let entry = followed.changes[whole].1.entry;
    let id = ChangeId { series: followed.series.id, entry };
    let reason = GateReason::Change {
        confirmed: stored.state == ChangeState::Confirmed,
        commit: commit(change.index),
        entry: stored.entry.0,
    };
    GateResult {
        value: Some(size.after),
        reference: Some(size.before),
        ratio: Some(size.ratio).filter(|_| known),
        margin: Some(margin),
        base: change.earliest.checked_sub(1).and_then(commit),
        head: commit(change.latest),
        ..GateResult::new(of.clone(), GateBy::Change(id), outcome, reason)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use becalm_model::wire::SuiteGate;

    use super::super::simulated::{followed, noise, open_and_unstable};
    use super::*;
    use crate::follow::ChangeTerms;

    /// Judges a history of these values without a file.
    fn outcome(values: &[f64], reviews: &HashMap<usize, Review>) -> GateOutcome {
        outcome_of(&followed(values, reviews))
    }

    fn outcome_of(followed: &Followed) -> GateOutcome {
        let terms = GateTerms {
            branch: "main".to_owned(),
            confidence: 0.95,
            last: None,
            changes: ChangeTerms::default(),
            now: 0.0,
        };
        let mut findings = Findings::default();
        let mut rules = Rules::new(SuiteGate::default(), Some(0.05));
        let _ = judge_one(followed, true, &terms, &mut rules, &mut findings);
        findings.results.iter().map(|one| one.outcome).max().unwrap_or(GateOutcome::Pass)
    }

    #[test]
    fn an_open_regression_fails_while_its_level_goes_back_and_forth() {
        let mut values = open_and_unstable(190);
        let open = HashMap::new();
        let state = followed(&values, &open).unstable().copied();
        assert!(state.is_some_and(|state| state.first > 0), "{state:?}");
        for end in (70..=190).step_by(5) {
            assert_eq!(outcome(&values[..end], &open), GateOutcome::Fail, "{end}");
        }
        // Until somebody accepts it, or the old level is back.
        let review = Review {
            decision: Decision::Acknowledged { reason: None },
            by: "ada".to_owned(),
            time: 0.0,
        };
        let accepted = HashMap::from([(60, review)]);
        assert_eq!(outcome(&values, &accepted), GateOutcome::Pass);
        values.extend((190..215).map(|i| noise(i) + 100.0));
        assert_eq!(outcome(&values, &open), GateOutcome::Pass);
    }

    #[test]
    fn an_exact_metric_that_creeps_up_fails_until_it_is_accepted() {
        let values: Vec<f64> = (0..30).map(|i| 1000.0 * 1.005_f64.powi(i)).collect();
        let exact = |end: usize, accepted: Option<usize>| {
            let review = Review {
                decision: Decision::Acknowledged { reason: None },
                by: "ada".to_owned(),
                time: 0.0,
            };
            let reviews = accepted.map(|at| (at, review)).into_iter().collect();
            let mut followed = followed(&values[..end], &reviews);
            followed.series.exact = true;
            outcome_of(&followed)
        };
        let outcomes: Vec<GateOutcome> = (1..=30).map(|end| exact(end, None)).collect();
        // Ten steps are 5.1 %.
        assert_eq!(outcomes[..10], [GateOutcome::Pass; 10]);
        assert_eq!(outcomes[10..], [GateOutcome::Fail; 20]);
        assert_eq!(exact(20, Some(10)), GateOutcome::Pass);
        assert_eq!(exact(21, Some(10)), GateOutcome::Fail);
    }

    #[test]
    fn a_trend_is_accepted_as_a_whole() {
        let slope = |i: u32| ((f64::from(i) - 100.0) / 150.0).clamp(0.0, 1.0) * 12.0;
        // Some noise hides all changes of a slope but one.
        let (followed, parts) = (0..50)
            .find_map(|seed| {
                let mut rng = becalm_stats::Rng::new(seed);
                let values: Vec<f64> = (0..300).map(|i| 100.0 + slope(i) + rng.normal()).collect();
                let followed = followed(&values, &HashMap::new());
                let is_trend = |state: &&State| state.kind == StateKind::Trend && state.count > 1;
                let parts = followed.states.iter().find(is_trend)?.parts();
                Some((followed, parts))
            })
            .expect("a trend");
        let open = Accepted::of(&followed, 0).open.expect("it got worse");
        let size = Size::of(&followed.changes[open].1);
        let of = named("a", "t", &Unit::Second, &[]);
        let last = followed.changes[parts.end - 1].1.entry;
        let expected = ChangeId { series: followed.series.id, entry: last };
        assert_eq!(judged(&followed, open, size, 0.05, &of).by, GateBy::Change(expected));
    }
}
