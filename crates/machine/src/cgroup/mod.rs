//! Where the control groups of this process lie, as far as they concern its CPU time.
//!
//! A process sits in one group per mounted hierarchy. On version 2 there is one hierarchy for all
//! controllers; on version 1 the `cpu` controller has its own; both may be mounted at once, and the
//! one that has the `cpu` controller counts. Inside a namespace the path in `/proc/self/cgroup` may
//! start with `..`: those groups are above what we can see.

pub(crate) mod members;

use std::path::{Path, PathBuf};

use crate::sysroot::{Reading, SysRoot};

/// Which generation of control groups governs CPU time here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// The `cpu` controller is mounted on its own (`cpu.cfs_quota_us`).
    V1,
    /// The unified hierarchy (`cpu.max`).
    V2,
}

/// The control groups that govern the CPU time of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlGroups {
    /// Generation of the hierarchy that governs CPU time.
    pub version: CgroupVersion,
    /// The process's own group and those above it, innermost first, as folders below the root.
    pub levels: Vec<PathBuf>,
}

impl ControlGroups {
    /// Finds the groups of this process; an error is a sentence fragment.
    pub fn read(root: &SysRoot) -> Result<Self, String> {
        let membership = root.read("/proc/self/cgroup").of("/proc/self/cgroup")?;
        let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
        locate(&membership, &mounts)
            .ok_or_else(|| "no control group hierarchy with CPU time is mounted".to_owned())
    }

    /// Returns how many CPUs' worth of time the tightest quota allows; `None` without a quota. An
    /// error is a sentence fragment: a quota may be there and not be seen.
    pub fn quota(&self, root: &SysRoot) -> Result<Option<f64>, String> {
        if let Some(own) = self.levels.first().filter(|own| !root.exists(own)) {
            return Err(format!("becalm's control group {} does not exist here", own.display()));
        }
        let mut tightest: Option<f64> = None;
        for level in &self.levels {
            let quota = match self.version {
                CgroupVersion::V2 => {
                    file(root, level, "cpu.max")?.and_then(|text| parse_cpu_max(&text))
                }
                CgroupVersion::V1 => {
                    let quota = file(root, level, "cpu.cfs_quota_us")?;
                    let period = file(root, level, "cpu.cfs_period_us")?;
                    quota.zip(period).and_then(|(quota, period)| share(&quota, &period))
                }
            };
            tightest = [tightest, quota].into_iter().flatten().reduce(f64::min);
        }
        Ok(tightest)
    }

    /// Returns how often a quota stopped this process's groups so far; `None` where nothing tells.
    pub fn throttled(&self, root: &SysRoot) -> Option<u64> {
        let of = |level: &PathBuf| {
            let text = root.read(level.join("cpu.stat")).value()?;
            let line = text.lines().find_map(|line| line.strip_prefix("nr_throttled "))?;
            line.trim().parse::<u64>().ok()
        };
        self.levels.iter().filter_map(of).max()
    }
}

/// Reads a file of a group. The topmost group has no quota file, nor has one without the controller.
fn file(root: &SysRoot, level: &Path, name: &str) -> Result<Option<String>, String> {
    let path = level.join(name);
    match root.read(&path) {
        Reading::Absent => Ok(None),
        other => other.of(path.display()).map(Some),
    }
}

/// Reads `cpu.max`: `max 100000` is no limit, `50000 100000` is half a CPU.
fn parse_cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    share(quota, period)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    // Version 1 writes -1 for no limit.
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Finds the groups from the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn locate(membership: &str, mounts: &str) -> Option<ControlGroups> {
    let lines = || membership.lines().filter_map(parse_membership);
    let v1 = lines().find(|(controllers, _)| controllers.split(',').any(|name| name == "cpu"));
    let (version, (_, group)) = match v1 {
        Some(found) => (CgroupVersion::V1, found),
        None => (CgroupVersion::V2, lines().find(|(controllers, _)| controllers.is_empty())?),
    };
    let (mounted, mount_point) = match find_mount(mounts, version, "cpu") {
        Some(mount) => (mount.root, mount.point),
        None if version == CgroupVersion::V2 && mounts.is_empty() => {
            (PathBuf::from("/"), PathBuf::from("/sys/fs/cgroup"))
        }
        None => return None,
    };
    // A group outside of what is mounted (`/../..` in a namespace) leaves only the mount itself.
    let below = Path::new(group).strip_prefix(&mounted).unwrap_or(Path::new(""));
    let below = if group.split('/').any(|part| part == "..") { Path::new("") } else { below };
    let own = mount_point.join(below);
    let levels = own
        .ancestors()
        .take_while(|level| level.starts_with(&mount_point))
        .map(Path::to_owned)
        .collect();
    Some(ControlGroups { version, levels })
}

