//! Monotone trend: Mann and Kendall's test, and Theil and Sen's slope.
//!
//! S = pairs that rise minus pairs that fall; Var S = (n (n - 1)(2n + 5) - sum t (t - 1)(2t + 5)) /
//! 18 over groups of t equal values; p from the normal distribution with continuity correction.
//! Falling pairs are counted by merging, in O(n log n). The slope is the median of `(x[j] - x[i]) /
//! (j - i)`. Assumes independent values: positive autocorrelation makes p too small.
//!
//! Mann, "Nonparametric Tests Against Trend", Econometrica 13 (1945); Kendall, "Rank Correlation
//! Methods" (1975); Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", JASA 63
//! (1968).

use crate::center::{median_of, median_of_sorted};
use crate::rank::Ranks;
use crate::{Sample, Violation, normal};

/// Runs above which the slope is taken from every k-th run only, as all pairs would be too many.
pub const SLOPE_RUNS_LIMIT: usize = 2000;

/// Trend over a sample in time order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Kendall's S: rising pairs minus falling pairs.
    pub s: f64,
    /// Two-sided probability of such an S without trend.
    pub p: f64,
    /// Theil-Sen slope per run, in the unit of the values.
    pub slope: f64,
    /// Slope per run as a share of the median; `None` when the median is 0.
    pub slope_share: Option<f64>,
}

impl Drift {
    /// Tests for a trend; needs three values.
    pub fn of(sample: &Sample) -> Result<Self, Violation> {
        sample.at_least(3)?;
        let n = sample.len() as f64;
        let groups = Ranks::of(sample.values()).groups;
        let tied: f64 = groups.iter().map(|&t| t as f64 * (t as f64 - 1.0) / 2.0).sum();
        let s =
            n * (n - 1.0) / 2.0 - tied - 2.0 * falling_pairs(&mut sample.values().to_vec()) as f64;
        let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
        let variance = (term(n) - groups.iter().map(|&t| term(t as f64)).sum::<f64>()) / 18.0;
        let distance = (s.abs() - 1.0).max(0.0);
        let p = if distance == 0.0 { 1.0 } else { normal::two_sided_p(distance / variance.sqrt()) };
        let slope = theil_sen(sample.values());
        let share = slope / median_of_sorted(sample.sorted()).abs();
        Ok(Self { s, p, slope, slope_share: share.is_finite().then_some(share) })
    }
}

/// Counts the pairs `i < j` with `x[i] > x[j]`, and sorts `values` on the way.
fn falling_pairs(values: &mut [f64]) -> usize {
    let half = values.len() / 2;
    if half == 0 {
        return 0;
    }
    let mut count = falling_pairs(&mut values[..half]) + falling_pairs(&mut values[half..]);
    let mut merged = Vec::with_capacity(values.len());
    let (mut left, mut right) =
        (values[..half].iter().peekable(), values[half..].iter().peekable());
    while let (Some(&&a), Some(&&b)) = (left.peek(), right.peek()) {
        if a > b {
            count += left.len();
            merged.push(b);
            right.next();
        } else {
            merged.push(a);
            left.next();
        }
    }
    merged.extend(left);
    merged.extend(right);
    values.copy_from_slice(&merged);
    count
}

/// Returns the median slope over all pairs of at most [`SLOPE_RUNS_LIMIT`] evenly spaced runs.
fn theil_sen(values: &[f64]) -> f64 {
    let step = values.len().div_ceil(SLOPE_RUNS_LIMIT);
    let thinned: Vec<f64> = values.iter().step_by(step).copied().collect();
    let mut slopes = Vec::with_capacity(thinned.len() * (thinned.len() - 1) / 2);
    for (i, a) in thinned.iter().enumerate() {
        slopes.extend(
            thinned[i + 1..].iter().enumerate().map(|(gap, b)| (b - a) / ((gap + 1) * step) as f64),
        );
    }
    median_of(&mut slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn falling_pairs_are_counted_as_by_hand() {
        let mut rng = Rng::new(6);
        for n in 0..30 {
            let values: Vec<f64> = (0..n).map(|_| (rng.uniform() * 10.0).floor()).collect();
            let by_hand = (0..n)
                .flat_map(|j| (0..j).map(move |i| (i, j)))
                .filter(|&(i, j)| values[i] > values[j]);
            assert_eq!(falling_pairs(&mut values.clone()), by_hand.count());
        }
    }

    #[test]
    fn a_straight_line_has_its_slope_and_no_doubt() {
        let drift =
            Drift::of(&Sample::new((0..50).map(|i| 100.0 + 0.5 * f64::from(i)).collect()).unwrap())
                .unwrap();
        assert_eq!(drift.slope, 0.5);
        assert!(drift.p < 1e-15);
        assert!((drift.slope_share.unwrap() - 0.5 / 112.25).abs() < 1e-15);
    }

    #[test]
    fn equal_values_do_not_drift() {
        let drift = Drift::of(&Sample::new(vec![1.0; 10]).unwrap()).unwrap();
        assert_eq!((drift.s, drift.p, drift.slope), (0.0, 1.0, 0.0));
    }

    #[test]
    fn thinning_keeps_the_slope_per_run() {
        let line: Vec<f64> = (0..5000).map(f64::from).collect();
        assert_eq!(theil_sen(&line), 1.0);
    }
}
