//! Several hypotheses at once: Holm's step-down correction.
//!
//! With p(1) <= ... <= p(m): adjusted p(i) = max over j <= i of min(1, (m - j + 1) p(j)). The
//! chance of any false rejection is at most alpha, whatever the dependence. The interval that goes
//! with a p is taken at the level that it was held against ([`family::levels`]): it excludes 0 exactly
//! when that hypothesis is rejected. For joint coverage of all of them take [`bonferroni_confidence`].
//!
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
//! Statistics 6 (1979).

use crate::decide::family;
use crate::sample::assert_confidence;

/// One hypothesis after correction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holm {
    /// Corrected p, to be compared with alpha itself.
    pub adjusted_p: f64,
    /// Confidence at which this hypothesis's own interval matches the decision.
    pub confidence: f64,
    /// Whether the hypothesis is rejected at `1 - confidence` for the whole family.
    pub rejected: bool,
}

/// Corrects p values, in their order, for a family-wise level of `1 - confidence`.
///
/// Panics when a p value is not between 0 and 1.
pub fn holm(p_values: &[f64], confidence: f64) -> Vec<Holm> {
    assert_confidence(confidence);
    assert!(
        p_values.iter().all(|p| (0.0..=1.0).contains(p)),
        "a p value lies between 0 and 1: {p_values:?}"
    );
    let alpha = 1.0 - confidence;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut result = vec![Holm { adjusted_p: 1.0, confidence, rejected: false }; p_values.len()];
    let levels = family::levels(p_values, |left| alpha / left as f64);
    let mut adjusted_p = 0.0_f64;
    for (step, &i) in order.iter().enumerate() {
        let left = (p_values.len() - step) as f64;
        adjusted_p = adjusted_p.max((left * p_values[i]).min(1.0));
        result[i] = Holm { adjusted_p, confidence: 1.0 - levels[i], rejected: adjusted_p <= alpha };
    }
    result
}

/// Returns the confidence at which each of `n` intervals must be taken to hold jointly at
/// `confidence`.
pub fn bonferroni_confidence(confidence: f64, n: usize) -> f64 {
    /// Nearer to 1, rounding takes away what is missing to it.
    const LARGEST: f64 = 1.0 - 1e-12;
    assert_confidence(confidence);
    (1.0 - (1.0 - confidence) / n.max(1) as f64).min(LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_correct_is_nothing() {
        assert!(holm(&[], 0.95).is_empty());
    }

    #[test]
    fn one_hypothesis_stays_as_it_is() {
        assert_eq!(holm(&[0.03], 0.95)[0].adjusted_p, 0.03);
    }

    #[test]
    fn a_small_p_behind_a_failed_step_is_not_rejected() {
        let result = holm(&[0.02, 0.03, 0.04], 0.95);
        assert!(result.iter().all(|h| !h.rejected && (h.adjusted_p - 0.06).abs() < 1e-15));
        // At 95 % the interval of the last would exclude 0.
        assert!(result.iter().all(|h| (h.confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-15));
    }

    #[test]
    fn the_smallest_p_gets_the_widest_interval() {
        let result = holm(&[0.5, 0.001], 0.95);
        assert!((result[1].confidence - 0.975).abs() < 1e-15);
        assert!((result[0].confidence - 0.95).abs() < 1e-15);
    }
}
