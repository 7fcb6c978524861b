//! Automatic NUMA balancing: page faults made on purpose, and pages and tasks moved between nodes.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/kernel.html#numa-balancing>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "numa-balancing";
const REASON: &str = "the kernel unmaps pages to see who uses them, and moves them";

pub(super) const NUMA_BALANCING: Knob =
    Knob { name: NAME, summary: "automatic NUMA balancing off", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/kernel/numa_balancing", "0", REASON);
    planned
}
