//! Polling for corrected machine-check errors, every five minutes on every CPU.
//!
//! Strict only: corrected memory errors are not seen meanwhile. Uncorrected ones still raise their
//! exception. The setting is one, shown under each CPU.
//! <https://docs.kernel.org/arch/x86/x86_64/machinecheck.html>

use super::{Knob, Planner, Profile};

const FOLDER: &str = "/sys/devices/system/machinecheck";

pub(super) const MACHINE_CHECK: Knob = Knob {
    name: "machine-check",
    summary: "no polling for corrected machine-check errors",
    reason: "every CPU looks for corrected errors every few minutes",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let names = planner.situation.root.list_dir(FOLDER).value().unwrap_or_default();
    // Being one, it is set once, under a CPU that stays when second threads are switched off.
    let first = names
        .iter()
        .filter_map(|name| Some((name.strip_prefix("machinecheck")?.parse::<u32>().ok()?, name)))
        .min();
    if let Some((_, place)) = first {
        planner.set(format!("{FOLDER}/{place}/check_interval"), "0");
    }
    planner.or_not_here(format!("no CPU polls according to {FOLDER}"));
}
