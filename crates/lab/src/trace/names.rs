//! From numbers to names that a person can look up.

use std::collections::{BTreeSet, HashMap};

use becalm_machine::SysRoot;
use becalm_model::trace::{Culprit, Lane, Taken};

use super::account::{Account, Who};
use super::event::{Comm, Function, LayerKey, Tid};
use super::timeline::{Ran, Timeline};

/// The softirqs, in the order of their numbers (`softirq_to_name` in `kernel/softirq.c`).
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// `PF_KTHREAD` in the flags of `/proc/PID/stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What is known of the tasks and interrupts of a trace.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// becalm's own process.
    owner: u32,
    tasks: HashMap<Tid, Task>,
    pub(super) devices: HashMap<u32, String>,
    vectors: Vec<String>,
    functions: HashMap<Function, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Task {
    name: String,
    process: u32,
    unit: Option<String>,
    is_kernel: bool,
}

impl Names {
    /// Starts with becalm's own process and the names of the CPU's own interrupts, by their places.
    pub(super) fn new(owner: u32, vectors: Vec<String>) -> Self {
        Self { owner, vectors, ..Self::default() }
    }

    /// Looks a task up while it lives. `comm` is what the trace calls it.
    pub(super) fn look_up(&mut self, root: &SysRoot, tid: Tid, comm: Comm) {
        let folder = format!("/proc/{}", tid.0);
        let file = |name: &str| root.read(format!("{folder}/{name}")).value();
        let stat = file("stat").unwrap_or_default();
        let traced = Some(comm.text()).filter(|name| !name.is_empty());
        let is_kernel = match flags(&stat) {
            Some(flags) => flags & KERNEL_THREAD != 0,
            None if self.tasks.contains_key(&tid) => return,
            // It is gone already; workers of the kernel cannot be mistaken.
            None => traced.as_ref().is_some_and(|name| name.starts_with("kworker/")),
        };
        // The trace has the name with which a task came to its CPU, and a program may have executed another one since.
        // A worker of the kernel says in the file what it works on, too.
        let live = || file("comm");
        let name = if is_kernel { traced.or_else(live) } else { live().or(traced) };
        let name = name.unwrap_or_else(|| format!("task {}", tid.0));
        let status = if is_kernel { None } else { file("status") };
        let process = status.as_deref().and_then(process_of).unwrap_or(tid.0);
        let unit = if is_kernel { None } else { file("cgroup").as_deref().and_then(unit_of) };
        self.tasks.insert(tid, Task { name, process, unit, is_kernel });
    }

    /// Looks up the functions of the kernel that an account tells of. Where the kernel hides its
    /// addresses they stay without a name.
    pub(super) fn look_up_functions(&mut self, root: &SysRoot, accounts: &[Account]) {
        let wanted: BTreeSet<Function> = accounts
            .iter()
            .flat_map(|account| account.taken.keys())
            .filter_map(|who| match who {
                Who::Task { work, .. } => *work,
                Who::Layer { timer, .. } => *timer,
                _ => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        let symbols = root.read("/proc/kallsyms").value().unwrap_or_default();
        for line in symbols.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if address != 0 && wanted.contains(&Function(address)) {
                // Aliases follow; the first name is the function's own.
                self.functions.entry(Function(address)).or_insert_with(|| name.to_owned());
            }
        }
    }

    /// Returns what took time from an account, by name, most first.
    pub(super) fn taken(&self, account: &Account) -> Vec<Taken> {
        let mut all: Vec<Taken> = Vec::new();
        for (&who, amount) in &account.taken {
            let culprit = self.culprit(who);
            let seconds = amount.nanos as f64 * 1e-9;
            let longest = amount.longest as f64 * 1e-9;
            // Threads of one process have one name.
            match all.iter_mut().find(|taken| taken.culprit == culprit) {
                Some(taken) => {
                    taken.seconds += seconds;
                    taken.times += amount.times;
                    taken.longest = taken.longest.max(longest);
                }
                None => all.push(Taken { culprit, seconds, times: amount.times, longest }),
            }
        }
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all
    }

    /// Returns who ran when on which CPU: a lane for each name. Tasks that were not looked up have the name of the trace.
    pub(super) fn lanes(&self, timeline: &Timeline) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = Vec::new();
        for (&(cpu, ran), slots) in &timeline.lanes {
            let who = match ran {
                Ran::Subject => None,
                Ran::Task(tid) if self.tasks.contains_key(&tid) => Some(self.task(tid, None)),
                Ran::Task(tid) => {
                    let name = timeline.names.get(&tid).map(Comm::text);
                    let name = name.unwrap_or_else(|| format!("task {}", tid.0));
                    Some(Culprit::Process { name, pid: None, unit: None })
                }
                Ran::Layer(layer) => Some(self.culprit(Who::Layer { layer, timer: None })),
                Ran::NonMaskable => Some(Culprit::NonMaskable),
                Ran::Gap => Some(Culprit::Gap),
                Ran::Unknown => Some(Culprit::Unknown),
            };
            let who = who.map(|who| who.group());
            let share = |nanos: u64| nanos as f64 / timeline.width.max(1) as f64;
            let slots = slots
                .iter()
                .filter_map(|(slot, nanos)| Some((u32::try_from(*slot).ok()?, share(*nanos))));
            let known = lanes.iter().position(|lane| lane.cpu == cpu && lane.who == who);
            let at = known.unwrap_or(lanes.len());
            if known.is_none() {
                lanes.push(Lane { cpu, who, shares: Vec::new() });
            }
            lanes[at].add(slots);
        }
        lanes
    }

