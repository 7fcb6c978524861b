//! Automatic scheduling groups: each terminal session is a group with one share of the CPU, so niceness
//! says nothing between sessions.
//!
//! <https://man7.org/linux/man-pages/man7/sched.7.html>, "The autogroup feature".

use super::{Knob, Profile};

pub(super) const AUTOGROUP: Knob = Knob {
    name: "autogroup",
    summary: "no scheduling groups by session",
    reason: "the share of a run depends on its terminal session",
    profile: Profile::Safe,
    plan: |planner| planner.set("/proc/sys/kernel/sched_autogroup_enabled", "0"),
};
