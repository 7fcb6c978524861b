//! Run-sequence check: are the values in time order like independent draws from one distribution?
//!
//! Three questions: does each run resemble the one before (lag-1 autocorrelation of the ranks, so
//! that one spike cannot hide or fake it), is there a trend ([`crate::drift`]), is there one step
//! ([`crate::step`]).
//!
//! `r1 = sum (R[i] - m)(R[i + 1] - m) / sum (R[i] - m)^2` with ranks R and their mean m. Without
//! dependence r1 has mean -1/n and variance close to (n - 2)^2 / (n^2 (n - 1)); Bartels, "The Rank
//! Version of von Neumann's Ratio Test for Randomness", JASA 77 (1982).

use crate::drift::Drift;
use crate::rank::Ranks;
use crate::step::Step;
use crate::{Sample, Violation, normal};

/// Fewest runs for which the check means something.
pub const FEWEST_RUNS: usize = 8;

/// Level of each of the three parts.
pub const LEVEL: f64 = 0.05;

/// What the order of the values gives away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequenceCheck {
    /// Number of values.
    pub n: usize,
    /// Lag-1 autocorrelation of the ranks; 0 when all values are equal.
    pub lag1: f64,
    /// Largest |`lag1` + 1/n| expected in 95 % of independent sequences.
    pub lag1_limit: f64,
    /// Trend.
    pub drift: Drift,
    /// Likeliest single step.
    pub step: Step,
}

impl SequenceCheck {
    /// Checks the sample in time order; needs [`FEWEST_RUNS`] values.
    pub fn of(sample: &Sample) -> Result<Self, Violation> {
        sample.at_least(FEWEST_RUNS)?;
        let n = sample.len() as f64;
        let deviation = (n - 2.0) / (n * (n - 1.0).sqrt());
        Ok(Self {
            n: sample.len(),
            lag1: lag1(&Ranks::of(sample.values()).ranks),
            lag1_limit: normal::quantile(1.0 - LEVEL / 2.0) * deviation,
            drift: Drift::of(sample)?,
            step: Step::of(sample)?,
        })
    }

    /// Returns whether neighbouring runs resemble (or avoid) each other more than chance allows.
    pub fn is_autocorrelated(&self) -> bool {
        let (low, high) = self.independent();
        self.lag1 < low || self.lag1 > high
    }

    /// Returns between which ends `lag1` lies in 95 % of independent sequences: around -1/n, because every value is
    /// compared with a mean of which it is a part.
    pub fn independent(&self) -> (f64, f64) {
        let middle = -1.0 / self.n as f64;
        (middle - self.lag1_limit, middle + self.lag1_limit)
    }

    /// Returns whether there is a trend.
    pub fn is_drifting(&self) -> bool {
        self.drift.p < LEVEL
    }

    /// Returns whether there is a step; a strong trend looks like one too.
    pub fn is_stepped(&self) -> bool {
        self.step.p < LEVEL
    }
}

fn lag1(ranks: &[f64]) -> f64 {
    let mean = f64::midpoint(ranks.len() as f64, 1.0);
    let total: f64 = ranks.iter().map(|r| (r - mean).powi(2)).sum();
    let neighbours: f64 = ranks.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if total == 0.0 { 0.0 } else { neighbours / total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn seven_runs_are_too_few() {
        let sample = Sample::new(vec![1.0; 7]).unwrap();
        assert_eq!(SequenceCheck::of(&sample), Err(Violation::TooFew { needed: 8, have: 7 }));
    }

    #[test]
    fn independent_runs_are_flagged_about_as_often_as_the_level_says() {
        let mut rng = Rng::new(7);
        let (mut lag, mut drift, mut step) = (0, 0, 0);
        for _ in 0..1000 {
            let check = SequenceCheck::of(
                &Sample::new((0..30).map(|_| rng.exponential()).collect()).unwrap(),
            )
            .unwrap();
            lag += u32::from(check.is_autocorrelated());
            drift += u32::from(check.is_drifting());
            step += u32::from(check.is_stepped());
        }
        // 50 +- 4 standard errors; Pettitt's approximation is known to be conservative.
        assert!((23..78).contains(&lag), "{lag}");
        assert!((23..78).contains(&drift), "{drift}");
        assert!(step < 78, "{step}");
    }

    #[test]
    fn dependent_runs_are_found() {
        let mut rng = Rng::new(8);
        let mut level = 0.0;
        let values = (0..100).map(|_| {
            level = 0.7 * level + rng.normal();
            level
        });
        assert!(
            SequenceCheck::of(&Sample::new(values.collect()).unwrap()).unwrap().is_autocorrelated()
        );
    }

    #[test]
    fn equal_values_pass() {
        let check = SequenceCheck::of(&Sample::new(vec![2.0; 20]).unwrap()).unwrap();
        assert!(!check.is_autocorrelated() && !check.is_drifting() && !check.is_stepped());
    }
}
