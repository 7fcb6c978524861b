//! Folders that becalm makes: control groups, which the kernel removes only when nobody is in them.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use becalm_model::CpuSet;

use crate::isolate::OTHERS;
use crate::{SysRoot, affinity};

/// A process that is ending keeps its group busy for a moment.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Removes a folder. Whoever is left in a control group goes to the topmost group first.
pub(super) fn remove(root: &SysRoot, path: &str) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        evict(root, path);
        match root.remove_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => sleep(PAUSE),
            done => return done,
        }
    }
    root.remove_folder(path)
}

/// Moves the processes of a group to the topmost group of its hierarchy. Failures show when the
/// group is removed.
fn evict(root: &SysRoot, group: &str) {
    let Some(members) = root.read(format!("{group}/cgroup.procs")).value() else { return };
    let top = topmost(root, group);
    // 0 stands for a process that cannot be seen from here; written, it would mean this one.
    let pids = members.lines().filter_map(|line| line.trim().parse::<u32>().ok());
    for pid in pids.filter(|&pid| pid != 0) {
        let _ = root.write(format!("{top}/cgroup.procs"), &pid.to_string());
        // What a subject leaves behind runs where the subject was pinned to, and would stay there.
        // Processes that were merely moved aside have the CPUs that they asked for themselves.
        if root.is_live() && !group.ends_with(OTHERS) {
            widen(root, pid);
        }
    }
}

/// Lets all threads of a process run anywhere again.
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

/// Returns the topmost group above a group.
fn topmost(root: &SysRoot, group: &str) -> String {
    let is_group = |folder: &&Path| root.exists(folder.join("cgroup.procs"));
    let top = Path::new(group).ancestors().take_while(is_group).last();
    top.unwrap_or(Path::new(group)).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn who_is_left_in_a_group_goes_to_the_top() {
        let tree = FakeTree::new()
            .file("/sys/fs/cgroup/cgroup.procs", "1\n")
            .file("/sys/fs/cgroup/a/cgroup.procs", "")
            .file("/sys/fs/cgroup/a/b/cgroup.procs", "77\n");
        let root = SysRoot::new(tree.path());
        evict(&root, "/sys/fs/cgroup/a/b");
        assert_eq!(root.read("/sys/fs/cgroup/cgroup.procs").value().unwrap(), "77");
    }
}
