//! What `becalm noise probe --json` prints, and what it saves for the choice of CPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::worded::Worded;
use crate::note::Limit;

/// What interrupts the CPUs of this machine. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeDocument {
    /// `becalm/noise-probe/1`.
    pub schema: String,
    /// How it was measured: `clock` (a thread that reads the clock), `tracer` (the kernel's osnoise
    /// tracer) or `hwlat` (its hwlat tracer, which reports of each stretch of 50 ms only the
    /// longest gap).
    pub source: String,
    /// Shortest gap between two readings that counts as an interruption.
    pub threshold: f64,
    /// Scheduling class of the reader: `other` or `fifo:N`.
    pub scheduler: String,
    /// Whether the SMT siblings were kept busy.
    pub busy_siblings: bool,
    /// The CPUs in rising order.
    pub cpus: Vec<ProbedCpu>,
    /// The CPUs in the order of the time that they lose, the quietest first.
    pub ranking: Vec<RankedCpu>,
    /// How often firmware took all CPUs meanwhile (system management interrupts); absent if the
    /// processor does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smis: Option<u64>,
    /// Where the ranking was saved for the choice of CPUs; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// What this probe could not do or see.
    pub limits: Vec<Worded<Limit>>,
}

/// Noise of one CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbedCpu {
    /// The kernel's number.
    pub cpu: u32,
    /// How long it was watched.
    pub duration: f64,
    /// Mean distance between uninterrupted readings; shorter noise is not visible. Absent if the
    /// tracer read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Time in gaps.
    pub lost: f64,
    /// The same as a share of the duration.
    pub lost_share: f64,
    /// Number of gaps.
    pub interruptions: u64,
    /// Gaps in a second of watching.
    pub per_second: f64,
    /// The longest gap.
    pub longest: f64,
    /// Gaps by the order of magnitude of their length.
    pub classes: Vec<LengthClass>,
    /// The same in finer bins (1, 2, 5, 10 ...); empty ones at both ends are left out.
    pub histogram: Vec<LengthBin>,
    /// How often another thread took the CPU from the reader; absent if the tracer read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
    /// Time that the hypervisor took meanwhile, according to the kernel, in steps of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// The causes that the tracer saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<TracerCounters>,
    /// The stretches of watching, in the order of time.
    pub windows: Vec<ProbeWindow>,
}

/// Gaps of one order of magnitude.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LengthClass {
    /// They are at least this long.
    pub from: f64,
    /// And shorter than this; absent for the last class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// How many.
    pub count: u64,
    /// How many in a second of watching.
    pub per_second: f64,
    /// Their share of the duration.
    pub lost_share: f64,
}

/// Gaps in one bin of the histogram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LengthBin {
    /// They are at least this long, up to where the next bin begins.
    pub from: f64,
    /// How many.
    pub count: u64,
    /// Their lengths together.
    pub lost: f64,
}

/// Interruptions that a tracer of the kernel counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracerCounters {
    /// Gaps without any: the firmware or the hypervisor.
    pub hardware: u64,
    /// Interrupts that cannot be masked.
    pub nmi: u64,
    /// Interrupts.
    pub irq: u64,
    /// Softirqs.
    pub softirq: u64,
    /// Other threads.
    pub thread: u64,
}

impl TracerCounters {
    /// Adds those of another window.
    pub fn merge(&mut self, other: &Self) {
        self.hardware += other.hardware;
        self.nmi += other.nmi;
        self.irq += other.irq;
        self.softirq += other.softirq;
        self.thread += other.thread;
    }
}

/// A stretch of watching.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeWindow {
    /// In which round over the CPUs.
    pub round: usize,
    /// When it began, from the beginning of the probe.
    pub start: f64,
    /// How long it was.
    pub duration: f64,
    /// Time in gaps.
    pub lost: f64,
    /// Number of gaps.
    pub interruptions: u64,
    /// The longest gap.
    pub longest: f64,
}

/// One CPU in the order of the time that it loses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedCpu {
    /// The kernel's number.
    pub cpu: u32,
    /// 0 for the quietest CPUs; CPUs of one tier cannot be distinguished.
    pub tier: usize,
    /// Share of the time that was lost: the time in gaps over the duration.
    pub lost_share: f64,
    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The ranking of CPUs that becalm takes into account when it chooses CPUs, during this boot of
/// this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuNoiseDocument {
    /// `becalm/cpu-noise/1`.
    pub schema: String,
    /// The boot in which it was measured.
    pub boot_id: String,
    /// The kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The model of the CPU; empty if the kernel names none.
    pub cpu_model: String,
    /// When it was measured, in seconds since 1970.
    pub measured_at: u64,
    /// How it was measured: `clock` or `tracer`.
    pub source: String,
    /// Scheduling class of the reader.
    pub scheduler: String,
    /// Shortest gap that counted, in seconds.
    pub threshold: f64,
    /// Whether the SMT siblings were kept busy.
    pub busy_siblings: bool,
    /// The CPUs, the quietest first.
    pub cpus: Vec<RankedCpu>,
}
