//! What a ratio is over machines of a type, from the ratio that each of a few of them shows.
//!
//! A program change may be worth 3 % on one machine and 5 % on the next: placement of memory, microcode and the state
//! of the hardware belong to the machine. With the estimate `d_i` of machine `i` of `M`, the machine is a random factor,
//!
//! ```text
//! d_i = delta + m_i + e_i,   d +- t(1 - alpha / 2; M - 1) s / sqrt M
//! ```
//!
//! with the mean `d` and the standard deviation `s` of the `d_i`, which contains both the machines' own effects and the errors
//! within them. The machines need not be equally noisy: for any variances the two-sided test by `t` errs at most as often as
//! it states, where that is at most 8.3 % (Bakirov and Székely 2006, "Student's t-test for Gaussian scale mixtures", Journal
//! of Mathematical Sciences 139; Ibragimov and Müller 2010, "t-Statistic Based Correlation and Heterogeneity Robust
//! Inference", Journal of Business & Economic Statistics 28). It assumes that the machines were chosen without regard to
//! what they show, and that estimates are near normal. Two or three machines tell little: `t` is 12.7 and 4.3.

use crate::sample::assert_confidence;
use crate::student;

/// A mean over machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverMachines {
    /// The mean of the machines' estimates.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Standard deviation of the machines' estimates: what the machines differ by, and their errors.
    pub deviation: f64,
    /// Degrees of freedom: one less than there are machines.
    pub df: f64,
}

/// A standard deviation below this is the rounding of floating-point numbers.
const ROUNDING: f64 = 1e-13;

impl OverMachines {
    /// Returns the mean of the estimates of at least two machines, each finite; `None` for fewer.
    pub fn of(estimates: &[f64]) -> Option<Self> {
        if estimates.len() < 2 {
            return None;
        }
        let count = estimates.len() as f64;
        let mean = estimates.iter().sum::<f64>() / count;
        let squares: f64 = estimates.iter().map(|one| (one - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let deviation = if deviation < ROUNDING { 0.0 } else { deviation };
        Some(Self { mean, standard_error: deviation / count.sqrt(), deviation, df: count - 1.0 })
    }

    /// Returns the two-sided p value of a mean of 0.
    pub fn p(&self) -> f64 {
        if self.standard_error > 0.0 {
            student::two_sided_p(self.mean / self.standard_error, self.df)
        } else if self.mean.abs() < ROUNDING {
            1.0
        } else {
            0.0
        }
    }

    /// Returns the ends of the interval at this confidence. It is never narrower than the errors within the machines alone
    /// would make it, `within` being half the width of the interval that they leave: values that come in steps may be the
    /// same on all machines without being known so well.
    ///
    /// Panics when the confidence is not between 0 and 1.
    pub fn interval(&self, confidence: f64, within: f64) -> [f64; 2] {
        assert_confidence(confidence);
        let over = if self.standard_error > 0.0 {
            student::two_sided_quantile(confidence, self.df) * self.standard_error
        } else {
            0.0
        };
        let half = over.max(within);
        [self.mean - half, self.mean + half]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_interval_is_students() {
        let over = OverMachines::of(&[0.01, 0.02, 0.03]).unwrap();
        assert!((over.mean - 0.02).abs() < 1e-12 && (over.deviation - 0.01).abs() < 1e-12);
        let [low, high] = over.interval(0.95, 0.0);
        // 4.3027 * 0.01 / sqrt 3.
        assert!((low - (0.02 - 0.024_841)).abs() < 1e-6, "{low}");
        assert!((high - (0.02 + 0.024_841)).abs() < 1e-6, "{high}");
        assert!((over.p() - 0.0742).abs() < 1e-4, "{}", over.p());
        assert_eq!(OverMachines::of(&[0.01]), None);
    }

    #[test]
    fn machines_that_show_the_same_leave_no_doubt() {
        let over = OverMachines::of(&[0.03; 3]).unwrap();
        assert_eq!((over.interval(0.95, 0.0), over.p()), ([0.03; 2], 0.0));
        // Unless each of them is not known so well.
        let [low, high] = over.interval(0.95, 0.01);
        assert!((low - 0.02).abs() < 1e-12 && (high - 0.04).abs() < 1e-12);
        assert!((OverMachines::of(&[0.0; 3]).unwrap().p() - 1.0).abs() < 1e-12);
    }

    /// Shares of fleets in which the interval misses the truth, and in which a test finds what is not there.
    fn errors(machines: usize, errors_within: impl Fn(usize) -> f64, fleets: u32) -> f64 {
        const MACHINE_EFFECT: f64 = 0.03;
        let mut rng = Rng::new(7);
        let mut missed = 0_u32;
        for _ in 0..fleets {
            let estimates: Vec<f64> = (0..machines)
                .map(|index| MACHINE_EFFECT * rng.normal() + errors_within(index) * rng.normal())
                .collect();
            let [low, high] = OverMachines::of(&estimates).unwrap().interval(0.95, 0.0);
            missed += u32::from(low > 0.0 || high < 0.0);
        }
        f64::from(missed) / f64::from(fleets)
    }

    #[test]
    fn the_interval_covers_the_truth_for_few_machines() {
        const FLEETS: u32 = 20_000;
        // 5 % and three standard errors of so many fleets.
        const MOST: f64 = 0.0547;
        for machines in 2..=8 {
            for (name, within) in [("quiet", 0.002), ("noisy", 0.03)] {
                let share = errors(machines, |_| within, FLEETS);
                assert!(share <= MOST, "{machines} {name} machines: {share}");
            }
            // The first is ten times as noisy as the others together with what they differ by.
            let uneven = errors(machines, |index| if index == 0 { 0.3 } else { 0.002 }, FLEETS);
            assert!(uneven <= MOST, "{machines} uneven machines: {uneven}");
        }
    }
}
