//! Which control groups hand out CPUs here.

use crate::cgroup::{CgroupVersion, find_mount};
use crate::{SysRoot, effective_user, may_change, service};

/// The hierarchy of control groups that has the `cpuset` controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hierarchy {
    /// Version 2, and nobody but the administrator makes groups at its top.
    Unified {
        /// Where it is mounted.
        top: String,
    },
    /// Version 2, kept by systemd, which undoes what others change at its top.
    Systemd {
        /// Where it is mounted.
        top: String,
    },
    /// Version 1.
    Legacy {
        /// Where it is mounted.
        top: String,
    },
}

impl Hierarchy {
    /// Finds it; an error says why there is none, as a sentence fragment.
    pub(super) fn find(root: &SysRoot) -> Result<Self, String> {
        let is_refused = |_: &u32| !may_change(root) && !service::is_there(root);
        if let Some(uid) = effective_user(root).filter(is_refused) {
            return Err(format!("this needs root (the current user is {uid})"));
        }
        let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
        // A controller is in one hierarchy only: where version 1 has it, version 2 does not.
        let legacy = find_mount(&mounts, CgroupVersion::V1, "cpuset");
        let version = if legacy.is_some() { "1" } else { "2" };
        let Some(mount) = legacy.clone().or_else(|| find_mount(&mounts, CgroupVersion::V2, ""))
        else {
            return Err("no control groups are mounted".to_owned());
        };
        let top = mount.point.to_string_lossy().into_owned();
        if mount.is_read_only {
            return Err(format!(
                "{top} is mounted read-only, as is usual in a container: only the host can assign \
                 CPUs"
            ));
        }
        if mount.root.as_os_str() != "/" || root.exists(format!("{top}/cgroup.type")) {
            return Err(format!(
                "{top} shows only a part of the control groups, as is usual in a container: only \
                 the host can assign CPUs"
            ));
        }
        if legacy.is_some() {
            return if root.exists(format!("{top}/cpuset.cpus")) {
                Ok(Self::Legacy { top })
            } else {
                Err(format!("{top} is mounted with non-standard file names (noprefix)"))
            };
        }
        let controllers = root.read(format!("{top}/cgroup.controllers")).value();
        let has_cpuset = |text: &str| text.split_whitespace().any(|name| name == "cpuset");
        if !controllers.is_some_and(|text| has_cpuset(&text)) {
            return Err(format!(
                "the control groups of version {version} at {top} have no cpuset controller"
            ));
        }
        Ok(if root.exists("/run/systemd/system") {
            Self::Systemd { top }
        } else {
            Self::Unified { top }
        })
    }

    /// Returns where it is mounted.
    pub(super) fn top(&self) -> &str {
        match self {
            Self::Unified { top } | Self::Systemd { top } | Self::Legacy { top } => top,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    const V2: &str = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
    const V1: &str = "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "a tree that lives as long as its test line")]
    fn check(tree: FakeTree, expected: Result<Hierarchy, &str>) {
        let found = Hierarchy::find(&SysRoot::new(tree.path()));
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, &expected),
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    fn mounted(mounts: &str) -> FakeTree {
        FakeTree::new().file("/proc/self/mountinfo", mounts)
    }

    fn unified() -> FakeTree {
        mounted(V2).file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n")
    }

    #[test]
    fn the_hierarchy_with_the_cpusets_is_found() {
        let top = || "/sys/fs/cgroup".to_owned();
        check(unified(), Ok(Hierarchy::Unified { top: top() }));
        let kept = unified().file("/run/systemd/system/x", "");
        check(kept, Ok(Hierarchy::Systemd { top: top() }));
        let legacy = mounted(V1).file("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-1\n");
        check(legacy, Ok(Hierarchy::Legacy { top: "/sys/fs/cgroup/cpuset".to_owned() }));
    }

    #[test]
    fn where_there_is_none_the_reason_is_told() {
        check(mounted(""), Err("no control groups are mounted"));
        let plain = mounted(V2).file("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        check(plain, Err("have no cpuset controller"));
        let ours = unified().file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\n");
        check(ours, Err("this needs root (the current user is 1000)"));
        check(
            unified().file("/sys/fs/cgroup/cgroup.type", "domain\n"),
            Err("as is usual in a container"),
        );
        check(mounted(&V2.replace("rw,nosuid", "ro,nosuid")), Err("mounted read-only"));
        check(mounted(V1), Err("noprefix"));
    }
}
