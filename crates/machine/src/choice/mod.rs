//! Which CPUs a subject gets, and which ones are left to becalm itself. A pure function.
//!
//! For one CPU, in this order: one on which nobody else measures, an isolated one, one of the fastest
//! kind, one that `becalm noise probe` found quieter in this boot, not the core of CPU 0 (which the
//! kernel gives most of its own work), a core whose SMT siblings can be kept idle, one with a stopped
//! tick, one without a device that interrupts it, one that shares no second level of cache with others
//! at work, one that shares no third level, one in the node farthest from interrupts, one that the
//! firmware prefers. Of equals the last core is taken. Several CPUs are chosen in the same order.
//!
//! The fastest kind goes before all that is shared: a quiet E-core is no place to time what will run
//! on P-cores. becalm itself gets what shares least with the subject.
//!
//! For all CPUs isolated ones are left out: without load balancing all threads of a subject would
//! stay on the CPU they started on.

mod all;
mod chooser;
mod company;
mod facts;
mod one;
mod several;

use std::num::NonZeroUsize;

use becalm_model::conditions::AffinityReason;
use becalm_model::{CpuSet, Limit, PlacementLimit};

pub use chooser::Chooser;
pub use facts::ChoiceFacts;

use crate::topology::Topology;

/// How many CPUs a subject can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One: the subject has a single thread.
    One,
    /// That many threads, at least one.
    Several(NonZeroUsize),
    /// As many as there are: the subject has several threads or processes.
    All,
}

/// The chosen CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// CPUs for the subject. Never empty.
    pub subject: CpuSet,
    /// CPUs for becalm itself. Never empty; the same as the subject's where there are no others.
    pub housekeeping: CpuSet,
    /// Why these.
    pub reason: AffinityReason,
    /// What this choice cannot give.
    pub limits: Vec<Limit>,
}

/// Chooses CPUs among those this process may use.
pub fn choose(topology: &Topology, facts: &ChoiceFacts, width: Width) -> Choice {
    assert!(!topology.allowed.is_empty(), "a process that runs may use at least one CPU");
    match width {
        Width::One => one::choose(topology, facts),
        Width::Several(threads) if threads.get() == 1 => one::choose(topology, facts),
        Width::Several(threads) => several::choose(topology, facts, threads.get()),
        Width::All => all::choose(topology, facts),
    }
}

/// Says what a single CPU for everything costs.
fn only_one_cpu(topology: &Topology) -> Choice {
    let only = topology.allowed.clone();
    Choice {
        reason: AffinityReason::OnlyCpu { cpus: only.clone() },
        limits: vec![PlacementLimit::OneCpu { cpus: only.clone() }.into()],
        subject: only.clone(),
        housekeeping: only,
    }
}

#[cfg(test)]
mod tests;
