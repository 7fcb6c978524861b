//! Interrupts of devices go to CPUs that are not measured.
//!
//! The kernel keeps the interrupts of some devices to itself (one per queue and CPU, as `NVMe` and virtio
//! have) and refuses with EIO or EPERM; they fire only where somebody does I/O. Nothing that can be read
//! tells them apart beforehand. Which of the allowed CPUs an interrupt goes to after its mask is back is
//! the kernel's choice. <https://docs.kernel.org/core-api/irq/irq-affinity.html>

use std::collections::BTreeSet;

use becalm_model::{CpuSet, Nature, NewInterrupts, Target};

use super::{Knob, Planner, Profile, Situation};
use crate::Reading;
use crate::cpumask::{mask_text, parse_mask};

const FOLDER: &str = "/proc/irq";

/// The CPUs of interrupts that are requested from now on.
pub(crate) const DEFAULT: &str = "/proc/irq/default_smp_affinity";

pub(super) const IRQ_AFFINITY: Knob = Knob {
    name: "irq-affinity",
    summary: "interrupts of devices off the measured CPUs",
    reason: "an interrupt takes the CPU whenever its device needs it",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let Reading::Value(names) = situation.root.list_dir(FOLDER) else {
        return planner.not_here(format!("{FOLDER} cannot be read"));
    };
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        return planner.refuse("every CPU is measured, so interrupts cannot go elsewhere");
    }
    let numbers: BTreeSet<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    for_new_ones(planner, &numbers);
    let mut unread: Vec<String> = Vec::new();
    for number in numbers {
        let path = format!("{FOLDER}/{number}/smp_affinity_list");
        let reading = planner.see(&path);
        if reading == Reading::Absent {
            continue;
        }
        let cpus = |old: String| match old.parse() {
            Ok(cpus) => Ok((old, cpus)),
            Err(error) => Err(format!("{path}: {error}")),
        };
        let (old, cpus): (String, CpuSet) = match reading.of(&path).and_then(cpus) {
            Ok(known) => known,
            Err(why) => {
                unread.push(why);
                continue;
            }
        };
        let Some(new) = elsewhere(situation, &cpus) else { continue };
        let change = planner.change(Target::File(path), &old, Some(&new.to_string()));
        planner.add(change.with(Nature::MayBeRefused));
    }
    if let Some(first) = unread.first() {
        let others = match unread.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        return planner.refuse(format!("where an interrupt goes is unknown: {first}{others}"));
    }
    if planner.planned.changes.is_empty() {
        planner.is_quiet("no interrupt of a device may go to the measured CPUs");
    }
}

/// Interrupts that are requested from now on, beyond the `known` ones.
fn for_new_ones(planner: &mut Planner<'_>, known: &BTreeSet<u32>) {
    let old = match planner.see(DEFAULT) {
        Reading::Value(old) => old,
        Reading::Absent => return,
        other => {
            let why = other.why_not().unwrap_or_default();
            return planner.refuse(format!("where new interrupts go is unknown: {DEFAULT} {why}"));
        }
    };
    let Some(cpus) = parse_mask(&old) else {
        return planner.refuse(format!("{DEFAULT} contains `{old}`, which is not a mask of CPUs"));
    };
    if let Some(new) = elsewhere(planner.situation, &cpus) {
        let target = Target::File(DEFAULT.to_owned());
        planner.add(planner.change(target, &old, Some(&mask_text(&new))));
        // They keep the CPUs that they were requested with.
        let since = NewInterrupts { known: known.clone(), confined_to: new };
        planner.add(planner.change(Target::NewInterrupts(since), &cpus.to_string(), None));
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
