//! What `becalm hosts --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hosts of the user's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostsDocument {
    /// `becalm/hosts/1`.
    pub schema: String,
    /// One for each, in the order of their names.
    pub hosts: Vec<HostDocument>,
}

/// One host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDocument {
    /// What the user calls it.
    pub name: String,
    /// What `ssh` is given.
    pub ssh: String,
    /// How it is now, if that was asked for and it could be reached.
    pub status: Option<HostStatus>,
    /// Why it cannot be used, if that was asked for and is so.
    pub error: Option<String>,
    /// The latest noise floor of a comparison there.
    pub noise_floor: Option<HostFloor>,
}

/// How a host is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostStatus {
    /// Its processor, where that is known.
    pub processor: Option<String>,
    /// CPUs that are online.
    pub cpus: usize,
    /// Mean number of tasks that want to run, over a minute; `None` where that is not known.
    pub load: Option<f64>,
    /// The command of the becalm that has the machine, if one has.
    pub holder: Option<String>,
    /// Whether becalm may act as root there, for `--tune` and `--isolate`.
    pub root: bool,
}

/// The smallest change that a comparison on a host could detect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFloor {
    /// The change, as a share: 0.01 is 1 %.
    pub change: f64,
    /// When it was measured, in seconds of Unix time.
    pub at: f64,
}
