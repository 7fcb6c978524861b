//! One CPU for a subject with a single thread.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuId, CpuSet, PlacementLimit, SharedBecause};

use super::company::{Company, housekeeping};
use super::{Choice, ChoiceFacts, only_one_cpu};
use crate::topology::Topology;

pub(super) fn choose(topology: &Topology, facts: &ChoiceFacts) -> Choice {
    if topology.allowed.len() == 1 {
        return only_one_cpu(topology);
    }
    let company = Company::new(topology, facts);
    let merit = |cpu: CpuId| merit(topology, facts, &company, cpu);
    // Of equal cores the last one, and of its threads the first.
    let rank = |cpu: &CpuId| (merit(*cpu), Reverse(topology.cpu(*cpu).map(|cpu| cpu.core)), *cpu);
    let best = topology.allowed.iter().min_by_key(rank);
    let cpu = best.expect("the caller checked that some CPU is allowed");
    let subject = CpuSet::from_iter([cpu]);
    let siblings = topology.siblings_of(cpu);
    let mut limits = Vec::new();
    let housekeeping = housekeeping(topology, facts, &subject).unwrap_or_else(|| {
        let (cpus, because) = (subject.clone(), SharedBecause::OthersInUse);
        limits.push(PlacementLimit::Shared { cpus, because }.into());
        subject.clone()
    });
    if !housekeeping.intersection(&siblings).is_empty() {
        limits.push(PlacementLimit::SameCore { cpus: housekeeping.clone() }.into());
    }
    let foreign = siblings.difference(&topology.allowed);
    if !foreign.is_empty() {
        limits.push(PlacementLimit::ForeignSiblings { cpus: foreign }.into());
    }
    let best = merit(cpu);
    let equals = topology.allowed.iter().filter(|&other| merit(other) == best);
    let equals: BTreeSet<_> =
        equals.filter_map(|cpu| topology.cpu(cpu)).map(|cpu| cpu.core).collect();
    let mut because = merits(topology, facts, cpu);
    because.extend(company.merits(&subject, &housekeeping));
    if equals.len() > 1 {
        because.push(CpuMerit::LastOfEquals { cores: equals.len() });
    }
    let idle = siblings.intersection(&topology.allowed).difference(&housekeeping);
    if !idle.is_empty() {
        because.push(CpuMerit::IdleSiblings { cpus: idle });
    }
    let reason = AffinityReason::Chosen {
        cpus: subject.clone(),
        housekeeping: housekeeping.clone(),
        threads: ChosenFor::One,
        because,
    };
    Choice { subject, housekeeping, reason, limits }
}

/// Judges a CPU by what makes it better or worse than others, the best first; `false` is better than
/// `true`.
fn merit(
    topology: &Topology,
    facts: &ChoiceFacts,
    company: &Company<'_>,
    cpu: CpuId,
) -> impl Ord + use<> {
    let core = topology.core_of(cpu);
    let siblings = topology.siblings_of(cpu);
    let kind = topology.cpu(cpu).map_or(usize::MAX, |cpu| cpu.kind);
    let is_isolated = topology.isolated.contains(cpu);
    let preference = topology.cpu(cpu).and_then(|cpu| cpu.preference);
    let is_part = topology.at_cache_of(3, cpu).is_some_and(|at| !at.difference(&core).is_empty());
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
        // What is at work on the core itself, then at its caches, then in its node.
        (facts.is_interrupted(cpu), company.is_on(&core), company.nearness(&core), is_part),
        (company.distance(cpu), Reverse(preference)),
    )
}

fn merits(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> Vec<CpuMerit> {
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
    why
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
