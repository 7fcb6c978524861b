//! Where the processes of a guest came from, noted as they entered the group of a session. Nothing else knows it of one
//! whose parents have ended since.

use std::collections::BTreeMap;

use crate::SysRoot;
use crate::cgroup::members::{home_of, members, send_home};

/// Processes of which is kept where they came from, beside those that are in the group still.
const MANY: usize = 1024;

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
        if let Some(home) = home_of(root, pid, group) {
            self.0.insert(pid, home);
        }
    }

    /// Moves the processes of `group` to where they, or those that started them, came from.
    pub(super) fn send_home(&self, root: &SysRoot, group: &str) {
        send_home(root, group, &|pid| self.0.get(&pid).map(String::as_str));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    const GROUP: &str = "/sys/fs/cgroup/becalm";

    #[test]
    fn each_goes_to_where_it_or_its_parent_came_from() {
        let tree = FakeTree::new()
            .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/proc/70/cgroup", "0::/wide\n")
            .file("/proc/71/cgroup", "0::/tight\n")
            .file("/proc/72/status", "PPid:\t71\n")
            .file("/sys/fs/cgroup/wide/cgroup.procs", "")
            .file("/sys/fs/cgroup/tight/cgroup.procs", "")
            .file(format!("{GROUP}/cgroup.procs"), "72\n");
        let root = SysRoot::new(tree.path());
        let mut homes = Homes::default();
        homes.note(&root, 70, GROUP);
        homes.note(&root, 71, GROUP);
        homes.send_home(&root, GROUP);
        let read = |group: &str| root.read(format!("/sys/fs/cgroup/{group}")).value().unwrap();
        assert_eq!(
            (read("tight/cgroup.procs").as_str(), read("wide/cgroup.procs").as_str()),
            ("72", "")
        );
    }
}
