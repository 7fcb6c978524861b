//! The built-in workloads: programs of a known amount of deterministic work, one file each.
//!
//! Each stands for something that a machine can disturb: the core alone, its caches, memory, the branch
//! predictor, the kernel, the disk, the neighbours on its core.

mod array_sum;
mod bandwidth;
mod branchy;
mod burst_sum;
mod compute;
mod facts;
mod file_read;
mod jit;
mod mixed;
mod oversubscribed;
mod page_faults;
mod pointer_chase;
mod prepared;
mod random;
mod syscalls;

use std::io;
use std::path::PathBuf;

use facts::{FACTS, facts};
use file_read::Cache;
pub(crate) use prepared::Prepared;
use random::Random;

/// A built-in program. Work grows in proportion to its `amount`, so that a true ratio between two
/// amounts is known in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// A dependent chain of shifts and exclusive-ors: the core alone, no memory.
    Compute,
    /// Sums of a 4 MB array of 32-bit integers: caches and page placement.
    ArraySum,
    /// Allocation, sorting, hashing and a file read: a bit of everything.
    Mixed,
    /// Sums of 4096 doubles in bursts, each after 2 ms of idleness: frequency and idle states.
    BurstSum,
    /// Dependent loads over 32 MB in random order: the latency of memory.
    PointerChase,
    /// STREAM's triad over 96 MB: the bandwidth of memory.
    Bandwidth,
    /// Branches on random bits: the branch predictor.
    Branchy,
    /// Memory mapped, touched and unmapped, and small allocations.
    PageFaults,
    /// The cheapest system call.
    Syscalls,
    /// A file read from the page cache.
    FileWarm,
    /// A file read after the page cache was dropped.
    FileCold,
    /// The compute loop on every thread of one core at once.
    Siblings,
    /// The compute loop on a CPU of each of several cores at once.
    Cores,
    /// The compute loop in more threads than there are CPUs, which meet after each iteration.
    Oversubscribed,
    /// A program that gets faster for its first 144 iterations.
    Jit,
}

/// How many threads a workload has, and where they run if nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One; several tasks are copies of it.
    Single,
    /// One task on each thread of a core.
    Siblings,
    /// One task on each of several cores.
    Cores,
    /// Several threads that do one piece of work together.
    Crew,
}

/// Units of an iteration of [`Workload::Jit`], by which its warm-up is measured out.
const JIT_UNITS: u64 = 240;

/// Why a workload cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A file to be read cannot be made.
    #[error(
        "cannot create a file to read in {}: {source}; TMPDIR chooses another folder",
        folder.display()
    )]
    File {
        /// Where.
        folder: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A file to be read would be too large.
    #[error("a file of {amount} MiB is too large; the largest is {largest} MiB")]
    TooLarge {
        /// What was asked for.
        amount: u64,
        /// What is allowed.
        largest: u64,
    },
    /// A file cannot be dropped from memory.
    #[error(
        "{} is in memory (tmpfs), so no reading from it is cold; TMPDIR chooses another folder",
        folder.display()
    )]
    AlwaysWarm {
        /// Where.
        folder: PathBuf,
    },
    /// A thread cannot be started.
    #[error(
        "cannot start thread {number} of {of}: {source}; use fewer (--tasks), or raise the limit \
         of processes (`ulimit -u`, pids.max of the control group)"
    )]
    Thread {
        /// Which, from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The work itself failed.
    #[error("the workload {workload} failed: {source}")]
    Failed {
        /// Its name.
        workload: &'static str,
        /// What the kernel answered.
        source: io::Error,
    },
}

