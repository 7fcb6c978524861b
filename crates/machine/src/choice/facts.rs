//! What the choice has to know beside the topology.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use crate::activity::parse::device_interrupts;
use crate::remembered::NoiseRanking;
use crate::sysroot::SysRoot;

/// A CPU with this many times the median is one that devices interrupt. High on purpose: the counts
/// grow all the time, and a choice that changes from one session to the next is worth less.
const BUSY: u64 = 4;

/// Fewer interrupts than this since boot are nothing.
const FEW: u64 = 1000;

/// What the choice has to know beside the topology.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChoiceFacts {
    /// Interrupts by devices since boot; timers and calls between CPUs are not among them.
    pub interrupts: BTreeMap<CpuId, u64>,
    /// CPUs on which another becalm measures at this moment.
    pub leased: CpuSet,
    /// Which CPUs `becalm noise probe` found quieter in this boot.
    pub noise: NoiseRanking,
}

impl ChoiceFacts {
    /// Reads the facts. What cannot be read is left out: it decides only between equals. Who else
    /// measures is for [`super::Chooser`] to find out.
    pub fn read(root: &SysRoot) -> Self {
        let text = root.read("/proc/interrupts").value().unwrap_or_default();
        let noise = NoiseRanking::read(root).unwrap_or_default();
        Self { interrupts: device_interrupts(&text), leased: CpuSet::new(), noise }
    }

    /// Returns the worst tier of some CPUs in the ranking by noise; 0 of none.
    pub(super) fn noise_of(&self, cpus: &CpuSet) -> usize {
        cpus.iter().map(|cpu| self.noise.tier(cpu)).max().unwrap_or(0)
    }

    /// Says whether devices interrupt `cpu` far more than the usual CPU.
    pub(super) fn is_interrupted(&self, cpu: CpuId) -> bool {
        let mut counts: Vec<u64> = self.interrupts.values().copied().collect();
        counts.sort_unstable();
        // The lower median: of two CPUs the one that takes all interrupts is the busy one.
        let Some(&usual) = counts.get(counts.len().saturating_sub(1) / 2) else { return false };
        let count = self.interrupts.get(&cpu).copied().unwrap_or(0);
        count >= FEW && count > usual.saturating_mul(BUSY)
    }
}
