//! CPUs that are kept awake: on each, a thread of the idle class (`SCHED_IDLE`) that does nothing.
//!
//! A host waits a moment whether a virtual CPU that stops goes on (KVM 0.2 ms, `halt-polling.rst` of the kernel) before it
//! gives the core to others. So a thread that wakes up every 0.1 ms keeps the core, unless something else of the host waits
//! for it already. A thread that spins keeps it then, too. But the kernel divides a CPU between control groups and
//! sessions first, and only within each of them a thread of the idle class is last: one that spins takes half of the CPU
//! from a process of another group that computes, which then waits for milliseconds. One that wakes up takes less than 1 %
//! from it, and some 5 % of an idle CPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_kernel::sched;
use becalm_model::CpuSet;
use becalm_model::load::KeepAwake;

use crate::placement::pin_self;

/// Most CPUs that are kept awake where nobody asks for it: a load that needs more keeps them busy itself.
const MOST: usize = 16;

/// Time from one waking up to the next.
const REST: Duration = Duration::from_micros(100);

/// CPUs that do not stop for long until this is dropped.
#[derive(Debug, Default)]
pub struct KeptAwake {
    cpus: CpuSet,
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What the thread of a CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    WakeUp,
    Spin,
}

/// Returns how so many CPUs are kept awake, if they are, on a machine that wakes up late or does not.
fn way(wish: KeepAwake, wakes_late: bool, count: usize) -> Option<Way> {
    match wish {
        KeepAwake::Off => None,
        KeepAwake::Auto => (wakes_late && count <= MOST).then_some(Way::WakeUp),
        KeepAwake::Spin => Some(Way::Spin),
    }
}

/// Keeps these CPUs awake if that is wanted, on a machine that wakes up late (`becalm_machine::wakes_late`) or does not.
/// One where the kernel gives no thread, place or class is left as it is.
pub fn keep_awake(wish: KeepAwake, wakes_late: bool, cpus: &CpuSet) -> KeptAwake {
    way(wish, wakes_late, cpus.len()).map_or_else(KeptAwake::default, |way| keep(cpus, way))
}

fn keep(cpus: &CpuSet, way: Way) -> KeptAwake {
    let mut kept = KeptAwake::default();
    for cpu in cpus.iter() {
        let one: CpuSet = [cpu].into_iter().collect();
        let (says, said) = channel();
        let (place, is_over) = (one.clone(), Arc::clone(&kept.is_over));
        let thread = std::thread::Builder::new().name(format!("awake {cpu}")).spawn(move || {
            sched::wake_up_on_time();
            // In this order: in the usual class it would go before others of its group.
            let is_kept = sched::go_idle().and_then(|()| pin_self(&place)).is_ok();
            // Nobody listens if becalm is ending.
            let _ = says.send(is_kept);
            while is_kept && !is_over.load(Ordering::Relaxed) {
                match way {
                    Way::WakeUp => std::thread::sleep(REST),
                    Way::Spin => std::hint::spin_loop(),
                }
            }
        });
        let Ok(thread) = thread else { continue };
        kept.threads.push(thread);
        if said.recv() == Ok(true) {
            kept.cpus = kept.cpus.union(&one);
        }
    }
    kept
}

impl KeptAwake {
    /// Returns the CPUs.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It does not panic; were it to, a CPU would be less awake.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::own_affinity;

    /// Returns the scheduling policy of each thread of this process that keeps one of these CPUs awake.
    fn policies(cpus: &CpuSet) -> Vec<u32> {
        let names: Vec<String> = cpus.iter().map(|cpu| format!("awake {cpu}")).collect();
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let of = |task: std::fs::DirEntry| {
            // A thread of another test may end meanwhile.
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            let stat = std::fs::read_to_string(task.path().join("stat")).ok()?;
            let policy = stat.rsplit(')').next()?.split_ascii_whitespace().nth(38)?.parse().ok()?;
            names.iter().any(|known| *known == name.trim_end()).then_some(policy)
        };
        tasks.flatten().filter_map(of).collect()
    }

    #[test]
    fn each_cpu_has_a_thread_of_the_idle_class_until_the_end() {
        let cpus = own_affinity().unwrap();
        let idle = u32::try_from(sched::SCHED_IDLE).unwrap();
        for way in [Way::WakeUp, Way::Spin] {
            let kept = keep(&cpus, way);
            assert_eq!(kept.cpus(), &cpus);
            assert_eq!(policies(&cpus), vec![idle; cpus.len()]);
            drop(kept);
            // The kernel lists a thread that has ended for a moment longer.
            while !policies(&cpus).is_empty() {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_left_out() {
        assert!(keep(&"8000".parse().unwrap(), Way::WakeUp).cpus().is_empty());
    }

    #[test]
    fn a_machine_that_wakes_up_late_is_kept_awake_unless_it_is_large() {
        let auto = |wakes_late, count| way(KeepAwake::Auto, wakes_late, count);
        assert_eq!([auto(true, 16), auto(true, 17)], [Some(Way::WakeUp), None]);
        assert_eq!(auto(false, 2), None);
        assert_eq!(way(KeepAwake::Spin, false, 99), Some(Way::Spin));
        assert!(keep_awake(KeepAwake::Off, true, &own_affinity().unwrap()).cpus().is_empty());
    }
}
