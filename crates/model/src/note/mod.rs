//! What a reader has to know beside the numbers, as values: code asks for a kind, and `report` alone has the sentence.

mod comparison;
mod gate;
mod import;
mod limit;
mod placement;
mod search;
mod session;
mod session_limit;
mod watching;

pub use comparison::{ComparisonNote, CutOffWorth, Observation, WallTimeReason};
pub(crate) use gate::is_zero;
pub use gate::{Earlier, FactDiffers, GateAdvice, GateNote, GateReason, Side};
pub use import::{ImportFact, ImportNote};
pub use limit::{EvidenceLimit, Limit, Obstacle, Unseen};
pub use placement::{PlacementLimit, SharedBecause};
pub use search::{Age, BisectNote, Compared, DiffNote, PlanNote, Stray};
pub use session::{ConditionName, Difference, SessionNote};
pub use session_limit::{Calm, CounterLimit, CounterObstacle, PaceObstacle, SessionLimit};
pub use watching::{ProbeLimit, TopologyLimit, TraceLimit};

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
    /// About a bisection.
    Bisect(BisectNote),
    /// About files that are compared.
    Diff(DiffNote),
    /// About a plan.
    Plan(PlanNote),
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

    /// Says whether this is about where the runs were made.
    pub fn is_of_elsewhere(&self) -> bool {
        matches!(self, Self::Session(SessionNote::Elsewhere { .. }))
    }

    /// Says whether this is about a benchmark that some subjects have and others do not.
    pub fn is_one_sided(&self) -> bool {
        matches!(self, Self::Session(SessionNote::OneSided { .. }))
    }
}

/// Makes a whole of each of its families.
macro_rules! families {
    ($whole:ident: $($variant:ident($kind:ident))+) => {
        $(
            impl From<$kind> for $whole {
                fn from(kind: $kind) -> Self {
                    Self::$variant(kind)
                }
            }
        )+
    };
}

families! {
    Note:
    Comparison(ComparisonNote) Session(SessionNote) Gate(GateNote) Import(ImportNote)
    Bisect(BisectNote) Diff(DiffNote) Plan(PlanNote)
}

families! {
    Limit:
    Evidence(EvidenceLimit) Placement(PlacementLimit) Session(SessionLimit) Trace(TraceLimit)
    Probe(ProbeLimit) Topology(TopologyLimit)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Finds the kinds of all families.
    fn kinds(schema: &Value, found: &mut Vec<String>) {
        for family in schema["anyOf"].as_array().unwrap() {
            let name = family["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            // A sentence has one kind, which its schema does not tell.
            if name == "text" {
                continue;
            }
            let family = &schema["$defs"][name];
            let one = std::slice::from_ref(family);
            for variant in family["oneOf"].as_array().map_or(one, Vec::as_slice) {
                let kind = variant["properties"]["kind"]["const"].as_str();
                found.push(kind.unwrap_or_else(|| panic!("{name}: {variant}")).to_owned());
            }
        }
    }

    #[test]
    fn no_two_families_have_a_kind_of_one_name() {
        for schema in [schemars::schema_for!(Note), schemars::schema_for!(Limit)] {
            let mut found = Vec::new();
            kinds(&schema.to_value(), &mut found);
            let different: BTreeSet<&String> = found.iter().collect();
            assert_eq!(different.len(), found.len(), "{found:?}");
        }
    }
}