    fn culprit(&self, who: Who) -> Culprit {
        match who {
            Who::Task { tid, work } => self.task(tid, work),
            Who::Layer { layer: LayerKey::Interrupt(line), .. } => {
                let device = self.devices.get(&line).cloned().unwrap_or_default();
                Culprit::Interrupt { line, device }
            }
            Who::Layer { layer: LayerKey::Vector(place), timer } => Culprit::LocalInterrupt {
                kind: self.vectors.get(usize::from(place)).cloned().unwrap_or_default(),
                function: timer.and_then(|timer| self.function(timer)),
            },
            Who::Layer { layer: LayerKey::Softirq(number), timer } => Culprit::Softirq {
                kind: SOFTIRQS
                    .get(usize::from(number))
                    .map_or_else(|| number.to_string(), |&name| name.to_owned()),
                function: timer.and_then(|timer| self.function(timer)),
            },
            Who::NonMaskable => Culprit::NonMaskable,
            Who::Fault { major: false } => Culprit::MinorFault,
            Who::Fault { major: true } => Culprit::MajorFault,
            Who::OwnThreads => Culprit::OwnThreads,
            Who::WakeUp => Culprit::WakeUp,
            Who::HeldBack => Culprit::HeldBack,
            Who::Stopped => Culprit::Stopped,
            Who::Blocked => Culprit::Blocked,
            Who::Asleep => Culprit::Asleep,
            Who::Gap => Culprit::Gap,
            Who::Unknown => Culprit::Unknown,
        }
    }

    fn task(&self, tid: Tid, work: Option<Function>) -> Culprit {
        let unknown =
            || Task { name: format!("task {}", tid.0), process: tid.0, ..Task::default() };
        let task = self.tasks.get(&tid).cloned().unwrap_or_else(unknown);
        if task.is_kernel {
            let work = work.and_then(|work| self.function(work));
            Culprit::KernelThread { name: task.name, work }
        } else if task.process == self.owner {
            // Whichever of its threads: it is all for the trace.
            Culprit::Becalm
        } else {
            Culprit::Process { name: task.name, pid: Some(task.process), unit: task.unit }
        }
    }

    fn function(&self, function: Function) -> Option<String> {
        self.functions.get(&function).cloned()
    }
}

/// Field 9 of `/proc/PID/stat`; the name before it is in brackets and may contain anything.
fn flags(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(6)?.parse().ok()
}

