//! What the steward can be asked for.
//!
//! The texts in a request are names of knobs and of units of systemd, and words about becalm itself for whoever reads
//! who holds the lock. No request has a path: a test of the sources sees to that.

use becalm_model::CpuSet;
use becalm_model::ablate::MitigationEffect;
use serde::{Deserialize, Serialize};

use crate::isolate::Partition;
use crate::knobs::{Situation, TuningRequest};
use crate::tune::Wait;

/// One thing that the steward does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Takes the lock of the machine, puts back what a dead becalm left, and starts guardian and journal.
    Begin {
        /// For whom, in words.
        command: String,
        /// How long to queue.
        wait: Wait,
    },
    /// Gives up queueing. There is no answer of its own.
    Stop,
    /// Changes settings.
    Turn(KnobRequest),
    /// Takes CPUs away from everything else.
    Isolate(IsolationRequest),
    /// Opens the list of processes of the control group that the last isolation made.
    OpenGroup,
    /// Keeps CPUs out of idle states.
    HoldLatency {
        /// That take longer to leave than this many microseconds.
        microseconds: i32,
    },
    /// Puts everything back and gives the machine free.
    Finish,
    /// Leaves the machine tuned, in the care of the guardian.
    Keep,
    /// Drops the page cache.
    DropPageCache,
    /// Reads how the kernel describes the tracepoints that a trace uses.
    Tracepoints,
    /// Reads what the processor packages have used.
    Energy,
    /// Remembers what mitigations were measured to do, for every user of the machine.
    Remember(Vec<MitigationEffect>),
}

/// Settings to be changed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KnobRequest {
    /// CPUs that a measurement will use.
    pub(crate) cpus: CpuSet,
    /// CPUs that are left to everything else.
    pub(crate) housekeeping: CpuSet,
    /// What is asked of the knobs.
    pub(crate) request: TuningRequest,
}

impl KnobRequest {
    /// Returns the part of a situation that the steward does not see for itself.
    pub(crate) fn of(situation: &Situation<'_>) -> Self {
        let Situation { cpus, housekeeping, request, .. } = situation;
        let (cpus, housekeeping) = (cpus.clone(), housekeeping.clone());
        Self { cpus, housekeeping, request: (*request).clone() }
    }
}

/// CPUs to be taken away from everything else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IsolationRequest {
    /// The CPUs.
    pub cpus: CpuSet,
    /// What the scheduler does with them.
    pub partition: Partition,
    /// Companions of isolation that are left alone.
    pub without: Vec<String>,
}
