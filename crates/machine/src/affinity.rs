//! The CPUs that a thread of this machine may use, as sets.

use std::io;

use becalm_kernel::affinity::{self, CpuMask};
use becalm_model::{CpuId, CpuSet};

/// Returns a set in the form that the kernel takes.
pub fn mask(cpus: &CpuSet) -> CpuMask {
    cpus.iter().map(|cpu| cpu.0).collect()
}

/// Returns the CPUs that a thread may use.
pub fn get(tid: u32) -> io::Result<CpuSet> {
    Ok(affinity::affinity(tid)?.cpus().map(CpuId).collect())
}

/// Puts a thread, and the threads and processes that it starts later, on these CPUs.
pub fn set(tid: u32, cpus: &CpuSet) -> io::Result<()> {
    affinity::set_affinity(tid, &mask(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::MAX_CPU;

    #[test]
    fn every_cpu_that_a_list_may_name_has_its_place_in_a_mask() {
        let set: CpuSet = format!("0,3,63-65,{MAX_CPU}").parse().unwrap();
        assert_eq!(mask(&set).cpus().map(CpuId).collect::<CpuSet>(), set);
    }
}
