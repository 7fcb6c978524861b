//! The limit on real-time tasks, which stops a busy `SCHED_FIFO` task for 50 ms of each second.
//!
//! Only on request: without the limit a real-time task that never sleeps takes its CPU for good, and what
//! the kernel has to do there waits. becalm rests after each run instead.
//! <https://docs.kernel.org/scheduler/sched-rt-group.html>

use super::{Knob, Profile};

pub(super) const RT_THROTTLING: Knob = Knob {
    name: "rt-throttling",
    summary: "real-time tasks may use all of a CPU",
    reason: "a real-time task is stopped for 50 ms of every second",
    profile: Profile::OnRequest,
    plan: |planner| planner.set("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
};
