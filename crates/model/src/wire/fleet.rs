//! What `becalm fleet` prints with `--json`: blocks on several machines, and what they show together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ratio::RatioFields;
use crate::metric::Metric;
use crate::verdict::Verdict;
use crate::words::words;

/// A comparison in blocks on several machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetDocument {
    /// `becalm/fleet/1`.
    pub schema: String,
    /// What `becalm fleet status` and the like call it.
    pub name: String,
    /// Where its machines come from, as the user named it: `slurm:partition=bench`.
    pub place: String,
    /// The command line, program name left out.
    pub arguments: Vec<String>,
    /// When it was started, in seconds of Unix time.
    pub started_at: f64,
    /// How many machines were asked for.
    pub machines_wanted: u32,
    /// How many blocks were asked for on each.
    pub blocks_wanted: u32,
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that matters.
    pub margin: f64,
    /// Whether a program is compared with itself.
    pub aa: bool,
    /// How far it has come.
    pub state: FleetState,
    /// Its machines, those that were left out too, in the order in which they were chosen.
    pub machines: Vec<FleetMachine>,
    /// What the blocks that are measured show together.
    pub comparisons: Vec<FleetComparison>,
    /// Where a suite is measured and nothing is compared: the level of each benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<FleetLevel>,
}

/// How far a fleet has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetState {
    /// Blocks are still to be measured.
    Unfinished,
    /// Every block on as many machines as were asked for.
    Complete,
    /// Some machines or blocks are missing, and none can be measured any more.
    Short,
    /// It was cancelled.
    Cancelled,
}

words! {
    FleetState { Unfinished = "unfinished", Complete = "complete", Short = "short", Cancelled = "cancelled" }
}

/// One machine of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMachine {
    /// Its name.
    pub name: String,
    /// Its processor, once a block was measured there.
    pub processor: Option<String>,
    /// Its kernel, once a block was measured there.
    pub kernel: Option<String>,
    /// The tries of its blocks, in the order in which they were started.
    pub tries: Vec<FleetTry>,
    /// Why it gets no further blocks, if it does not.
    pub left_out: Option<LeftOutFor>,
}

/// One try to measure a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetTry {
    /// Which block of the machine, from 1.
    pub block: u32,
    /// Its number in the queue, once it was submitted.
    pub job: Option<String>,
    /// How it is.
    pub state: TryState,
    /// What the canary has shown before the block.
    pub canary: Option<Canary>,
}

/// How a try is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TryState {
    /// It waits, for this reason in the queue's words.
    Waiting(String),
    /// It runs.
    Running,
    /// Its block is whole.
    Measured,
    /// Its job ended without a result, in this state in the queue's words.
    Lost(String),
    /// Somebody or the end of its time ended it before the block was whole.
    Stopped,
    /// Its session failed, and why.
    Failed(String),
}

/// Why a machine gets no further blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutFor {
    /// Its canary is off the level that it has there; none of its blocks counts.
    Canary {
        /// By which share it differs: 0.05 is 5 % more.
        change: f64,
        /// By which it may.
        limit: f64,
    },
    /// becalm could not put back a setting there; none of its blocks counts.
    NotRestored,
    /// It takes no jobs, in the queue's words.
    Node(String),
    /// Its jobs were lost or stopped so often.
    Tries(u32),
    /// The session failed there, and why.
    Failed(String),
}

impl LeftOutFor {
    /// Says whether blocks that are measured there count all the same.
    pub fn keeps_blocks(&self) -> bool {
        match self {
            Self::Canary { .. } | Self::NotRestored => false,
            Self::Node(_) | Self::Tries(_) | Self::Failed(_) => true,
        }
    }
}

/// A known program, measured before a block, in the unit of its metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Canary {
    /// The median of its runs.
    pub value: f64,
    /// How many earlier canaries of the machine its level is made of.
    pub earlier: u32,
    /// By which share it differs from that level, once there is one: 0.05 is 5 % more.
    pub change: Option<f64>,
    /// By which share it may.
    pub limit: Option<f64>,
}

impl Canary {
    /// Says whether it is off the level of its machine.
    pub fn is_off(&self) -> bool {
        matches!((self.change, self.limit), (Some(change), Some(limit)) if change.abs() > limit)
    }
}

/// The comparison of one candidate with the baseline on one metric, over machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetComparison {
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the candidate.
    pub candidate: String,
    /// What is compared.
    pub metric: Metric,
    /// Whether it decides the exit code.
    pub primary: bool,
    /// Ratio candidate / baseline over machines of this type, with its interval: Student's t over the machines, in which each
    /// counts alike. `null` for fewer than two machines.
    #[serde(flatten)]
    pub ratio: RatioFields,
    /// Confidence of this interval after correction for the number of comparisons.
    pub confidence: f64,
    /// The answer for machines of this type.
    pub verdict: Verdict,
    /// By how much the machines differ: the standard deviation of their log ratios.
    pub deviation: Option<f64>,
    /// What each machine shows alone.
    pub machines: Vec<MachineRatio>,
}

/// The level of a benchmark over machines, in the unit of its metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetLevel {
    /// Name of the benchmark.
    pub benchmark: String,
    /// What is measured.
    pub metric: Metric,
    /// Geometric mean of the machines' levels.
    pub value: f64,
    /// Lower end of its interval, by Student's t over the machines; `null` for a single one.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// By how much the machines differ: the standard deviation of their log levels.
    pub deviation: Option<f64>,
    /// The level of each machine.
    pub machines: Vec<MachineLevel>,
}

/// The level of a benchmark on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineLevel {
    /// Its name.
    pub machine: String,
    /// Blocks that it has measured.
    pub blocks: u32,
    /// Geometric mean of the medians of its blocks.
    pub value: f64,
}

/// What one machine shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineRatio {
    /// Its name.
    pub machine: String,
    /// Blocks that it has measured.
    pub blocks: u32,
    /// Ratio candidate / baseline there, with its interval: the mean of its blocks, whose errors are independent.
    #[serde(flatten)]
    pub ratio: RatioFields,
    /// The answer for this machine.
    pub verdict: Verdict,
}

/// What `becalm fleet canaries --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CanariesDocument {
    /// `becalm/canaries/1`.
    pub schema: String,
    /// One for each program on each machine.
    pub canaries: Vec<CanarySeries>,
}

/// The canaries of one program on one machine, in time order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CanarySeries {
    /// The machine.
    pub machine: String,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// What is measured, as `--metric` takes it.
    pub metric: String,
    /// Each canary.
    pub points: Vec<CanaryPoint>,
}

/// One canary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CanaryPoint {
    /// When it was measured, in seconds of Unix time.
    pub at: f64,
    /// The median of its runs, in the unit of the metric.
    pub value: f64,
    /// Whether it was off the level of its machine, and so is no part of it.
    pub off: bool,
}
