//! How often a worker on every CPU folds its memory statistics into the global ones, in seconds.
//!
//! Two minutes instead of one second: `/proc/vmstat` lags behind as much.
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#stat-interval>

use super::{Knob, Profile};

pub(super) const VMSTAT_INTERVAL: Knob = Knob {
    name: "vmstat-interval",
    summary: "memory statistics folded every two minutes",
    reason: "a worker folds the memory statistics of every CPU each second",
    profile: Profile::Safe,
    plan: |planner| planner.raise("/proc/sys/vm/stat_interval", 120),
};
