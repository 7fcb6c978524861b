//! The governor of every frequency policy: `performance`, which asks for the highest frequency at once.
//!
//! Other governors follow the load, so that a run starts slow and the first ones are slower still. With
//! `intel_pstate` and `amd_pstate` in active mode the governor also locks the energy preference, which is
//! saved with it; some drivers touch the limits too.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>

use super::policies::policies;
use super::{Knob, NoteKind, Planned, Profile, Situation, limits, tunables};

const NAME: &str = "governor";
const REASON: &str = "the frequency follows the load with a delay";
pub(super) const GOVERNOR: Knob =
    Knob { name: NAME, summary: "frequency governor `performance`", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    for policy in policies(situation) {
        let choices = situation.root.read(policy.file("scaling_available_governors"));
        let choices = choices.value().unwrap_or_default();
        if !choices.split_whitespace().any(|governor| governor == "performance") {
            let text = format!("{} offers only: {choices}", policy.folder);
            planned = planned.note(NAME, NoteKind::Refused, text);
            continue;
        }
        // What a change of governor may disturb.
        limits::guard(situation, &mut planned, NAME, &policy);
        planned.guard(situation, NAME, policy.file("energy_performance_preference"));
        // Only `userspace` has a speed, and it starts with whatever speed there is. Guarded before
        // the governor, so that it is put back after it.
        let speed = policy.file("scaling_setspeed");
        let has_speed =
            situation.root.read(&speed).value().is_some_and(|text| text.parse::<u64>().is_ok());
        if has_speed {
            planned.guard(situation, NAME, speed);
        }
        tunables::guard(situation, &mut planned, NAME, &policy);
        planned.set(situation, NAME, policy.file("scaling_governor"), "performance", REASON);
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, "the kernel does not set frequencies here");
    }
    planned
}
