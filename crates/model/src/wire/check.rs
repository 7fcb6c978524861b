//! What `becalm check --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CHECK_SCHEMA, MitigationEffect};
use crate::{Checkup, Finding, Fix};

/// What makes a machine noisy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckDocument {
    /// `becalm/check/1`.
    pub schema: String,
    /// Whether anything is worse than a note.
    pub noisy: bool,
    /// The findings, worst first.
    pub findings: Vec<FindingDocument>,
    /// What a virtual machine or a container takes out of anybody's hands; empty on bare metal.
    pub surroundings: String,
    /// What could not be looked at.
    pub unreadable: Vec<String>,
}

/// One source of noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingDocument {
    /// Stable name.
    pub id: String,
    /// `severe`, `noise` or `note`.
    pub severity: String,
    /// What it is, with its value now.
    pub what: String,
    /// Why it matters.
    pub why: String,
    /// How large its effect typically is, with the source; absent where nobody has measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// What mending it did on this machine, where `becalm noise ablate` has measured that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<MitigationEffect>,
    /// The knob of `becalm tune` that mends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knob: Option<String>,
    /// Boot parameters that mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// What a person can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Returns the document of a checkup.
pub fn check_document(checkup: &Checkup) -> CheckDocument {
    CheckDocument {
        schema: CHECK_SCHEMA.to_owned(),
        noisy: checkup.is_noisy(),
        findings: checkup.findings.iter().map(finding).collect(),
        surroundings: checkup.surroundings.clone(),
        unreadable: checkup.unreadable.clone(),
    }
}

fn finding(finding: &Finding) -> FindingDocument {
    let (mut knob, mut boot, mut advice) = (None, None, None);
    match &finding.fix {
        Fix::Knob(name) => knob = Some(name.clone()),
        Fix::Boot(line) => boot = Some(line.clone()),
        Fix::Advice(text) => advice = Some(text.clone()),
    }
    FindingDocument {
        id: finding.id.clone(),
        severity: finding.severity.name().to_owned(),
        what: finding.what.clone(),
        why: finding.why.clone(),
        size: (!finding.size.is_empty()).then(|| finding.size.clone()),
        here: finding.here.clone(),
        knob,
        boot,
        advice,
    }
}
