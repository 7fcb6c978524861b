//! What a trace, a probe or the topology of a machine cannot tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CpuSet;

/// What a trace cannot tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TraceLimit {
    /// Events were lost.
    EventsLost {
        /// How many.
        lost: u64,
        /// Of how many.
        of: u64,
    },
    /// What a page fault costs outside the kernel's events is unknown.
    FaultCost,
    /// The kernel does not trace the CPU's own interrupts.
    OwnInterrupts,
    /// The kernel does not have some events.
    EventsMissing {
        /// Their names.
        names: Vec<String>,
    },
    /// CPUs have no tick while one task runs.
    NoTick {
        /// Which ones, as a list.
        cpus: String,
    },
    /// A signal stopped it.
    Stopped {
        /// After this many seconds.
        after: f64,
        /// Of this many.
        of: f64,
    },
}

/// What a probe of CPUs could not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProbeLimit {
    /// A signal stopped it.
    ProbeStopped,
    /// Another becalm measures on CPUs.
    CpusLeftOut {
        /// On which ones.
        cpus: CpuSet,
    },
    /// The reader is no real-time task.
    NotRealTime {
        /// Why.
        error: String,
    },
    /// becalm and the reader share the one CPU.
    ReaderSharesCpu,
    /// CPUs have no sibling to keep busy.
    NoSiblings {
        /// Which ones.
        cpus: CpuSet,
    },
    /// The kernel's tracer was not used.
    NoTracer {
        /// Why.
        error: String,
    },
    /// Events were overwritten before they were read.
    Overwritten {
        /// How many.
        events: u64,
        /// How many whole windows are lost.
        windows: u32,
    },
}

/// What is unknown of how a machine is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TopologyLimit {
    /// The kernel does not tell of caches.
    NoCaches,
    /// The kernel's folder of CPUs cannot be read.
    CpusBy {
        /// What is.
        source: String,
    },
    /// Which CPUs may be used is unknown.
    AllowedUnknown {
        /// Why.
        error: String,
    },
    /// Files that tell of CPUs exist and cannot be read, or hold what they cannot mean.
    Unreadable {
        /// The first of them.
        path: String,
        /// What is wrong with it.
        error: String,
        /// How many others there are.
        others: usize,
    },
    /// None of the CPUs that may be used is online.
    NoneOnline,
    /// Cores are taken from `/proc/cpuinfo`.
    CoresByCpuinfo {
        /// Those of which CPUs.
        cpus: CpuSet,
    },
    /// Cores are unknown.
    CoresGuessed {
        /// Those of which CPUs.
        cpus: CpuSet,
    },
}