/// Splits a line `ID:CONTROLLERS:PATH`; the controllers are empty for version 2.
fn parse_membership(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// Returns the group of a process in the hierarchy mounted at `hierarchy`, from the texts of its
/// `/proc/PID/cgroup` and of `/proc/self/mountinfo`.
pub(crate) fn group_of<'a>(membership: &'a str, mounts: &str, hierarchy: &str) -> Option<&'a str> {
    let mut lines = membership.lines().filter_map(parse_membership);
    let found = lines.find(|(controllers, _)| {
        let mut names = controllers.split(',');
        let (version, name) = if controllers.is_empty() {
            (CgroupVersion::V2, "")
        } else {
            (CgroupVersion::V1, names.next().unwrap_or_default())
        };
        find_mount(mounts, version, name).is_some_and(|mount| mount.point == Path::new(hierarchy))
    });
    found.map(|(_, group)| group)
}

/// Where a hierarchy of control groups can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The part of the hierarchy that is mounted: `/` for all of it.
    pub(crate) root: PathBuf,
    /// Where.
    pub(crate) point: PathBuf,
    /// Whether it cannot be written, as in most containers.
    pub(crate) is_read_only: bool,
}

/// Finds the hierarchy that has `controller`; version 2 has one hierarchy for all.
pub(crate) fn find_mount(mounts: &str, version: CgroupVersion, controller: &str) -> Option<Mount> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point, options) = (place.next()?, place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let matches = match version {
            CgroupVersion::V2 => kind.next()? == "cgroup2",
            CgroupVersion::V1 => {
                kind.next()? == "cgroup"
                    && kind.nth(1)?.split(',').any(|option| option == controller)
            }
        };
        matches.then(|| Mount {
            root: PathBuf::from(root),
            point: PathBuf::from(point),
            is_read_only: options.split(',').any(|option| option == "ro"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;
    use proptest::prelude::*;

    const V2_MOUNT: &str =
        "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[track_caller]
    fn check(membership: &str, mounts: &str, expected: &[&str]) {
        let levels = locate(membership, mounts).map(|found| found.levels).unwrap_or_default();
        assert_eq!(levels, expected.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_unified_group_has_all_groups_above_it() {
        check(
            "0::/user.slice/session.scope\n",
            V2_MOUNT,
            &[
                "/sys/fs/cgroup/user.slice/session.scope",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup",
            ],
        );
        check("0::/a", "", &["/sys/fs/cgroup/a", "/sys/fs/cgroup"]);
    }

    #[test]
    fn the_cpu_controller_of_version_1_wins_over_an_empty_unified_hierarchy() {
        let mounts = "30 1 0:27 /docker/f00 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      31 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        check(
            "3:cpuset:/\n2:cpu,cpuacct:/docker/f00/inner\n0::/\n",
            mounts,
            &["/sys/fs/cgroup/cpu/inner", "/sys/fs/cgroup/cpu"],
        );
    }

    #[test]
    fn a_group_outside_the_namespace_leaves_the_mount() {
        check("0::/../../other", V2_MOUNT, &["/sys/fs/cgroup"]);
        check("2:cpu:/\n", "", &[]);
    }

    #[test]
    fn the_tightest_quota_on_the_way_up_counts() {
        let tree = FakeTree::new()
            .file("/proc/self/cgroup", "0::/a/b\n")
            .file("/proc/self/mountinfo", V2_MOUNT)
            .file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
            .file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        let root = SysRoot::new(tree.path());
        let groups = ControlGroups::read(&root).unwrap();
        assert_eq!(groups.quota(&root), Ok(Some(1.5)));
        let refused = SysRoot::new(tree.path()).denying("/sys/fs/cgroup/a/cpu.max");
        assert_eq!(
            groups.quota(&refused),
            Err("/sys/fs/cgroup/a/cpu.max may not be read by this process".to_owned())
        );
        let hidden = SysRoot::new(tree.path().join("nowhere"));
        assert!(groups.quota(&hidden).is_err());
        assert_eq!(share("-1", "100000"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_search_panic(membership in "[0-9a-z:/.,\n]{0,60}", mounts in "(?s).{0,120}") {
            let _ = locate(&membership, &mounts);
        }
    }
}
