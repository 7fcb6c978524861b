//! Migration of timers, by which idle CPUs hand their timers to busy ones: to a measured one, that is.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/kernel.html#timer-migration>

use super::{Knob, Profile};

pub(super) const TIMER_MIGRATION: Knob = Knob {
    name: "timer-migration",
    summary: "timers stay on the CPU that set them",
    reason: "timers of other CPUs may be moved to a measured one",
    profile: Profile::Safe,
    plan: |planner| planner.set("/proc/sys/kernel/timer_migration", "0"),
};
