//! Choosing CPUs on a machine where others choose too.

use becalm_model::CpuSet;
use becalm_model::conditions::NodeSet;

use super::{Choice, ChoiceFacts, Width, choose};
use crate::lease::{Leases, leased, shared};
use crate::{SysRoot, Topology};

/// How often somebody else may be quicker before CPUs are shared.
const ATTEMPTS: usize = 8;

/// Chooses CPUs that no other measurement of this machine uses.
#[derive(Debug, Clone)]
pub struct Chooser {
    root: SysRoot,
    topology: Topology,
    facts: ChoiceFacts,
}

impl Chooser {
    /// Prepares choices on a machine.
    pub fn new(root: &SysRoot, topology: &Topology) -> Self {
        let facts = ChoiceFacts::read(root);
        Self { root: root.clone(), topology: topology.clone(), facts }
    }

    /// Returns the choice that would be made now, and leases nothing.
    pub fn look(&self, width: Width) -> Choice {
        self.choose(width).0
    }

    /// Chooses CPUs and leases them. Where none are left that nobody else uses, the choice is made
    /// all the same, and its limits say so.
    pub fn take(&self, width: Width) -> (Choice, Leases) {
        for _ in 0..ATTEMPTS {
            let (choice, free) = self.choose(width);
            if let Ok(leases) = Leases::take(&self.root, &free) {
                return (choice, leases);
            }
        }
        (self.look(width), Leases::default())
    }

    /// Returns the nodes of these CPUs: see [`Topology::memory_of`].
    pub fn memory_of(&self, cpus: &CpuSet) -> Option<NodeSet> {
        self.topology.memory_of(cpus)
    }

    /// Returns the CPUs of other cores that share a data cache of this level with these: see [`Topology::beside`].
    pub fn beside(&self, level: u32, cpus: &CpuSet) -> CpuSet {
        self.topology.beside(level, cpus)
    }

    /// Returns the choice, and those of its CPUs that nobody has leased.
    fn choose(&self, width: Width) -> (Choice, CpuSet) {
        let taken = leased(&self.root, &self.topology.allowed);
        let leased = taken.iter().map(|one| one.cpu).collect();
        let facts = ChoiceFacts { leased, ..self.facts.clone() };
        let mut choice = choose(&self.topology, &facts, width);
        choice.limits.extend(shared(&taken, &choice.subject));
        let free = choice.subject.difference(&facts.leased);
        (choice, free)
    }
}
