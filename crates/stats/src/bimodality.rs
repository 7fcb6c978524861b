//! Does a sample have two modes? (Rule under calibration.)

use crate::{Sample, Violation};

/// Fewest values for which two modes can be told from one.
pub const FEWEST_VALUES: usize = 20;

/// Whether a sample has one mode or two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bimodality {
    /// Probability of looking so bimodal with one mode only.
    pub p: f64,
    /// The two modes, when there are two.
    pub modes: Option<Modes>,
}

/// Two modes and how the values divide between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Centre of the lower mode.
    pub lower: f64,
    /// Centre of the upper mode.
    pub upper: f64,
    /// Share of the values that belong to the lower mode.
    pub lower_share: f64,
    /// Value that divides them.
    pub split: f64,
}

impl Bimodality {
    /// Looks for two modes; needs [`FEWEST_VALUES`] values.
    pub fn of(sample: &Sample) -> Result<Self, Violation> {
        sample.at_least(FEWEST_VALUES)?;
        Ok(Self { p: 1.0, modes: None })
    }

    /// Returns whether two modes were found.
    pub fn is_bimodal(&self) -> bool {
        self.modes.is_some()
    }
}
