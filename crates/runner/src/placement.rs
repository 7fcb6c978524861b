//! Where and how a subject runs.

use std::io;
use std::path::PathBuf;

use becalm_kernel::affinity::CALLER;
use becalm_machine::affinity;
use becalm_model::CpuSet;
use becalm_model::conditions::{Aslr, NodeSet, Scheduler, Thp};

/// Where and how a subject runs. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// Folder of the control group that the subject enters before anything else; `None` leaves it
    /// in becalm's.
    pub control_group: Option<PathBuf>,
    /// CPUs that the subject may use; `None` leaves those of becalm's calling thread.
    pub affinity: Option<CpuSet>,
    /// Scheduling class.
    pub scheduler: Scheduler,
    /// Niceness; `None` leaves becalm's.
    pub nice: Option<i32>,
    /// Whether addresses are random, for this process and its children.
    pub aslr: Aslr,
    /// NUMA nodes on which its memory has to lie; `None` leaves what becalm has.
    pub memory: Option<NodeSet>,
    /// Which transparent huge pages it gets. Where its allocator is to ask for them its environment says so:
    /// see [`crate::huge_memory`].
    pub thp: Thp,
}

/// Puts the calling thread on these CPUs, with everything that it starts from now on.
pub fn pin_self(cpus: &CpuSet) -> io::Result<()> {
    affinity::set(CALLER, cpus)
}

/// Returns the CPUs that the calling thread may use.
pub fn own_affinity() -> io::Result<CpuSet> {
    affinity::get(CALLER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cpus_can_be_narrowed_and_read_back() {
        // In a thread of its own, because the affinity of a test thread would leak.
        std::thread::spawn(|| {
            let all = own_affinity().unwrap();
            let one: CpuSet = all.first().into_iter().collect();
            pin_self(&one).unwrap();
            assert_eq!(own_affinity().unwrap(), one);
        })
        .join()
        .unwrap();
    }
}
