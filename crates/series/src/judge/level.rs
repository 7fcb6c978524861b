//! A value by a limit, and by the earlier values of its level.

use becalm_model::gate::{GateBy, GateOutcome, GateResult, GateSeries};
use becalm_model::{Direction, Earlier, GateReason, RatioInterval};
use becalm_stats::prediction::{FEWEST, predict};
use becalm_stats::{Interval, Sample};

use super::comparison::{Extent, Loss, ROUNDING, Worse};
use super::rules::Limit;

/// Judges a value by a limit, and says what the limit is.
pub fn against_limit(value: f64, limit: Limit) -> (GateOutcome, f64) {
    let (beyond, limit) = match limit {
        Limit::Max(limit) => (value > limit, limit),
        Limit::Min(limit) => (value < limit, limit),
    };
    (if beyond { GateOutcome::Fail } else { GateOutcome::Pass }, limit)
}

/// The values since the last change of a series, in time order.
#[derive(Debug, Clone, Copy)]
pub struct Level<'a> {
    /// The values.
    pub values: &'a [f64],
    /// Where among them a change may begin that is not confirmed yet.
    pub pending: Option<usize>,
}

/// Judges a new value by the earlier ones of its level, in time order. A value that the level may well give
/// passes; one outside is the larger by at least its distance from the end of the interval. An exact metric is
/// compared with the last value.
pub fn against_level(
    of: GateSeries,
    value: f64,
    Level { values: level, pending }: Level<'_>,
    exact: bool,
    direction: Direction,
    margin: f64,
    confidence: f64,
) -> GateResult {
    let needed = if exact { 1 } else { FEWEST };
    let missing = needed.checked_sub(level.len()).filter(|missing| *missing > 0);
    let by = GateBy::History { earlier: level.len(), missing };
    let judged = |outcome: GateOutcome, reason: GateReason| GateResult {
        value: Some(value),
        margin: Some(margin),
        ..GateResult::new(of, by, outcome, reason)
    };
    if let Some(missing) = missing {
        return judged(GateOutcome::Inconclusive, GateReason::TooFew { missing });
    }
    let interval = if exact {
        let last = level[level.len() - 1];
        Some(Interval { estimate: last, low: last, high: last })
    } else {
        let sample = Sample::new(level.to_vec()).ok();
        sample.and_then(|sample| predict(&sample, confidence)).map(|predicted| predicted.interval)
    };
    let Some(Interval { estimate, low, high }) = interval else {
        return judged(GateOutcome::Inconclusive, GateReason::NoNumbers);
    };
    let inside = match direction {
        Direction::Lower => value <= high,
        Direction::Higher => value >= low,
    };
    let reference = Some(estimate);
    if estimate <= 0.0 || high <= 0.0 || value < 0.0 {
        let (outcome, reason) = if inside {
            (GateOutcome::Pass, GateReason::NoWorse { than: Earlier::Level })
        } else {
            (GateOutcome::Inconclusive, GateReason::WorseAroundZero)
        };
        return GateResult { reference, ..judged(outcome, reason) };
    }
    let ratio = RatioInterval {
        estimate: value / estimate,
        low: value / high,
        high: if low > 0.0 { value / low } else { f64::INFINITY },
    };
    let worse = Worse::of(&ratio, direction, Loss::OfOld);
    let resolves = match direction {
        Direction::Lower => high / estimate - 1.0,
        Direction::Higher => 1.0 - low.max(0.0) / estimate,
    };
    let beyond = Extent::of(worse, margin).outcome();
    let (outcome, reason) = if exact {
        let reason = if worse.estimate > 0.0 {
            GateReason::ExactlyWorse { by: worse.estimate }
        } else {
            GateReason::NoWorse { than: Earlier::LastValue }
        };
        (beyond, reason)
    } else if inside
        && let Some(doubt) = doubt_of_newest(value, level, direction, margin, confidence)
            .or_else(|| doubt_of_pending(value, level, pending?, direction, margin))
    {
        (GateOutcome::Inconclusive, doubt)
    } else if inside {
        (GateOutcome::Pass, GateReason::OfItsLevel { resolves })
    } else {
        let perhaps_within_margin = beyond == GateOutcome::Inconclusive;
        (beyond, GateReason::WorseThanLevel { at_least: worse.low, perhaps_within_margin })
    };
    GateResult {
        reference,
        ratio: Some(ratio),
        resolves: Some(resolves).filter(|_| !exact),
        ..judged(outcome, reason)
    }
}

