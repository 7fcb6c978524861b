//! What could not be controlled or observed, as values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Calm, PlacementLimit, ProbeLimit, Sentence, SessionLimit, TopologyLimit, TraceLimit};

/// One thing that could not be controlled or observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    /// About what happens on the machine.
    Evidence(EvidenceLimit),
    /// About CPUs, scheduling and isolation.
    Placement(PlacementLimit),
    /// About what a session could not count, keep or wait for.
    Session(SessionLimit),
    /// About a trace.
    Trace(TraceLimit),
    /// About a probe of CPUs.
    Probe(ProbeLimit),
    /// About how the machine is built.
    Topology(TopologyLimit),
    /// A sentence of which nothing else is known.
    Text(Sentence),
}

impl Limit {
    /// Returns a sentence as a limit.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Sentence { text: text.into() })
    }

    /// Says whether two limits are the same but for how long a reading took or how large becalm was, which is another
    /// number in each session.
    pub fn is_same_cause(&self, other: &Self) -> bool {
        self.clone().without_figures() == other.clone().without_figures()
    }

    fn without_figures(mut self) -> Self {
        match &mut self {
            Self::Evidence(
                EvidenceLimit::Dear { micros: figure, .. }
                | EvidenceLimit::NotSeen { because: Obstacle::Dear { micros: figure, .. }, .. },
            )
            | Self::Session(SessionLimit::ResidentFloor { bytes: figure }) => *figure = 0,
            _ => {}
        }
        self
    }
}

/// What cannot be read of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EvidenceLimit {
    /// Something does not stand in the evidence.
    NotSeen {
        /// What.
        what: Unseen,
        /// Why not.
        because: Obstacle,
    },
    /// A file that is read between runs takes long.
    Dear {
        /// The file.
        path: String,
        /// Microseconds of one reading.
        micros: u64,
    },
    /// CPUs of which nothing is read.
    CpusNotWatched {
        /// The CPUs, as a list.
        cpus: String,
    },
    /// `--settle` does not wait for something.
    NotWaitedFor {
        /// For what.
        what: Calm,
        /// Why not, where the kernel says so; else there is nothing to read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// What evidence tells, where it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// Time used by others and taken by the hypervisor.
    OthersTime,
    /// What runs on the other threads of the subject's cores.
    Siblings,
    /// Pressure on the CPUs.
    PressureOnCpu,
    /// Pressure on memory.
    PressureOnMemory,
    /// Pressure on I/O.
    PressureOnIo,
    /// Throttling by a CPU quota.
    Throttling,
    /// Slowing down because of heat.
    Heat,
    /// Interrupts.
    Interrupts,
    /// Softirqs.
    Softirqs,
    /// The frequency.
    Frequency,
    /// The mean frequency of a run.
    MeanFrequency,
    /// The mean frequency of a run, where that after it is seen.
    MeanBesideFrequency,
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// The error of the kernel.
    Error(String),
    /// A file has no line for some CPUs.
    NoLine {
        /// The file.
        path: String,
        /// The CPUs, as a list.
        cpus: String,
    },
    /// A file has no column for some CPUs.
    NoColumn {
        /// The file.
        path: String,
        /// The CPUs, as a list.
        cpus: String,
    },
    /// A file of pressure has no total.
    NoTotal {
        /// The file.
        path: String,
    },
    /// A file holds no number.
    NoNumber {
        /// The file.
        path: String,
    },
    /// No control group that can be seen counts it.
    NoGroupCounts,
    /// Only Intel's processors count it, and not inside a virtual machine.
    OnlyIntel(String),
    /// No frequency driver is loaded; the clocks have this error.
    NoDriver(String),
    /// Reading it would disturb the measurement.
    Dear {
        /// What is read.
        path: String,
        /// Microseconds of one reading.
        micros: u64,
    },
}
