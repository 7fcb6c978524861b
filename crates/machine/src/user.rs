//! As whom this process acts.

use crate::SysRoot;

/// Returns the effective user of this process, where the kernel tells.
pub fn effective_user(root: &SysRoot) -> Option<u32> {
    let status = root.read("/proc/self/status").value()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, saved and of file systems.
    ids.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_second_number_is_the_effective_user() {
        let user = |status: &str| {
            let tree = FakeTree::new().file("/proc/self/status", status);
            effective_user(&SysRoot::new(tree.path()))
        };
        assert_eq!(user("Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\n"), Some(0));
        assert_eq!(user("Uid:\t1000\t0\t0\t0\n"), Some(0));
        assert_eq!(user("Uid:\t0\t1000\t0\t0\n"), Some(1000));
        assert_eq!(user(""), None);
    }
}
