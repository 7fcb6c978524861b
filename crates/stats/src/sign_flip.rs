//! Sign-flip permutation test: how often is a statistic of the differences as extreme when their
//! signs are random?
//!
//! Without an effect a difference is as likely as its negative, so every pattern of signs is
//! equally likely. Up to [`EXACT_LIMIT`] differences all 2^n patterns are tried; above that `draws`
//! random ones, and p = (1 + draws as extreme) / (1 + draws), which is a valid p and never 0.
//!
//! Fisher, "The Design of Experiments" (1935), section 21; Phipson and Smyth, "Permutation P-values
//! Should Never Be Zero", SAGMB 9 (2010). Assumes independent differences, symmetric when there is
//! no effect.

use crate::p_method::PMethod;
use crate::{Rng, Sample};

/// Number of differences up to which all patterns of signs are tried.
pub const EXACT_LIMIT: usize = 14;

/// Result of the sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// Statistic of the differences as they are.
    pub statistic: f64,
    /// Two-sided probability.
    pub p: f64,
    /// How p was computed.
    pub method: PMethod,
}

/// Tests `differences` with a `statistic` that lies around 0 when there is no effect, such as a
/// mean.
///
/// The statistic sees the differences in time order, and must return finite numbers.
pub fn sign_flip(
    differences: &Sample,
    statistic: impl Fn(&[f64]) -> f64,
    draws: u32,
    seed: u64,
) -> SignFlip {
    let values = differences.values();
    let observed = statistic(values);
    // A pattern with the same value must count in spite of its terms being rounded in another
    // order.
    let limit = observed.abs() * (1.0 - 1e-9);
    let mut flipped = values.to_vec();
    let (p, method) = if values.len() <= EXACT_LIMIT {
        let patterns = 1_u32 << values.len();
        let extreme = (0..patterns).filter(|pattern| {
            for (i, (to, from)) in flipped.iter_mut().zip(values).enumerate() {
                *to = if pattern >> i & 1 == 1 { -from } else { *from };
            }
            statistic(&flipped).abs() >= limit
        });
        (extreme.count() as f64 / f64::from(patterns), PMethod::Exact)
    } else {
        let mut rng = Rng::new(seed);
        let extreme = (0..draws).filter(|_| {
            for (to, from) in flipped.iter_mut().zip(values) {
                *to = if rng.coin() { -from } else { *from };
            }
            statistic(&flipped).abs() >= limit
        });
        ((extreme.count() as f64 + 1.0) / (f64::from(draws) + 1.0), PMethod::MonteCarlo)
    };
    SignFlip { statistic: observed, p, method }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn all_of_one_sign_is_the_most_extreme_pattern_and_its_mirror() {
        let sample = Sample::new(vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(sign_flip(&sample, mean, 0, 0).p, 2.0 / 32.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_p() {
        let sample = Sample::new((0..30).map(|i| f64::from(i) - 11.0).collect()).unwrap();
        let once = sign_flip(&sample, mean, 999, 5);
        assert_eq!(once, sign_flip(&sample, mean, 999, 5));
        assert_eq!(once.method, PMethod::MonteCarlo);
    }

    #[test]
    fn equal_zeros_are_no_evidence() {
        assert_eq!(sign_flip(&Sample::new(vec![0.0; 20]).unwrap(), mean, 99, 1).p, 1.0);
    }
}
