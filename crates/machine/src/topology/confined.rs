//! Which CPUs a control group leaves to the processes in it.
//!
//! On the machine itself the affinity says so already. A captured tree often has no affinity, or
//! that of another process, and only the group's own files tell.

use std::path::{Path, PathBuf};

use becalm_model::CpuSet;

use super::lists::Lists;
use crate::sysroot::SysRoot;

/// How a hierarchy with CPU sets is mounted, by what its files are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// The first interface, a file system of its own.
    Plain,
    /// Control groups of version 1.
    Version1,
    /// Control groups of version 2.
    Version2,
}

impl Style {
    fn file(self) -> &'static str {
        match self {
            Self::Plain => "cpus",
            Self::Version1 => "cpuset.cpus",
            Self::Version2 => "cpuset.cpus.effective",
        }
    }
}

/// Returns the CPUs of the innermost group that states any; `None` if no group does.
pub(super) fn cgroup_cpus(lists: &Lists<'_>) -> Option<CpuSet> {
    chains(lists.root).into_iter().find_map(|(style, levels)| {
        levels.iter().find_map(|level| {
            let cpus = lists.read(&level.join(style.file()).to_string_lossy())?;
            (!cpus.is_empty()).then_some(cpus)
        })
    })
}

/// Returns the folders of the groups with CPU sets that this process is in, and of those above.
pub(crate) fn levels(root: &SysRoot) -> Vec<PathBuf> {
    chains(root).into_iter().flat_map(|(_, levels)| levels).collect()
}

/// Returns the own group and those above it, innermost first, of each hierarchy with CPU sets.
fn chains(root: &SysRoot) -> Vec<(Style, Vec<PathBuf>)> {
    let mounts = root.read("/proc/mounts").value();
    let mounts = mounts.or_else(|| root.read("/proc/self/mounts").value()).unwrap_or_default();
    let membership = root.read("/proc/self/cgroup").value().unwrap_or_default();
    let plain = root.read("/proc/self/cpuset").value();
    let chain = |(style, point): (Style, String)| {
        let group = group(&membership, style).map(str::to_owned).or_else(|| plain.clone())?;
        // A group above our namespace cannot be seen; what is mounted is what counts then.
        let inside = !group.split('/').any(|part| part == "..");
        let below = if inside { group.trim_start_matches('/') } else { "" };
        let own = Path::new(&point).join(below);
        let levels = own.ancestors().take_while(|level| level.starts_with(&point));
        Some((style, levels.map(Path::to_owned).collect()))
    };
    hierarchies(&mounts).into_iter().filter_map(chain).collect()
}

/// Returns the mounted hierarchies that have CPU sets, or may have them.
fn hierarchies(mounts: &str) -> Vec<(Style, String)> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        let (Some(point), Some(kind), Some(options)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let has = |name: &str| options.split(',').any(|option| option == name);
        let style = match kind {
            "cpuset" => Style::Plain,
            "cgroup" if has("cpuset") && has("noprefix") => Style::Plain,
            "cgroup" if has("cpuset") => Style::Version1,
            "cgroup2" => Style::Version2,
            _ => continue,
        };
        found.push((style, point.to_owned()));
    }
    found
}

/// Returns the group in a hierarchy from the lines `ID:CONTROLLERS:PATH` of `/proc/self/cgroup`.
fn group(membership: &str, style: Style) -> Option<&str> {
    membership.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let matches = match style {
            Style::Version2 => controllers.is_empty(),
            Style::Plain | Style::Version1 => controllers.split(',').any(|name| name == "cpuset"),
        };
        matches.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[track_caller]
    fn check(tree: &FakeTree, expected: Option<&str>) {
        let root = SysRoot::new(tree.path());
        let found = cgroup_cpus(&Lists::new(&root)).map(|cpus| cpus.to_string());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn the_group_of_a_batch_system_confines_its_jobs() {
        let tree = FakeTree::new()
            .file("/proc/mounts", "none /cgroup/unified cgroup2 rw,nsdelegate 0 0\n")
            .file("/proc/self/cpuset", "/job_1/step_0\n")
            .file("/cgroup/unified/job_1/cpuset.cpus.effective", "0-7\n");
        check(&tree, Some("0-7"));
        let tree = tree.file("/cgroup/unified/job_1/step_0/cpuset.cpus.effective", "2-3\n");
        check(&tree, Some("2-3"));
    }

    #[test]
    fn version_1_and_the_first_interface_have_other_names() {
        let tree = FakeTree::new()
            .file("/proc/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n")
            .file("/proc/self/cgroup", "3:cpu:/other\n2:cpuset:/mine\n")
            .file("/sys/fs/cgroup/cpuset/mine/cpuset.cpus", "4\n");
        check(&tree, Some("4"));
        let tree = FakeTree::new()
            .file("/proc/mounts", "none /dev/cpuset cpuset rw 0 0\n")
            .file("/proc/self/cpuset", "/a\n")
            .file("/dev/cpuset/a/cpus", "1-2\n");
        check(&tree, Some("1-2"));
    }

    #[test]
    fn a_machine_without_groups_confines_nobody() {
        check(&FakeTree::new(), None);
        check(&FakeTree::new().file("/proc/mounts", "/dev/sda1 / ext4 rw 0 0\n"), None);
        let outside = FakeTree::new()
            .file("/proc/mounts", "c /sys/fs/cgroup cgroup2 rw 0 0\n")
            .file("/proc/self/cgroup", "0::/../../x\n");
        check(&outside, None);
    }
}
