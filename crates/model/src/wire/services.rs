//! What `becalm services --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who used the CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServicesDocument {
    /// `becalm/services/1`.
    pub schema: String,
    /// How long was watched, in seconds.
    pub seconds: f64,
    /// Seconds that all CPUs together were busy.
    pub busy: Option<f64>,
    /// Seconds of that for which no program that still runs can account.
    pub unexplained: Option<f64>,
    /// By program, the largest first.
    pub programs: Vec<ProgramDocument>,
}

/// What one program used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramDocument {
    /// Its service or session; `kernel` for kernel threads.
    pub service: String,
    /// Its name.
    pub command: String,
    /// CPU seconds of its own processes.
    pub own: f64,
    /// CPU seconds of processes that they started and that have ended.
    pub children: f64,
    /// How often its processes woke up.
    pub wakeups: u64,
}
