//! Values judged by what their series know.

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
    assert!(matches!(found.reason, GateReason::Unresolved { values: Some(_), .. }), "{found:?}");
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
        accepted: level(60).into_iter().map(|value| Value { value, error: Some(0.5) }).collect(),
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
    let history =
        History { accepted: values(&[111.0]), before: values(&level(60)), ..History::default() };
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
fn what_is_exact_is_compared_with_the_best_value_of_its_level() {
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
    // What creeps up fails as soon as all of it is beyond the margin, and not before.
    let creeping: Vec<f64> = (0..9).map(|i| 100.0 + f64::from(i) / 2.0).collect();
    for (count, value) in creeping.iter().enumerate().skip(1) {
        let outcome = judge(&creeping[..count], *value).outcome;
        let expected = if *value > 102.0 { GateOutcome::Fail } else { GateOutcome::Pass };
        assert_eq!(outcome, expected, "{value}");
    }
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
    let history = History { before: values(&level(60)), is_own_level: true, ..History::default() };
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