impl Workload {
    /// Returns every workload.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.workload)
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        facts(self).name
    }

    /// Reads the name that [`Workload::name`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|workload| workload.name() == name)
    }

    /// Returns one sentence for help texts.
    pub fn description(self) -> &'static str {
        facts(self).description
    }

    /// Returns what one unit of amount is: `sums of the array`.
    pub fn unit(self) -> &'static str {
        facts(self).unit
    }

    /// Returns the amount that takes roughly 20 ms on a machine of 2026.
    pub fn default_amount(self) -> u64 {
        facts(self).once
    }

    /// Returns the amount of an iteration if nobody says: 0.1 to 20 ms, where its source fixes one that of the
    /// source.
    pub fn iteration_amount(self) -> u64 {
        facts(self).iteration
    }

    /// Says whether it is several tasks or threads at once, which [`Workload::run`] is not.
    pub fn is_of_several(self) -> bool {
        self.shape() != Shape::Single
    }

    /// Returns how many threads it has where it may use so many CPUs and nobody says, if that depends on them: who
    /// compares it on different CPUs has to say.
    pub fn threads_on(self, cpus: usize) -> Option<usize> {
        (self.shape() == Shape::Crew).then(|| crate::places::crew_on(cpus))
    }

    pub(crate) fn shape(self) -> Shape {
        facts(self).shape
    }

    /// Does the work and returns a checksum, so that no compiler can drop it and a test can see
    /// that it was done. What runs on several CPUs at once runs on one here.
    pub fn run(self, amount: u64) -> Result<u64, WorkloadError> {
        let failed = |source| WorkloadError::Failed { workload: self.name(), source };
        let mut prepared = self.prepare(amount, 1)?;
        prepared.rest().map_err(failed)?;
        prepared.work().map_err(failed)
    }

    /// Makes everything that the work needs; `threads` are those of a crew.
    pub(crate) fn prepare(self, amount: u64, threads: usize) -> Result<Prepared, WorkloadError> {
        Ok(match self {
            Self::Compute | Self::Siblings | Self::Cores => compute::prepare(amount),
            Self::ArraySum => array_sum::prepare(amount),
            Self::Mixed => mixed::prepare(amount),
            Self::BurstSum => burst_sum::prepare(amount),
            Self::PointerChase => pointer_chase::prepare(amount),
            Self::Bandwidth => bandwidth::prepare(amount),
            Self::Branchy => branchy::prepare(amount),
            Self::PageFaults => page_faults::prepare(amount),
            Self::Syscalls => syscalls::prepare(amount),
            Self::FileWarm => file_read::prepare(amount, Cache::Warm)?,
            Self::FileCold => file_read::prepare(amount, Cache::Cold)?,
            Self::Oversubscribed => oversubscribed::prepare(amount, threads)?,
            Self::Jit => jit::prepare(amount),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_gives_the_same_checksum_each_time_and_another_for_another_amount() {
        for workload in Workload::all() {
            let run = |amount| workload.run(amount).expect("a temporary folder can be written to");
            let amount = (workload.default_amount() / 50).max(1);
            assert_eq!(run(amount), run(amount), "{}", workload.name());
            assert_ne!(run(amount), run(amount + 1), "{}", workload.name());
            assert_eq!(Workload::from_name(workload.name()), Some(workload));
        }
    }

    /// A workload that computes something else is another workload, and old results say nothing of it.
    #[test]
    fn the_work_of_one_unit_is_the_same_in_every_version() {
        for (workload, checksum) in [
            (Workload::Compute, 0xf71a_e45b_90bc_8add_u64),
            (Workload::ArraySum, 0x0000_0000_fff8_0000),
            (Workload::Mixed, 0x79d2_bce8_1bb3_dc42),
            (Workload::BurstSum, 0x415f_fe00_0000_0000),
            (Workload::PointerChase, 0x0003_4c71),
            (Workload::Bandwidth, 0x4150_0000_2000_0000),
            (Workload::Branchy, 0x977c_83b7_6193_2fd1),
            (Workload::PageFaults, 0x3b66_c111_5387_4d65),
            (Workload::Syscalls, 1000),
            (Workload::FileWarm, 0x000f_f6c0),
            (Workload::Oversubscribed, 0xf71a_e45b_90bc_8add),
            (Workload::Jit, 0x2ab0_f829_ee74_d744),
        ] {
            let found = workload.run(1).expect("a temporary folder can be written to");
            assert_eq!(found, checksum, "{}: {found:016x}", workload.name());
        }
    }
}
