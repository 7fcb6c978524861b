//! Higher frequencies for a while for a task that has waited for I/O, by `intel_pstate` with hardware-managed
//! frequencies.
//!
//! <https://docs.kernel.org/admin-guide/pm/intel_pstate.html> (`hwp_dynamic_boost`).

use super::{Knob, Planner, Profile};

const PATH: &str = "/sys/devices/system/cpu/intel_pstate/hwp_dynamic_boost";

pub(super) const HWP_DYNAMIC_BOOST: Knob = Knob {
    name: "hwp-dynamic-boost",
    summary: "no frequency boost after waits for I/O",
    reason: "a task that has waited for I/O runs faster for a while",
    profile: Profile::Safe,
    plan: |planner: &mut Planner<'_>| planner.set(PATH, "0"),
};
