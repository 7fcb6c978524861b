//! Where the processes of a guest belong: the control groups from which they came into that of a session, with the limits
//! of the user's own session (memory, number of processes).

use std::collections::BTreeMap;

use crate::SysRoot;
use crate::cgroup::{CgroupVersion, find_mount, group_of};

/// Processes of which is kept where they came from, beside those that are in the group still.
const MANY: usize = 1024;

/// Processes between one that was started in the group and the one that came into it.
const MOST_GENERATIONS: usize = 64;

/// How often is looked who is there still: processes start others meanwhile.
const ROUNDS: usize = 8;

/// The home of each process that came by the gate.
#[derive(Debug, Default)]
pub(super) struct Homes(BTreeMap<u32, String>);

impl Homes {
    /// Notes where a process is that is about to enter `group`.
    pub(super) fn note(&mut self, root: &SysRoot, pid: u32, group: &str) {
        if self.0.len() >= MANY {
            let there = members(root, group);
            self.0.retain(|pid, _| there.contains(pid));
        }
        // One that comes twice is in the group already, which is nobody's home.
        if let Some(home) = home_of(root, pid, group).filter(|home| home != group) {
            self.0.insert(pid, home);
        }
    }

    /// Moves all processes of `group` to where they, or those that started them, came from. Who has no home any more is
    /// ended (`cgroup.kill`, Linux 5.14): elsewhere it would be without the limits of its session.
    pub(super) fn send_home(&self, root: &SysRoot, group: &str) {
        for _ in 0..ROUNDS {
            let there = members(root, group);
            let went = |pid: &u32| {
                let home = self.of(root, *pid);
                home.is_some_and(|home| {
                    root.write(format!("{home}/cgroup.procs"), &pid.to_string()).is_ok()
                })
            };
            if there.iter().filter(|pid| went(pid)).count() == 0 {
                break;
            }
        }
        if !members(root, group).is_empty() {
            // Where the kernel cannot do that they go to the top when the group is removed.
            let _ = root.write(format!("{group}/cgroup.kill"), "1");
        }
    }

    /// Returns the home of a process, or of the nearest one above it that has one.
    fn of(&self, root: &SysRoot, pid: u32) -> Option<&str> {
        let mut next = Some(pid);
        for _ in 0..MOST_GENERATIONS {
            let pid = next?;
            if let Some(home) = self.0.get(&pid) {
                return Some(home);
            }
            next = parent_of(root, pid);
        }
        None
    }
}

/// Returns the processes of a group. 0 stands for one that cannot be seen from here.
fn members(root: &SysRoot, group: &str) -> Vec<u32> {
    let members = root.read(format!("{group}/cgroup.procs")).value().unwrap_or_default();
    let pids = members.lines().filter_map(|line| line.trim().parse().ok());
    pids.filter(|pid| *pid != 0).collect()
}

fn parent_of(root: &SysRoot, pid: u32) -> Option<u32> {
    let status = root.read(format!("/proc/{pid}/status")).value()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok().filter(|parent| *parent > 1)
}

/// Returns the folder of a process's group in the hierarchy that another group is in, where that is of version 2.
fn home_of(root: &SysRoot, pid: u32, group: &str) -> Option<String> {
    let mounts = root.read("/proc/self/mountinfo").value()?;
    let mount = find_mount(&mounts, CgroupVersion::V2, "")?;
    let point = mount.point.to_str().filter(|point| group.starts_with(point))?;
    let membership = root.read(format!("/proc/{pid}/cgroup")).value()?;
    let home = group_of(&membership, &mounts, point)?.trim_end_matches('/').to_owned();
    let is_whole = !home.split('/').any(|part| part == "..");
    is_whole.then(|| format!("{point}{home}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    const GROUP: &str = "/sys/fs/cgroup/becalm";

    fn tree() -> FakeTree {
        FakeTree::new()
            .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/proc/70/cgroup", "0::/wide\n")
            .file("/proc/71/cgroup", "0::/tight\n")
            .file("/proc/72/status", "PPid:\t71\n")
            .file("/sys/fs/cgroup/wide/cgroup.procs", "")
            .file("/sys/fs/cgroup/tight/cgroup.procs", "")
            .file(format!("{GROUP}/cgroup.procs"), "72\n")
            .file(format!("{GROUP}/cgroup.kill"), "")
    }

    #[test]
    fn each_goes_to_where_it_or_its_parent_came_from() {
        let tree = tree();
        let root = SysRoot::new(tree.path());
        let mut homes = Homes::default();
        homes.note(&root, 70, GROUP);
        homes.note(&root, 71, GROUP);
        assert_eq!(homes.of(&root, 72), Some("/sys/fs/cgroup/tight"));
        homes.send_home(&root, GROUP);
        let read = |group: &str| root.read(format!("/sys/fs/cgroup/{group}")).value().unwrap();
        assert_eq!(
            (read("tight/cgroup.procs").as_str(), read("wide/cgroup.procs").as_str()),
            ("72", "")
        );
    }

    #[test]
    fn who_has_no_home_any_more_is_ended() {
        let tree = tree();
        let root = SysRoot::new(tree.path());
        let mut homes = Homes::default();
        homes.note(&root, 71, GROUP);
        std::fs::remove_dir_all(tree.path().join("sys/fs/cgroup/tight")).unwrap();
        homes.send_home(&root, GROUP);
        assert_eq!(root.read(format!("{GROUP}/cgroup.kill")).value().unwrap(), "1");
        assert_eq!(Homes::default().of(&root, 72), None);
    }
}
