//! What `becalm tune --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TUNE_SCHEMA;
use crate::{Change, CpuSet};

/// A plan, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TuneDocument {
    /// `becalm/tune/1`.
    pub schema: String,
    /// CPUs that are for measurements, as a list.
    pub cpus: String,
    /// CPUs for everything else; the same where there are no others.
    pub housekeeping: String,
    /// The changes, in the order in which they are made.
    pub changes: Vec<TuneChangeDocument>,
    /// What is not possible or not needed here.
    pub notes: Vec<TuneNoteDocument>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TuneChangeDocument {
    /// Name of the knob.
    pub knob: String,
    /// What is changed: a path, or words such as `systemd unit cron.service`.
    pub target: String,
    /// Value before.
    pub old: String,
    /// Value to be set; absent for what is only saved because other changes may disturb it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Why.
    pub reason: String,
    /// `set`, `otherwise`, `ignored`, `refused` or `guarded`; absent in a plan that was not carried
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TuneNoteDocument {
    /// Name of the knob.
    pub knob: String,
    /// `not-here`, `refused` or `already-quiet`.
    pub kind: String,
    /// The sentence.
    pub text: String,
}

/// Returns the document of a plan and the effects of its first changes.
pub fn tune_document<'a>(
    (cpus, housekeeping): (&CpuSet, &CpuSet),
    changes: &[Change],
    effects: &[&str],
    notes: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> TuneDocument {
    TuneDocument {
        schema: TUNE_SCHEMA.to_owned(),
        cpus: cpus.to_string(),
        housekeeping: housekeeping.to_string(),
        changes: changes
            .iter()
            .enumerate()
            .map(|(index, change)| TuneChangeDocument {
                knob: change.knob.clone(),
                target: change.target.to_string(),
                old: change.old.clone(),
                new: change.new.clone(),
                reason: change.reason.clone(),
                effect: effects.get(index).map(|&effect| effect.to_owned()),
            })
            .collect(),
        notes: notes
            .into_iter()
            .map(|(knob, kind, text)| TuneNoteDocument {
                knob: knob.to_owned(),
                kind: kind.to_owned(),
                text: text.to_owned(),
            })
            .collect(),
    }
}
