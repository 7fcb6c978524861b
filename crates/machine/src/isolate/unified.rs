//! A partition of control groups of version 2, right below the top.
//!
//! The kernel moves everything else away by itself. It takes `cpuset.cpus.partition` always, and
//! tells afterwards, in the same file, whether it could do it.

use becalm_model::{Change, Nature};

use super::{GROUP, IsolateError, Isolating, Isolation, Partition, file, folder};

pub(super) fn plan(request: &Isolating<'_>, top: &str) -> Result<Isolation, IsolateError> {
    check(request, top)?;
    let root = request.root;
    let group = format!("{top}/{GROUP}");
    let cpus = request.cpus.to_string();
    let mut changes = request.chosen_affinities();
    let control = format!("{top}/cgroup.subtree_control");
    let handed_on = root.read(&control).of(&control).map_err(IsolateError::NotHere)?;
    if !handed_on.split_whitespace().any(|name| name == "cpuset") {
        let more = format!("{handed_on} cpuset");
        changes.push(file(control, &handed_on, more.trim_start()));
    }
    changes.push(folder(&group));
    changes.push(file(format!("{group}/cpuset.cpus"), "", &cpus));
    // It came with the list of all isolated CPUs, which only the top has (Linux 6.8).
    if root.exists(format!("{top}/cpuset.cpus.isolated")) {
        let exclusive = file(format!("{group}/cpuset.cpus.exclusive"), "", &cpus);
        changes.push(exclusive.with(Nature::MayBeRefused));
    }
    changes.push(make_partition(&group, request.partition));
    let expected = expected(&group, &cpus, request.partition);
    Ok(request.isolation(group, changes, expected))
}

/// The change that takes the CPUs of a group away from everything else.
pub(super) fn make_partition(group: &str, partition: Partition) -> Change {
    file(format!("{group}/cpuset.cpus.partition"), "member", partition.word())
}

/// What the files of a partition say while it holds.
pub(super) fn expected(group: &str, cpus: &str, partition: Partition) -> Vec<(String, String)> {
    vec![
        (format!("{group}/cpuset.cpus.partition"), partition.word().to_owned()),
        (format!("{group}/cpuset.cpus.effective"), cpus.to_owned()),
    ]
}

/// Refuses what the kernel would make an invalid partition of.
pub(super) fn check(request: &Isolating<'_>, top: &str) -> Result<(), IsolateError> {
    request.check_free_in(&format!("{top}/cpuset.cpus.effective"))?;
    let mut taken = request.groups_with_cpus(top)?.into_iter();
    match taken.find(|(group, _)| !group.ends_with(&format!("/{GROUP}"))) {
        Some((group, cpus)) => Err(IsolateError::Taken { cpus, group }),
        None => Ok(()),
    }
}
