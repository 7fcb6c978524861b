//! A change of spread, as it was found.

/// A change of spread around a level that stays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadChange {
    /// First value of the new spread, counted from 0.
    pub index: usize,
    /// First and last place at which the new spread may have begun instead.
    pub earliest: usize,
    /// See `earliest`.
    pub latest: usize,
    /// The value after which it was confirmed.
    pub seen: usize,
    /// Standard normal statistic of the split; above 0 where the series got noisier.
    pub z: f64,
    /// Standard deviation from value to value before, and after it as far as it was seen.
    pub before: f64,
    /// See `before`.
    pub after: f64,
}

impl SpreadChange {
    /// Says whether the series got noisier.
    pub fn is_noisier(&self) -> bool {
        self.z > 0.0
    }
}
