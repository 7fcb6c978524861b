//! Was the warm-up enough? Finds leading runs that are slower than the rest, by a permutation test.
//!
//! Each value becomes a modified z-score, cut off at +-[`SCORE_LIMIT`] so that one spike counts
//! once. For each k up to half of the runs, C(k) = sum of the first k centred scores / sqrt(k (n -
//! k) / n); the statistic is the largest C(k). Its p is the share of seeded random orders of the
//! same values that reach it: right for any distribution, as without a warm-up effect every order
//! is equally likely. One slow first run can therefore be told from chance from 20 runs on (p =
//! 1/n). A steady downward drift is reported too, with k near half: such runs never settled.
//!
//! Permutation tests: Good, "Permutation, Parametric and Bootstrap Tests of Hypotheses" (2005); the
//! statistic is the one-sided CUSUM of Page, "Continuous Inspection Schemes", Biometrika 41 (1954),
//! over its standard deviation.

use crate::outlier::modified_z_scores;
use crate::sum::sum;
use crate::{Rng, Sample};

/// Fewest runs for which leading runs can be told from chance.
pub const FEWEST_RUNS: usize = 10;

/// Largest probability of naming leading runs when there is nothing.
pub const LEVEL: f64 = 0.05;

/// Modified z-score at which one run's weight is cut off.
pub const SCORE_LIMIT: f64 = 5.0;

/// Random orders drawn: enough to resolve p = 0.05 to +-0.007.
const ORDERS: u32 = 999;

/// As many orders that reach the observed lead make p = (1 + reached) / (1 + orders) exceed the level.
const TOO_MANY: usize = 50;

/// Fixed seed, so that the same sample always gets the same answer.
const SEED: u64 = 0x05_7a_77;

/// Returns how many leading runs look slower than the rest, or `None` when chance explains them or
/// runs are too few.
pub fn slow_start(sample: &Sample) -> Option<usize> {
    if sample.len() < FEWEST_RUNS {
        return None;
    }
    let mut scores = modified_z_scores(sample);
    for z in &mut scores {
        *z = z.clamp(-SCORE_LIMIT, SCORE_LIMIT);
    }
    let mean = sum(scores.iter().copied()) / scores.len() as f64;
    for z in &mut scores {
        *z -= mean;
    }

    let (observed, k) = largest_lead(&scores);
    if observed <= 0.0 {
        return None;
    }
    let mut rng = Rng::new(SEED);
    // An order with the same lead must count in spite of its sums being rounded differently.
    let limit = observed * (1.0 - 1e-9);
    // With so many orders that reach it p is above the level whatever the others do (Besag and
    // Clifford, Biometrika 78, 1991): the usual case, and long samples are slow to shuffle.
    let reached = (0..ORDERS).filter(|_| {
        rng.shuffle(&mut scores);
        largest_lead(&scores).0 >= limit
    });
    (reached.take(TOO_MANY).count() < TOO_MANY).then_some(k)
}

/// Returns the largest C(k) and its k.
fn largest_lead(scores: &[f64]) -> (f64, usize) {
    let n = scores.len() as f64;
    let (mut best, mut best_k, mut total) = (f64::NEG_INFINITY, 0, 0.0);
    for (i, score) in scores[..scores.len() / 2].iter().enumerate() {
        total += score;
        let k = (i + 1) as f64;
        let lead = total / (k * (n - k) / n).sqrt();
        if lead > best {
            (best, best_k) = (lead, i + 1);
        }
    }
    (best, best_k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_start(start: &[f64], n: usize, seed: u64) -> Sample {
        let mut rng = Rng::new(seed);
        let steady = (start.len()..n).map(|_| 10.0 + 0.1 * rng.normal());
        Sample::new(start.iter().copied().chain(steady).collect()).unwrap()
    }

    #[test]
    fn a_cold_first_run_is_found() {
        assert_eq!(slow_start(&with_start(&[14.0], 40, 9)), Some(1));
    }

    #[test]
    fn three_cold_runs_are_found() {
        assert_eq!(slow_start(&with_start(&[14.0, 12.0, 11.0], 30, 10)), Some(3));
    }

    #[test]
    fn a_fast_start_is_not_a_slow_one() {
        assert_eq!(slow_start(&with_start(&[6.0, 7.0, 8.0], 30, 11)), None);
    }

    #[test]
    fn too_few_and_equal_runs_say_nothing() {
        assert_eq!(slow_start(&with_start(&[14.0], 9, 12)), None);
        assert_eq!(slow_start(&Sample::new(vec![1.0; 30]).unwrap()), None);
    }

    #[test]
    fn steady_runs_are_accused_no_more_often_than_the_level_says() {
        let mut rng = Rng::new(13);
        let accused = (0..200).filter(|_| {
            slow_start(&Sample::new((0..30).map(|_| rng.exponential()).collect()).unwrap())
                .is_some()
        });
        // 10 expected; 23 is more than four standard errors above.
        assert!(accused.count() < 23);
    }
}
