//! The frequency of the parts of an Intel package that are not cores: ring, last-level cache, memory
//! controllers. Held at its upper limit.
//!
//! <https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "uncore";
const REASON: &str = "cache and memory become slower when most cores idle";
const FOLDER: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

pub(super) const UNCORE: Knob =
    Knob { name: NAME, summary: "uncore frequency at its limit", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    for name in situation.root.list_dir(FOLDER).value().unwrap_or_default() {
        let limit = situation.root.read(format!("{FOLDER}/{name}/max_freq_khz")).value();
        if let Some(limit) = limit {
            planned.set(situation, NAME, format!("{FOLDER}/{name}/min_freq_khz"), &limit, REASON);
        }
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, format!("{FOLDER} does not exist here"));
    }
    planned
}
