//! Migration of timers, by which idle CPUs hand their timers to busy ones: to a measured one, that is.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/kernel.html#timer-migration>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "timer-migration";
const REASON: &str = "timers of other CPUs may be put on a measured one";

pub(super) const TIMER_MIGRATION: Knob = Knob {
    name: NAME,
    summary: "timers stay on the CPU that set them",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/kernel/timer_migration", "0", REASON);
    planned
}
