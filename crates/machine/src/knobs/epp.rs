//! The energy performance preference of CPUs that choose their frequency themselves.
//!
//! Under the governor `performance` the drivers hold it at `performance` and answer EBUSY to anything
//! else, so it comes after the governor, and back after it.
//! <https://docs.kernel.org/admin-guide/pm/intel_pstate.html#energy-vs-performance-hints>

use becalm_model::{Nature, Target};

use super::policies::policies;
use super::{Knob, Planner, Profile};
use crate::Reading;

pub(super) const EPP: Knob = Knob {
    name: "epp",
    summary: "energy performance preference `performance`",
    reason: "the CPU saves energy instead of raising its frequency immediately",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    for policy in policies(planner.situation) {
        let path = policy.file("energy_performance_preference");
        match planner.see(&path) {
            Reading::Value(old) if old != "performance" => {
                let change = planner.change(Target::File(path), &old, Some("performance"));
                planner.add(change.with(Nature::MayBeRefused));
            }
            Reading::Value(_) => planner.guard(path),
            _ => {}
        }
    }
    planner.or_not_here("no CPU here has an energy performance preference");
}
