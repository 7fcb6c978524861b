//! The frequency of the parts of an Intel package that are not cores: ring, last-level cache, memory
//! controllers. Held at its upper limit.
//!
//! <https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html>

use super::{Knob, Planner, Profile};

const FOLDER: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

pub(super) const UNCORE: Knob = Knob {
    name: "uncore",
    summary: "uncore frequency at its limit",
    reason: "cache and memory become slower when most cores are idle",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    for name in situation.root.list_dir(FOLDER).value().unwrap_or_default() {
        let limit = situation.root.read(format!("{FOLDER}/{name}/max_freq_khz")).value();
        if let Some(limit) = limit {
            planner.set(format!("{FOLDER}/{name}/min_freq_khz"), &limit);
        }
    }
    planner.or_not_here(format!("{FOLDER} does not exist here"));
}
