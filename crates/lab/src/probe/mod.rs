//! What interrupts the CPUs, and how much of their time that takes.
//!
//! A thread that does nothing but read the clock sees every interruption as a gap between two
//! readings: interrupts, softirqs, other threads, the firmware, the hypervisor. This is what the
//! kernel's osnoise tracer does in a kernel thread (de Oliveira, Casini and Cucinotta, "Operating
//! System Noise in the Linux Kernel", *IEEE Transactions on Computers* 72, 2023), and what
//! `sysjitter` and `jHiccup` do in user space. Where the kernel has the tracer, that is used
//! ([`Tracer`]); else [`probe_clock`] does the same from outside.

mod aside;
mod class;
mod clock;
mod document;
mod gaps;
mod hwlat;
mod ranking;
mod realtime;
mod siblings;
mod trace_text;
mod tracefs;
mod tracer;
mod watch;
mod windows;

use std::io;
use std::time::Duration;

use becalm_model::wire::TracerCounters;
use becalm_model::{CpuId, CpuSet};

use aside::Aside;

pub use class::{Class, Wish};
pub use clock::probe_clock;
pub use document::document;
pub use gaps::{Bin, EDGES, Gaps};
pub use hwlat::Hwlat;
pub use ranking::{Ranked, Shares, rank};
pub use trace_text::TraceError;
pub use tracefs::INSTANCE;
pub use tracer::Tracer;

/// Shortest gap that counts, by default: what `Documentation/trace/osnoise-tracer.rst` names as the
/// tracer's own. (Newer kernels take 1 us; becalm sets the tracer to what was asked for.)
pub const THRESHOLD: Duration = Duration::from_micros(5);

/// What to probe, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// These CPUs.
    pub cpus: CpuSet,
    /// So long on each.
    pub duration: Duration,
    /// Shorter gaps do not count.
    pub threshold: Duration,
    /// In this scheduling class.
    pub class: Class,
    /// With the other threads of the core like this.
    pub siblings: Siblings,
}

/// What the SMT siblings of a probed CPU do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Siblings {
    /// Whatever they do.
    AsTheyAre,
    /// becalm keeps them busy.
    Busy,
}

/// Who looked for gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A thread of becalm.
    Clock,
    /// The osnoise tracer of the kernel.
    Tracer,
    /// The hwlat tracer of the kernel, which sees firmware and hypervisor alone.
    Hwlat,
}

impl Source {
    /// Returns its name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Tracer => "tracer",
            Self::Hwlat => "hwlat",
        }
    }
}

/// Noise of one CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuNoise {
    /// The CPU.
    pub cpu: CpuId,
    /// What was seen, in the order of time.
    pub windows: Vec<Window>,
    /// How often another thread took the CPU from the reader; `None` where nobody counted.
    pub preemptions: Option<u64>,
    /// Seconds that the hypervisor took meanwhile, by the kernel's account in steps of 10 ms; `None`
    /// where it cannot be read.
    pub steal: Option<f64>,
    /// What the tracer saw come between; `None` from outside.
    pub counters: Option<TracerCounters>,
}

impl CpuNoise {
    fn new(cpu: CpuId) -> Self {
        let (preemptions, steal) = (Some(0), Some(0.0));
        Self { cpu, windows: Vec::new(), preemptions, steal, counters: None }
    }

    /// Of a CPU on which the tracer will look.
    fn traced(cpu: CpuId) -> Self {
        Self { preemptions: None, ..Self::new(cpu) }
    }

    /// Returns what was seen in all windows together.
    pub fn gaps(&self) -> Gaps {
        let mut sum = Gaps::default();
        self.windows.iter().for_each(|window| sum.merge(&window.gaps));
        sum
    }

    /// Returns the share of time that was lost, of all of it and of each window.
    pub fn shares(&self) -> Shares {
        let windows = self.windows.iter().map(|window| window.gaps.share()).collect();
        Shares { cpu: self.cpu, whole: self.gaps().share(), windows }
    }
}

/// A stretch of reading without a rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// In which round over the CPUs.
    pub round: usize,
    /// When it began, from the beginning of the probe.
    pub start: Duration,
    /// What was seen.
    pub gaps: Gaps,
}

/// Why a CPU could not be probed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The own affinity cannot be read.
    #[error("cannot read which CPUs becalm may use: {0}")]
    Affinity(io::Error),
    /// Others than becalm may use.
    #[error("becalm may not run on CPU {0}: its affinity or control group excludes it")]
    NotOurs(CpuSet),
    /// The thread that reads could not do so.
    #[error("cannot read the clock on CPU {cpu}: {source}")]
    Reader {
        /// Which CPU.
        cpu: CpuId,
        /// Why.
        source: io::Error,
    },
    /// A file of the tracer refused.
    #[error("the tracer: cannot write `{value}` to {path}: {source}")]
    TracerWrite {
        /// Which file.
        path: String,
        /// What was written.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// The trace cannot be read.
    #[error("the tracer: {path} {why}")]
    TracerRead {
        /// Which file.
        path: String,
        /// Why.
        why: String,
    },
    /// The trace makes no sense.
    #[error("the tracer: {path}: {source}")]
    TracerText {
        /// Which file.
        path: String,
        /// What is wrong.
        source: TraceError,
    },
}
