//! Sign test: are differences as often above 0 as below?
//!
//! Zeros are dropped; the number above is binomial with 1/2. Two-sided p is twice the smaller tail,
//! at most 1. Dixon and Mood, "The Statistical Sign Test", JASA 41 (1946). Assumes nothing but
//! independence.

use crate::{Sample, Violation, binomial};

/// Result of the sign test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sign {
    /// Differences above 0.
    pub above: u64,
    /// Differences below 0.
    pub below: u64,
    /// Two-sided exact probability.
    pub p: f64,
}

/// Tests differences against 0; at least one must differ from 0.
pub fn sign(differences: &Sample) -> Result<Sign, Violation> {
    let count = |wanted: fn(f64) -> bool| {
        differences.values().iter().filter(|&&d| wanted(d)).count() as u64
    };
    let (above, below) = (count(|d| d > 0.0), count(|d| d < 0.0));
    if above + below == 0 {
        return Err(Violation::NoSpread);
    }
    let p = (2.0 * binomial::at_most(above.min(below), above + below, 0.5)).min(1.0);
    Ok(Sign { above, below, p })
}
