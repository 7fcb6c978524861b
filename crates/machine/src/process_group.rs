//! What a process group has used so far: a server with everything that it has started.

use becalm_kernel::clock::{cpu_time_of, ticks_per_second};

use crate::SysRoot;
use crate::tasks::processes;

/// What the processes of a group have used that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroupUse {
    /// Seconds of CPU time, with that of the processes that they waited for. Those count in ticks, all others in
    /// nanoseconds.
    pub cpu_time: f64,
    /// The largest resident set that one of them ever had, in bytes; 0 where the kernel does not say.
    pub max_rss: u64,
}

/// Returns what a group has used; `None` if nobody is in it.
pub fn group_use(root: &SysRoot, group: u32) -> Option<GroupUse> {
    let mut all: Option<GroupUse> = None;
    for member in members(root, group) {
        let all = all.get_or_insert_default();
        all.cpu_time += cpu_time_of(member.pid).unwrap_or(0.0) + member.waited_for;
        all.max_rss = all.max_rss.max(max_rss(root, member.pid).unwrap_or(0));
    }
    all
}

/// A process of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Member {
    pid: u32,
    /// Seconds of CPU time of the processes that it waited for.
    waited_for: f64,
}

fn members(root: &SysRoot, group: u32) -> Vec<Member> {
    processes(root).into_iter().filter_map(|pid| member(root, pid, group)).collect()
}

/// Reads a process of `/proc/PID/stat` (proc(5)); `None` if it is of another group.
fn member(root: &SysRoot, pid: u32, group: u32) -> Option<Member> {
    const STATE: usize = 3;
    const GROUP: usize = 5;
    const CHILDREN: usize = 16;
    let text = root.read(format!("/proc/{pid}/stat")).value()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - STATE)?.parse::<u64>().ok();
    let ticks = (field(GROUP)? == u64::from(group))
        .then_some(())
        .and_then(|()| Some(field(CHILDREN)? + field(CHILDREN + 1)?))?;
    Some(Member { pid, waited_for: ticks as f64 / ticks_per_second() })
}

fn max_rss(root: &SysRoot, pid: u32) -> Option<u64> {
    let text = root.read(format!("/proc/{pid}/status")).value()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_processes_of_a_group_are_found_whatever_their_names_are() {
        let stat = |pid: u32, name: &str, group: u32, waited_for: u32| {
            format!("{pid} ({name}) S 1 {group} 7 0 -1 0 0 0 0 0 5 6 {waited_for} 0 20 0 1 0 99\n")
        };
        let tree = FakeTree::new()
            .file("/proc/70/stat", stat(70, "nginx: master (x) y", 70, 0))
            .file("/proc/71/stat", stat(71, "nginx", 70, 50))
            .file("/proc/71/status", "Name:\tnginx\nVmHWM:\t    2048 kB\n")
            .file("/proc/72/stat", stat(72, "other", 72, 900))
            .file("/proc/self/stat", "x");
        let root = SysRoot::new(tree.path());
        let found = members(&root, 70);
        let pids: Vec<u32> = found.iter().map(|member| member.pid).collect();
        assert_eq!(pids, [70, 71]);
        assert!((found[1].waited_for * ticks_per_second() - 50.0).abs() < 1e-9);
        assert_eq!(max_rss(&root, 71), Some(2 << 20));
        assert_eq!(members(&root, 9), []);
    }

    #[test]
    fn this_process_has_used_something() {
        let own = std::process::id();
        let text = std::fs::read_to_string("/proc/self/stat").unwrap();
        let group = text.rsplit_once(')').unwrap().1.split_whitespace().nth(2).unwrap().parse();
        let used = group_use(&SysRoot::default(), group.unwrap()).expect("it has a group");
        assert!(used.cpu_time >= cpu_time_of(own).unwrap() / 2.0 && used.max_rss > 0);
        assert_eq!(group_use(&SysRoot::default(), u32::MAX), None);
    }
}
