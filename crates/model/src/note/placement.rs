//! What could not be had of CPUs, scheduling and isolation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CpuSet;
use crate::conditions::NodeSet;

/// What could not be had of CPUs, scheduling and isolation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlacementLimit {
    /// There is one CPU for everything.
    OneCpu {
        /// Which one.
        cpus: CpuSet,
    },
    /// becalm shares the subject's CPUs.
    Shared {
        /// Which ones.
        cpus: CpuSet,
        /// Why.
        because: SharedBecause,
    },
    /// becalm runs on the subject's core.
    SameCore {
        /// On which CPUs.
        cpus: CpuSet,
    },
    /// CPUs of the subject's cores are somebody else's.
    ForeignSiblings {
        /// Which ones.
        cpus: CpuSet,
    },
    /// All CPUs are isolated, where threads are not balanced.
    AllIsolated {
        /// Which ones.
        cpus: CpuSet,
    },
    /// There are more threads than CPUs.
    TooManyThreads {
        /// How many threads.
        threads: usize,
        /// The CPUs that they share.
        cpus: CpuSet,
    },
    /// Threads of the subject share cores.
    ThreadsShareCores,
    /// Another becalm measures on the subject's CPUs.
    MeasuredByOthers {
        /// On which ones.
        cpus: CpuSet,
        /// Its process; 0 is one of another container.
        holders: Vec<u32>,
    },
    /// becalm could not be kept off the subject's CPUs.
    NotKeptOff {
        /// The error of the kernel.
        error: String,
    },
    /// CPUs that the user named are not there.
    NotThere {
        /// Which ones.
        cpus: CpuSet,
        /// Those that are.
        granted: CpuSet,
    },
    /// The subjects are on no CPUs of their own.
    NotPinned {
        /// The error of the kernel.
        error: String,
    },
    /// Others want the CPUs too, and becalm may not go before them.
    SeesEndLate {
        /// The error of the kernel.
        error: String,
    },
    /// Their memory is on any NUMA node.
    MemoryNotBound {
        /// On which it was to be.
        nodes: NodeSet,
        /// The error of the kernel.
        error: String,
    },
    /// Files of the subjects are cached on NUMA nodes that are not theirs.
    CachedElsewhere {
        /// Which ones.
        files: Vec<String>,
        /// Where they are.
        nodes: NodeSet,
        /// The nodes of the subjects' CPUs.
        near: NodeSet,
    },
    /// CPUs that share a cache with the subjects' were busy meanwhile.
    BusyNeighbours {
        /// The level of the cache.
        level: u32,
        /// Which CPUs.
        cpus: CpuSet,
        /// CPU time that was used there, in percent of the time of one CPU.
        busy_percent: u64,
    },
    /// Subjects that ask for huge pages get none: the machine has them off.
    NoHugePages,
    /// The subjects are no real-time tasks.
    NoFifo {
        /// The error of the kernel.
        error: String,
    },
    /// Another control group has the subject's CPUs too.
    GroupOverlaps {
        /// Its folder.
        group: String,
        /// The CPUs.
        cpus: CpuSet,
    },
    /// The CPUs could not be isolated.
    NotIsolated {
        /// Why.
        error: String,
    },
    /// The isolation did not last.
    IsolationLost {
        /// What is wrong with it.
        error: String,
    },
    /// The caches could have been divided, and are not.
    CachesShared {
        /// Why.
        why: String,
    },
    /// Interrupts stay on the measured CPUs.
    InterruptsStay {
        /// Those that nobody can move, with their devices.
        locked: Vec<String>,
        /// Those that the kernel did not move, with their devices and the errors.
        refused: Vec<String>,
    },
}

/// Why becalm shares the subject's CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharedBecause {
    /// There are no others.
    NoOthers,
    /// Other measurements use all others.
    OthersInUse,
    /// With so few cores there is none to spare.
    FewCores(usize),
}
