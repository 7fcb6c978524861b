//! Which CPUs handle packets in the kernel for others (RPS), and which send through which queue (XPS).
//!
//! RPS hands received packets to the CPUs of a mask by an interrupt between CPUs; 0 is off, so only masks with
//! measured CPUs matter, also those of interfaces without a device, as containers have. A CPU that sends through a queue which
//! others use sends their packets along. So the measured CPUs get one of the queues that they share with others for
//! themselves, unless they have one: with a map for every CPU, nobody else takes it.
//! <https://docs.kernel.org/networking/scaling.html>

use becalm_model::{CpuSet, Target};

use super::{Knob, Planner, Profile};
use crate::Reading;
use crate::cpumask::{mask_text, parse_mask};

const FOLDER: &str = "/sys/class/net";

pub(super) const PACKET_STEERING: Knob = Knob {
    name: "packet-steering",
    summary: "other programs' packets off the measured CPUs",
    reason: "packets of any program are processed on CPUs of the mask",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let names = situation.root.list_dir(FOLDER).value().unwrap_or_default();
    if !situation.cpus.intersection(&situation.housekeeping).is_empty() {
        return planner.refuse("every CPU is measured, so packets cannot go elsewhere");
    }
    for name in names {
        for queue in masks(planner, &name, "rx-", "rps_cpus") {
            let others = queue.cpus.difference(&situation.cpus);
            if others != queue.cpus {
                let new = if others.is_empty() { situation.elsewhere() } else { others };
                set(planner, &queue, &new);
            }
        }
        // Only a device has queues that its interrupts and locks belong to.
        if situation.root.exists(format!("{FOLDER}/{name}/device")) {
            let queues = masks(planner, &name, "tx-", "xps_cpus");
            for (queue, new) in parted(&queues, &situation.cpus) {
                set(planner, queue, &new);
            }
        }
    }
    if planner.planned.changes.is_empty() {
        planner.is_quiet("no packets of others are processed on the measured CPUs");
    }
}

/// A queue of an interface and its mask.
struct Queue {
    path: String,
    text: String,
    cpus: CpuSet,
}

fn set(planner: &mut Planner<'_>, queue: &Queue, new: &CpuSet) {
    let target = Target::File(queue.path.clone());
    planner.add(planner.change(target, &queue.text, Some(&mask_text(new))));
}

/// Reads the masks of the queues of an interface, in the order of their numbers. The file of a queue
/// that is the only one for sending is there and answers ENOENT; one with traffic classes may answer EINVAL.
fn masks(planner: &mut Planner<'_>, interface: &str, kind: &str, file: &str) -> Vec<Queue> {
    let folder = format!("{FOLDER}/{interface}/queues");
    let names = planner.situation.root.list_dir(&folder).value().unwrap_or_default();
    let mut numbers: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix(kind)?.parse().ok()).collect();
    numbers.sort_unstable();
    let mut queues = Vec::new();
    for number in numbers {
        let path = format!("{folder}/{kind}{number}/{file}");
        let reading = planner.see(&path);
        if reading == Reading::Absent {
            continue;
        }
        let mask = |text: String| match parse_mask(&text) {
            Some(cpus) => Ok((text, cpus)),
            None => Err(format!("{path} contains `{text}`, which is not a mask of CPUs")),
        };
        match reading.of(&path).and_then(mask) {
            Ok((text, cpus)) => queues.push(Queue { path, text, cpus }),
            // What one queue has says nothing without the others.
            Err(why) => {
                planner.refuse(format!(
                    "the CPUs that use the queues of {interface} are unknown: {why}"
                ));
                return Vec::new();
            }
        }
    }
    queues
}

/// Returns new masks by which the queues of an interface that measured CPUs share with others are either of the
/// former or of the latter. None where nobody has a mask, or where one queue is all.
fn parted<'a>(queues: &'a [Queue], measured: &CpuSet) -> Vec<(&'a Queue, CpuSet)> {
    let is_own =
        |queue: &&Queue| !queue.cpus.is_empty() && queue.cpus.difference(measured).is_empty();
    let shared: Vec<&Queue> = queues
        .iter()
        .filter(|queue| !is_own(queue) && !queue.cpus.intersection(measured).is_empty())
        .collect();
    let others_of = |queue: &&Queue| queue.cpus.difference(measured);
    // The one that the fewest others have to leave.
    let given = if queues.iter().any(|queue| is_own(&queue)) {
        None
    } else {
        shared.iter().copied().min_by_key(|queue| others_of(queue).len())
    };
    let Some(stays) = queues
        .iter()
        .find(|queue| !others_of(queue).is_empty() && given.is_none_or(|g| g.path != queue.path))
    else {
        return Vec::new();
    };
    // Those who have no other queue join the first that stays with the others.
    let is_given = |queue: &Queue| given.is_some_and(|given| given.path == queue.path);
    let mut homeless = given.as_ref().map(others_of).unwrap_or_default();
    for queue in queues.iter().filter(|queue| !is_given(queue)) {
        homeless = homeless.difference(&queue.cpus);
    }
    let new = |queue: &'a Queue| {
        let new = match () {
            () if is_given(queue) => measured.clone(),
            () if is_own(&queue) => queue.cpus.clone(),
            () if queue.path == stays.path => others_of(&queue).union(&homeless),
            () => others_of(&queue),
        };
        (new != queue.cpus).then_some((queue, new))
    };
    queues.iter().filter_map(new).collect()
}
