//! The CPUs on which a task may run.

use std::io;

use becalm_kernel::errno::ESRCH;
use becalm_model::CpuSet;

use super::super::task::start_time;
use crate::{Reading, SysRoot, affinity};

/// Returns the CPUs of a task as a list; absent once the task has ended, also if another one has its
/// id by now.
pub(super) fn read(root: &SysRoot, tid: u32, started: u64) -> Reading {
    if start_time(root, tid) != Some(started) {
        return Reading::Absent;
    }
    match root.read(format!("/proc/{tid}/status")) {
        Reading::Value(status) => match allowed_list(&status) {
            Some(list) => Reading::Value(list.to_owned()),
            None => Reading::Absent,
        },
        other => other,
    }
}

/// Puts a task on CPUs.
pub(super) fn write(root: &SysRoot, tid: u32, started: u64, list: &str) -> io::Result<()> {
    let cpus: CpuSet = list.parse().map_err(io::Error::other)?;
    if start_time(root, tid) != Some(started) {
        return Err(io::Error::from_raw_os_error(ESRCH));
    }
    if root.is_live() {
        return affinity::set(tid, &cpus);
    }
    // A folder that stands for a machine has no tasks, only what is said of them.
    let path = format!("/proc/{tid}/status");
    let status = root.read(&path).of(&path).map_err(io::Error::other)?;
    let line = |line: &str| {
        if line.starts_with(LIST) { format!("{LIST}\t{cpus}\n") } else { format!("{line}\n") }
    };
    root.write(path, &status.lines().map(line).collect::<String>())
}

const LIST: &str = "Cpus_allowed_list:";

/// Returns the CPUs from `/proc/PID/status`.
pub(crate) fn allowed_list(status: &str) -> Option<&str> {
    status.lines().find_map(|line| line.strip_prefix(LIST)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::{FakeTree, Sleeper};

    #[test]
    fn the_cpus_of_a_task_are_put_back_unless_it_is_another_one() {
        let stat = "9 (x) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n";
        let tree = FakeTree::new()
            .file("/proc/9/stat", stat)
            .file("/proc/9/status", "Name:\tx\nCpus_allowed_list:\t0-3\nVmRSS:\t1\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(read(&root, 9, 77), Reading::Value("0-3".into()));
        write(&root, 9, 77, "0-1").unwrap();
        assert_eq!(read(&root, 9, 77), Reading::Value("0-1".into()));
        assert_eq!(read(&root, 9, 78), Reading::Absent);
        assert!(write(&root, 9, 78, "0-3").is_err());
        assert_eq!(read(&root, 10, 1), Reading::Absent);
    }

    #[test]
    fn a_living_task_is_moved_and_a_dead_one_is_not() {
        let root = SysRoot::default();
        let child = Sleeper::start();
        let id = child.id();
        let started = start_time(&root, id).unwrap();
        let before = read(&root, id, started).value().unwrap();
        let first = before.parse::<CpuSet>().unwrap().first().unwrap().to_string();
        write(&root, id, started, &first).unwrap();
        assert_eq!(read(&root, id, started), Reading::Value(first));
        write(&root, id, started, &before).unwrap();
        assert_eq!(read(&root, id, started), Reading::Value(before.clone()));
        drop(child);
        assert!(write(&root, id, started, &before).is_err());
    }
}
