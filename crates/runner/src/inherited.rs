//! What a subject has from becalm itself where nobody asked for anything: who starts becalm may have chosen a
//! niceness, a class or fixed addresses for all of it.

use becalm_kernel::{personality, sched};
use becalm_machine::SysRoot;
use becalm_model::conditions::SchedulingClass;

/// What subjects inherit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// Niceness.
    pub(crate) nice: i32,
    /// Scheduling class.
    pub(crate) scheduler: SchedulingClass,
    /// Whether addresses are random.
    pub(crate) aslr: bool,
}

impl Inherited {
    /// Reads it, before becalm changes anything about itself.
    pub(crate) fn read(root: &SysRoot) -> Self {
        let (nice, scheduler) = match sched::Inherited::read() {
            Ok(own) => (own.nice, class(own.policy, own.priority)),
            Err(_) => (0, SchedulingClass::Other),
        };
        let off = root.read("proc/sys/kernel/randomize_va_space").value();
        let aslr = off.is_none_or(|value| value != "0") && personality::inherits_aslr();
        Self { nice, scheduler, aslr }
    }

    /// Says whether nobody has chosen a class.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.scheduler == SchedulingClass::Other
    }
}

fn class(policy: i32, priority: i32) -> SchedulingClass {
    let priority = u8::try_from(priority).unwrap_or_default();
    match policy {
        sched::SCHED_OTHER => SchedulingClass::Other,
        sched::SCHED_FIFO => SchedulingClass::Fifo(priority),
        sched::SCHED_RR => SchedulingClass::RoundRobin(priority),
        sched::SCHED_BATCH => SchedulingClass::Batch,
        sched::SCHED_IDLE => SchedulingClass::Idle,
        other => SchedulingClass::Numbered(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_process_passes_on_nothing_unusual() {
        let own = Inherited::read(&SysRoot::new("/no/such"));
        if sched::is_ordinary().unwrap() {
            assert_eq!((own.nice, own.scheduler), (0, SchedulingClass::Other));
        }
        assert_eq!(class(sched::SCHED_FIFO, 10), SchedulingClass::Fifo(10));
    }
}
