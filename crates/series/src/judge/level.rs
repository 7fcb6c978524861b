//! A value by a limit, and by the accepted level of its series.

use becalm_model::gate::{GateBy, GateOutcome, GateResult, GateSeries};
use becalm_model::{Direction, Earlier, GateReason, RatioInterval};
use becalm_stats::Interval;
use becalm_stats::center::median_of;
use becalm_stats::normal;
use becalm_stats::prediction::FEWEST;

use super::comparison::{Extent, Loss, PROVED, Worse, is_beyond_all, worst_of};
use super::rules::Limit;
use super::standing::{Found, Standing, StandingTerms, Value};

/// Judges a value by a limit, and says what the limit is.
pub fn against_limit(value: f64, limit: Limit) -> (GateOutcome, f64) {
    let (beyond, limit) = match limit {
        Limit::Max(limit) => (value > limit, limit),
        Limit::Min(limit) => (value < limit, limit),
    };
    (if beyond { GateOutcome::Fail } else { GateOutcome::Pass }, limit)
}

/// What a series knows, in time order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The values of the accepted level.
    pub accepted: Vec<Value>,
    /// Those of the level before, if somebody accepted this one: as long as it has few values, they tell its noise.
    pub before: Vec<Value>,
    /// Those after a change for the worse that nobody accepted.
    pub apart: Vec<Value>,
    /// Those of the commit that is judged.
    pub own: Vec<Value>,
    /// How many of the first accepted values are not judged again: somebody decided about them.
    pub settled: usize,
    /// How many of the last accepted values came after a change for the worse that somebody dismissed.
    pub dismissed: usize,
    /// Whether the value that is judged is the whole level, because somebody accepted it.
    pub is_own_level: bool,
}

/// A value to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The value.
    pub value: Value,
    /// Over how many runs.
    pub runs: u32,
    /// Whether repeated runs of the same program give exactly the same value.
    pub exact: bool,
}

/// Last values of a series that are judged again, to know whether one of them failed.
pub(super) const AGAIN: usize = 64;

/// More values or runs than these are not asked for.
const MOST: f64 = 10_000.0;

/// What a value came to by its history.
#[derive(Debug, Clone, PartialEq)]
pub struct ByHistory {
    /// The result.
    pub result: GateResult,
    /// How many of the newest values it is about, the one that is judged included.
    pub newest: usize,
}

/// Judges a new value by the accepted level. Its interval decides: within the margin it passes, and it fails if it is beyond
/// rather than within; otherwise more values are needed. An exact metric is compared with the best value of the level.
pub fn against_level(
    of: GateSeries,
    measured: Measured,
    history: &History,
    terms: &StandingTerms,
) -> ByHistory {
    let Measured { value, runs, exact } = measured;
    let needed = if exact { 1 } else { FEWEST };
    let borrowed = if exact { None } else { borrowed(history) };
    let history = borrowed.as_ref().map_or(history, |(history, _)| history);
    let has = history.accepted.len();
    let missing = needed.checked_sub(has).filter(|missing| *missing > 0);
    let missing = missing.filter(|_| !history.is_own_level || history.before.is_empty());
    let by = GateBy::History { earlier: history.accepted.len(), missing };
    let mut judged = GateResult {
        value: Some(value.value),
        margin: Some(terms.margin),
        ..GateResult::new(of, by, GateOutcome::Inconclusive, GateReason::NoNumbers)
    };
    if let Some(missing) = missing {
        judged.reason = GateReason::TooFew { missing };
        return ByHistory { result: judged, newest: 1 };
    }
    if history.is_own_level && has == 0 {
        judged.reference = Some(value.value);
        (judged.outcome, judged.reason) = (GateOutcome::Pass, GateReason::Accepted);
        return ByHistory { result: judged, newest: 1 };
    }
    if exact {
        return exactly(judged, value.value, history, terms);
    }
    let few = borrowed.as_ref().map(|(_, few)| *few);
    let (mut standing, group) = match few {
        Some(_) => (Standing::new(*terms, history.accepted.clone()), vec![value]),
        None => read(history, value, terms),
    };
    let Some(Interval { estimate, low, high }) = standing.predicted() else {
        return ByHistory { result: judged, newest: 1 };
    };
    judged.reference = Some(estimate);
    if let Some(few) = few {
        let z = normal::quantile(f64::midpoint(1.0, terms.confidence));
        let deviation = (high - low) / 2.0 / z;
        // The variance of a median of so many values.
        let variance = std::f64::consts::FRAC_PI_2 * deviation.powi(2) / few as f64;
        standing = standing.with_level_variance(variance);
        judged.by = GateBy::History { earlier: few, missing: None };
    }
    let mut found = standing.take(&group, !history.apart.is_empty());
    if found.outcome == GateOutcome::Fail && !is_beyond_dismissed(history, value.value, terms) {
        found.outcome = GateOutcome::Inconclusive;
    }
    let Some(ratio) = found.ratio else {
        if found.outcome == GateOutcome::Fail {
            judged.outcome = GateOutcome::Fail;
            judged.reason =
                GateReason::StillWorse { at_least: 0.0, newest: found.newest, since: None };
            return ByHistory { result: judged, newest: found.newest };
        }
        around_zero(&mut judged, value.value, low, high, terms.direction);
        return ByHistory { result: judged, newest: group.len() };
    };
    let worse = Worse::of(&ratio, terms.direction, Loss::OfOld);
    judged.reason = match found.outcome {
        GateOutcome::Fail if found.is_held => {
            let (at_least, newest) = (worse.low, found.newest);
            GateReason::StillWorse { at_least, newest, since: None }
        }
        GateOutcome::Fail if worse.low <= terms.margin => {
            let (about, at_least) = (worse.estimate, worse.low);
            GateReason::RatherBeyond { about, at_least, newest: found.newest }
        }
        GateOutcome::Fail => {
            GateReason::WorseThanLevel { at_least: worse.low, newest: found.newest }
        }
        GateOutcome::Pass => GateReason::OfItsLevel { resolves: worse.high - worse.estimate },
        GateOutcome::Inconclusive => {
            let settled = Settled::of(worse, found, standing.accepted(), value, runs, terms);
            GateReason::Unresolved {
                at_most: Some(worse.high).filter(|high| high.is_finite()),
                newest: found.newest,
                values: settled.values,
                runs: settled.runs,
            }
        }
    };
    judged.outcome = found.outcome;
    judged.ratio = Some(ratio);
    judged.resolves = Some(match terms.direction {
        Direction::Lower => high / estimate - 1.0,
        Direction::Higher => 1.0 - low.max(0.0) / estimate,
    });
    ByHistory { result: judged, newest: found.newest }
}

