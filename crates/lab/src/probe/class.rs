//! The scheduling class of the reader.

use std::time::Duration;

use becalm_kernel::sched;
use becalm_machine::SysRoot;
use becalm_model::conditions::Scheduler;

use super::realtime::Allowance;

/// The lowest real-time priority: above every ordinary task, and above nothing else.
const PRIORITY: u8 = 1;

/// The scheduling class that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// `SCHED_FIFO` where it is allowed.
    Auto,
    /// The normal class: ordinary tasks interrupt the reader.
    Other,
    /// `SCHED_FIFO` or nothing.
    Fifo,
}

/// The scheduling class of the reader, and what it may do in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    allowance: Option<Allowance>,
}

impl Class {
    /// The normal class.
    pub const OTHER: Self = Self { allowance: None };

    /// Finds the class for a wish. Where `SCHED_FIFO` was asked for and cannot be had, or cannot be
    /// had for [`Wish::Auto`], the second part says why.
    pub fn settle(root: &SysRoot, wish: Wish) -> (Self, Option<String>) {
        if wish == Wish::Other {
            return (Self::OTHER, None);
        }
        let allowed =
            std::thread::scope(|scope| scope.spawn(|| sched::set_fifo(0, PRIORITY)).join());
        let why = match (allowed, Allowance::read(root)) {
            (Ok(Ok(())), Ok(allowance)) => return (Self { allowance: Some(allowance) }, None),
            (Ok(Err(error)), _) => {
                format!("this needs CAP_SYS_NICE, as root has, or RLIMIT_RTPRIO ({error})")
            }
            (_, Err(why)) => why,
            (Err(_), Ok(_)) => "no thread could be started to try it".to_owned(),
        };
        (Self::OTHER, Some(why))
    }

    /// Returns the class in the words of the runner.
    pub fn scheduler(&self) -> Scheduler {
        if self.allowance.is_some() { Scheduler::Fifo(PRIORITY) } else { Scheduler::Other }
    }

    /// Puts a thread, 0 for the calling one, into the class.
    pub(super) fn enter(&self, tid: u32) -> std::io::Result<()> {
        match self.scheduler() {
            Scheduler::Fifo(priority) => sched::set_fifo(tid, priority),
            Scheduler::Other => Ok(()),
        }
    }

    /// Returns how long a window may be at most; `None` without a limit.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.allowance.map(|allowance| allowance.longest)
    }

    /// Returns how long a CPU rests after a window.
    pub(super) fn rest(&self, window: Duration) -> Duration {
        self.allowance.map_or(Duration::ZERO, |allowance| allowance.rest(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_normal_class_is_had_everywhere_and_never_rests() {
        let (class, why) = Class::settle(&SysRoot::default(), Wish::Other);
        assert_eq!((class, why), (Class::OTHER, None));
        assert_eq!(class.rest(Duration::from_secs(1)), Duration::ZERO);
    }

    #[test]
    fn a_kernel_that_gives_real_time_tasks_nothing_gets_the_normal_class_with_the_reason() {
        let tree = FakeTree::new().file("/proc/sys/kernel/sched_rt_runtime_us", "0\n");
        let (class, why) = Class::settle(&SysRoot::new(tree.path()), Wish::Auto);
        assert_eq!(class.scheduler(), Scheduler::Other);
        assert!(why.is_some());
    }
}
