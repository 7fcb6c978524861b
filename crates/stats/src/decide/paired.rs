//! The estimate of a comparison: the log ratio of two subjects from interleaved rounds, with an
//! interval that excludes 0 exactly when the test rejects.
//!
//! The fit is that of `level.rs`; this file adds what few rounds and coarse values need, and `pace.rs` whether
//! the pace of the core is allowed for.

use super::flips;
use super::level;
use super::{pace, steps};
use crate::{chi_squared, student};

pub use super::level::Observation;

/// Fewest rounds for which anything is estimated.
pub const FEWEST_ROUNDS: u32 = 5;

/// Below this number the interval also covers every single round: a difference is called only when
/// all rounds agree on its sign. The spread of so few values is not known well enough otherwise
/// (two modes far apart would give 11 to 17 % false alarms at five rounds).
const ALL_MUST_AGREE_BELOW: usize = 8;

/// Up to this number of rounds the random order has a say in p (see [`flips`]). From 14 rounds on,
/// two modes, the worst noise for the fit, keep to the levels of early looks without it.
const FLIPS_UP_TO: u32 = 13;

/// Share of the p value of [`flips`] below which the fit may not go. The whole would not let 8
/// rounds that all agree end a session early.
const FLIPS_SHARE: f64 = 0.5;

/// The random order raises p no further than this: two modes at 8 rounds give 4 % of false alarms
/// at stricter levels and no more than the level at weaker ones, where it would only cost power.
const FLIPS_LIMIT: f64 = 0.04;

/// An estimated log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Logarithm of candidate / baseline.
    pub centre: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Two-sided p value of no difference.
    pub p: f64,
    /// Whether steps in which the values move, and not their noise, limit the interval: more rounds would not help.
    pub is_coarse: bool,
    /// Share of the core's change of pace that was taken out of the values, 0 to 1; 0 where none was.
    pub pace: f64,
}

impl Estimate {
    /// Returns it where values move in steps larger than their noise: nothing finer than a step, as a logarithm, can
    /// be known.
    #[must_use]
    pub fn no_finer_than(self, step: f64) -> Self {
        let Self { centre, low, high, p, pace, .. } = self;
        Self {
            centre,
            low: low.min(centre - step),
            high: high.max(centre + step),
            p: if centre.abs() <= step { 1.0 } else { p },
            is_coarse: true,
            pace,
        }
    }
}

/// A log ratio with how well it is known: `(centre - truth) / error` follows Student's t with `df` degrees
/// of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Logarithm of candidate / baseline.
    pub centre: f64,
    /// Its standard error; 0 when the values leave no noise at all.
    pub error: f64,
    /// Degrees of freedom.
    pub df: f64,
}

/// Degrees of freedom of few values that are all equal, which know of no noise.
const EXACT_DF: f64 = 10.0;

/// Returns what rounds in time order say about the log ratio, for who puts several comparisons together. `None`
/// with fewer than [`FEWEST_ROUNDS`] rounds, unless at least two are all equal.
///
/// Values must be finite.
pub fn level_of(rounds: &[Observation]) -> Option<Level> {
    if rounds.len() < FEWEST_ROUNDS as usize {
        let first = rounds.first()?.log_ratio();
        let are_equal = rounds.iter().all(|round| (round.log_ratio() - first).abs() <= 1e-9);
        return (rounds.len() > 1 && are_equal).then_some(Level {
            centre: first,
            error: 0.0,
            df: EXACT_DF,
        });
    }
    let rounds = pace::allowed(rounds);
    let quantum = quantum(&rounds);
    let fit = level::fit(&rounds, quantum);
    let rounds = at_one_pace(&rounds, &fit);
    // Where values move in steps larger than their noise, nothing finer than a step can be known.
    let step = if is_coarse(&rounds, quantum) { quantum / 2.0 } else { 0.0 };
    Some(Level { centre: fit.effect, error: fit.standard_error.max(step), df: fit.df })
}

/// By how much the log ratio of one round varies, as far as that makes an estimate uncertain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation.
    pub deviation: f64,
    /// Degrees of freedom with which it is known.
    pub df: f64,
}

impl Spread {
    /// Returns the limits between which the deviation lies with this confidence, for normal values.
    pub fn limits(&self, confidence: f64) -> (f64, f64) {
        let tail = (1.0 - confidence) / 2.0;
        let at = |p| self.deviation * (self.df / chi_squared::quantile(p, self.df)).sqrt();
        (at(1.0 - tail), at(tail))
    }
}