fn process_of(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Returns the innermost unit of systemd in a control group.
fn unit_of(cgroup: &str) -> Option<String> {
    let line = cgroup.lines().find(|line| line.starts_with("0::") && !line.ends_with("::/"));
    let line = line.or_else(|| cgroup.lines().find(|line| line.contains(":name=systemd:")))?;
    let path = line.splitn(3, ':').nth(2)?;
    let is_unit = |part: &&str| [".service", ".scope"].iter().any(|end| part.ends_with(end));
    path.rsplit('/').find(is_unit).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn stat(name: &str, flags: u64) -> String {
        format!("7 ({name}) S 2 0 0 0 -1 {flags} 0 0 0\n")
    }

    #[test]
    fn tasks_are_told_by_name_process_unit_and_kind() {
        let tree = FakeTree::new()
            .file("/proc/7/stat", stat("a) b", 0x40_0000))
            .file("/proc/7/status", "Name:\ta\nTgid:\t5\n")
            .file("/proc/7/cgroup", "1:name=systemd:/x.slice/cron.service\n0::/\n")
            .file("/proc/8/stat", stat("kworker/1:2-events", KERNEL_THREAD | 0x40));
        let root = SysRoot::new(tree.path());
        let mut names = Names::default();
        names.look_up(&root, Tid(7), Comm::new(b"a) b"));
        names.look_up(&root, Tid(8), Comm::new(b"kworker/1:2"));
        names.look_up(&root, Tid(9), Comm::new(b"gone"));
        names.look_up(&root, Tid(10), Comm::new(b"kworker/u8:0"));
        let kernel = |name: &str| Culprit::KernelThread { name: name.into(), work: None };
        let task = |tid| names.culprit(Who::Task { tid: Tid(tid), work: None });
        assert_eq!(
            task(7),
            Culprit::Process {
                name: "a) b".into(),
                pid: Some(5),
                unit: Some("cron.service".into())
            }
        );
        assert_eq!(task(8), kernel("kworker/1:2"));
        assert_eq!(task(9), Culprit::Process { name: "gone".into(), pid: Some(9), unit: None });
        assert_eq!(task(10), kernel("kworker/u8:0"));
        names.owner = 5;
        assert_eq!(names.task(Tid(7), None), Culprit::Becalm);
    }

    #[test]
    fn a_program_that_a_shell_executes_is_not_the_shell() {
        let tree =
            FakeTree::new().file("/proc/7/stat", stat("yes", 0)).file("/proc/7/comm", "yes\n");
        let root = SysRoot::new(tree.path());
        let mut names = Names::default();
        let shell = Comm::new(b"bash");
        names.look_up(&root, Tid(7), shell);
        assert_eq!(names.tasks[&Tid(7)].name, "yes");
        // Looked up again when it is gone, it keeps what was known.
        names.look_up(&SysRoot::new("/no/such"), Tid(7), shell);
        assert_eq!(names.tasks[&Tid(7)].name, "yes");
    }

    #[test]
    fn functions_are_found_where_the_kernel_shows_its_addresses() {
        let tree = FakeTree::new()
            .file("/proc/8/stat", stat("kworker/1:2", KERNEL_THREAD))
            .file("/proc/kallsyms", "ffffffff81000010 t wb_workfn\nffffffff81000020 T other [x]\n");
        let root = SysRoot::new(tree.path());
        let mut names = Names::default();
        names.look_up(&root, Tid(8), Comm::new(b"kworker/1:2"));
        let who = Who::Task { tid: Tid(8), work: Some(Function(0xffff_ffff_8100_0010)) };
        let mut account = Account::default();
        account.charge(who, 1_500_000, 1);
        account.charge(Who::WakeUp, 2_000_000, 2);
        names.look_up_functions(&root, std::slice::from_ref(&account));
        let taken = names.taken(&account);
        let told: Vec<String> = taken.iter().map(|one| one.culprit.to_string()).collect();
        assert_eq!(told, ["waking an idle CPU", "kworker/1:2 (writeback)"]);
        assert!((taken[1].seconds - 0.0015).abs() < 1e-12);

        let hidden = FakeTree::new().file("/proc/kallsyms", "0000000000000000 t wb_workfn\n");
        let mut names = Names::default();
        names.look_up_functions(&SysRoot::new(hidden.path()), &[account]);
        assert_eq!(names.functions.len(), 0);
    }
}
