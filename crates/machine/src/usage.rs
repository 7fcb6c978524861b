//! Who used the CPU, by the kernel's own accounts of each process.
//!
//! Two readings of `/proc/PID/stat` are enough, however long the time between: a process that lives at
//! the end tells its own time and that of all its descendants that have ended and were waited for, so
//! that short-lived processes are counted with whoever started them (proc(5), `utime`, `stime`, `cutime`,
//! `cstime`). What is missing then are processes whose parent does not wait for them, or ended before
//! them; the machine's total in `/proc/stat` says how much that is.

use std::collections::BTreeMap;

use crate::tasks::processes;
use crate::{Reading, SysRoot};
use becalm_kernel::clock::ticks_per_second;

/// The accounts of all processes at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accounts {
    /// By process id and start time.
    processes: BTreeMap<(u32, u64), Account>,
    /// Seconds that all CPUs together were busy since boot; `None` where `/proc/stat` is closed.
    busy: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Account {
    parent: u32,
    command: String,
    service: String,
    own: f64,
    children: f64,
    wakeups: u64,
}

/// What one program used, all its processes together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// The service or session that it belongs to, by its control group; `kernel` for kernel threads.
    pub service: String,
    /// Name of the program, as the kernel cuts it at 15 characters.
    pub command: String,
    /// Seconds of CPU time that its processes used themselves.
    pub own: f64,
    /// Seconds of CPU time of processes that they started, and that have ended.
    pub children: f64,
    /// How often its processes went to sleep of their own accord, and so woke up.
    pub wakeups: u64,
}

/// What was used between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    /// By program, the largest first; programs that used nothing are left out.
    pub programs: Vec<Usage>,
    /// Seconds that all CPUs together were busy.
    pub busy: Option<f64>,
}

impl Accounts {
    /// Reads the accounts of all processes. This process is left out.
    pub fn read(root: &SysRoot) -> Self {
        let own = std::process::id();
        let processes = processes(root).into_iter().filter(|&pid| pid != own).filter_map(|pid| {
            let (start_time, account) = account(root, pid)?;
            Some(((pid, start_time), account))
        });
        Self { processes: processes.collect(), busy: busy(root) }
    }

    /// Returns what was used from here to `later`.
    pub fn until(&self, later: &Self) -> Used {
        let mut earlier = self.inherited(later);
        let mut programs: BTreeMap<(String, String), Usage> = BTreeMap::new();
        for (key, now) in &later.processes {
            // What was not there at first used everything that it has used since.
            let before = self.processes.get(key);
            let since = |value: f64, before: Option<f64>| (value - before.unwrap_or(0.0)).max(0.0);
            let (service, command) = (now.service.clone(), now.command.clone());
            let usage = programs.entry((service.clone(), command.clone()));
            let usage = usage.or_insert_with(|| Usage { service, command, ..Usage::default() });
            usage.own += since(now.own, before.map(|account| account.own));
            let children = since(now.children, before.map(|account| account.children));
            usage.children += (children - earlier.remove(key).unwrap_or(0.0)).max(0.0);
            usage.wakeups +=
                now.wakeups.saturating_sub(before.map_or(0, |account| account.wakeups));
        }
        let mut programs: Vec<Usage> = programs
            .into_values()
            .filter(|usage| usage.own + usage.children > 0.0 || usage.wakeups > 0)
            .collect();
        programs.sort_by(|a, b| {
            (b.own + b.children).total_cmp(&(a.own + a.children)).then(b.wakeups.cmp(&a.wakeups))
        });
        Used {
            programs,
            busy: later.busy.zip(self.busy).map(|(now, before)| (now - before).max(0.0)),
        }
    }

    /// Returns what processes that ended until `later` had used before, by the ancestor that has it among
    /// its children's since.
    fn inherited(&self, later: &Self) -> BTreeMap<(u32, u64), f64> {
        let by_id: BTreeMap<u32, (&(u32, u64), &Account)> =
            self.processes.iter().map(|(key, account)| (key.0, (key, account))).collect();
        let mut inherited = BTreeMap::new();
        for (key, ended) in &self.processes {
            if later.processes.contains_key(key) {
                continue;
            }
            // Parents that ended as well have handed it on. A circle of reused ids would have no end.
            let mut parent = ended.parent;
            for _ in 0..self.processes.len() {
                let Some((key, account)) = by_id.get(&parent) else { break };
                if later.processes.contains_key(*key) {
                    *inherited.entry(**key).or_insert(0.0) += ended.own + ended.children;
                    break;
                }
                parent = account.parent;
            }
        }
        inherited
    }
}

impl Used {
    /// Returns the seconds that no program that still runs can account for.
    pub fn unexplained(&self) -> Option<f64> {
        let told: f64 = self.programs.iter().map(|usage| usage.own + usage.children).sum();
        self.busy.map(|busy| (busy - told).max(0.0))
    }
}

/// Field numbers are those of proc(5); the name may hold spaces and brackets.
fn account(root: &SysRoot, pid: u32) -> Option<(u64, Account)> {
    const STATE: usize = 3;
    const PARENT: usize = 4;
    const FLAGS: usize = 9;
    const UTIME: usize = 14;
    const START_TIME: usize = 22;
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let text = root.read(format!("/proc/{pid}/stat")).value()?;
    let (head, tail) = text.rsplit_once(')')?;
    let command = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let field = |number: usize| fields.get(number - STATE)?.parse::<u64>().ok();
    let seconds = |number: usize| field(number).map(|ticks| ticks as f64 / ticks_per_second());
    let is_kernel = field(FLAGS)? & KERNEL_THREAD != 0;
    let account = Account {
        parent: u32::try_from(field(PARENT)?).ok()?,
        // The number at the end tells the CPU of a worker of the kernel, and what it does next.
        command: if is_kernel { kernel_name(&command) } else { command },
        service: if is_kernel { "kernel".to_owned() } else { service(root, pid) },
        own: seconds(UTIME)? + seconds(UTIME + 1)?,
        children: seconds(UTIME + 2)? + seconds(UTIME + 3)?,
        wakeups: wakeups(root, pid).unwrap_or(0),
    };
    Some((field(START_TIME)?, account))
}

