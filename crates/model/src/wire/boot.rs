//! What `becalm boot-params --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Boot parameters that reserve CPUs for measurements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootDocument {
    /// `becalm/boot-params/1`.
    pub schema: String,
    /// The CPUs that are reserved, as a list such as `2-3`.
    pub cpus: String,
    /// The CPUs that are left for everything else.
    pub housekeeping: String,
    /// Release of the kernel that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The file with the configuration of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options_from: Option<String>,
    /// The parameters, in order.
    pub parameters: Vec<BootParameter>,
    /// The parameters as one line.
    pub line: String,
    /// How each boot loader takes them; the one in use here comes first.
    pub loaders: Vec<BootLoader>,
    /// Further parameters that guides recommend; part of the line only if requested.
    #[serde(default)]
    pub options: Vec<BootOption>,
    /// What this kernel does not support, as sentences.
    pub missing: Vec<String>,
    /// What the parameters cost, and their pitfalls, as sentences.
    pub warnings: Vec<String>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootParameter {
    /// Such as `nohz_full=2-3`.
    pub text: String,
    /// What it does, as a sentence fragment.
    pub reason: String,
}

/// A parameter beside those that reserve CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootOption {
    /// Such as `skew_tick=1`.
    pub text: String,
    /// Whether to use it.
    pub advice: BootAdvice,
    /// What it does, as a sentence fragment.
    pub does: String,
    /// Where it helps, as a sentence fragment.
    pub helps: String,
    /// What it costs, as a sentence fragment.
    pub costs: String,
    /// The first kernel that supports it, if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// Whether to use a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootAdvice {
    /// Where it helps.
    Sometimes,
    /// becalm does the same without a restart.
    NotNeeded,
    /// Not recommended.
    Against,
}

/// How a boot loader takes the parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootLoader {
    /// `GRUB`, `systemd-boot`, `kernelstub` or `grubby`.
    pub name: String,
    /// Whether this machine seems to use it.
    pub found: bool,
    /// The file of its own that becalm would write; absent if there is no folder for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What to write, or where to add the line.
    pub text: String,
    /// Commands to run afterwards.
    pub commands: Vec<String>,
}