/// Newest values that are looked at for being of another level; a change is found within fewer.
const NEWEST: usize = 32;

/// Says why a value proves nothing that the level may well give: the newest values gave it, and they are themselves
/// worse than those before them may give, by more than the margin. What failed was added to the history, and must
/// not make the same pass from then on; whether it is a new level, the search for changes finds out.
fn doubt_of_newest(
    value: f64,
    level: &[f64],
    direction: Direction,
    margin: f64,
    confidence: f64,
) -> Option<GateReason> {
    let first = level.len().saturating_sub(NEWEST).max(FEWEST);
    (first..level.len()).find_map(|start| {
        let (before, newest) = level.split_at(start);
        let sample = Sample::new(before.to_vec()).ok()?;
        let Interval { low, high, .. } = predict(&sample, confidence)?.interval;
        // By how much a value is worse than those before may give.
        let least = |value: f64| match direction {
            Direction::Lower => value / high - 1.0,
            Direction::Higher => 1.0 - value / low,
        };
        let is_news = |value: f64| low > 0.0 && least(value) > margin + ROUNDING;
        let are_news = is_news(value) && newest.iter().all(|&value| is_news(value));
        let (at_least, newest) = (least(value), newest.len());
        are_news.then_some(GateReason::PerhapsNewLevel { at_least, newest })
    })
}

