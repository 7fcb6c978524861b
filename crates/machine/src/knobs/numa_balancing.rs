//! Automatic NUMA balancing: page faults made on purpose, and pages and tasks moved between nodes.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/kernel.html#numa-balancing>

use super::{Knob, Profile};

pub(super) const NUMA_BALANCING: Knob = Knob {
    name: "numa-balancing",
    summary: "automatic NUMA balancing off",
    reason: "the kernel unmaps pages to see which CPUs use them, and moves them",
    profile: Profile::Safe,
    plan: |planner| planner.set("/proc/sys/kernel/numa_balancing", "0"),
};
