//! The energy performance bias of Intel CPUs: 0 is performance, 15 is saving.
//!
//! <https://docs.kernel.org/admin-guide/pm/intel_epb.html>

use super::{Knob, Planner, Profile};

pub(super) const EPB: Knob = Knob {
    name: "epb",
    summary: "energy performance bias 0",
    reason: "the CPU saves energy instead of raising its frequency immediately",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let going = situation.going_threads();
    for cpu in situation.topology.online.difference(&going).iter() {
        let path = format!("/sys/devices/system/cpu/cpu{}/power/energy_perf_bias", cpu.0);
        if situation.root.exists(&path) {
            planner.set(path, "0");
        }
    }
    planner.or_not_here("no CPU here has an energy performance bias");
}
