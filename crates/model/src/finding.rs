//! What makes a machine noisy, as values.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ablate::MitigationEffect;

/// One source of noise that a machine has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name: `governor`, `swap-in-use`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, with its value now, as a sentence.
    pub what: String,
    /// Why it matters, as a sentence.
    pub why: String,
    /// How large its effect typically is, with the source of that figure; empty if nobody has
    /// measured it in public.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub size: String,
    /// What its remedy did on this machine, if that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<MitigationEffect>,
    /// What to do about it.
    #[serde(flatten)]
    pub fix: Fix,
}

/// How bad a source of noise is. The worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Results of the same program differ by several percent, or one of two programs is favoured.
    Severe,
    /// Results scatter more than they need to.
    Noise,
    /// Worth knowing; the machine still counts as quiet.
    Note,
}

impl Severity {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Severe => "severe",
            Self::Noise => "noise",
            Self::Note => "note",
        }
    }
}

/// What to do about a source of noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// `becalm tune` has this knob for it.
    Knob(String),
    /// These boot parameters, as `becalm boot-params` writes them.
    Boot(String),
    /// Something that only a person can do.
    Advice(String),
}

/// What was looked at on a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Checkup {
    /// The findings, worst first.
    pub findings: Vec<Finding>,
    /// What the surroundings (a virtual machine, a container) make impossible, and what still
    /// helps; empty on bare metal.
    pub surroundings: String,
    /// What could not be looked at, as sentences.
    pub unreadable: Vec<String>,
}

impl Checkup {
    /// Says whether something here makes results noisy.
    pub fn is_noisy(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity < Severity::Note)
    }
}
