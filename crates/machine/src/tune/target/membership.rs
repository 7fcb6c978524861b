//! The control group of a process in one hierarchy.

use std::io;

use becalm_kernel::errno;

use super::super::task::start_time;
use crate::cgroup::group_of;
use crate::{Reading, SysRoot};

const MOUNTS: &str = "/proc/self/mountinfo";

/// Returns the group of a process, as a folder below the mount point; absent once it has ended.
pub(super) fn read(root: &SysRoot, pid: u32, started: u64, hierarchy: &str) -> Reading {
    if start_time(root, pid) != Some(started) {
        return Reading::Absent;
    }
    // What cannot be read is no process that has ended.
    let unknown = |reason: String| Reading::Unreadable { reason };
    let mounts = match root.read(MOUNTS).of(MOUNTS) {
        Ok(mounts) => mounts,
        Err(why) => return unknown(why),
    };
    match root.read(format!("/proc/{pid}/cgroup")) {
        Reading::Value(text) => match group_of(&text, &mounts, hierarchy) {
            Some(group) => Reading::Value(group.to_owned()),
            None => unknown(format!("{MOUNTS} has no control groups at {hierarchy}")),
        },
        other => other,
    }
}

/// Moves a process, with all its threads, to a group.
pub(super) fn write(
    root: &SysRoot,
    pid: u32,
    started: u64,
    hierarchy: &str,
    group: &str,
) -> io::Result<()> {
    if start_time(root, pid) != Some(started) {
        return Err(io::Error::from_raw_os_error(errno::ESRCH));
    }
    let group = group.trim_end_matches('/');
    root.write(format!("{hierarchy}{group}/cgroup.procs"), &pid.to_string())
}
