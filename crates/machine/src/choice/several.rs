//! A given number of CPUs for a subject with that many threads.
//!
//! One CPU of each core, as long as cores are left: threads that share a core disturb each other.
//! All in one NUMA node if they fit there, so that memory is equally far from all; of several such
//! nodes the one that the kernel works less in (not that of CPU 0).

use std::cmp::Reverse;

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuId, CpuSet, Limit, PlacementLimit, SharedBecause};

use super::{Choice, ChoiceFacts, all};
use crate::topology::Topology;

pub(super) fn choose(topology: &Topology, facts: &ChoiceFacts, threads: usize) -> Choice {
    let everything = all::choose(topology, facts);
    let pool = pool(topology, facts, &everything, threads);
    let cores = ordered_cores(topology, facts, &pool, threads);
    // First one CPU of every core, then the second ones, and so on.
    let deepest = cores.iter().map(CpuSet::len).max().unwrap_or(0);
    let rows =
        (0..deepest).flat_map(|row| cores.iter().filter_map(move |core| core.iter().nth(row)));
    let subject: CpuSet = rows.take(threads).collect();
    let mut limits: Vec<Limit> = Vec::new();
    if subject.len() < threads {
        let cpus = subject.clone();
        limits.push(PlacementLimit::TooManyThreads { threads, cpus }.into());
    }
    let used = cores.iter().filter(|core| !core.intersection(&subject).is_empty()).count();
    if used < subject.len() {
        limits.push(PlacementLimit::ThreadsShareCores.into());
    }
    let housekeeping = [topology.whole_cores(&subject), subject.clone()]
        .iter()
        .map(|taken| topology.allowed.difference(taken).difference(&facts.leased))
        .find(|left| !left.is_empty())
        .unwrap_or_else(|| {
            let (cpus, because) = (subject.clone(), SharedBecause::NoOthers);
            limits.push(PlacementLimit::Shared { cpus, because }.into());
            subject.clone()
        });
    let reason = AffinityReason::Chosen {
        cpus: subject.clone(),
        housekeeping: housekeeping.clone(),
        threads: ChosenFor::Several,
        because: merits(topology, &subject, &pool, used),
    };
    Choice { subject, housekeeping, reason, limits }
}

/// Returns the CPUs to choose from: those of the fastest kind if they are enough, else all that are
/// balanced, else all; of those on which nobody else measures if they are enough.
fn pool(topology: &Topology, facts: &ChoiceFacts, everything: &Choice, threads: usize) -> CpuSet {
    let balanced = topology.allowed.difference(&topology.isolated);
    let free = balanced.difference(&facts.leased);
    let pools = [everything.subject.clone(), free, balanced.clone()];
    let enough = |pool: &CpuSet| all::cores(topology, pool).len() >= threads;
    let found = pools.iter().find(|pool| enough(pool)).cloned();
    let largest = if balanced.is_empty() { topology.allowed.clone() } else { balanced };
    found.unwrap_or(largest)
}

/// Returns the cores of the pool, as their CPUs in it, the best first.
fn ordered_cores(
    topology: &Topology,
    facts: &ChoiceFacts,
    pool: &CpuSet,
    threads: usize,
) -> Vec<CpuSet> {
    let mut cores = all::cores(topology, pool);
    let node = |core: &CpuSet| {
        let first = core.first().and_then(|first| topology.cpu(first));
        first.map(|cpu| (cpu.node, cpu.package))
    };
    let nodes: Vec<_> = cores.iter().map(node).collect();
    let size = |of: &CpuSet| nodes.iter().filter(|other| **other == node(of)).count();
    let boot = topology.cpu(CpuId(0)).map(|cpu| (cpu.node, cpu.package));
    let interrupted = |core: &CpuSet| core.iter().any(|cpu| facts.is_interrupted(cpu));
    // Stable: of equals the last core comes first.
    cores.reverse();
    let kind = |core: &CpuSet| {
        core.first().and_then(|first| topology.cpu(first)).map_or(usize::MAX, |cpu| cpu.kind)
    };
    let keys = |core: &CpuSet| {
        let fits = size(core) >= threads;
        // Of nodes that fit the smallest; where none fits the largest first, to span as few as can be.
        let tightness = if fits { size(core) } else { usize::MAX - size(core) };
        let at_boot = node(core) == boot;
        (!fits, tightness, at_boot, Reverse(node(core)))
    };
    cores.sort_by_cached_key(|core| {
        (keys(core), kind(core), facts.noise_of(core), core.contains(CpuId(0)), interrupted(core))
    });
    cores
}

fn merits(topology: &Topology, subject: &CpuSet, pool: &CpuSet, used: usize) -> Vec<CpuMerit> {
    let mut why = Vec::new();
    if used == subject.len() && topology.threads_per_core() > 1 {
        why.push(CpuMerit::OwnCores);
    }
    let mut nodes: Vec<_> = subject.iter().filter_map(|cpu| topology.cpu(cpu)?.node).collect();
    nodes.dedup();
    if let ([node], true) = (nodes.as_slice(), topology.nodes.len() > 1) {
        why.push(CpuMerit::OneNode { node: topology.nodes[*node].id });
    }
    let kinds: Vec<_> = topology
        .kinds
        .iter()
        .filter(|kind| !kind.cpus.intersection(subject).is_empty())
        .map(|kind| kind.name.clone())
        .collect();
    if topology.kinds.len() > 1 && !kinds.is_empty() {
        why.push(CpuMerit::OfKinds { kinds });
    }
    if !pool.contains(CpuId(0)) && topology.allowed.contains(CpuId(0)) {
        why.push(CpuMerit::AwayFromCpu0);
    }
    why
}
