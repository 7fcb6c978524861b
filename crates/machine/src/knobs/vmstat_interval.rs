//! How often a worker on every CPU folds its memory statistics into the global ones, in seconds.
//!
//! Two minutes instead of one second: `/proc/vmstat` lags behind as much.
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#stat-interval>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "vmstat-interval";
const REASON: &str = "a worker folds the memory statistics of every CPU each second";

pub(super) const VMSTAT_INTERVAL: Knob = Knob {
    name: NAME,
    summary: "memory statistics folded every two minutes",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.raise(situation, NAME, "/proc/sys/vm/stat_interval", 120, REASON);
    planned
}
