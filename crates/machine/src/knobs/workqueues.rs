//! Unbound work of the kernel is done by CPUs that are not measured.
//!
//! The mask of all unbound work queues, and those of the queues that have their own (writeback).
//! <https://docs.kernel.org/core-api/workqueue.html#affinity-scopes>

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::cpumask::{mask_text, parse_mask};

const NAME: &str = "workqueues";
const REASON: &str = "workers of the kernel run on any CPU";
const FOLDER: &str = "/sys/devices/virtual/workqueue";

pub(super) const WORKQUEUES: Knob = Knob {
    name: NAME,
    summary: "work of the kernel that is bound to no CPU off the measured ones",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let root = situation.root;
    let names = root.list_dir(FOLDER).value().unwrap_or_default();
    let mut planned = Planned::default();
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        let text = "every CPU is measured, so work has nowhere to go";
        return planned.note(NAME, NoteKind::Refused, text);
    }
    let new = mask_text(&situation.elsewhere());
    let own = names
        .iter()
        .map(|name| format!("{FOLDER}/{name}/cpumask"))
        .filter(|path| root.exists(path));
    for path in std::iter::once(format!("{FOLDER}/cpumask")).chain(own) {
        // As it is in force, which may be narrower than was asked for.
        let now = root.read(&path).value().as_deref().and_then(parse_mask);
        // A mask that leaves the measured CPUs alone stays: it may be narrower for a reason.
        if now.is_some_and(|now| now.intersection(&situation.cpus).is_empty()) {
            planned.guard(situation, NAME, path);
        } else {
            planned.set(situation, NAME, path, &new, REASON);
        }
    }
    planned
}