/// Says the same where those before are too few to say what they may give, but the search for changes has found one
/// that is not confirmed yet: the value and the newest ones are each worse than all before, by more than the margin.
fn doubt_of_pending(
    value: f64,
    level: &[f64],
    pending: usize,
    direction: Direction,
    margin: f64,
) -> Option<GateReason> {
    let (before, newest) = level.split_at_checked(pending)?;
    let worst = match direction {
        Direction::Lower => before.iter().copied().reduce(f64::max)?,
        Direction::Higher => before.iter().copied().reduce(f64::min)?,
    };
    let least = |value: f64| match direction {
        Direction::Lower => value / worst - 1.0,
        Direction::Higher => 1.0 - value / worst,
    };
    let is_news = |value: f64| worst > 0.0 && least(value) > margin + ROUNDING;
    let are_news = is_news(value) && newest.iter().all(|&value| is_news(value));
    are_news.then(|| GateReason::PerhapsNewLevel { at_least: least(value), newest: newest.len() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use becalm_model::Unit;

    use super::*;

    fn stable(values: &[f64]) -> Level<'_> {
        Level { values, pending: None }
    }

    #[test]
    fn a_pending_change_after_few_values_is_doubted_too() {
        let mut all: Vec<f64> = (0..9).map(|i| 9.0 + 0.6 * f64::from(i)).collect();
        all.extend([26.0, 37.0, 31.0, 29.0, 33.0, 28.0, 35.0]);
        let values = all.clone();
        let judge = |value, pending| {
            let level = Level { values: &values, pending };
            against_level(series(), value, level, false, Direction::Lower, 0.01, 0.95).outcome
        };
        assert_eq!(judge(30.0, None), GateOutcome::Pass, "as wide as the level is");
        assert_eq!(judge(30.0, Some(9)), GateOutcome::Inconclusive);
        assert_eq!(judge(11.0, Some(9)), GateOutcome::Pass, "it is as those before");
        all.push(10.0);
        let level = Level { values: &all, pending: Some(9) };
        let found = against_level(series(), 30.0, level, false, Direction::Lower, 0.01, 0.95);
        assert_eq!(found.outcome, GateOutcome::Pass, "one of the newest is no worse");
    }

    fn series() -> GateSeries {
        let (benchmark, metric) = ("a".to_owned(), "t".to_owned());
        GateSeries { benchmark, metric, unit: Unit::Second, parameters: BTreeMap::new() }
    }

    fn level(n: usize) -> Vec<f64> {
        (0..n).map(|i| 100.0 + ((i * 7919 + 13) % 101) as f64 / 50.0).collect()
    }

    #[track_caller]
    fn check(value: f64, n: usize, direction: Direction, expected: GateOutcome) -> GateResult {
        let result =
            against_level(series(), value, stable(&level(n)), false, direction, 0.02, 0.95);
        assert_eq!(result.outcome, expected, "{result:?}");
        result
    }

    #[test]
    fn a_value_is_judged_by_its_level() {
        for n in [10, 20, 60, 200] {
            let result = check(101.5, n, Direction::Lower, GateOutcome::Pass);
            assert!(matches!(result.reason, GateReason::OfItsLevel { .. }), "{result:?}");
            let _ = check(110.0, n, Direction::Lower, GateOutcome::Fail);
            let _ = check(90.0, n, Direction::Lower, GateOutcome::Pass);
            let _ = check(90.0, n, Direction::Higher, GateOutcome::Fail);
            let _ = check(110.0, n, Direction::Higher, GateOutcome::Pass);
        }
        let between = check(102.8, 200, Direction::Lower, GateOutcome::Inconclusive);
        let perhaps = matches!(
            between.reason,
            GateReason::WorseThanLevel { perhaps_within_margin: true, .. }
        );
        assert!(perhaps, "{between:?}");
        let few = check(200.0, 7, Direction::Lower, GateOutcome::Inconclusive);
        assert_eq!(few.by, GateBy::History { earlier: 7, missing: Some(3) });
    }

    #[test]
    fn what_the_newest_values_gave_proves_nothing_while_they_are_news_themselves() {
        let judge = |newest: &[f64], value: f64| {
            let all = [&level(15), newest].concat();
            against_level(series(), value, stable(&all), false, Direction::Lower, 0.02, 0.95)
        };
        for n in 1..6 {
            let worse = vec![270.0; n];
            let found = judge(&worse, 269.0);
            assert_eq!(found.outcome, GateOutcome::Inconclusive, "{found:?}");
            let is_doubt = matches!(found.reason, GateReason::PerhapsNewLevel { .. });
            assert!(is_doubt, "{found:?}");
            assert_eq!(judge(&worse, 101.0).outcome, GateOutcome::Pass);
        }
        // One bad day among good ones is noise of the series.
        assert_eq!(judge(&[270.0, 101.0], 269.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(&[270.0], 5000.0).outcome, GateOutcome::Fail);
        // Better values are no reason for doubt.
        assert_eq!(judge(&[20.0, 20.0], 20.0).outcome, GateOutcome::Pass);
    }

    #[test]
    fn what_is_exact_is_compared_with_the_last_value() {
        let judge = |value| {
            against_level(
                series(),
                value,
                stable(&[50.0, 100.0]),
                true,
                Direction::Lower,
                0.02,
                0.95,
            )
        };
        assert_eq!(judge(100.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(102.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(103.0).outcome, GateOutcome::Fail);
        let none = against_level(series(), 1.0, stable(&[]), true, Direction::Lower, 0.02, 0.95);
        assert_eq!(none.by, GateBy::History { earlier: 0, missing: Some(1) });
    }

    #[test]
    fn around_zero_there_is_no_ratio() {
        let judge = |value| {
            against_level(series(), value, stable(&[0.0; 12]), false, Direction::Lower, 0.02, 0.95)
        };
        assert_eq!(judge(0.0).outcome, GateOutcome::Pass);
        assert_eq!(judge(1.0).outcome, GateOutcome::Inconclusive);
    }

    #[test]
    fn a_change_fails_when_all_of_it_exceeds_the_margin() {
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
