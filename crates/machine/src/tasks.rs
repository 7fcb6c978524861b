//! The threads of the machine, as far as it matters where they run.

use becalm_kernel::affinity::CALLER;
use becalm_model::{Change, CpuSet, Nature, ProcessIdentity, Target};

use crate::tune::{allowed_list, task};
use crate::{SysRoot, affinity};

/// One thread, of a program or of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its own id.
    pub(crate) tid: u32,
    /// When it started, in clock ticks since boot.
    pub(crate) start_time: u64,
    /// Whether it belongs to the kernel.
    pub(crate) is_kernel: bool,
    /// Whether the kernel lets nobody choose its CPUs.
    pub(crate) is_bound: bool,
    /// Whether it handles an interrupt.
    pub(crate) is_of_interrupt: bool,
    /// Where it may run.
    pub(crate) cpus: CpuSet,
}

impl Thread {
    /// Returns a change of its CPUs; without `new` they are only saved and put back.
    pub(crate) fn change(&self, knob: &str, new: Option<&CpuSet>, reason: &str) -> Change {
        let task = ProcessIdentity { pid: self.tid, start_time: self.start_time };
        let (old, new) = (self.cpus.to_string(), new.map(ToString::to_string));
        let change = Change::new(knob, Target::Affinity(task), &old, new.as_deref(), reason);
        change.with(Nature::MayBeRefused)
    }
}

/// Returns the ids of all processes, the oldest numbers first; threads of the kernel are processes.
pub(crate) fn processes(root: &SysRoot) -> Vec<u32> {
    numbers(root, "/proc")
}

/// Returns all threads. Those that end meanwhile are left out.
pub(crate) fn threads(root: &SysRoot) -> Vec<Thread> {
    let of = |pid: u32| {
        let tids = numbers(root, &format!("/proc/{pid}/task"));
        if tids.is_empty() { vec![pid] } else { tids }
    };
    processes(root).into_iter().flat_map(of).filter_map(|tid| thread(root, tid)).collect()
}

/// Returns the CPUs that do not run, and on which threads may run all the same that can be moved at all.
pub(crate) fn offline_cpus(threads: &[Thread], online: &CpuSet) -> CpuSet {
    let movable = threads.iter().filter(|thread| !thread.is_bound);
    movable.fold(CpuSet::new(), |all, thread| all.union(&thread.cpus.difference(online)))
}

/// Says whether this kernel lets a task keep CPUs that are `offline`, tried on the calling thread. Before
/// Linux 6.2 or so it takes them out of what it is given, so that a task that has them cannot be put back.
pub(crate) fn keeps_offline_cpus(root: &SysRoot, offline: &CpuSet) -> bool {
    if !root.is_live() {
        return true;
    }
    let own = || -> Option<CpuSet> {
        allowed_list(&root.read("/proc/thread-self/status").value()?)?.parse().ok()
    };
    let Some(before) = own() else { return false };
    let asked = before.union(offline);
    let keeps = affinity::set(CALLER, &asked).is_ok() && own().as_ref() == Some(&asked);
    // Should the CPUs be others by now, the kernel has chosen them.
    let _ = affinity::set(CALLER, &before);
    keeps
}

fn thread(root: &SysRoot, tid: u32) -> Option<Thread> {
    let stat = task::stat(root, tid)?;
    let status = root.read(format!("/proc/{tid}/status")).value()?;
    let cpus = allowed_list(&status)?.parse().ok()?;
    let task::Stat { start_time, is_kernel, is_bound, name, .. } = stat;
    let is_of_interrupt = is_kernel && name.starts_with("irq/");
    Some(Thread { tid, start_time, is_kernel, is_bound, is_of_interrupt, cpus })
}

fn numbers(root: &SysRoot, folder: &str) -> Vec<u32> {
    let names = root.list_dir(folder).value().unwrap_or_default();
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}