/// Takes the noise of a level of few values from the level before it: its values, moved to this one. Returns the history
/// with these, and how many values the level has of its own.
fn borrowed(history: &History) -> Option<(History, usize)> {
    let median =
        |all: &[Value]| median_of(&mut all.iter().map(|one| one.value).collect::<Vec<_>>());
    let few = history.accepted.len();
    if few == 0 || few >= FEWEST || few + history.before.len() < FEWEST {
        return None;
    }
    let scale = median(&history.accepted) / median(&history.before);
    if !scale.is_finite() || scale <= 0.0 {
        return None;
    }
    let moved = history
        .before
        .iter()
        .map(|one| Value { value: one.value * scale, error: one.error.map(|error| error * scale) });
    let accepted = moved.chain(history.accepted.iter().copied()).collect();
    Some((History { accepted, before: Vec::new(), ..history.clone() }, few))
}

/// Says whether a value is worse than all since the change for the worse that somebody dismissed, and than their middle by
/// more than the margin: a gate does not fail because of what was dismissed.
fn is_beyond_dismissed(history: &History, value: f64, terms: &StandingTerms) -> bool {
    let from = history.accepted.len().saturating_sub(history.dismissed);
    let mut since: Vec<f64> = history.accepted[from..].iter().map(|one| one.value).collect();
    if history.dismissed == 0 || since.is_empty() {
        return true;
    }
    let worst = worst_of(since.iter().copied(), terms.direction);
    is_beyond_all(value, median_of(&mut since), worst, terms.margin, terms.direction)
}

/// Reads a history up to the value, and returns the values of its commit.
fn read(history: &History, value: Value, terms: &StandingTerms) -> (Standing, Vec<Value>) {
    let known = history.accepted.len().saturating_sub(AGAIN).max(FEWEST).max(history.settled);
    let (first, again) = history.accepted.split_at(known);
    let mut standing = Standing::new(*terms, first.to_vec()).with_settled(history.settled);
    for one in again {
        let _ = standing.take(&[*one], false);
    }
    let (older, newer) = history.apart.split_at(history.apart.len().saturating_sub(AGAIN));
    standing.keep_apart(older);
    for one in newer {
        let _ = standing.take(&[*one], true);
    }
    let group = history.own.iter().copied().chain([value]).collect();
    (standing, group)
}

