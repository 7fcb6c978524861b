//! The processes of a control group that becalm made, and where they belong.
//!
//! A process belongs to the group of version 2 from which it came, or from which the one that started it came: that
//! has the limits of the user's own session (memory, number of processes), and ends with it. Version 1 has such limits
//! in hierarchies of their own, which becalm leaves alone.

use becalm_model::CpuSet;

use super::{CgroupVersion, find_mount, group_of};
use crate::{SysRoot, affinity};

/// Most processes between one and the nearest above it that is outside of the group.
const MOST_GENERATIONS: usize = 64;

/// How often becalm looks who is there still: processes start others meanwhile.
const ROUNDS: usize = 8;

/// Returns the processes of a group. The kernel lists one that cannot be seen from here as 0, and would take a written
/// 0 for the writer, so these are omitted.
pub(crate) fn members(root: &SysRoot, group: &str) -> Vec<u32> {
    let members = root.read(format!("{group}/cgroup.procs")).value().unwrap_or_default();
    let pids = members.lines().filter_map(|line| line.trim().parse().ok());
    pids.filter(|pid| *pid != 0).collect()
}

/// Returns the folder of a process's group in the hierarchy that `group` is in, if that is of version 2 and the process
/// is not in `group` itself.
pub(crate) fn home_of(root: &SysRoot, pid: u32, group: &str) -> Option<String> {
    let mounts = root.read("/proc/self/mountinfo").value()?;
    let mount = find_mount(&mounts, CgroupVersion::V2, "")?;
    let point = mount.point.to_str().filter(|point| group.starts_with(point))?;
    let membership = root.read(format!("/proc/{pid}/cgroup")).value()?;
    let home = group_of(&membership, &mounts, point)?.trim_end_matches('/').to_owned();
    let is_whole = !home.split('/').any(|part| part == "..");
    is_whole.then(|| format!("{point}{home}")).filter(|home| home != group)
}

/// Moves the processes of a group to where they belong. `known` is the home of a process if somebody noted it; otherwise
/// it is the group of the nearest process above it that is outside and of the same user. Who has no home stays.
pub(crate) fn send_home<'a>(root: &SysRoot, group: &str, known: &impl Fn(u32) -> Option<&'a str>) {
    for _ in 0..ROUNDS {
        let there = members(root, group);
        let went = |pid: &u32| {
            home_for(root, *pid, group, known).is_some_and(|home| move_to(root, *pid, &home))
        };
        if there.iter().filter(|pid| went(pid)).count() == 0 {
            break;
        }
    }
}

/// Moves a process to another group, where it may use all CPUs again; says whether the kernel took it.
pub(crate) fn move_to(root: &SysRoot, pid: u32, group: &str) -> bool {
    let moved = root.write(format!("{group}/cgroup.procs"), &pid.to_string()).is_ok();
    if moved && root.is_live() {
        widen(root, pid);
    }
    moved
}

/// Returns the real user of a process.
pub(crate) fn user_of(root: &SysRoot, pid: u32) -> Option<u32> {
    status(root, pid, "Uid:")
}

/// Returns the process that started another one, or has taken it over; not the first of the system.
pub(crate) fn parent_of(root: &SysRoot, pid: u32) -> Option<u32> {
    status(root, pid, "PPid:").filter(|parent| *parent > 1)
}

fn home_for<'a>(
    root: &SysRoot,
    pid: u32,
    group: &str,
    known: &impl Fn(u32) -> Option<&'a str>,
) -> Option<String> {
    let user = user_of(root, pid);
    let mut next = Some(pid);
    for _ in 0..MOST_GENERATIONS {
        let one = next?;
        if let Some(home) = known(one) {
            return Some(home.to_owned());
        }
        // The session of another user has other limits, as has the process that runs a container.
        if user.is_some()
            && user_of(root, one) == user
            && let Some(home) = home_of(root, one, group)
        {
            return Some(home);
        }
        next = parent_of(root, one);
    }
    None
}

/// Returns the first number of a line of `/proc/PID/status`.
pub(crate) fn status(root: &SysRoot, pid: u32, name: &str) -> Option<u32> {
    let status = root.read(format!("/proc/{pid}/status")).value()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Lets all threads of a process run anywhere again: a subject leaves processes pinned to where it was pinned.
fn widen(root: &SysRoot, pid: u32) {
    let online = root.read("/sys/devices/system/cpu/online").value().unwrap_or_default();
    let Some(all) = online.parse::<CpuSet>().ok().filter(|all| !all.is_empty()) else { return };
    for thread in root.list_dir(format!("/proc/{pid}/task")).value().unwrap_or_default() {
        if let Ok(thread) = thread.parse() {
            // It may have ended by now.
            let _ = affinity::set(thread, &all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    const GROUP: &str = "/sys/fs/cgroup/becalm";

    /// 72 is in the group, started by 71, which user 1000 started in a group of her own.
    fn tree() -> FakeTree {
        FakeTree::new()
            .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/proc/71/cgroup", "0::/tight\n")
            .file("/proc/71/status", "PPid:\t1\nUid:\t1000\t1000\t1000\t1000\n")
            .file("/proc/72/cgroup", "0::/becalm\n")
            .file("/proc/72/status", "PPid:\t71\nUid:\t1000\t1000\t1000\t1000\n")
            .file("/sys/fs/cgroup/tight/cgroup.procs", "")
            .file("/sys/fs/cgroup/wide/cgroup.procs", "")
            .file(format!("{GROUP}/cgroup.procs"), "0\n72\n")
    }

    #[track_caller]
    fn check(tree: &FakeTree, known: Option<&str>, tight: &str, wide: &str) {
        let root = SysRoot::new(tree.path());
        send_home(&root, GROUP, &|pid| known.filter(|_| pid == 71));
        let read = |group: &str| {
            root.read(format!("/sys/fs/cgroup/{group}/cgroup.procs")).value().unwrap()
        };
        assert_eq!((read("tight").as_str(), read("wide").as_str()), (tight, wide));
    }

    #[test]
    fn a_process_goes_to_where_the_one_that_started_it_is() {
        check(&tree(), None, "72", "");
    }

    #[test]
    fn what_was_noted_comes_first() {
        check(&tree(), Some("/sys/fs/cgroup/wide"), "", "72");
    }

    #[test]
    fn nobody_goes_to_the_session_of_another_user() {
        let other = tree().file("/proc/71/status", "PPid:\t1\nUid:\t0\t0\t0\t0\n");
        check(&other, None, "", "");
    }

    #[test]
    fn nobody_goes_to_a_group_that_no_longer_exists() {
        let tree = tree();
        std::fs::remove_dir_all(tree.path().join("sys/fs/cgroup/tight")).unwrap();
        let root = SysRoot::new(tree.path());
        send_home(&root, GROUP, &|_| None);
        assert_eq!(members(&root, GROUP), [72]);
    }
}