/// Returns the spread of rounds in time order, by the standard error that their estimate has. `None` with fewer than
/// [`FEWEST_ROUNDS`] rounds.
///
/// Values must be finite.
pub fn spread_of(rounds: &[Observation]) -> Option<Spread> {
    if rounds.len() < FEWEST_ROUNDS as usize {
        return None;
    }
    let fit = level::fit(&pace::allowed(rounds), quantum(rounds));
    let deviation = fit.standard_error * (rounds.len() as f64).sqrt();
    Some(Spread { deviation, df: fit.df_of_error })
}

/// Estimates the log ratio from rounds in time order, with an interval of confidence `1 - level`.
/// `None` with fewer than [`FEWEST_ROUNDS`] rounds, or at level 0.
///
/// Values must be finite.
pub fn estimate(rounds: &[Observation], level: f64) -> Option<Estimate> {
    if rounds.len() < FEWEST_ROUNDS as usize || level <= 0.0 || level >= 1.0 {
        return None;
    }
    let rounds = pace::allowed(rounds);
    let quantum = quantum(&rounds);
    let fit = level::fit(&rounds, quantum);
    let rounds = at_one_pace(&rounds, &fit);
    let half_width = student::two_sided_quantile(1.0 - level, fit.df) * fit.standard_error;
    let mut estimate = Estimate {
        centre: fit.effect,
        low: fit.effect - half_width,
        high: fit.effect + half_width,
        p: fit.p(),
        is_coarse: false,
        pace: fit.pace,
    };
    if is_coarse(&rounds, quantum) {
        estimate = estimate.no_finer_than(quantum);
    }
    let Estimate { mut low, mut high, mut p, .. } = estimate;
    if rounds.len() < ALL_MUST_AGREE_BELOW {
        let ratios = || rounds.iter().map(Observation::log_ratio);
        low = ratios().fold(low, f64::min);
        high = ratios().fold(high, f64::max);
        // All signs equal has this probability when there is no difference.
        p = p.max(two_to_the_minus(rounds.len() - 1));
        if low <= 0.0 && 0.0 <= high {
            p = p.max((level * 1.000_001).min(1.0));
        }
    }
    if rounds.len() <= FLIPS_UP_TO as usize {
        let ratios: Vec<f64> = rounds.iter().map(Observation::log_ratio).collect();
        p = p.max((FLIPS_SHARE * flips::p(&ratios)).min(FLIPS_LIMIT));
        if p >= level {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
    }
    Some(Estimate { low, high, p, ..estimate })
}

/// Returns the rounds as they would have been at one pace of the core, by the fit.
fn at_one_pace(rounds: &[Observation], fit: &level::Fit) -> Vec<Observation> {
    rounds.iter().map(|round| round.at_one_pace(fit.pace)).collect()
}

/// Returns the fewest rounds from which a difference can be called at a two-sided `level`.
pub fn fewest_rounds(level: f64) -> u32 {
    let beyond = FLIPS_UP_TO + 1;
    (FEWEST_ROUNDS..beyond)
        .find(|&n| {
            // All signs equal has the probability 2^(1 - n) when there is no difference.
            let halved = n as usize >= ALL_MUST_AGREE_BELOW;
            two_to_the_minus(n as usize - usize::from(!halved)) < level
        })
        .unwrap_or(beyond)
}

fn two_to_the_minus(n: usize) -> f64 {
    0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

/// Returns the step of the values; see [`steps::of`].
fn quantum(rounds: &[Observation]) -> f64 {
    steps::of([
        rounds.iter().map(|round| round.baseline).collect(),
        rounds.iter().map(|round| round.candidate).collect(),
    ])
}

/// Says whether the step of the values is larger than their noise.
fn is_coarse(rounds: &[Observation], quantum: f64) -> bool {
    let ratios = rounds.iter().map(Observation::log_ratio).collect();
    steps::scatter(ratios) / std::f64::consts::SQRT_2 < quantum / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use proptest::prelude::*;

    fn noisy(seed: u64, n: usize, effect: f64, noise: f64) -> Vec<Observation> {
        let mut rng = Rng::new(seed);
        (0..n)
            .map(|_| Observation {
                baseline: noise * rng.normal(),
                candidate: effect + noise * rng.normal(),
                candidate_first: rng.coin(),
                pace: [0.0; 2],
            })
            .collect()
    }

    #[test]
    fn a_clear_difference_is_found_with_its_size() {
        let estimate = estimate(&noisy(1, 30, 0.05, 0.01), 0.05).unwrap();
        assert!(estimate.low > 0.03 && estimate.high < 0.07, "{estimate:?}");
        assert!(estimate.p < 1e-6);
    }

    #[test]
    fn one_wild_run_changes_next_to_nothing() {
        let mut rounds = noisy(2, 30, 0.05, 0.01);
        let before = estimate(&rounds, 0.05).unwrap();
        rounds[7].candidate += 3.0;
        let after = estimate(&rounds, 0.05).unwrap();
        assert!((after.centre - before.centre).abs() < 0.004, "{before:?} {after:?}");
        assert!(after.high - after.low < 1.4 * (before.high - before.low));
    }

    #[test]
    fn drift_much_larger_than_the_difference_does_not_hide_it() {
        let mut rounds = noisy(3, 30, 0.02, 0.002);
        for (index, round) in rounds.iter_mut().enumerate() {
            round.baseline += 0.01 * index as f64;
            round.candidate += 0.01 * index as f64;
        }
        let estimate = estimate(&rounds, 0.05).unwrap();
        assert!(estimate.low > 0.01 && estimate.high < 0.03, "{estimate:?}");
    }

    #[test]
    fn few_rounds_must_all_agree() {
        let mut rounds = noisy(4, 6, 0.05, 0.001);
        assert!(estimate(&rounds, 0.05).unwrap().low > 0.0);
        rounds[3].candidate = rounds[3].baseline - 0.001;
        let estimate = estimate(&rounds, 0.05).unwrap();
        assert!(estimate.low <= -0.001 && estimate.p > 0.05, "{estimate:?}");
    }

    #[test]
    fn no_difference_is_called_before_the_fewest_rounds_that_can_show_one() {
        for level in [0.05, 0.02, 0.01, 0.004] {
            let fewest = fewest_rounds(level) as usize;
            let low = |n: usize| estimate(&noisy(4, n, 0.5, 0.001), level).map(|found| found.low);
            assert!((5..fewest).all(|n| low(n).unwrap() <= 0.0), "{level}");
            assert!(low(fewest).unwrap() > 0.0, "{level}");
        }
    }

    #[test]
    fn equal_values_give_no_difference() {
        let round =
            Observation { baseline: 1.0, candidate: 1.0, candidate_first: false, pace: [0.0; 2] };
        let estimate = estimate(&[round; 10], 0.05).unwrap();
        assert_eq!((estimate.low, estimate.high, estimate.p), (0.0, 0.0, 1.0));
    }

    #[test]
    fn values_that_move_in_coarse_steps_are_not_told_apart_below_a_step() {
        // A clock of 10 ms and programs of 100 ms: most rounds are equal, some differ by a step.
        let step = 1.1_f64.ln();
        let rounds: Vec<Observation> = (0..20)
            .map(|i| Observation {
                baseline: 0.0,
                candidate: if i % 7 == 0 { step } else { 0.0 },
                candidate_first: i % 2 == 0,
                pace: [0.0; 2],
            })
            .collect();
        let estimate = estimate(&rounds, 0.05).unwrap();
        assert!(estimate.high >= step && estimate.low <= -step * 0.5, "{estimate:?}");
    }

    #[test]
    fn a_few_large_rounds_among_equal_ones_do_not_pass_a_strict_level() {
        // Two modes 3 % apart: the fit takes the three equal rounds for outliers, yet among five
        // signs all agree in one case of sixteen.
        let rounds: Vec<Observation> = (0..8)
            .map(|i| Observation {
                baseline: 0.001 * f64::from(i % 3),
                candidate: if i < 5 { 0.03 } else { -0.0005 * f64::from(i % 2) },
                candidate_first: i % 2 == 0,
                pace: [0.0; 2],
            })
            .collect();
        let estimate = estimate(&rounds, 0.006).unwrap();
        assert!(estimate.low <= 0.0 && estimate.p >= 0.006, "{estimate:?}");
    }

    /// Rounds on a core whose other half is in use for a share of each run.
    fn paced(seed: u64, n: usize, effect: f64, share: f64) -> Vec<Observation> {
        let mut rng = Rng::new(seed);
        let mut rounds = noisy(seed, n, effect, 0.01);
        for round in &mut rounds {
            round.pace = [0, 1].map(|_| -12.0 + 0.5 * rng.uniform());
            round.baseline += share * round.pace[0];
            round.candidate += share * round.pace[1];
        }
        rounds
    }

    #[test]
    fn what_a_neighbour_on_the_core_takes_is_allowed_for() {
        let rounds = paced(6, 17, 0.02, 0.4);
        let with = estimate(&rounds, 0.05).unwrap();
        let without = estimate(&pace::without(&rounds), 0.05).unwrap();
        assert!(with.low > 0.0 && with.high < 0.04, "{with:?}");
        assert!(without.high - without.low > 2.0 * (with.high - with.low), "{without:?} {with:?}");
        let level = level_of(&rounds).unwrap();
        assert!((level.centre - with.centre).abs() < 1e-12 && (level.df - 14.0).abs() < 1e-12);
    }

    #[test]
    fn a_pace_that_never_varies_is_as_good_as_none() {
        let none = noisy(7, 17, 0.01, 0.01);
        let same: Vec<Observation> =
            none.iter().map(|round| Observation { pace: [-12.0; 2], ..*round }).collect();
        assert_eq!(estimate(&same, 0.05), estimate(&none, 0.05));
    }

    #[test]
    fn too_few_rounds_give_nothing() {
        assert_eq!(estimate(&noisy(5, 4, 0.5, 0.001), 0.05), None);
        assert_eq!(estimate(&noisy(5, 9, 0.5, 0.001), 0.0), None);
        assert_eq!(fewest_rounds(0.05), 6);
        assert_eq!(fewest_rounds(0.005), 8);
        assert_eq!(fewest_rounds(0.001), 10);
    }

    proptest! {
        #[test]
        fn the_interval_excludes_zero_exactly_when_the_test_rejects(
            seed in 0_u64..5000, n in 5_usize..40, effect in -0.02..0.02_f64,
        ) {
            let estimate = estimate(&noisy(seed, n, effect, 0.01), 0.05).unwrap();
            let excludes = estimate.low > 0.0 || estimate.high < 0.0;
            prop_assert_eq!(excludes, estimate.p < 0.05);
            prop_assert!(estimate.low <= estimate.centre && estimate.centre <= estimate.high);
        }

        #[test]
        fn a_common_factor_and_a_swap_of_names_change_nothing_but_the_sign(
            seed in 0_u64..5000, n in 5_usize..40, shift in -5.0..5.0_f64,
        ) {
            let rounds = noisy(seed, n, 0.01, 0.01);
            let one = estimate(&rounds, 0.05).unwrap();
            let shifted: Vec<Observation> = rounds.iter().map(|r| Observation {
                baseline: r.baseline + shift, candidate: r.candidate + shift, ..*r }).collect();
            let swapped: Vec<Observation> = rounds.iter().map(|r| Observation {
                baseline: r.candidate, candidate: r.baseline,
                candidate_first: !r.candidate_first, ..*r }).collect();
            let (two, three) = (estimate(&shifted, 0.05).unwrap(), estimate(&swapped, 0.05).unwrap());
            for (a, b) in [(one.centre, two.centre), (one.low, two.low), (one.high, two.high),
                           (one.centre, -three.centre), (one.low, -three.high)] {
                prop_assert!((a - b).abs() < 1e-9, "{} {}", a, b);
            }
        }

        #[test]
        fn with_a_pace_common_factors_and_names_change_nothing_but_the_sign_either(
            seed in 0_u64..5000, n in 14_usize..40, share in 0.0..1.0_f64, shift in -5.0..5.0_f64,
        ) {
            let rounds = paced(seed, n, 0.01, share);
            let one = estimate(&rounds, 0.05).unwrap();
            let shifted: Vec<Observation> = rounds.iter().map(|r| Observation {
                pace: r.pace.map(|pace| pace + shift), ..*r }).collect();
            let swapped: Vec<Observation> = rounds.iter().map(|r| Observation {
                baseline: r.candidate, candidate: r.baseline,
                candidate_first: !r.candidate_first, pace: [r.pace[1], r.pace[0]] }).collect();
            let (two, three) = (estimate(&shifted, 0.05).unwrap(), estimate(&swapped, 0.05).unwrap());
            for (a, b) in [(one.centre, two.centre), (one.low, two.low), (one.high, two.high),
                           (one.centre, -three.centre), (one.low, -three.high)] {
                prop_assert!((a - b).abs() < 1e-7, "{} {}", a, b);
            }
        }

        #[test]
        fn nothing_finite_makes_it_panic(
            values in proptest::collection::vec(
                (-700.0..700.0_f64, -700.0..700.0_f64, any::<bool>(), proptest::array::uniform2(-700.0..700.0_f64)),
                0..30,
            ),
        ) {
            let rounds: Vec<Observation> = values.iter().map(|&(baseline, candidate, candidate_first, pace)|
                Observation { baseline, candidate, candidate_first, pace }).collect();
            if let Some(estimate) = estimate(&rounds, 0.05) {
                prop_assert!(!estimate.centre.is_nan() && (0.0..=1.0).contains(&estimate.p));
            }
        }
    }
}
