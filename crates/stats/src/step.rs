//! One step in level: Pettitt's test.
//!
//! U(t) = 2 sum of the first t ranks - t (n + 1); K = max |U(t)|; p = min(1, 2 exp(-6 K^2 / (n^3 +
//! n^2))). The step lies after the t with the largest |U| (near an end it is placed a few runs too
//! far inwards). Ties make p larger than it should be, positive autocorrelation smaller.
//!
//! Pettitt, "A Non-Parametric Approach to the Change-Point Problem", Applied Statistics 28 (1979).

use crate::center::median_of_sorted;
use crate::rank::Ranks;
use crate::{Sample, Violation};

/// The likeliest single step in a sample, and how likely it is to be chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Pettitt's K.
    pub k: f64,
    /// Probability of such a K without a step (approximate).
    pub p: f64,
    /// Position in time order of the first value of the new level.
    pub index: usize,
    /// Median after the step minus median before it, in the unit of the values.
    pub shift: f64,
    /// Shift as a share of the median before the step; `None` when that is 0.
    pub shift_share: Option<f64>,
}

impl Step {
    /// Looks for one step; needs two values.
    pub fn of(sample: &Sample) -> Result<Self, Violation> {
        sample.at_least(2)?;
        let n = sample.len() as f64;
        let (mut k, mut index, mut u) = (-1.0, 0, 0.0_f64);
        let ranks = Ranks::of(sample.values()).ranks;
        for (t, rank) in ranks[..ranks.len() - 1].iter().enumerate() {
            u += 2.0 * rank - (n + 1.0);
            if u.abs() > k {
                (k, index) = (u.abs(), t + 1);
            }
        }
        let (before, after) = sample.values().split_at(index);
        let before = unsorted_median(before);
        let shift = unsorted_median(after) - before;
        let share = shift / before.abs();
        let p = (2.0 * (-6.0 * k * k / (n.powi(3) + n.powi(2))).exp()).min(1.0);
        Ok(Self { k, p, index, shift, shift_share: share.is_finite().then_some(share) })
    }
}

fn unsorted_median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_step_is_found_at_its_first_new_value() {
        let values = (0..40)
            .map(|i| if i < 20 { 10.0 } else { 11.0 } + f64::from(i * 7 % 5) / 100.0)
            .collect();
        let step = Step::of(&Sample::new(values).unwrap()).unwrap();
        assert_eq!(step.index, 20);
        assert!(step.p < 1e-4, "{step:?}");
        assert!((step.shift_share.unwrap() - 0.1).abs() < 0.002);
    }

    #[test]
    fn equal_values_hold_no_step() {
        let step = Step::of(&Sample::new(vec![1.0; 9]).unwrap()).unwrap();
        assert_eq!((step.k, step.p, step.shift), (0.0, 1.0, 0.0));
    }
}
