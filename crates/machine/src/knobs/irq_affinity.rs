//! Interrupts of devices go to CPUs that are not measured.
//!
//! The kernel keeps the interrupts of some devices to itself (one per queue and CPU, as `NVMe` and virtio
//! have) and refuses with EIO or EPERM; they fire only where somebody does I/O. Nothing that can be read
//! tells them apart beforehand. Which of the allowed CPUs an interrupt goes to after its mask is back is
//! the kernel's choice. <https://docs.kernel.org/core-api/irq/irq-affinity.html>

use becalm_model::{Change, CpuSet, Nature};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::Reading;
use crate::cpumask::{mask_text, parse_mask};

const NAME: &str = "irq-affinity";
const REASON: &str = "an interrupt takes the CPU whenever its device wants";
const FOLDER: &str = "/proc/irq";

/// The CPUs of interrupts that are requested from now on.
pub(crate) const DEFAULT: &str = "/proc/irq/default_smp_affinity";

pub(super) const IRQ_AFFINITY: Knob = Knob {
    name: NAME,
    summary: "interrupts of devices off the measured CPUs",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let Reading::Value(names) = situation.root.list_dir(FOLDER) else {
        return Planned::not_here(NAME, format!("{FOLDER} cannot be read"));
    };
    let mut planned = Planned::default();
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        let text = "every CPU is measured, so interrupts have nowhere to go";
        return planned.note(NAME, NoteKind::Refused, text);
    }
    for_new_ones(situation, &mut planned);
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    for number in numbers {
        let path = format!("{FOLDER}/{number}/smp_affinity_list");
        let Reading::Value(old) = planned.see(situation, &path) else { continue };
        let Some(new) = old.parse().ok().and_then(|old| elsewhere(situation, &old)) else {
            continue;
        };
        let change = Change::file(NAME, path, &old, &new.to_string(), REASON);
        planned.changes.push(change.with(Nature::MayBeRefused));
    }
    if planned.changes.is_empty() {
        let text = "no interrupt of a device is allowed on the measured CPUs";
        return planned.note(NAME, NoteKind::AlreadyQuiet, text);
    }
    planned
}

/// Interrupts that are requested from now on.
fn for_new_ones(situation: &Situation<'_>, planned: &mut Planned) {
    let Reading::Value(old) = planned.see(situation, DEFAULT) else { return };
    let new = parse_mask(&old).and_then(|old| elsewhere(situation, &old));
    if let Some(new) = new {
        let change = Change::file(NAME, DEFAULT, &old, &mask_text(&new), REASON);
        planned.changes.push(change);
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
