//! Whether idle CPUs are kept awake during a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether CPUs that have nothing to do are kept from stopping while requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepAwake {
    /// In a virtual machine without a quota of CPU time, at most 16 CPUs, each by a thread that wakes up often.
    #[default]
    Auto,
    /// Always, each by a thread that spins: it takes CPU time from processes of other control groups and sessions.
    Spin,
    /// Never.
    Off,
}

impl KeepAwake {
    /// Says whether nobody chose.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}
