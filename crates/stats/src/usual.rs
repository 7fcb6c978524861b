//! What is usual for a number that was read beside many runs, told by these runs.
//!
//! A value is unusual beyond
//!
//! `median +- max(SIGMAS * sigma, slack)`
//!
//! with sigma the median absolute deviation, scaled to the standard deviation of a normal distribution
//! (Leys et al., "Detecting outliers", J. Exp. Soc. Psychol. 49, 2013), so that a few bad runs cannot
//! widen it, and slack the amount below which a difference is too small to matter or too coarse to be
//! believed.

use crate::Sample;
use crate::center::median;
use crate::spread::{MAD_TO_SIGMA, mad};

/// Scaled deviations from the median that are still usual. Counts of rare events have long tails, so it
/// is more than the customary 3.
pub const SIGMAS: f64 = 5.0;

/// Fewest values that can say what is usual.
pub const MIN_RUNS: usize = 5;

/// What is usual among some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// The value in the middle.
    pub median: f64,
    /// Scaled median absolute deviation.
    pub sigma: f64,
}

impl Usual {
    /// Returns what is usual among `values`; `None` for fewer than [`MIN_RUNS`], or where one is not
    /// finite.
    pub fn of(values: Vec<f64>) -> Option<Self> {
        if values.len() < MIN_RUNS {
            return None;
        }
        let sample = Sample::new(values).ok()?;
        Some(Self { median: median(&sample), sigma: mad(&sample) * MAD_TO_SIGMA })
    }

    /// Returns the lowest and the highest value that are still usual.
    pub fn limits(&self, slack: f64) -> (f64, f64) {
        let distance = slack.max(SIGMAS * self.sigma);
        (self.median - distance, self.median + distance)
    }
}

/// Returns the lowest and the highest value that are still usual for each of several subjects, where `slack`
/// tells the slack at a median.
///
/// Two equal programs have to have the same limits: where the values of one lie or scatter a little higher
/// by chance, limits of its own would let more of its bad runs pass, and what is left of it would differ.
/// (Simulated, with a third of the runs disturbed: limits of its own for each raise the false alarms of a
/// comparison at 5 % to 8 %.) So all have the largest scatter, and subjects whose medians lie within each
/// other's limits share the widest.
pub fn limits_alike(of_each: &[Usual], slack: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let sigma = of_each.iter().map(|usual| usual.sigma).fold(0.0, f64::max);
    let own: Vec<(f64, f64)> =
        of_each.iter().map(|usual| Usual { sigma, ..*usual }.limits(slack(usual.median))).collect();
    let is_within =
        |usual: &Usual, (low, high): (f64, f64)| low <= usual.median && usual.median <= high;
    let widest = |usual: &Usual, limits: (f64, f64)| {
        let like_this = of_each
            .iter()
            .zip(&own)
            .filter(|(other, its)| is_within(usual, **its) && is_within(other, limits));
        like_this.fold(limits, |all, (_, its)| (all.0.min(its.0), all.1.max(its.1)))
    };
    of_each.iter().zip(&own).map(|(usual, limits)| widest(usual, *limits)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_values_cannot_say_what_is_usual() {
        assert_eq!(Usual::of(vec![1.0; 4]), None);
        assert_eq!(Usual::of(vec![1.0, 1.0, 1.0, 1.0, f64::NAN]), None);
        assert_eq!(Usual::of(vec![1.0; 5]), Some(Usual { median: 1.0, sigma: 0.0 }));
    }

    #[test]
    fn the_larger_of_slack_and_scatter_makes_the_limits() {
        let usual = Usual { median: 10.0, sigma: 2.0 };
        assert_eq!(usual.limits(1.0), (0.0, 20.0));
        assert_eq!(usual.limits(12.0), (-2.0, 22.0));
    }

    #[test]
    fn two_bad_values_of_five_do_not_move_the_limits_to_themselves() {
        let usual = Usual::of(vec![1.0, 1.1, 0.9, 50.0, 60.0]).unwrap();
        assert!(usual.limits(0.5).1 < 3.0, "{usual:?}");
    }

    #[test]
    fn subjects_that_are_nearly_alike_share_the_widest_limits() {
        let usual = |median, sigma| Usual { median, sigma };
        let limits = limits_alike(&[usual(10.0, 1.0), usual(12.0, 2.0)], |_| 0.0);
        assert_eq!(limits, [(0.0, 22.0), (0.0, 22.0)]);
        // A hundred is another kind of program, which shares the scatter alone.
        let limits = limits_alike(&[usual(10.0, 1.0), usual(100.0, 2.0)], |_| 0.0);
        assert_eq!(limits, [(0.0, 20.0), (90.0, 110.0)]);
        let limits = limits_alike(&[usual(10.0, 0.0), usual(100.0, 0.0)], |median| median);
        assert_eq!(limits, [(0.0, 20.0), (0.0, 200.0)]);
    }
}
