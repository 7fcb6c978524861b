//! Folders that becalm makes: control groups, which the kernel removes only when nobody is in them.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::SysRoot;
use crate::cgroup::members::{members, move_to, send_home, user_of};
use crate::isolate::OTHERS;

/// A process that is ending keeps its group busy for a moment.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Removes a folder. Whoever is left in a control group goes home first.
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

/// Empties a group: its processes go to where they belong. A user's process without a home is ended (`cgroup.kill`, Linux
/// 5.14), because elsewhere it would be without the limits of its session; root's, and all where the kernel cannot do that,
/// go to the topmost group of the hierarchy. Failures show when the group is removed.
fn evict(root: &SysRoot, group: &str) {
    send_home(root, group, &|_| None);
    let left = members(root, group);
    let is_users = |pid: &u32| user_of(root, *pid).is_some_and(|user| user != 0);
    let (users, others): (Vec<u32>, Vec<u32>) = left.into_iter().partition(is_users);
    let top = topmost(root, group);
    for pid in others {
        move_out(root, pid, group, &top);
    }
    // A process that has come since is ended with them; it came from one of them.
    let kill = format!("{group}/cgroup.kill");
    let are_ended = !users.is_empty() && root.exists(&kill) && root.write(&kill, "1").is_ok();
    if !are_ended {
        for pid in users {
            move_out(root, pid, group, &top);
        }
    }
}

/// Moves a process to the top. Processes that were merely moved aside have the CPUs that they asked for themselves.
fn move_out(root: &SysRoot, pid: u32, group: &str, top: &str) {
    if group.ends_with(OTHERS) {
        let _ = root.write(format!("{top}/cgroup.procs"), &pid.to_string());
    } else {
        move_to(root, pid, top);
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

    const GROUP: &str = "/sys/fs/cgroup/a/b";

    /// A group with a process whose session is gone.
    fn tree(user: u32) -> FakeTree {
        FakeTree::new()
            .file("/proc/77/status", format!("PPid:\t1\nUid:\t{user}\t{user}\t{user}\t{user}\n"))
            .file("/sys/fs/cgroup/cgroup.procs", "1\n")
            .file("/sys/fs/cgroup/a/cgroup.procs", "")
            .file(format!("{GROUP}/cgroup.procs"), "77\n")
    }

    #[track_caller]
    fn check(tree: &FakeTree, top: &str, killed: Option<&str>) {
        let root = SysRoot::new(tree.path());
        evict(&root, GROUP);
        assert_eq!(root.read("/sys/fs/cgroup/cgroup.procs").value().unwrap(), top);
        assert_eq!(root.read(format!("{GROUP}/cgroup.kill")).value().as_deref(), killed);
    }

    #[test]
    fn who_has_no_home_is_ended_if_it_is_a_users() {
        check(&tree(1000).file(format!("{GROUP}/cgroup.kill"), ""), "1", Some("1"));
    }

    #[test]
    fn roots_go_to_the_top_and_so_do_all_where_a_group_cannot_be_ended() {
        check(&tree(0).file(format!("{GROUP}/cgroup.kill"), ""), "77", Some(""));
        check(&tree(1000), "77", None);
    }
}
