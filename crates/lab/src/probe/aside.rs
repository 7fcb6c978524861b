//! becalm itself keeps off the CPU that is probed.

use becalm_model::{CpuId, CpuSet};
use becalm_runner::{own_affinity, pin_self};

use super::ProbeError;

/// The calling thread is kept off the CPU that is probed; its affinity comes back when this is
/// dropped.
#[derive(Debug)]
pub(super) struct Aside {
    all: CpuSet,
}

impl Aside {
    /// Prepares for probing `cpus`, all of which this process may use.
    pub(super) fn step(cpus: &CpuSet) -> Result<Self, ProbeError> {
        let all = own_affinity().map_err(ProbeError::Affinity)?;
        let foreign = cpus.difference(&all);
        if foreign.is_empty() { Ok(Self { all }) } else { Err(ProbeError::NotOurs(foreign)) }
    }

    /// Leaves a CPU to the reader; where there is no other one both share it.
    pub(super) fn leave(&self, cpu: CpuId) {
        let others = self.all.difference(&CpuSet::from_iter([cpu]));
        if !others.is_empty() {
            // becalm sleeps meanwhile: that it may wake up there matters little.
            let _ = pin_self(&others);
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // These were its CPUs before; were one of them gone now the kernel would still take the rest.
        let _ = pin_self(&self.all);
    }
}
