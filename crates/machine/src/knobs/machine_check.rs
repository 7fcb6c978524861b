//! Polling for corrected machine-check errors, every five minutes on every CPU.
//!
//! Strict only: corrected memory errors are not seen meanwhile. Uncorrected ones still raise their
//! exception. The setting is one, shown under each CPU.
//! <https://docs.kernel.org/arch/x86/x86_64/machinecheck.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "machine-check";
const REASON: &str = "every CPU looks for corrected errors every few minutes";
const FOLDER: &str = "/sys/devices/system/machinecheck";

pub(super) const MACHINE_CHECK: Knob = Knob {
    name: NAME,
    summary: "no polling for corrected machine-check errors",
    profile: Profile::Strict,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let names = situation.root.list_dir(FOLDER).value().unwrap_or_default();
    let mut planned = Planned::default();
    // Being one, it is set once, under a CPU that stays when second threads are switched off.
    let first = names
        .iter()
        .filter_map(|name| Some((name.strip_prefix("machinecheck")?.parse::<u32>().ok()?, name)))
        .min();
    if let Some((_, place)) = first {
        planned.set(situation, NAME, format!("{FOLDER}/{place}/check_interval"), "0", REASON);
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, format!("{FOLDER} has no CPU that polls"));
    }
    planned
}
