//! Shape of what `becalm diff --json` prints.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DIFF_SCHEMA;
use super::document::ComparisonDocument;
use super::worded::{Worded, Words, worded};
use super::write::comparison_of;
use crate::note::Note;
use crate::{Comparison, Record};

/// Two records that were measured at different times, or the subjects of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffDocument {
    /// `becalm/diff/2`.
    pub schema: String,
    /// Confidence of all verdicts together.
    pub confidence: f64,
    /// Smallest relative change that matters to the user, if a suite sets no other.
    pub margin: f64,
    /// The comparisons; `rounds` is the number of processes, or of layouts, of the side that has fewer, or
    /// in one session that of the rounds or layouts that pair them.
    pub comparisons: Vec<DiffedDocument>,
    /// What is not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Worded<Note>>,
    /// Facts about machine and build that differ, with the old and the new text.
    pub differences: BTreeMap<String, (String, String)>,
}

/// One comparison with the middles of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffedDocument {
    /// The comparison.
    #[serde(flatten)]
    pub comparison: ComparisonDocument,
    /// What each side has, even if nothing can be concluded.
    #[serde(flatten)]
    pub middles: Middles,
}

/// The middles of both sides of a comparison, in the unit of the metric, and how far they are apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Middles {
    /// Median of the old side over its processes; `null` without a value.
    pub old: Option<f64>,
    /// That of the new side.
    pub new: Option<f64>,
    /// New over old less 1: of the ratio if there is one, otherwise of the medians, which decides
    /// nothing. `null` without both medians, if the old one is not above 0, and if runs were cut
    /// off.
    pub change: Option<f64>,
}

/// Returns the document of two records. In `comparisons`, `baseline` is an index into the subjects of
/// `old`, `candidate` into those of `new`, and `metric` into the metrics of `old`.
pub fn diff_document(
    old: &Record,
    new: &Record,
    comparisons: &[(Comparison, Middles)],
    (confidence, margin): (f64, f64),
    notes: &[Note],
    words: &Words,
) -> DiffDocument {
    let differing = old.machine.facts.iter().filter_map(|(key, before)| {
        let after = new.machine.facts.get(key)?;
        (before != after).then(|| (key.clone(), (before.clone(), after.clone())))
    });
    DiffDocument {
        schema: DIFF_SCHEMA.to_owned(),
        confidence,
        margin,
        notes: worded(notes, words.note),
        comparisons: (comparisons.iter())
            .map(|(one, middles)| DiffedDocument {
                comparison: comparison_of(old, new, one, words),
                middles: *middles,
            })
            .collect(),
        differences: differing.collect(),
    }
}
