//! What is known of a subject's main thread when it has ended: how long it ran, and how long it was kept waiting.
//!
//! Against the CPU time of the whole process it tells whether other threads or children did the work.

use becalm_kernel::clone::Started;
use becalm_kernel::sched;
use becalm_kernel::wait::{self, Usage};
use becalm_model::CpuSet;

/// Switches away from its CPU that every process makes: the one with which it ends.
pub(crate) const OF_ITS_END: u64 = 1;

/// Seconds for which a process may still run when it is known that it has ended.
const ENDING: f64 = 1e-4;

/// Seconds of a main thread since the subject was executed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MainThread {
    /// For which it had a CPU.
    pub(crate) ran: f64,
    /// For which it was ready, but waited for a CPU.
    pub(crate) waited: f64,
}

/// What was found out before the subject was reaped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen {
    /// It never left the one CPU that it has, where nothing else of it can have run then.
    NeverLeft,
    /// What the kernel says of it.
    Told(MainThread),
    /// The kernel has no such figures, or does not show them.
    Nothing,
}

impl Seen {
    /// Looks at a subject that has ended after `wall` seconds and is not reaped. `cpus` are those it was given.
    ///
    /// The kernel's file is read only where something is to be learnt from it: making and removing its entries takes
    /// some 20 us, as much as anything else that becalm does between two runs.
    pub(crate) fn of(started: &Started, wall: f64, cpus: Option<&CpuSet>) -> Self {
        let has_one_cpu = cpus.is_some_and(|cpus| cpus.len() == 1);
        if has_one_cpu
            && let Some(used) = wait::used_by_ended(started.pid).map(|all| all.since(&started.used))
            && used.switches() <= OF_ITS_END
            // Else threads of it have chosen other CPUs for themselves.
            && used.cpu_time() <= wall + ENDING
        {
            return Self::NeverLeft;
        }
        sched::scheduled(started.pid).map_or(Self::Nothing, |told| {
            let ran = (told.ran - started.used.cpu_time()).max(0.0);
            Self::Told(MainThread { ran, waited: told.waited })
        })
    }

    /// Returns the figures of a process of which `used` is known by now.
    pub(crate) fn figures(self, used: &Usage) -> Option<MainThread> {
        match self {
            Self::NeverLeft => Some(MainThread { ran: used.cpu_time(), waited: 0.0 }),
            Self::Told(told) => Some(told),
            Self::Nothing => None,
        }
    }
}
