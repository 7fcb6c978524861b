//! A given number of CPUs for a subject with that many threads.
//!
//! One CPU of each core, as long as cores are left: threads that share a core disturb each other.
//! All of the fastest kind if it has enough; of these the cores that share no cache with others at
//! work, or as many of the others as are needed; of these all in one NUMA node if they fit there, so
//! that memory is equally far from all; whole third-level caches before parts. Of equal places the one
//! farthest from interrupts, of equal cores those that the firmware prefers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuId, CpuSet, Limit, PlacementLimit, SharedBecause};

use super::company::{Company, Nearness, housekeeping};
use super::{Choice, ChoiceFacts, all, only_one_cpu};
use crate::topology::Topology;

pub(super) fn choose(topology: &Topology, facts: &ChoiceFacts, threads: usize) -> Choice {
    let is_balanced = !topology.allowed.difference(&topology.isolated).is_empty();
    if topology.allowed.len() == 1 || !is_balanced {
        // Threads are not spread over isolated CPUs, however many of these there are.
        let mut choice = match topology.allowed.len() {
            1 => only_one_cpu(topology),
            _ => all::choose(topology, facts),
        };
        let cpus = choice.subject.clone();
        choice.limits.push(PlacementLimit::TooManyThreads { threads, cpus }.into());
        return choice;
    }
    let pool = pool(topology, facts, threads);
    let places = Places::new(topology, facts, &all::cores(topology, &pool));
    let cores = places.best(threads);
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
    let used = cores.len();
    if used < subject.len() {
        limits.push(PlacementLimit::ThreadsShareCores.into());
    }
    let housekeeping = housekeeping(topology, facts, &subject).unwrap_or_else(|| {
        let (cpus, because) = (subject.clone(), SharedBecause::NoOthers);
        limits.push(PlacementLimit::Shared { cpus, because }.into());
        subject.clone()
    });
    let foreign = topology.whole_cores(&subject).difference(&topology.allowed);
    if !foreign.is_empty() {
        limits.push(PlacementLimit::ForeignSiblings { cpus: foreign }.into());
    }
    let mut because = merits(topology, &subject, used);
    because.extend(places.company.merits(&subject, &housekeeping));
    let reason = AffinityReason::Chosen {
        cpus: subject.clone(),
        housekeeping: housekeeping.clone(),
        threads: ChosenFor::Several,
        because,
    };
    Choice { subject, housekeeping, reason, limits }
}

/// Returns the CPUs to choose from: those of the fastest kind if they are enough, else all that are
/// balanced; of those on which nobody else measures if they are enough.
fn pool(topology: &Topology, facts: &ChoiceFacts, threads: usize) -> CpuSet {
    let balanced = topology.allowed.difference(&topology.isolated);
    let free = balanced.difference(&facts.leased);
    let fastest = |among: &CpuSet| all::fastest(topology, among).0;
    let enough = |pool: &CpuSet| all::cores(topology, pool).len() >= threads;
    let pools = [fastest(&free), free, fastest(&balanced)];
    pools.into_iter().find(enough).unwrap_or(balanced)
}

/// The cores that a subject with several threads can have. Each is given as those of its CPUs that may
/// be used.
struct Places<'a> {
    topology: &'a Topology,
    company: Company<'a>,
    quiet: BTreeMap<CpuSet, Quiet>,
}

/// How quiet a core is, the quietest first: who measures there, measured noise, who else is at work on
/// it, whether its tick goes on, who is at work at its caches.
type Quiet = (bool, usize, bool, bool, Nearness);

/// Takes as many of some cores as are wanted, at most all.
type Take<'a> = &'a dyn Fn(Vec<CpuSet>, usize) -> Vec<CpuSet>;

impl<'a> Places<'a> {
    fn new(topology: &'a Topology, facts: &ChoiceFacts, cores: &[CpuSet]) -> Self {
        let company = Company::new(topology, facts);
        let quiet = |core: &CpuSet| {
            (
                !topology.whole_cores(core).intersection(&facts.leased).is_empty(),
                // Measured noise goes before what cores are only suspected of.
                facts.noise_of(core),
                company.is_on(core),
                !core.difference(&topology.nohz_full).is_empty(),
                company.nearness(core),
            )
        };
        let quiet = cores.iter().map(|core| (core.clone(), quiet(core))).collect();
        Self { topology, company, quiet }
    }

    /// Returns as many cores as are wanted, or all, the best first.
    fn best(&self, wanted: usize) -> Vec<CpuSet> {
        let all: Vec<CpuSet> = self.quiet.keys().cloned().collect();
        let first = |core: &CpuSet| self.topology.cpu(core.first()?);
        let kind = |core: &CpuSet| first(core).map(|cpu| cpu.kind);
        let package = |core: &CpuSet| first(core).map(|cpu| cpu.package);
        let node = |core: &CpuSet| first(core).map(|cpu| cpu.node);
        in_order(&all, wanted, kind, &|cores, wanted| {
            let cores = self.quiet_enough(cores, wanted);
            self.in_fewest(cores, wanted, &package, &|cores, wanted| {
                self.in_fewest(cores, wanted, &node, &|cores, wanted| {
                    in_order(&cores, wanted, |core| self.quiet[core], &|cores, wanted| {
                        let cache = |core: &CpuSet| self.cache(core);
                        self.in_fewest(cores, wanted, &cache, &|cores, wanted| {
                            self.preferred(cores, wanted)
                        })
                    })
                })
            })
        })
    }

