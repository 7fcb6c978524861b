//! The energy performance bias of Intel CPUs: 0 is performance, 15 is saving.
//!
//! <https://docs.kernel.org/admin-guide/pm/intel_epb.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "epb";
const REASON: &str = "the CPU saves energy instead of raising its frequency at once";

pub(super) const EPB: Knob =
    Knob { name: NAME, summary: "energy performance bias 0", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    let going = situation.going_threads();
    for cpu in situation.topology.online.difference(&going).iter() {
        let path = format!("/sys/devices/system/cpu/cpu{}/power/energy_perf_bias", cpu.0);
        if situation.root.exists(&path) {
            planned.set(situation, NAME, path, "0", REASON);
        }
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, "no CPU here has an energy performance bias");
    }
    planned
}
