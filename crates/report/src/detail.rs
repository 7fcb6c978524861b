//! How much of a report is written.

/// How much of a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a reader needs in order to decide, on one screen.
    Short,
    /// Everything.
    Full,
}
