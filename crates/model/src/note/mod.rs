//! What a reader has to know beside the numbers, as values: code asks for a kind, and `report` alone has the sentence.

mod comparison;
mod gate;
mod import;
mod limit;
mod session;

pub use comparison::{ComparisonNote, CutOffWorth, Observation, WallTimeReason};
pub use gate::{Earlier, GateAdvice, GateNote, GateReason, Side};
pub use import::{ImportFact, ImportNote};
pub use limit::{Calm, EvidenceLimit, Limit, Obstacle, Unseen};
pub use session::{ConditionName, Difference, SessionNote};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that the reader of a record or of a report has to know.
///
/// Each family has its kinds in a file of its own. In JSON they stand side by side, told apart by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Note {
    /// About one comparison.
    Comparison(ComparisonNote),
    /// About the subjects and the course of a session.
    Session(SessionNote),
    /// About what a gate or a job of continuous integration judged.
    Gate(GateNote),
    /// About a file of another tool, or several of them put together.
    Import(ImportNote),
    /// A sentence of which nothing else is known.
    Text(Sentence),
}

/// A sentence that was not made by this version: it stands in a record of an earlier one, or another tool said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "text")]
pub struct Sentence {
    /// The sentence. It is not written here, because every note has its sentence beside its fields.
    #[serde(skip_serializing)]
    pub text: String,
}

impl Note {
    /// Returns a sentence that is somebody else's as a note.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Sentence { text: text.into() })
    }

    /// Says whether this is about a subject that failed, without which a suite went on.
    pub fn is_of_left_out(&self) -> bool {
        matches!(self, Self::Session(SessionNote::LeftOut { .. }))
    }

    /// Says whether this is about a benchmark that some subjects have and others do not.
    pub fn is_one_sided(&self) -> bool {
        matches!(self, Self::Session(SessionNote::OneSided { .. }))
    }
}

impl From<ComparisonNote> for Note {
    fn from(note: ComparisonNote) -> Self {
        Self::Comparison(note)
    }
}

impl From<SessionNote> for Note {
    fn from(note: SessionNote) -> Self {
        Self::Session(note)
    }
}

impl From<GateNote> for Note {
    fn from(note: GateNote) -> Self {
        Self::Gate(note)
    }
}

impl From<ImportNote> for Note {
    fn from(note: ImportNote) -> Self {
        Self::Import(note)
    }
}

/// Why a session ended before its plan did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Interruption {
    /// A signal stopped it.
    Signal {
        /// The number of the signal.
        signal: i32,
    },
    /// Something failed.
    Failure {
        /// The error with its causes.
        error: String,
    },
    /// A record of an earlier version has a sentence alone.
    Text {
        /// The sentence. It is not written here, because it stands beside the fields.
        #[serde(skip_serializing)]
        text: String,
    },
}
