//! The settings of the machine while subjects ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of the machine while the subjects ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KnobRecord {
    /// What becalm had changed for this session and put back after it: value before and meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<Moved>,
    /// The settings when the session began, equal ones together.
    #[serde(rename = "knobs", skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<KnobState>,
    /// Settings that somebody else changed during the session: value at its start and at its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drifted: Vec<Moved>,
}

/// One setting that has the same value in one or more places, such as the governor of many CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnobState {
    /// Name of the knob.
    pub knob: String,
    /// Name of the kernel's file: `scaling_governor`.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// In how many places, such as CPUs.
    pub places: usize,
}

/// A setting with two values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// What has them: a path, or words such as `systemd unit cron.service`.
    pub target: String,
    /// The earlier value.
    pub from: String,
    /// The later value.
    pub to: String,
}
