//! `cgroup.subtree_control`, which is read as words and written as differences.
//!
//! becalm hands on one controller, and which others somebody else hands on is not its business.

use std::io;

use super::super::same::{CONTROLLER, has_controller};
use crate::SysRoot;

/// Says whether a file is one of these.
pub(super) fn is_one(path: &str) -> bool {
    path.ends_with("/cgroup.subtree_control")
}

/// Makes the file hand on the controller, or not, as `wanted` does.
pub(super) fn write(root: &SysRoot, path: &str, wanted: &str) -> io::Result<()> {
    let now = root.read(path).of(path).map_err(io::Error::other)?;
    match (has_controller(&now), has_controller(wanted)) {
        (false, true) => root.write(path, &format!("+{CONTROLLER}")),
        (true, false) => root.write(path, &format!("-{CONTROLLER}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_controller_is_written_as_a_difference_and_no_other_is() {
        let check = |now: &str, wanted: &str, written: &str| {
            let tree = FakeTree::new().file("/c/cgroup.subtree_control", now);
            let root = SysRoot::new(tree.path());
            write(&root, "/c/cgroup.subtree_control", wanted).unwrap();
            assert_eq!(root.read("/c/cgroup.subtree_control").value().unwrap(), written);
        };
        check("cpu memory", "memory cpu cpuset", "+cpuset");
        check("cpuset cpu memory", "cpu memory", "-cpuset");
        // Somebody else hands on one more, or one less.
        check("cpu cpuset io", "cpu", "-cpuset");
        check("cpu io", "cpu", "cpu io");
        check("", "cpu", "");
    }
}
