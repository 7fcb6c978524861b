//! The governor of every frequency policy: `performance`, which asks for the highest frequency at once.
//!
//! Other governors follow the load, so that a run starts slow and the first ones are slower still. With
//! `intel_pstate` and `amd_pstate` in active mode the governor also locks the energy preference, which is
//! saved with it; some drivers touch the limits too.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>

use super::policies::policies;
use super::{Knob, Planner, Profile, limits, tunables};

pub(super) const GOVERNOR: Knob = Knob {
    name: "governor",
    summary: "frequency governor `performance`",
    reason: "the frequency follows the load with a delay",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    for policy in policies(situation) {
        let choices = situation.root.read(policy.file("scaling_available_governors"));
        let choices = choices.value().unwrap_or_default();
        if !choices.split_whitespace().any(|governor| governor == "performance") {
            let text = format!("{} offers only: {choices}", policy.folder);
            planner.refuse(text);
            continue;
        }
        // What a change of governor may disturb.
        limits::guard(planner, &policy);
        planner.guard(policy.file("energy_performance_preference"));
        // Only `userspace` has a speed, and it starts with whatever speed there is. Guarded before
        // the governor, so that it is put back after it.
        let speed = policy.file("scaling_setspeed");
        if situation.root.parse::<u64>(&speed).is_some() {
            planner.guard(speed);
        }
        tunables::guard(planner, &policy);
        planner.set(policy.file("scaling_governor"), "performance");
    }
    planner.or_not_here("the kernel does not set frequencies here");
}
