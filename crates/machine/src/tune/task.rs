//! Processes, told apart from later ones that get the same id.

use becalm_model::ProcessIdentity;

use crate::SysRoot;

/// Returns this process.
pub fn this_process() -> ProcessIdentity {
    named(std::process::id())
}

/// Returns the process that has this id now. It is a real one, also where a folder stands for the
/// machine.
pub fn named(pid: u32) -> ProcessIdentity {
    // Without /proc there is nothing to compare with either: any number serves.
    ProcessIdentity { pid, start_time: start_time(&SysRoot::default(), pid).unwrap_or(0) }
}

/// Says whether a process still runs: one with its id that started at the same time, and that has
/// not merely been left unreaped.
pub fn is_alive(root: &SysRoot, process: ProcessIdentity) -> bool {
    stat(root, process.pid)
        .is_some_and(|stat| stat.start_time == process.start_time && !stat.is_zombie)
}

/// The PID namespace that every process of the machine has a number in (`PROC_PID_INIT_INO`).
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

/// Returns in which PID namespace a process has its number; `self` is this one.
pub(super) fn pid_namespace(process: &str) -> Option<String> {
    let link = SysRoot::default().link(format!("/proc/{process}/ns/pid"))?;
    Some(link.to_string_lossy().into_owned())
}

/// Says whether a process that has this number in this namespace still runs. Seen from beside that namespace, not from
/// above, nobody can tell: it is taken to run.
pub(super) fn is_alive_in(namespace: Option<&str>, process: ProcessIdentity) -> bool {
    let here = SysRoot::default();
    let own = pid_namespace("self");
    // Journals of 0.1 do not say, and where there are no namespaces there is one.
    let Some(namespace) = namespace.filter(|theirs| own.as_deref() != Some(*theirs)) else {
        return is_alive(&here, process);
    };
    let is_it = |pid: &String| {
        pid_namespace(pid).as_deref() == Some(namespace)
            && inner_number(&here, pid) == Some(process.pid)
            && pid.parse().ok().and_then(|pid| start_time(&here, pid)) == Some(process.start_time)
    };
    let pids = here.list_dir("/proc").value().unwrap_or_default();
    pids.iter().filter(|pid| pid.parse::<u32>().is_ok()).any(is_it)
        || own.as_deref() != Some(INITIAL_NAMESPACE)
}

/// Returns the number that a process has in its own namespace.
fn inner_number(root: &SysRoot, pid: &str) -> Option<u32> {
    let status = root.read(format!("/proc/{pid}/status")).value()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// Returns when a task started, in clock ticks since boot; `None` if there is none.
pub fn start_time(root: &SysRoot, pid: u32) -> Option<u64> {
    stat(root, pid).map(|stat| stat.start_time)
}

/// Says whether a task belongs to the kernel, whatever it calls itself.
pub fn is_of_kernel(root: &SysRoot, pid: u32) -> bool {
    stat(root, pid).is_some_and(|stat| stat.is_kernel)
}

/// What `/proc/PID/stat` says.
pub(crate) struct Stat {
    /// What it calls itself.
    pub(crate) name: String,
    pub(crate) is_zombie: bool,
    /// Whether it belongs to the kernel.
    pub(crate) is_kernel: bool,
    /// Whether the kernel lets nobody choose its CPUs, as for the threads that every CPU has.
    pub(crate) is_bound: bool,
    pub(crate) start_time: u64,
}

/// Field numbers are those of proc(5). The name in field 2 may hold spaces and brackets, so fields
/// are counted from its last bracket.
pub(crate) fn stat(root: &SysRoot, pid: u32) -> Option<Stat> {
    const STATE: usize = 3;
    const FLAGS: usize = 9;
    const START_TIME: usize = 22;
    const PF_KTHREAD: u64 = 0x0020_0000;
    const PF_NO_SETAFFINITY: u64 = 0x0400_0000;
    let text = root.read(format!("/proc/{pid}/stat")).value()?;
    let (before, after) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let field = |number: usize| fields.get(number - STATE).copied();
    let flags: u64 = field(FLAGS)?.parse().ok()?;
    Some(Stat {
        // Every program can call itself as it likes, and people read it on a terminal.
        name: before.split_once('(')?.1.replace(char::is_control, "?"),
        is_zombie: matches!(field(STATE)?, "Z" | "X"),
        is_kernel: flags & PF_KTHREAD != 0,
        is_bound: flags & PF_NO_SETAFFINITY != 0,
        start_time: field(START_TIME)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn stat_line(name: &str, state: &str, start: u64) -> String {
        format!("7 ({name}) {state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 0 0\n")
    }

    #[test]
    fn a_process_is_known_by_id_and_start() {
        let check = |line: &str, start_time: u64, expected: bool| {
            let tree = FakeTree::new().file("/proc/7/stat", line);
            let root = SysRoot::new(tree.path());
            assert_eq!(is_alive(&root, ProcessIdentity { pid: 7, start_time }), expected, "{line}");
        };
        check(&stat_line("becalm", "S", 55), 55, true);
        check(&stat_line("a) R (b", "R", 55), 55, true);
        check(&stat_line("becalm", "S", 56), 55, false);
        check(&stat_line("becalm", "Z", 55), 55, false);
        check("7 (cut", 55, false);
    }

    #[test]
    fn this_process_is_alive() {
        let root = SysRoot::default();
        assert!(is_alive(&root, this_process()));
    }
}