/// Returns `kworker` for `kworker/u8:3-events_unbound`.
fn kernel_name(command: &str) -> String {
    command.split(['/', ':']).next().unwrap_or(command).to_owned()
}

/// Returns the innermost service, scope or slice of a process's control group, or the whole path.
fn service(root: &SysRoot, pid: u32) -> String {
    let text = root.read(format!("/proc/{pid}/cgroup")).value().unwrap_or_default();
    // The unified hierarchy, or that of systemd.
    let line = text.lines().find(|line| line.starts_with("0::") && !line.ends_with("::/"));
    let line = line.or_else(|| text.lines().find(|line| line.contains(":name=systemd:")));
    let path = line.and_then(|line| line.splitn(3, ':').nth(2)).unwrap_or("/");
    let unit = path
        .rsplit('/')
        .find(|part| [".service", ".scope", ".slice"].iter().any(|suffix| part.ends_with(suffix)));
    unit.unwrap_or(path).to_owned()
}

fn wakeups(root: &SysRoot, pid: u32) -> Option<u64> {
    let text = root.read(format!("/proc/{pid}/status")).value()?;
    let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Seconds that all CPUs together were busy: user, nice, system, irq and softirq of `/proc/stat`.
fn busy(root: &SysRoot) -> Option<f64> {
    let Reading::Value(text) = root.read("/proc/stat") else { return None };
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    let of = |index: usize| ticks.get(index).copied().unwrap_or(0);
    Some((of(0) + of(1) + of(2) + of(5) + of(6)) as f64 / ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    /// Ticks in a second, as the kernel writes them.
    fn ticks() -> u64 {
        format!("{}", ticks_per_second()).parse().expect("a whole number")
    }

    fn process(tree: FakeTree, pid: u32, name: &str, flags: u32, times: [u64; 4]) -> FakeTree {
        let [user, system, children_user, children_system] = times;
        let stat = format!(
            "{pid} ({name}) S 1 1 1 0 -1 {flags} 0 0 0 0 {user} {system} {children_user} \
             {children_system} 20 0 1 0 55 0 0\n"
        );
        tree.file(format!("/proc/{pid}/stat"), stat)
            .file(format!("/proc/{pid}/cgroup"), "0::/system.slice/cron.service\n")
            .file(format!("/proc/{pid}/status"), format!("voluntary_ctxt_switches:\t{user}\n"))
    }

    #[test]
    fn descendants_count_with_whoever_waited_for_them() {
        let hz = ticks();
        let tree = FakeTree::new().file("/proc/stat", format!("cpu  {hz} 0 0 900 0 0 0 0\n"));
        let tree = process(tree, 7, "cron", 0, [hz, 0, hz, 0]);
        let tree = process(tree, 9, "kworker/u8:3-events", 0x0020_0000, [hz, 0, 0, 0]);
        let root = SysRoot::new(tree.path());
        let before = Accounts::read(&root);
        let tree = process(tree, 7, "cron", 0, [2 * hz, 0, 5 * hz, hz]);
        // A new one.
        let tree = process(tree, 8, "a) b", 0, [hz, hz, 0, 0]);
        let _tree = tree.file("/proc/stat", format!("cpu  {} 0 0 950 0 0 0 0\n", 11 * hz));
        let used = before.until(&Accounts::read(&root));
        let told: Vec<_> = used
            .programs
            .iter()
            .map(|usage| (usage.command.as_str(), usage.own, usage.children))
            .collect();
        assert_eq!(told, [("cron", 1.0, 5.0), ("a) b", 2.0, 0.0)]);
        assert_eq!(used.programs[0].service, "cron.service");
        assert_eq!((used.busy, used.unexplained()), (Some(10.0), Some(2.0)));
    }

    #[test]
    fn what_a_process_used_before_is_not_told_again_when_it_ends() {
        let hz = ticks();
        let tree = process(FakeTree::new(), 1, "make", 0, [0, 0, 0, 0]);
        let shell = process(tree, 7, "sh", 0, [hz, 0, 2 * hz, 0]);
        let root = SysRoot::new(shell.path());
        let before = Accounts::read(&root);
        let _tree = process(shell.without("/proc/7/stat"), 1, "make", 0, [0, 0, 8 * hz, 0]);
        let used = before.until(&Accounts::read(&root));
        let told: Vec<_> = used.programs.iter().map(|usage| usage.children).collect();
        assert_eq!(told, [5.0]);
    }

    #[test]
    fn threads_of_the_kernel_go_together_by_name() {
        let hz = ticks();
        let tree = process(FakeTree::new(), 9, "kworker/u8:3", 0x0020_0000, [hz, 0, 0, 0]);
        let tree = process(tree, 10, "kworker/1:0-mm", 0x0020_0000, [hz, 0, 0, 0]);
        let used = Accounts::default().until(&Accounts::read(&SysRoot::new(tree.path())));
        assert_eq!((used.programs.len(), used.programs[0].own), (1, 2.0));
        assert_eq!((&*used.programs[0].service, &*used.programs[0].command), ("kernel", "kworker"));
        assert_eq!(used.busy, None);
    }
}
