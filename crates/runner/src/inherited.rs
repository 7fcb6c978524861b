//! What a subject has from becalm itself where nobody asked for anything: who starts becalm may have chosen a
//! niceness, a class or fixed addresses for all of it.

use becalm_kernel::{personality, sched};
use becalm_machine::SysRoot;

/// What subjects inherit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// Niceness.
    pub(crate) nice: i32,
    /// Scheduling class, as conditions name it.
    pub(crate) scheduler: String,
    /// Whether addresses are random.
    pub(crate) aslr: bool,
}

impl Inherited {
    /// Reads it, before becalm changes anything about itself.
    pub(crate) fn read(root: &SysRoot) -> Self {
        let (nice, scheduler) = match sched::Inherited::read() {
            Ok(own) => (own.nice, class(own.policy, own.priority)),
            Err(_) => (0, class(sched::SCHED_OTHER, 0)),
        };
        let off = root.read("proc/sys/kernel/randomize_va_space").value();
        let aslr = off.is_none_or(|value| value != "0") && personality::inherits_aslr();
        Self { nice, scheduler, aslr }
    }

    /// Says whether nobody has chosen a class.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.scheduler == "other"
    }

    /// Says whether the kernel's throttle of real-time tasks applies to a subject.
    pub(crate) fn is_real_time(&self) -> bool {
        ["fifo:", "rr:"].iter().any(|class| self.scheduler.starts_with(class))
    }
}

fn class(policy: i32, priority: i32) -> String {
    match policy {
        sched::SCHED_OTHER => "other".to_owned(),
        sched::SCHED_FIFO => format!("fifo:{priority}"),
        sched::SCHED_RR => format!("rr:{priority}"),
        sched::SCHED_BATCH => "batch".to_owned(),
        sched::SCHED_IDLE => "idle".to_owned(),
        other => format!("class {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_process_passes_on_nothing_unusual() {
        let own = Inherited::read(&SysRoot::new("/no/such"));
        if sched::is_ordinary().unwrap() {
            assert_eq!((own.nice, own.scheduler.as_str()), (0, "other"));
        }
        assert_eq!(class(sched::SCHED_FIFO, 10), "fifo:10");
    }
}
