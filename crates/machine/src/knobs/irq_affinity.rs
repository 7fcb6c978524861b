//! Interrupts of devices go to CPUs that are not measured.
//!
//! The kernel keeps the interrupts of some devices to itself (one per queue and CPU, as `NVMe` and virtio
//! have) and refuses with EIO or EPERM; they fire only where somebody does I/O. Nothing that can be read
//! tells them apart beforehand. Which of the allowed CPUs an interrupt goes to after its mask is back is
//! the kernel's choice. <https://docs.kernel.org/core-api/irq/irq-affinity.html>

use becalm_model::{CpuSet, Nature, Target};

use super::{Knob, Planner, Profile, Situation};
use crate::Reading;
use crate::cpumask::{mask_text, parse_mask};

const FOLDER: &str = "/proc/irq";

/// The CPUs of interrupts that are requested from now on.
pub(crate) const DEFAULT: &str = "/proc/irq/default_smp_affinity";

pub(super) const IRQ_AFFINITY: Knob = Knob {
    name: "irq-affinity",
    summary: "interrupts of devices off the measured CPUs",
    reason: "an interrupt takes the CPU whenever its device wants",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let Reading::Value(names) = situation.root.list_dir(FOLDER) else {
        return planner.not_here(format!("{FOLDER} cannot be read"));
    };
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        return planner.refuse("every CPU is measured, so interrupts have nowhere to go");
    }
    for_new_ones(planner);
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    for number in numbers {
        let path = format!("{FOLDER}/{number}/smp_affinity_list");
        let Reading::Value(old) = planner.see(&path) else { continue };
        let Some(new) = old.parse().ok().and_then(|old| elsewhere(situation, &old)) else {
            continue;
        };
        let change = planner.change(Target::File(path), &old, Some(&new.to_string()));
        planner.add(change.with(Nature::MayBeRefused));
    }
    if planner.planned.changes.is_empty() {
        planner.is_quiet("no interrupt of a device is allowed on the measured CPUs");
    }
}

/// Interrupts that are requested from now on.
fn for_new_ones(planner: &mut Planner<'_>) {
    let Reading::Value(old) = planner.see(DEFAULT) else { return };
    if let Some(new) = parse_mask(&old).and_then(|old| elsewhere(planner.situation, &old)) {
        let target = Target::File(DEFAULT.to_owned());
        planner.add(planner.change(target, &old, Some(&mask_text(&new))));
    }
}

/// Returns the CPUs of `old` that are not measured, or all others where there is none; `None` if no
/// measured CPU is among them.
fn elsewhere(situation: &Situation<'_>, old: &CpuSet) -> Option<CpuSet> {
    if old.intersection(&situation.cpus).is_empty() {
        return None;
    }
    let others = old.difference(&situation.cpus).intersection(&situation.staying());
    Some(if others.is_empty() { situation.elsewhere() } else { others })
}
