//! Sets of CPUs of control groups of version 1.
//!
//! Nothing is moved away by the kernel: every process at the top goes into a second set and comes
//! back afterwards. The scheduler balances what a set with `sched_load_balance` spans, so the top has
//! to give that up.

use becalm_model::{Change, Nature, PlacementLimit, ProcessIdentity, Target};

use super::{GROUP, IsolateError, Isolating, Isolation, KNOB, OTHERS, Partition, file, folder};
use crate::SysRoot;
use crate::cgroup::group_of;
use crate::tasks::processes;
use crate::tune::task::stat;

pub(super) fn plan(request: &Isolating<'_>, top: &str) -> Result<Isolation, IsolateError> {
    let root = request.root;
    request.check_free_in(&format!("{top}/cpuset.cpus"))?;
    let (group, others) = (format!("{top}/{GROUP}"), format!("{top}/{OTHERS}"));
    let mems = format!("{top}/cpuset.mems");
    let nodes = root.read(&mems).of(&mems).map_err(IsolateError::NotHere)?;
    let mut overlapping = request.groups_with_cpus(top)?;
    overlapping.retain(|(other, _)| *other != group && *other != others);
    let limits = overlapping.iter().map(|(group, _)| {
        PlacementLimit::GroupOverlaps { group: group.clone(), cpus: request.cpus.clone() }.into()
    });
    let cpus = request.cpus.to_string();
    let mut changes = request.chosen_affinities();
    changes.push(folder(&others));
    changes.push(file(format!("{others}/cpuset.cpus"), "", &request.others().to_string()));
    changes.push(file(format!("{others}/cpuset.mems"), "", &nodes));
    changes.push(folder(&group));
    changes.push(file(format!("{group}/cpuset.cpus"), "", &cpus));
    changes.push(file(format!("{group}/cpuset.mems"), "", &nodes));
    if overlapping.is_empty() {
        changes.push(file(format!("{group}/cpuset.cpu_exclusive"), "0", "1"));
    }
    let is_balanced = match request.partition {
        Partition::Isolated => "0",
        Partition::Balanced => "1",
    };
    if request.partition == Partition::Isolated {
        changes.push(file(format!("{group}/cpuset.sched_load_balance"), "1", is_balanced));
    }
    changes.extend(move_aside(root, top));
    let balance = format!("{top}/cpuset.sched_load_balance");
    if root.read(&balance).value().as_deref() == Some("1") {
        changes.push(file(balance.clone(), "1", "0"));
    }
    let expected = vec![
        (format!("{group}/cpuset.cpus"), cpus),
        (format!("{group}/cpuset.sched_load_balance"), is_balanced.to_owned()),
        (balance, "0".to_owned()),
    ];
    let isolation = request.isolation(group, changes, expected);
    Ok(Isolation { limits: limits.collect(), moving: Some(top.to_owned()), ..isolation })
}

/// Returns the changes that move the programs at the top aside. Threads of the kernel stay: their
/// CPUs are set one by one.
pub(super) fn move_aside(root: &SysRoot, top: &str) -> Vec<Change> {
    let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
    let at_top = |pid: u32| {
        let membership = root.read(format!("/proc/{pid}/cgroup")).value()?;
        (group_of(&membership, &mounts, top)? == "/").then_some(())?;
        // A zombie runs nowhere.
        stat(root, pid).filter(|stat| !stat.is_zombie && !stat.is_kernel)
    };
    let moved = |pid: u32| {
        let task = ProcessIdentity { pid, start_time: at_top(pid)?.start_time };
        let target = Target::Membership { task, hierarchy: top.to_owned() };
        let (new, reason) = (format!("/{OTHERS}"), "it makes way for the subject");
        // It may end before its turn comes.
        Some(Change::new(KNOB, target, "/", Some(&new), reason).with(Nature::MayBeRefused))
    };
    processes(root).into_iter().filter_map(moved).collect()
}
