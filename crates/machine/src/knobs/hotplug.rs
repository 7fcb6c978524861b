//! What the kernel changes by itself when CPUs go, and does not change back when they return.
//!
//! - A task that may run only on CPUs that go is let run anywhere (`select_fallback_rq`). One that has chosen some
//!   that go and some that stay has only these afterwards, before Linux 6.2 and in sets of version 1.
//! - An interrupt that is allowed only there is allowed everywhere (`irq_migrate_all_off_this_cpu`).
//! - Sets of CPUs of control groups of version 1 lose those CPUs for good; the tasks of one that
//!   becomes empty go to the group above it (`cpuset_hotplug_workfn`). Version 2 keeps what was asked
//!   for.

use std::collections::BTreeSet;

use becalm_model::{Change, CpuSet, ProcessIdentity, Target};

use super::Planner;
use crate::cgroup::{CgroupVersion, find_mount};
use crate::cpumask::read_list;
use crate::tasks::{self, Thread};
use crate::tune::task::start_time;
use crate::{Reading, SysRoot};

const REASON: &str = "the kernel changes it when CPUs go offline";

/// Saves all of that, to be put back after the CPUs. `staying` are the CPUs that are sure to stay.
pub(super) fn guard(planner: &mut Planner<'_>, staying: &CpuSet) {
    let (situation, knob) = (planner.situation, planner.knob.name);
    let root = situation.root;
    let goes = |cpus: &CpuSet| !cpus.is_empty() && cpus.intersection(staying).is_empty();
    // Put back backwards: groups from the top, who is in them, then who may run where.
    let threads = tasks::threads(root);
    let online = &situation.topology.online;
    let has_chosen = |cpus: &CpuSet| !online.difference(cpus).is_empty();
    // Threads of interrupts follow these.
    let is_movable = |thread: &&Thread| !thread.is_bound && !thread.is_of_interrupt;
    let of_threads = threads
        .iter()
        .filter(is_movable)
        .filter(|thread| goes(&thread.cpus) || has_chosen(&thread.cpus));
    planner.planned.changes.extend(of_threads.map(|thread| thread.change(knob, None, REASON)));
    let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
    if let Some(mount) = find_mount(&mounts, CgroupVersion::V1, "cpuset") {
        let top = mount.point.to_string_lossy().into_owned();
        let groups = groups_below(root, &top);
        for group in &groups {
            // Members of a group whose CPUs are not known are saved too: none of them is moved for it.
            let may_go = match read_list(root, format!("{group}/cpuset.cpus")) {
                Reading::Value(own) => goes(&own),
                Reading::Absent => false,
                Reading::NoPermission | Reading::Unreadable { .. } => true,
            };
            if may_go {
                planner.planned.changes.extend(members(root, knob, &top, group));
            }
        }
        for group in groups {
            planner.guard(format!("{group}/cpuset.cpus"));
        }
    }
    for number in root.list_dir("/proc/irq").value().unwrap_or_default() {
        let path = format!("/proc/irq/{number}/smp_affinity_list");
        match read_list(root, &path) {
            Reading::Value(cpus) if goes(&cpus) => planner.guard(path),
            Reading::Value(_) | Reading::Absent => {}
            other => {
                let why = other.why_not().unwrap_or_default();
                planner.refuse(format!("{path} {why}: its value could not be put back"));
            }
        }
    }
}

/// Returns the groups below a group, each after those below itself.
fn groups_below(root: &SysRoot, group: &str) -> Vec<String> {
    let names = root.list_dir(group).value().unwrap_or_default();
    let below = names.into_iter().map(|name| format!("{group}/{name}"));
    let below = below.filter(|path| root.exists(format!("{path}/cpuset.cpus")));
    below.flat_map(|path| [groups_below(root, &path), vec![path]].concat()).collect()
}

fn members(root: &SysRoot, knob: &str, top: &str, group: &str) -> Vec<Change> {
    let text = root.read(format!("{group}/cgroup.procs")).value().unwrap_or_default();
    let pids: BTreeSet<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let saved = |pid: u32| {
        let task = ProcessIdentity { pid, start_time: start_time(root, pid)? };
        let target = Target::Membership { task, hierarchy: top.to_owned() };
        Some(Change::new(knob, target, group.strip_prefix(top)?, None, REASON))
    };
    pids.into_iter().filter_map(saved).collect()
}