    /// Leaves out cores that are noisier than is needed, however well they would fit.
    fn quiet_enough(&self, mut cores: Vec<CpuSet>, wanted: usize) -> Vec<CpuSet> {
        cores.sort_by_key(|core| self.quiet[core]);
        let enough = cores.get(wanted - 1).map(|core| self.quiet[core]);
        cores.retain(|core| enough.is_none_or(|enough| self.quiet[core] <= enough));
        cores
    }

    /// Takes cores that have something in common, which `key` names, if there are enough of them; else
    /// all that the most have in common, and the rest likewise.
    fn in_fewest<K: Ord>(
        &self,
        mut cores: Vec<CpuSet>,
        wanted: usize,
        key: &impl Fn(&CpuSet) -> K,
        take: Take<'_>,
    ) -> Vec<CpuSet> {
        let groups = grouped(&cores, key);
        let fitting = groups.iter().filter(|group| group.len() >= wanted);
        let taken = fitting.map(|group| take(group.clone(), wanted));
        if let Some(best) = taken.min_by_key(|taken| self.cost(taken)) {
            return best;
        }
        let size = |group: &&Vec<CpuSet>| (group.len(), Reverse(self.cost(group)));
        let mut most = groups.iter().max_by_key(size).cloned().unwrap_or_default();
        cores.retain(|core| !most.contains(core));
        let left = wanted - most.len();
        most.extend(self.in_fewest(cores, left, key, take));
        most
    }

    /// Takes the cores that the firmware prefers, of equals the last.
    fn preferred(&self, mut cores: Vec<CpuSet>, wanted: usize) -> Vec<CpuSet> {
        cores.sort_by_key(|core| (self.preference(core), Reverse(core.first())));
        cores.truncate(wanted);
        cores
    }

    /// Returns by what some cores are better than as many others, the best first.
    fn cost(&self, cores: &[CpuSet]) -> impl Ord + use<> {
        let mut quiet: Vec<Quiet> = cores.iter().map(|core| self.quiet[core]).collect();
        quiet.sort_unstable_by(|a, b| b.cmp(a));
        let caches = grouped(cores, |core| self.cache(core));
        let cpus = all_of(cores);
        (
            quiet,
            caches.iter().filter(|cores| !has_whole_caches(self.topology, &all_of(cores))).count(),
            caches.len(),
            cpus.iter().map(|cpu| self.company.distance(cpu)).max(),
            cores.iter().map(|core| self.preference(core)).max(),
            // Of equals the last.
            Reverse(cpus.iter().last()),
        )
    }

    fn preference(&self, core: &CpuSet) -> Reverse<Option<u64>> {
        let first = core.first().and_then(|first| self.topology.cpu(first));
        Reverse(first.and_then(|cpu| cpu.preference))
    }

    /// Returns the third-level cache of a core, by its first CPU.
    fn cache(&self, core: &CpuSet) -> Option<CpuId> {
        self.topology.at_cache_of(3, core.first()?)?.first()
    }
}

fn all_of(cores: &[CpuSet]) -> CpuSet {
    cores.iter().fold(CpuSet::new(), |all, core| all.union(core))
}

/// Says whether CPUs are of all cores that their third-level caches have.
fn has_whole_caches(topology: &Topology, cpus: &CpuSet) -> bool {
    topology.beside(3, cpus).is_empty()
}

/// Takes cores by a key, all of the lowest and so on; `take` chooses among those of the last.
fn in_order<K: Ord>(
    cores: &[CpuSet],
    wanted: usize,
    key: impl Fn(&CpuSet) -> K,
    take: Take<'_>,
) -> Vec<CpuSet> {
    let mut taken = Vec::new();
    for group in grouped(cores, key) {
        let left = (wanted - taken.len()).min(group.len());
        if left > 0 {
            taken.extend(take(group, left));
        }
    }
    taken
}

/// Puts cores with equal keys together, in the order of the keys.
fn grouped<K: Ord>(cores: &[CpuSet], key: impl Fn(&CpuSet) -> K) -> Vec<Vec<CpuSet>> {
    let mut groups: BTreeMap<K, Vec<CpuSet>> = BTreeMap::new();
    for core in cores {
        groups.entry(key(core)).or_default().push(core.clone());
    }
    groups.into_values().collect()
}

fn merits(topology: &Topology, subject: &CpuSet, used: usize) -> Vec<CpuMerit> {
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
    let is_away = !topology.whole_cores(subject).contains(CpuId(0));
    if is_away && topology.allowed.contains(CpuId(0)) {
        why.push(CpuMerit::AwayFromCpu0);
    }
    let caches: Vec<_> = topology.data_caches(3).collect();
    let own = caches.iter().filter(|cache| !cache.cpus.intersection(subject).is_empty()).count();
    if own > 0 && own < caches.len() && has_whole_caches(topology, subject) {
        why.push(CpuMerit::WholeCaches { caches: own });
    }
    why
}
