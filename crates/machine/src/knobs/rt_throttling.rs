//! The limit on real-time tasks, which stops a busy `SCHED_FIFO` task for 50 ms of each second.
//!
//! Only on request: without the limit a real-time task that never sleeps takes its CPU for good, and what
//! the kernel has to do there waits. becalm rests after each run instead.
//! <https://docs.kernel.org/scheduler/sched-rt-group.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "rt-throttling";
const REASON: &str = "a real-time task is stopped for 50 ms of every second";

pub(super) const RT_THROTTLING: Knob = Knob {
    name: NAME,
    summary: "real-time tasks may use all of a CPU",
    profile: Profile::OnRequest,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/kernel/sched_rt_runtime_us", "-1", REASON);
    planned
}