/// Judges an exact value by the best one of the accepted level: values that get worse by less than the margin each are not
/// what the next one is compared with.
fn exactly(
    mut judged: GateResult,
    value: f64,
    history: &History,
    terms: &StandingTerms,
) -> ByHistory {
    let worse_than = |reference: f64, value: f64| {
        let ratio = value / reference;
        let ratio = RatioInterval { estimate: ratio, low: ratio, high: ratio };
        (Worse::of(&ratio, terms.direction, Loss::OfOld), ratio)
    };
    let is_beyond = |reference: f64, value: f64| {
        if reference > 0.0 && value >= 0.0 {
            Extent::of(worse_than(reference, value).0, terms.margin) == Extent::Beyond
        } else {
            // Without a ratio nobody knows by how much it is worse.
            match terms.direction {
                Direction::Lower => value > reference,
                Direction::Higher => value < reference,
            }
        }
    };
    let better = |a: f64, b: f64| match terms.direction {
        Direction::Lower => a.min(b),
        Direction::Higher => a.max(b),
    };
    let all: Vec<f64> =
        history.accepted.iter().chain(&history.apart).map(|one| one.value).collect();
    let first = history.settled.saturating_sub(1);
    let (mut reference, mut newest) = (all[first], 0);
    for value in &all[first + 1..] {
        if is_beyond(reference, *value) {
            newest += 1;
        } else {
            (reference, newest) = (better(reference, *value), 0);
        }
    }
    judged.reference = Some(reference);
    let newest = newest + 1;
    if reference <= 0.0 || value < 0.0 {
        let limits = if reference.is_finite() { reference } else { f64::NAN };
        around_zero(&mut judged, value, limits, limits, terms.direction);
        return ByHistory { result: judged, newest };
    }
    let (worse, ratio) = worse_than(reference, value);
    judged.ratio = Some(ratio);
    judged.outcome = Extent::of(worse, terms.margin).outcome();
    let is_still = judged.outcome == GateOutcome::Fail && newest > 1;
    judged.reason = if is_still {
        GateReason::StillWorse { at_least: worse.estimate, newest, since: None }
    } else if worse.estimate > 0.0 {
        GateReason::ExactlyWorse { by: worse.estimate }
    } else {
        GateReason::NoWorse { than: Earlier::Best }
    };
    let newest = if judged.outcome == GateOutcome::Fail { newest } else { 1 };
    ByHistory { result: judged, newest }
}

/// Where there is no ratio, a value passes if the level may well give it.
fn around_zero(judged: &mut GateResult, value: f64, low: f64, high: f64, direction: Direction) {
    let is_no_worse = match direction {
        Direction::Lower => value <= high,
        Direction::Higher => value >= low,
    };
    (judged.outcome, judged.reason) = if is_no_worse {
        (GateOutcome::Pass, GateReason::NoWorse { than: Earlier::Level })
    } else {
        (GateOutcome::Inconclusive, GateReason::WorseAroundZero)
    };
}

/// How much more would decide.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settled {
    /// So many more values.
    values: Option<u64>,
    /// So many runs of the last value.
    runs: Option<u64>,
}

impl Settled {
    /// Reckons with a width of `c sqrt(1 / k + 1 / n)` for `k` new and `n` earlier values, of which as much is the
    /// error within a value as its runs tell, and with the estimate staying as it is.
    fn of(
        worse: Worse,
        found: Found,
        accepted: &[Value],
        value: Value,
        runs: u32,
        terms: &StandingTerms,
    ) -> Self {
        let is_within = worse.estimate <= terms.margin;
        let end = if is_within { terms.margin } else { PROVED * terms.margin };
        let distance = (end - worse.estimate).abs();
        let width =
            if is_within { worse.high - worse.estimate } else { worse.estimate - worse.low };
        let (k, n) = (found.newest as f64, accepted.len() as f64);
        let c = width / (1.0 / k + 1.0 / n).sqrt();
        let whole = |count: f64| {
            Some(count.ceil())
                .filter(|count| *count >= 1.0 && *count <= MOST)
                .map(|whole| u64::from(becalm_stats::whole::count(whole)))
        };
        let share = (distance / c).powi(2);
        let values = (share > 1.0 / n).then(|| 1.0 / (share - 1.0 / n) - k).and_then(whole);
        // What the runs of a value say of its own error, in the unit of `c`.
        let z = normal::quantile(f64::midpoint(1.0, terms.confidence));
        let own = value.error.filter(|_| runs > 1 && found.newest == 1).map(|error| {
            let error = z * error / value.value;
            let between = (c * c - error * error).max(0.0);
            let left = distance * distance - between - c * c / n;
            error * error * f64::from(runs) / left
        });
        let runs = own.filter(|count| *count > f64::from(runs)).and_then(whole);
        Self { values, runs }
    }
}

#[cfg(test)]
mod tests;
