//! What is known of each workload beside its code.

use super::{JIT_UNITS, Shape, Workload};

/// What is known of a workload beside its code.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) workload: Workload,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// What one of the amount is.
    pub(super) unit: &'static str,
    /// The amount that takes roughly 20 ms.
    pub(super) once: u64,
    /// The amount of an iteration.
    pub(super) iteration: u64,
    pub(super) shape: Shape,
}

/// Returns the facts about a workload.
pub(super) fn facts(workload: Workload) -> &'static Facts {
    let found = FACTS.iter().find(|facts| facts.workload == workload);
    found.expect("every workload has its facts, as a test checks")
}

/// One line for each, in the order in which they are listed.
pub(super) const FACTS: &[Facts] = &[
    Facts {
        workload: Workload::Compute,
        name: "compute",
        description: "a dependent chain of shifts and exclusive-ors; no memory traffic",
        unit: "x 800 steps",
        once: 10_000,
        iteration: 500,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::ArraySum,
        name: "array-sum",
        description: "sums of a 4 MB array of 32-bit integers",
        unit: "sums",
        once: 100,
        iteration: 1,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::Mixed,
        name: "mixed",
        description: "allocation, sorting, hashing and reading a file",
        unit: "x 200 numbers",
        once: 1_000,
        iteration: 50,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::BurstSum,
        name: "burst-sum",
        description: "sums of 4096 doubles in bursts, each after 2 ms of idleness that is not timed",
        unit: "sums",
        once: 40_000,
        iteration: 256,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::PointerChase,
        name: "pointer-chase",
        description: "loads that each wait for the one before, over 32 MB in random order",
        unit: "x 1000 loads",
        once: 200,
        iteration: 10,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::Bandwidth,
        name: "bandwidth",
        description: "the triad of STREAM over three arrays of 32 MB",
        unit: "passes",
        once: 1,
        iteration: 1,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::Branchy,
        name: "branchy",
        description: "branches that depend on random bits",
        unit: "x 1000 branches",
        once: 2_500,
        iteration: 200,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::PageFaults,
        name: "page-faults",
        description: "memory mapped, touched page by page and unmapped, and small allocations",
        unit: "MiB",
        once: 80,
        iteration: 4,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::Syscalls,
        name: "syscalls",
        description: "the cheapest system call in a loop",
        unit: "x 1000 calls",
        once: 100,
        iteration: 5,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::FileWarm,
        name: "file-warm",
        description: "a file read from the page cache",
        unit: "MiB",
        once: 100,
        iteration: 4,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::FileCold,
        name: "file-cold",
        description: "a file read after it was dropped from the page cache, which is not timed",
        unit: "MiB",
        once: 8,
        iteration: 4,
        shape: Shape::Single,
    },
    Facts {
        workload: Workload::Siblings,
        name: "siblings",
        description: "the compute loop on every thread of one core at once",
        unit: "x 800 steps",
        once: 10_000,
        iteration: 500,
        shape: Shape::Siblings,
    },
    Facts {
        workload: Workload::Cores,
        name: "cores",
        description: "the compute loop on one CPU of every core at once (--tasks: on this many)",
        unit: "x 800 steps",
        once: 10_000,
        iteration: 500,
        shape: Shape::Cores,
    },
    Facts {
        workload: Workload::Oversubscribed,
        name: "oversubscribed",
        description: "the compute loop in twice as many threads as CPUs (--tasks: in this many), which \
             meet after every iteration",
        unit: "x 800 steps per thread",
        once: 10_000,
        iteration: 250,
        shape: Shape::Crew,
    },
    Facts {
        workload: Workload::Jit,
        name: "jit",
        description: "a program that gets faster for its first 144 iterations, as under a \
                      just-in-time compiler",
        unit: "units",
        once: 40_000,
        iteration: JIT_UNITS,
        shape: Shape::Single,
    },
];
