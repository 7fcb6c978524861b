//! Facts about the machine, as a flat list of named texts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What could be read about the machine, and what could not.
///
/// Keys are stable, lower-case words such as `cpu_model`, `kernel_release`, `governor`. No host
/// name, serial number or user name is ever among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineFacts {
    /// Facts that were read, by key.
    pub facts: BTreeMap<String, String>,
    /// Facts that could not be read, with the reason.
    pub unreadable: BTreeMap<String, String>,
}

impl MachineFacts {
    /// Returns what was found under a key such as `virtualisation`; `None` where nothing was found, or none.
    pub fn found(&self, key: &str) -> Option<&str> {
        let fact = self.facts.get(key)?.as_str();
        (!matches!(fact, "" | "none" | "no sign of any")).then_some(fact)
    }
}
