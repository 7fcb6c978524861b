//! Unbound work of the kernel is done by CPUs that are not measured.
//!
//! The mask of all unbound work queues, and those of the queues that have their own (writeback).
//! <https://docs.kernel.org/core-api/workqueue.html#affinity-scopes>

use super::{Knob, Planner, Profile};
use crate::cpumask::{mask_text, parse_mask};

const FOLDER: &str = "/sys/devices/virtual/workqueue";

pub(super) const WORKQUEUES: Knob = Knob {
    name: "workqueues",
    summary: "unbound kernel work off the measured CPUs",
    reason: "unbound workers of the kernel run on any CPU",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let root = situation.root;
    let names = root.list_dir(FOLDER).value().unwrap_or_default();
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        let text = "every CPU is measured, so work cannot go elsewhere";
        return planner.refuse(text);
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
            planner.guard(path);
        } else {
            planner.set(path, &new);
        }
    }
}
