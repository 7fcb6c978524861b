//! One CPU for a subject with a single thread.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuId, CpuSet, Limit, PlacementLimit, SharedBecause};

use super::{Choice, ChoiceFacts, only_one_cpu};
use crate::topology::Topology;

pub(super) fn choose(topology: &Topology, facts: &ChoiceFacts) -> Choice {
    if topology.allowed.len() == 1 {
        return only_one_cpu(topology);
    }
    let best = topology.allowed.iter().min_by_key(|&cpu| rank(topology, facts, cpu));
    let cpu = best.expect("the caller checked that some CPU is allowed");
    let subject = CpuSet::from_iter([cpu]);
    let siblings = topology.siblings_of(cpu);
    let mut limits = Vec::new();
    let housekeeping = housekeeping(topology, facts, &subject, &siblings, &mut limits);
    let foreign = siblings.difference(&topology.allowed);
    if !foreign.is_empty() {
        limits.push(PlacementLimit::ForeignSiblings { cpus: foreign }.into());
    }
    let reason = AffinityReason::Chosen {
        cpus: subject.clone(),
        housekeeping: housekeeping.clone(),
        threads: ChosenFor::One,
        because: merits(topology, facts, cpu, &siblings, &housekeeping),
    };
    Choice { subject, housekeeping, reason, limits }
}

/// Orders CPUs, the best first.
fn rank(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> impl Ord + use<> {
    // Of equal cores the last one, and of its threads the first.
    (merit(topology, facts, cpu), Reverse(topology.cpu(cpu).map(|cpu| cpu.core)), cpu)
}

/// Judges a CPU by what makes it better or worse than others, the best first; `false` is better than
/// `true`.
fn merit(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> impl Ord + use<> {
    let core = topology.core_of(cpu);
    let siblings = topology.siblings_of(cpu);
    let kind = topology.cpu(cpu).map_or(usize::MAX, |cpu| cpu.kind);
    let is_isolated = topology.isolated.contains(cpu);
    (
        facts.leased.contains(cpu),
        !siblings.intersection(&facts.leased).is_empty(),
        !is_isolated,
        // Measured noise goes before what CPUs are only suspected of, and not before speed.
        (kind, facts.noise.tier(cpu)),
        core.contains(CpuId(0)),
        // Ours to keep idle, or at least out of the scheduler's reach.
        !siblings.difference(&topology.allowed).is_empty(),
        is_isolated && !siblings.difference(&topology.isolated).is_empty(),
        !topology.nohz_full.contains(cpu),
        facts.is_interrupted(cpu),
        siblings.iter().any(|sibling| facts.is_interrupted(sibling)),
    )
}

/// Returns the allowed CPUs for becalm, as far from the subject as there are any.
fn housekeeping(
    topology: &Topology,
    facts: &ChoiceFacts,
    subject: &CpuSet,
    siblings: &CpuSet,
    limits: &mut Vec<Limit>,
) -> CpuSet {
    let others = topology.allowed.difference(subject).difference(&facts.leased);
    if others.is_empty() {
        let (cpus, because) = (subject.clone(), SharedBecause::OthersInUse);
        limits.push(PlacementLimit::Shared { cpus, because }.into());
        return subject.clone();
    }
    let elsewhere = others.difference(siblings);
    let balanced = elsewhere.difference(&topology.isolated);
    if !balanced.is_empty() {
        return balanced;
    }
    if !elsewhere.is_empty() {
        return elsewhere;
    }
    limits.push(PlacementLimit::SameCore { cpus: others.clone() }.into());
    others
}

fn merits(
    topology: &Topology,
    facts: &ChoiceFacts,
    cpu: CpuId,
    siblings: &CpuSet,
    housekeeping: &CpuSet,
) -> Vec<CpuMerit> {
    let mut why = Vec::new();
    if topology.isolated.contains(cpu) {
        why.push(CpuMerit::Isolated);
    }
    if topology.kinds.len() > 1
        && let Some(kind) = topology.cpu(cpu).and_then(|cpu| topology.kinds.get(cpu.kind))
    {
        why.push(CpuMerit::OfKinds { kinds: vec![kind.name.clone()] });
    }
    why.extend(quieter(topology, facts, cpu));
    if !topology.core_of(cpu).contains(CpuId(0)) && topology.online.contains(CpuId(0)) {
        why.push(CpuMerit::AwayFromCpu0);
    }
    let busy = topology.allowed.intersection(&facts.leased).difference(&CpuSet::from_iter([cpu]));
    if !busy.is_empty() {
        why.push(CpuMerit::OthersMeasured { cpus: busy });
    }
    if topology.allowed.iter().any(|other| facts.is_interrupted(other))
        && !facts.is_interrupted(cpu)
    {
        why.push(CpuMerit::NotInterrupted);
    }
    let cores = equal_cores(topology, facts, cpu);
    if cores > 1 {
        why.push(CpuMerit::LastOfEquals { cores });
    }
    let idle = siblings.intersection(&topology.allowed).difference(housekeeping);
    if !idle.is_empty() {
        why.push(CpuMerit::IdleSiblings { cpus: idle });
    }
    why
}

/// Returns the number of cores that are as good as that of `cpu`, itself included.
fn equal_cores(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> usize {
    let best = merit(topology, facts, cpu);
    let equals = topology.allowed.iter().filter(|&other| merit(topology, facts, other) == best);
    let cores: BTreeSet<_> =
        equals.filter_map(|other| topology.cpu(other)).map(|cpu| cpu.core).collect();
    cores.len()
}

/// Says that a probe found other CPUs noisier; nothing if it found none.
fn quieter(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> Option<CpuMerit> {
    let ours = facts.noise.rank(cpu)?;
    let others = topology.allowed.iter().filter_map(|other| facts.noise.rank(other));
    let noisier: Vec<u64> =
        others.filter(|other| other.tier > ours.tier).map(|other| other.lost_ppm).collect();
    let (least_ppm, most_ppm) = (*noisier.iter().min()?, *noisier.iter().max()?);
    Some(CpuMerit::Quieter { lost_ppm: ours.lost_ppm, least_ppm, most_ppm })
}
