//! The energy performance preference of CPUs that choose their frequency themselves.
//!
//! Under the governor `performance` the drivers hold it at `performance` and answer EBUSY to anything
//! else, so it comes after the governor, and back after it.
//! <https://docs.kernel.org/admin-guide/pm/intel_pstate.html#energy-vs-performance-hints>

use becalm_model::{Change, Nature};

use super::policies::policies;
use super::{Knob, Planned, Profile, Situation};
use crate::Reading;

const NAME: &str = "epp";
const REASON: &str = "the CPU saves energy instead of raising its frequency at once";

pub(super) const EPP: Knob = Knob {
    name: NAME,
    summary: "energy performance preference `performance`",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    for policy in policies(situation) {
        let path = policy.file("energy_performance_preference");
        match planned.see(situation, &path) {
            Reading::Value(old) if old != "performance" => {
                let change = Change::file(NAME, path, &old, "performance", REASON);
                planned.changes.push(change.with(Nature::MayBeRefused));
            }
            Reading::Value(_) => planned.guard(situation, NAME, path),
            _ => {}
        }
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, "no CPU here has an energy performance preference");
    }
    planned
}
