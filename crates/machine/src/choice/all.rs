//! A set of CPUs for a subject with several threads.

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuId, CpuSet, Limit, PlacementLimit, SharedBecause};

use super::{Choice, ChoiceFacts, one, only_one_cpu};
use crate::topology::{CoreKind, Topology};

/// From this many cores on, one is given up so that becalm does not disturb the others.
const CORES_TO_SPARE_ONE: usize = 4;

pub(super) fn choose(topology: &Topology, facts: &ChoiceFacts) -> Choice {
    if topology.allowed.len() == 1 {
        return only_one_cpu(topology);
    }
    let free = topology.allowed.difference(&facts.leased);
    // With every CPU in use by others there is nothing to avoid.
    let free = if free.is_empty() { topology.allowed.clone() } else { free };
    let balanced = free.difference(&topology.isolated);
    if balanced.is_empty() {
        return only_isolated(topology, facts);
    }
    let mut because = Vec::new();
    let busy = topology.allowed.difference(&free);
    if !busy.is_empty() {
        because.push(CpuMerit::OthersMeasured { cpus: busy });
    }
    if balanced.len() < free.len() {
        let cpus = free.intersection(&topology.isolated);
        because.push(CpuMerit::IsolatedLeftOut { cpus });
    }
    let (fast, kind) = fastest(topology, &balanced);
    because.extend(kind);
    let left = balanced.difference(&fast);
    let cores = cores(topology, &fast);
    let mut limits: Vec<Limit> = Vec::new();
    let (subject, housekeeping) = if !left.is_empty() {
        (fast, left)
    } else if cores.len() >= CORES_TO_SPARE_ONE {
        let spared = spare(facts, &cores);
        because.push(CpuMerit::CoreSpared { cpus: spared.clone() });
        (fast.difference(&spared), spared)
    } else {
        let (cpus, because) = (fast.clone(), SharedBecause::FewCores(cores.len()));
        limits.push(PlacementLimit::Shared { cpus, because }.into());
        (fast.clone(), fast)
    };
    let foreign = topology.whole_cores(&subject).difference(&topology.allowed);
    if !foreign.is_empty() {
        limits.push(PlacementLimit::ForeignSiblings { cpus: foreign }.into());
    }
    let reason = AffinityReason::Chosen {
        cpus: subject.clone(),
        housekeeping: housekeeping.clone(),
        threads: ChosenFor::Any,
        because,
    };
    Choice { subject, housekeeping, reason, limits }
}

/// With isolated CPUs only, a set would be a promise that the scheduler does not keep.
fn only_isolated(topology: &Topology, facts: &ChoiceFacts) -> Choice {
    let mut choice = one::choose(topology, facts);
    let cpus = topology.allowed.clone();
    choice.limits.insert(0, PlacementLimit::AllIsolated { cpus }.into());
    choice
}

/// Returns the CPUs of the fastest kind that has more than one core, with what it is if there are
/// other kinds. A lone prime core, as phones have, is no place for several threads. Designs that the
/// kernel calls equally fast go together.
pub(super) fn fastest(topology: &Topology, among: &CpuSet) -> (CpuSet, Option<CpuMerit>) {
    let capacity = |kind: &CoreKind| topology.cpu(kind.cpus.first()?)?.capacity;
    for (place, kind) in topology.kinds.iter().enumerate() {
        let equal: Vec<&CoreKind> = topology
            .kinds
            .iter()
            .filter(|other| {
                *other == kind || capacity(other).is_some_and(|one| capacity(kind) == Some(one))
            })
            .collect();
        let cpus = equal.iter().fold(CpuSet::new(), |all, kind| all.union(&kind.cpus));
        let cpus = cpus.intersection(among);
        if cpus.len() == among.len() {
            return (cpus, None);
        }
        if cores(topology, &cpus).len() > 1 {
            let kinds = equal.iter().map(|kind| kind.name.clone()).collect();
            return (cpus, Some(CpuMerit::OnlyFastest { kinds, of_several_cores: place > 0 }));
        }
    }
    (among.clone(), None)
}

/// Returns the cores that have a CPU in `cpus`, as those CPUs.
pub(super) fn cores(topology: &Topology, cpus: &CpuSet) -> Vec<CpuSet> {
    let cores = topology.cores.iter().map(|core| core.cpus.intersection(cpus));
    cores.filter(|core| !core.is_empty()).collect()
}

/// Returns the core to give up: the noisiest if a probe found one, else that of CPU 0, else one that
/// devices interrupt, else the first.
fn spare(facts: &ChoiceFacts, cores: &[CpuSet]) -> CpuSet {
    let interrupted = |core: &&CpuSet| core.iter().any(|cpu| facts.is_interrupted(cpu));
    let noisiest = cores.iter().map(|core| facts.noise_of(core)).max().filter(|tier| *tier > 0);
    let spared = noisiest
        .and_then(|tier| cores.iter().find(|core| facts.noise_of(core) == tier))
        .or_else(|| cores.iter().find(|core| core.contains(CpuId(0))))
        .or_else(|| cores.iter().find(interrupted))
        .or_else(|| cores.first());
    spared.cloned().unwrap_or_default()
}
