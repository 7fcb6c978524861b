//! What CPUs share with others who are at work.
//!
//! At work are, as far as is known: the kernel on the core of CPU 0, devices on the CPUs that they
//! interrupt, other becalms, and whoever has the CPUs that this process may not use. CPUs that were
//! reserved at boot have everything else on those that were not.

use std::cmp::Reverse;

use becalm_model::conditions::CpuMerit;
use becalm_model::{CpuId, CpuSet};

use super::ChoiceFacts;
use crate::topology::{Node, Topology};

/// Who else is at work, and where.
pub(super) struct Company<'a> {
    topology: &'a Topology,
    /// CPUs on which others are at work.
    at_work: CpuSet,
    /// The NUMA nodes that interrupts go to.
    interrupted: Vec<&'a Node>,
}

/// Whether others are at work at the caches of a core, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nearness {
    at_l2: bool,
    at_l3: bool,
}

impl<'a> Company<'a> {
    pub(super) fn new(topology: &'a Topology, facts: &ChoiceFacts) -> Self {
        let takes_interrupts = |cpu: &CpuId| *cpu == CpuId(0) || facts.is_interrupted(*cpu);
        let interrupted: CpuSet = topology.online.iter().filter(takes_interrupts).collect();
        let of_others = topology.online.difference(&topology.allowed).union(&facts.leased);
        let takes_some = |node: &&Node| !node.cpus.intersection(&interrupted).is_empty();
        Self {
            topology,
            at_work: topology.whole_cores(&interrupted).union(&of_others),
            interrupted: topology.nodes.iter().filter(takes_some).collect(),
        }
    }

    /// Says whether others are at work on a core itself.
    pub(super) fn is_on(&self, core: &CpuSet) -> bool {
        !self.topology.whole_cores(core).intersection(&self.at_work).is_empty()
    }

    /// Returns whether others are at work at the caches of a core.
    pub(super) fn nearness(&self, core: &CpuSet) -> Nearness {
        Nearness { at_l2: self.is_at(2, core), at_l3: self.is_at(3, core) }
    }

    fn is_at(&self, level: u32, core: &CpuSet) -> bool {
        let topology = self.topology;
        let reserved = topology.isolated.union(&topology.nohz_full);
        let at = core.first().and_then(|cpu| topology.at_cache_of(level, cpu)).unwrap_or(core);
        let is_reserved = core.difference(&reserved).is_empty();
        let everything_else = is_reserved && !at.difference(&reserved).is_empty();
        everything_else || !at.intersection(&self.at_work).is_empty()
    }

    /// Returns how far a CPU is from the nodes that interrupts go to, the farthest first.
    pub(super) fn distance(&self, cpu: CpuId) -> Reverse<u32> {
        let from = |node: &&Node| self.topology.distance(node, cpu);
        Reverse(self.interrupted.iter().filter_map(from).min().unwrap_or(0))
    }

    /// Says what speaks for CPUs in what they share, with becalm on `housekeeping`.
    pub(super) fn merits(&self, subject: &CpuSet, housekeeping: &CpuSet) -> Vec<CpuMerit> {
        let topology = self.topology;
        let is_own = |level: &u32| {
            let at = topology.at_caches_of(*level, subject);
            let others = topology.allowed.difference(&topology.whole_cores(subject));
            // A cache of one core is no merit where all are so.
            let is_choice = topology.data_caches(*level).any(|cache| {
                let cores = cache.cpus.iter().filter_map(|cpu| topology.cpu(cpu));
                let mut cores: Vec<usize> = cores.map(|cpu| cpu.core).collect();
                cores.dedup();
                cores.len() > 1
            });
            is_choice
                && !others.is_empty()
                && at.intersection(housekeeping).is_empty()
                && !subject.iter().any(|cpu| self.is_at(*level, &CpuSet::from_iter([cpu])))
        };
        let mut why: Vec<CpuMerit> = Vec::new();
        why.extend([3, 2].into_iter().find(is_own).map(|level| CpuMerit::OwnCaches { level }));
        let is_far = |cpu| !self.interrupted.iter().any(|node| node.cpus.contains(cpu));
        if topology.nodes.len() > 1 && !self.interrupted.is_empty() && subject.iter().all(is_far) {
            why.push(CpuMerit::FarFromInterrupts);
        }
        if is_preferred(topology, subject) {
            why.push(CpuMerit::Preferred);
        }
        why
    }
}

/// Says whether the firmware prefers all of some CPUs to others of their kind that may be used.
fn is_preferred(topology: &Topology, cpus: &CpuSet) -> bool {
    let preference = |cpu: CpuId| topology.cpu(cpu).and_then(|cpu| cpu.preference);
    let least = |cpus: &CpuSet| cpus.iter().map(preference).min().flatten();
    topology.kinds.iter().all(|kind| {
        let own = kind.cpus.intersection(cpus);
        own.is_empty() || least(&own) > least(&kind.cpus.intersection(&topology.allowed))
    })
}

/// Returns the allowed CPUs for becalm, sharing as little with the subject as there are any: not its
/// cores, then not what was reserved, then not the second level of cache, then not the third. None where
/// all are in use.
pub(super) fn housekeeping(
    topology: &Topology,
    facts: &ChoiceFacts,
    subject: &CpuSet,
) -> Option<CpuSet> {
    let others = topology.allowed.difference(subject).difference(&facts.leased);
    let avoided = [
        topology.whole_cores(subject),
        topology.isolated.union(&topology.nohz_full),
        topology.at_caches_of(2, subject),
        topology.at_caches_of(3, subject),
    ];
    let away = |left: CpuSet, avoided: &CpuSet| {
        Some(left.difference(avoided)).filter(|away| !away.is_empty()).unwrap_or(left)
    };
    Some(avoided.iter().fold(others, away)).filter(|others| !others.is_empty())
}
