//! How a p value was computed.

/// Whether a p value is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PMethod {
    /// From the full distribution of the statistic.
    Exact,
    /// From a normal approximation.
    Normal,
    /// From random draws, with their seed given by the caller.
    MonteCarlo,
}
