//! One thing to be measured.

/// A command to be measured, with the name that reports use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name in reports and JSON; unique within a record.
    pub name: String,
    /// Program and arguments, after parameters were filled in. Never empty.
    pub command: Vec<String>,
    /// Values of `--parameter-list` and `--parameter-scan` for this subject, in order.
    pub parameters: Vec<(String, String)>,
}
