//! A value by a limit, and by the accepted level of its series.

use becalm_model::gate::{GateBy, GateOutcome, GateResult, GateSeries};
use becalm_model::{Direction, Earlier, GateReason, RatioInterval};
use becalm_stats::center::median_of;
use becalm_stats::normal;
use becalm_stats::prediction::{FEWEST, predict};
use becalm_stats::{Interval, Sample};

use super::comparison::{Extent, Loss, PROVED, Worse};
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
const AGAIN: usize = 64;

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
/// rather than within; otherwise more values are needed. An exact metric is compared with the last value that passed.
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
    let read = few.is_none().then(|| read(history, value, terms));
    let compared = read.as_ref().map_or(&history.accepted[..], |(standing, _)| standing.compared());
    let level: Vec<f64> = compared.iter().map(|one| one.value).collect();
    let sample = Sample::new(level).ok();
    let predicted = sample.as_ref().and_then(|sample| predict(sample, terms.confidence));
    let Some(Interval { estimate, low, high }) = predicted.map(|predicted| predicted.interval)
    else {
        return ByHistory { result: judged, newest: 1 };
    };
    judged.reference = Some(estimate);
    let (mut standing, group) = match (few, read) {
        (Some(few), _) => {
            let z = normal::quantile(f64::midpoint(1.0, terms.confidence));
            let deviation = (high - low) / 2.0 / z;
            // The variance of a median of so many values.
            let variance = std::f64::consts::FRAC_PI_2 * deviation.powi(2) / few as f64;
            let standing = Standing::new(*terms, history.accepted.clone());
            (standing.with_level_variance(variance), vec![value])
        }
        (None, Some(read)) => read,
        (None, None) => return ByHistory { result: judged, newest: 1 },
    };
    if let Some(few) = few {
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
    let middle = median_of(&mut since);
    match terms.direction {
        Direction::Lower => {
            value > since.iter().copied().fold(middle * (1.0 + terms.margin), f64::max)
        }
        Direction::Higher => {
            value < since.iter().copied().fold(middle * (1.0 - terms.margin), f64::min)
        }
    }
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

/// Judges an exact value by the last one that passed.
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
    let all: Vec<f64> =
        history.accepted.iter().chain(&history.apart).map(|one| one.value).collect();
    let first = history.settled.saturating_sub(1);
    let (mut reference, mut newest) = (all[first], 0);
    for value in &all[first + 1..] {
        if is_beyond(reference, *value) {
            newest += 1;
        } else {
            (reference, newest) = (*value, 0);
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
        GateReason::NoWorse { than: Earlier::LastValue }
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
mod tests {
    use std::collections::BTreeMap;

    use becalm_model::Unit;

    use super::*;

    fn series() -> GateSeries {
        let (benchmark, metric) = ("a".to_owned(), "t".to_owned());
        GateSeries { benchmark, metric, unit: Unit::Second, parameters: BTreeMap::new() }
    }

    fn values(all: &[f64]) -> Vec<Value> {
        all.iter().map(|&value| Value { value, error: None }).collect()
    }

    /// Noise of up to 2 around 101, the same every time.
    fn level(n: usize) -> Vec<f64> {
        (0..n).map(|i| 100.0 + ((i * 7919 + 13) % 101) as f64 / 50.0).collect()
    }

    const TERMS: StandingTerms =
        StandingTerms { direction: Direction::Lower, margin: 0.04, confidence: 0.95 };

    fn judge(accepted: &[f64], value: f64, terms: &StandingTerms) -> GateResult {
        let history = History { accepted: values(accepted), ..History::default() };
        let measured = Measured { value: Value { value, error: None }, runs: 1, exact: false };
        against_level(series(), measured, &history, terms).result
    }

    #[track_caller]
    fn check(value: f64, n: usize, direction: Direction, expected: GateOutcome) -> GateResult {
        let result = judge(&level(n), value, &StandingTerms { direction, ..TERMS });
        assert_eq!(result.outcome, expected, "{result:?}");
        result
    }

    #[test]
    fn the_interval_of_a_value_decides() {
        for n in [20, 60, 200] {
            let result = check(101.0, n, Direction::Lower, GateOutcome::Pass);
            assert!(matches!(result.reason, GateReason::OfItsLevel { .. }), "{result:?}");
            let _ = check(112.0, n, Direction::Lower, GateOutcome::Fail);
            let _ = check(90.0, n, Direction::Lower, GateOutcome::Pass);
            let _ = check(90.0, n, Direction::Higher, GateOutcome::Fail);
            let _ = check(112.0, n, Direction::Higher, GateOutcome::Pass);
        }
        let few = check(200.0, 7, Direction::Lower, GateOutcome::Inconclusive);
        assert_eq!(few.by, GateBy::History { earlier: 7, missing: Some(3) });
    }

    #[test]
    fn what_the_interval_does_not_decide_is_undecided_and_says_what_would() {
        // A pass at a margin that is finer than the noise would say more than anybody knows.
        let fine = StandingTerms { margin: 0.005, ..TERMS };
        for value in [100.9, 101.5, 102.2] {
            let found = judge(&level(60), value, &fine);
            assert_eq!(found.outcome, GateOutcome::Inconclusive, "{found:?}");
            let ratio = found.ratio.unwrap();
            assert!(ratio.low - 1.0 <= 0.005 && ratio.high - 1.0 > 0.005, "{ratio:?}");
            let GateReason::Unresolved { at_most, newest: 1, values, .. } = found.reason else {
                panic!("{found:?}")
            };
            assert!(at_most.unwrap() > 0.005);
            assert!(values.is_none_or(|values| (1..500).contains(&values)), "{values:?}");
        }
        let found = judge(&level(60), 100.9, &fine);
        assert!(
            matches!(found.reason, GateReason::Unresolved { values: Some(_), .. }),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_rather_beyond_the_margin_fails_if_half_of_the_margin_is_proved() {
        let judge =
            |value: f64, margin: f64| judge(&level(60), value, &StandingTerms { margin, ..TERMS });
        let found = judge(104.0, 0.025);
        assert_eq!(found.outcome, GateOutcome::Fail, "{found:?}");
        let GateReason::RatherBeyond { about, at_least, newest: 1 } = found.reason else {
            panic!("{found:?}")
        };
        assert!(about > 0.025 && (0.0125..=0.025).contains(&at_least), "{found:?}");
        // Most of it is within, half is not proved, or the margin is finer than the noise.
        for (value, margin) in [(104.0, 0.035), (102.6, 0.015), (102.15, 0.002)] {
            let found = judge(value, margin);
            assert_eq!(found.outcome, GateOutcome::Inconclusive, "{margin}: {found:?}");
        }
    }

    #[test]
    fn runs_inside_a_value_tell_its_error() {
        let history = History {
            accepted: level(60)
                .into_iter()
                .map(|value| Value { value, error: Some(0.5) })
                .collect(),
            ..History::default()
        };
        let judge = |error: f64, runs: u32| {
            let value = Value { value: 101.5, error: Some(error) };
            against_level(series(), Measured { value, runs, exact: false }, &history, &TERMS).result
        };
        assert_eq!(judge(0.5, 10).outcome, GateOutcome::Pass);
        let few = judge(5.0, 3);
        assert_eq!(few.outcome, GateOutcome::Inconclusive, "{few:?}");
        let GateReason::Unresolved { runs: Some(runs), .. } = few.reason else { panic!("{few:?}") };
        assert!((10..1000).contains(&runs), "{runs}");
    }

    #[test]
    fn what_failed_fails_until_it_is_back_and_is_never_what_others_are_compared_with() {
        let mut history = level(20);
        for n in 0..40 {
            let found = judge(&history, 110.0, &TERMS);
            assert_eq!(found.outcome, GateOutcome::Fail, "{n}: {found:?}");
            let is_still =
                matches!(found.reason, GateReason::StillWorse { newest, .. } if newest == n + 1);
            assert!(n == 0 || is_still, "{found:?}");
            history.push(110.0 + (n % 3) as f64);
        }
        // Back on the level the first time may be chance after one that failed, but not after many.
        let found = judge(&history, 101.0, &TERMS);
        assert_eq!(found.outcome, GateOutcome::Pass, "{found:?}");
        history.push(101.0);
        assert_eq!(judge(&history, 101.5, &TERMS).outcome, GateOutcome::Pass);
        assert_eq!(judge(&history, 110.0, &TERMS).outcome, GateOutcome::Fail);
    }

    #[test]
    fn values_of_the_same_commit_are_judged_together() {
        let accepted = level(60);
        let history = |own: &[f64]| History {
            accepted: values(&accepted),
            own: values(own),
            ..History::default()
        };
        let judge = |own: &[f64]| {
            let measured =
                Measured { value: Value { value: 102.9, error: None }, runs: 1, exact: false };
            let terms = StandingTerms { margin: 0.02, ..TERMS };
            against_level(series(), measured, &history(own), &terms)
        };
        assert_eq!(judge(&[]).result.outcome, GateOutcome::Inconclusive);
        let together = judge(&[103.4, 103.6, 103.5, 103.7, 103.5]);
        assert_eq!((together.result.outcome, together.newest), (GateOutcome::Fail, 6));
    }

    #[test]
    fn what_came_after_a_change_that_nobody_accepted_is_judged_as_a_whole() {
        let apart: Vec<f64> = level(30).iter().map(|value| value + 7.0).collect();
        let history =
            History { accepted: values(&level(40)), apart: values(&apart), ..History::default() };
        let judge = |value| {
            let measured = Measured { value: Value { value, error: None }, runs: 1, exact: false };
            against_level(series(), measured, &history, &TERMS).result
        };
        assert_eq!(judge(108.0).outcome, GateOutcome::Fail);
        assert_eq!(judge(101.0).outcome, GateOutcome::Pass, "it is back");
    }

    #[test]
    fn a_level_that_was_just_accepted_has_the_noise_of_the_one_before() {
        let history = History {
            accepted: values(&[111.0]),
            before: values(&level(60)),
            ..History::default()
        };
        let judge = |value: f64, history: &History| {
            let measured = Measured { value: Value { value, error: None }, runs: 1, exact: false };
            let terms = StandingTerms { margin: 0.05, ..TERMS };
            against_level(series(), measured, history, &terms).result
        };
        let found = judge(110.5, &history);
        assert_eq!(found.outcome, GateOutcome::Pass, "{found:?}");
        assert_eq!(found.by, GateBy::History { earlier: 1, missing: None });
        assert_eq!(judge(125.0, &history).outcome, GateOutcome::Fail);
        // One value does not tell where the level is.
        assert_eq!(judge(115.0, &history).outcome, GateOutcome::Inconclusive);
        let alone = History { before: Vec::new(), ..history };
        assert_eq!(judge(110.5, &alone).by, GateBy::History { earlier: 1, missing: Some(9) });
    }

    #[test]
    fn what_is_exact_is_compared_with_the_last_value_that_passed() {
        let judge = |all: &[f64], value| {
            let history = History { accepted: values(all), ..History::default() };
            let measured = Measured { value: Value { value, error: None }, runs: 1, exact: true };
            let terms = StandingTerms { margin: 0.02, ..TERMS };
            against_level(series(), measured, &history, &terms).result
        };
        assert_eq!(judge(&[50.0, 49.0], 49.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(&[100.0], 102.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(&[100.0], 103.0).outcome, GateOutcome::Fail);
        let still = judge(&[100.0, 103.0, 103.0], 103.0);
        assert_eq!(still.outcome, GateOutcome::Fail);
        assert!(matches!(still.reason, GateReason::StillWorse { newest: 3, .. }), "{still:?}");
        assert_eq!(judge(&[100.0, 103.0, 101.0], 101.0).outcome, GateOutcome::Pass);
        let none = judge(&[], 1.0);
        assert_eq!(none.by, GateBy::History { earlier: 0, missing: Some(1) });
    }

    /// Judges a value of a series with this history.
    fn judge_by(history: &History, value: f64, direction: Direction, exact: bool) -> GateResult {
        let measured = Measured { value: Value { value, error: None }, runs: 1, exact };
        let terms = StandingTerms { direction, margin: 0.02, ..TERMS };
        against_level(series(), measured, history, &terms).result
    }

    #[test]
    fn what_was_dismissed_makes_nothing_fail() {
        let up: Vec<f64> = level(10).iter().map(|value| value + 10.0).collect();
        let all = [level(40), up].concat();
        let mut history = History { accepted: values(&all), ..History::default() };
        let judge = |history: &History, value| judge_by(history, value, Direction::Lower, false);
        assert_eq!(judge(&history, 111.0).outcome, GateOutcome::Fail, "nobody decided");
        (history.settled, history.dismissed) = (50, 10);
        for value in [101.0, 111.0, 112.5] {
            let found = judge(&history, value);
            assert_ne!(found.outcome, GateOutcome::Fail, "{value}: {found:?}");
        }
        assert_eq!(judge(&history, 130.0).outcome, GateOutcome::Fail);
        // So it is with values of the same commit, and with exact ones.
        history.own = values(&[111.0, 110.5, 111.5, 111.2]);
        assert_ne!(judge(&history, 111.0).outcome, GateOutcome::Fail);
        let exact = History {
            accepted: values(&[100.0, 100.0, 110.0, 110.0]),
            settled: 3,
            dismissed: 2,
            ..History::default()
        };
        let judge = |value| judge_by(&exact, value, Direction::Lower, true).outcome;
        assert_eq!([110.0, 113.0].map(judge), [GateOutcome::Pass, GateOutcome::Fail]);
    }

    #[test]
    fn what_is_before_the_last_values_that_count_is_not_judged_again() {
        let up: Vec<f64> = level(10).iter().map(|value| value + 10.0).collect();
        let history = History { accepted: values(&[level(40), up].concat()), ..History::default() };
        let settled = History { settled: 50, ..history.clone() };
        let judge = |history| judge_by(history, 112.0, Direction::Lower, false).outcome;
        assert_eq!(judge(&history), GateOutcome::Fail);
        assert_ne!(judge(&settled), GateOutcome::Fail);
    }

    #[test]
    fn around_zero_too_no_worse_level_is_accepted_by_itself() {
        let of = |all: &[f64]| History { accepted: values(all), ..History::default() };
        let judge =
            |all: &[f64], value, exact| judge_by(&of(all), value, Direction::Lower, exact).outcome;
        for n in 0..3 {
            let allocations = [vec![0.0; 3], vec![5.0; n]].concat();
            assert_eq!(judge(&allocations, 5.0, true), GateOutcome::Inconclusive, "{n}");
            let counts: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 5)).collect();
            let counts = [counts, vec![50.0; n]].concat();
            assert_eq!(judge(&counts, 50.0, false), GateOutcome::Inconclusive, "{n}");
            assert_eq!(judge(&counts, 3.0, false), GateOutcome::Pass, "{n}");
        }
        // An outage has a ratio, and what failed before it stays failed.
        let rate = |all: &[f64], value| judge_by(&of(all), value, Direction::Higher, false);
        assert_eq!(rate(&level(40), 0.0).outcome, GateOutcome::Fail);
        let failed = [level(40), vec![50.0, 0.0]].concat();
        let found = rate(&failed, 50.0);
        assert_eq!(found.outcome, GateOutcome::Fail, "{found:?}");
        assert!(matches!(found.reason, GateReason::StillWorse { newest: 3, .. }), "{found:?}");
    }

    #[test]
    fn the_only_value_of_an_accepted_level_passes() {
        let history =
            History { before: values(&level(60)), is_own_level: true, ..History::default() };
        let found = judge_by(&history, 120.0, Direction::Lower, false);
        assert_eq!((found.outcome, found.reason), (GateOutcome::Pass, GateReason::Accepted));
        let unknown = History { is_own_level: true, ..History::default() };
        let found = judge_by(&unknown, 120.0, Direction::Lower, false);
        assert_eq!(found.by, GateBy::History { earlier: 0, missing: Some(10) });
    }

    #[test]
    fn around_zero_there_is_no_ratio() {
        assert_eq!(judge(&[0.0; 12], 0.0, &TERMS).outcome, GateOutcome::Pass);
        assert_eq!(judge(&[0.0; 12], 1.0, &TERMS).outcome, GateOutcome::Inconclusive);
    }

    #[test]
    fn a_comparison_fails_when_all_of_it_exceeds_the_margin() {
        let judge = |low, high| {
            let worse = Worse { low, estimate: f64::midpoint(low, high), high };
            Extent::of(worse, 0.02).outcome()
        };
        assert_eq!(judge(0.03, 0.05), GateOutcome::Fail);
        assert_eq!(judge(0.01, 0.05), GateOutcome::Inconclusive);
        assert_eq!(judge(-0.01, 0.02), GateOutcome::Pass);
        assert_eq!(against_limit(3.0, Limit::Max(2.0)), (GateOutcome::Fail, 2.0));
        assert_eq!(against_limit(3.0, Limit::Min(2.0)), (GateOutcome::Pass, 2.0));
    }
}
