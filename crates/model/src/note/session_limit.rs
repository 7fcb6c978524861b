//! What a session could not count, keep or wait for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session could not count, keep or wait for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionLimit {
    /// Counters that are not there, or not whole.
    Counters(CounterLimit),
    /// The machine counts energy and does not let becalm see it.
    EnergyUnread {
        /// Why not.
        error: String,
    },
    /// Counts are those of a simulation.
    Simulated,
    /// Metrics that a suite asks for are not recorded.
    NotRecorded {
        /// Their names.
        metrics: Vec<String>,
    },
    /// Resident sets smaller than that of becalm cannot be measured.
    ResidentFloor {
        /// Below so many bytes.
        bytes: u64,
    },
    /// The pace of the core is not sampled.
    PaceNotSampled {
        /// Why.
        because: PaceObstacle,
    },
    /// The machine did not always come to rest.
    Unrest {
        /// For how many seconds was waited at most.
        maximum: f64,
        /// What kept it from that before how many rounds.
        above: Vec<(Calm, u32)>,
    },
    /// There is no log on disk.
    NoLog {
        /// Why.
        error: String,
    },
    /// Processes that were to keep the machine busy did not.
    NotBusy,
    /// The machine slept meanwhile, which undoes some settings and says nothing.
    Suspended {
        /// For this many seconds.
        seconds: u64,
    },
    /// The machine was to be tuned, and this user may not.
    NotTuned {
        /// What was refused.
        error: String,
    },
    /// The service of the machine has put it back before the session ended.
    PutBackEarly {
        /// After this many seconds, which is its limit; nothing if its process was lost.
        seconds: Option<u64>,
    },
    /// A mitigation could not be had in a run.
    MitigationFailed {
        /// What failed.
        error: String,
    },
}

/// Counters that are not there, or not whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CounterLimit {
    /// Their names; none if there are no counters at all.
    pub counters: Vec<String>,
    /// Why.
    #[serde(flatten)]
    pub because: CounterObstacle,
}

/// Why something cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum CounterObstacle {
    /// A child cannot take file descriptors of its own.
    NoDescriptors {
        /// The error of the kernel.
        error: String,
    },
    /// A sandbox refuses it.
    Sandbox,
    /// The kernel refuses it at this level of `perf_event_paranoid`, where that can be read.
    Denied {
        /// The level.
        paranoid: Option<String>,
    },
    /// At this level it is counted in user mode only.
    UserModeOnly {
        /// The level.
        paranoid: Option<String>,
    },
    /// The processor or virtual machine does not offer it.
    NotOffered,
    /// The kernel or a sandbox has no such call.
    NoCall,
    /// Opening them fails.
    Error {
        /// The error of the kernel.
        error: String,
    },
}

/// Why the pace of the core is not sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaceObstacle {
    /// Without a warm-up nothing is known of the subjects.
    NoWarmup,
    /// The CPUs are isolated, from becalm too.
    Isolated,
    /// The subjects are not kept on one CPU.
    SeveralCpus,
    /// A thread for a CPU could not be had.
    NoThread {
        /// The CPU.
        cpu: u32,
        /// The error of the kernel.
        error: String,
    },
}

/// What `--settle` waits for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Calm {
    /// The temperature.
    Temperature,
    /// The load.
    Load,
    /// Pressure.
    Pressure,
}
