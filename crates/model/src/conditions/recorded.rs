//! How the subjects of a record were started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AffinityReason, Aslr, Backend, Cache, Described, IsolatedCpus, KnobRecord, Malloc, NodeSet,
    OnDisturbance, OwnTiming, Padding, SchedulingClass, Thp,
};
use crate::CpuSet;
use crate::note::Limit;

/// How the subjects were actually started, after everything that was refused. What is unknown is
/// absent; if another tool measured, that is all of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// CPUs the subjects could use, as a CPU list; `null` when they were not pinned.
    pub affinity: Option<CpuSet>,
    /// Why these CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_reason: Option<Described<AffinityReason>>,
    /// How these CPUs were reserved; absent if they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Described<IsolatedCpus>>,
    /// CPUs that were kept awake while servers were loaded; absent if none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awake: Option<CpuSet>,
    /// Scheduling class of the subjects: `other`, `fifo:N`, `rr:N`, `batch`, `idle` or `class N`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulingClass>,
    /// Niceness of the subjects.
    pub nice: i32,
    /// Address space layout randomisation of the subjects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aslr: Option<Aslr>,
    /// What the subjects' allocator does with freed memory.
    #[serde(skip_serializing_if = "Malloc::is_left")]
    pub malloc: Malloc,
    /// NUMA nodes on which the subjects' memory had to lie, as a list; absent if it could lie on
    /// any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_nodes: Option<NodeSet>,
    /// Which transparent huge pages the subjects got.
    #[serde(skip_serializing_if = "Thp::is_inherited")]
    pub thp: Thp,
    /// The folder in memory that the subjects worked in; absent if they worked where becalm did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_memory: Option<String>,
    /// What counted instructions. Under a simulation times are those of the simulation.
    #[serde(skip_serializing_if = "Backend::is_processor")]
    pub backend: Backend,
    /// How the subjects time themselves; absent if they were timed from outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub harness: Vec<OwnTiming>,
    /// How environment size and stack start were treated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<Padding>,
    /// What happened to the page cache before each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Share of each run's duration that was rested afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<f64>,
    /// What was waited for before each round; absent if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Described<Settle>>,
    /// How the pace of the subjects' CPU was sampled; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Described<PaceSampling>>,
    /// What happened to disturbed rounds; absent in records from before there was a choice, when
    /// all were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_disturbance: Option<OnDisturbance>,
    /// Names of the environment variables that the subjects saw.
    pub environment: Vec<String>,
    /// What could not be controlled or observed here; documents have sentences beside them.
    #[serde(skip)]
    pub limits: Vec<Limit>,
    /// The settings of the machine.
    #[serde(flatten)]
    pub knobs: KnobRecord,
}

/// What was waited for before each round: nothing above these values, which are a little more than
/// at the start of the session. What is absent could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settle {
    /// Longest wait, in seconds.
    pub maximum: f64,
    /// Tasks, other than becalm's, that want a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<u32>,
    /// Degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Share of the time with a task that waits for memory or I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<f64>,
}

/// How the pace of the subjects' CPU was sampled during each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaceSampling {
    /// About this many microseconds from one sample to the next.
    pub every_us: u64,
}
