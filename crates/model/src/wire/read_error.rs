//! Why a document cannot be read.

use super::version::VersionError;

/// Why a text is not a record that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the shape of the schema.
    #[error("not a becalm document: {0}")]
    Json(#[from] serde_json::Error),
    /// Another kind of document, or a newer one.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// A comparison speaks of a subject or metric that the document does not have.
    #[error("comparison {index} names the {what} `{name}`, which the document does not have")]
    Unknown {
        /// Position in `comparisons`.
        index: usize,
        /// `subject` or `metric`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The document has no subject.
    #[error("the document has no subject")]
    NoSubject,
    /// A confidence that is no share.
    #[error("the confidence {0} is not between 0 and 1")]
    Confidence(f64),
    /// A round number that no session reaches.
    #[error("a run of `{subject}` is of round {round}; rounds go up to {MAX_ROUND}")]
    Round {
        /// Name of the subject.
        subject: String,
        /// The number found.
        round: u32,
    },
    /// A number that no session has written.
    #[error("the {what} is {value}; it must be {range}")]
    Range {
        /// What it stands for.
        what: String,
        /// The number found.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// One subject ran twice in one round.
    #[error(
        "`{subject}` has two runs of round {round}: the file was changed after becalm wrote it"
    )]
    Twice {
        /// Name of the subject.
        subject: String,
        /// Number of the round.
        round: u32,
    },
}

/// Largest round number accepted: readers index by round, and no session makes so many.
pub const MAX_ROUND: u32 = 10_000_000;
