//! One CPU for a subject with a single thread.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use becalm_model::{CpuId, CpuSet};

use super::{Choice, ChoiceFacts, named, only_one_cpu};
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
        limits.push(format!(
            "{} is on the same core as {} and outside our affinity: whatever others run there slows \
             the subject down",
            named(&foreign),
            named(&subject)
        ));
    }
    let reason = reason(topology, facts, cpu, &siblings, &housekeeping);
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
    limits: &mut Vec<String>,
) -> CpuSet {
    let others = topology.allowed.difference(subject).difference(&facts.leased);
    if others.is_empty() {
        limits.push(format!(
            "becalm shares {} with the subject: other measurements use all other CPUs",
            named(subject)
        ));
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
    limits.push(format!(
        "becalm has to run on {}, on the same core as the subject, and slows it down while it runs",
        named(&others)
    ));
    others
}

fn reason(
    topology: &Topology,
    facts: &ChoiceFacts,
    cpu: CpuId,
    siblings: &CpuSet,
    housekeeping: &CpuSet,
) -> String {
    let mut why = Vec::new();
    if topology.isolated.contains(cpu) {
        why.push("it is isolated from the scheduler".to_owned());
    }
    if topology.kinds.len() > 1
        && let Some(kind) = topology.cpu(cpu).and_then(|cpu| topology.kinds.get(cpu.kind))
    {
        why.push(format!("it is a {}", kind.name));
    }
    why.extend(quieter(topology, facts, cpu));
    if !topology.core_of(cpu).contains(CpuId(0)) && topology.online.contains(CpuId(0)) {
        why.push("the kernel does most of its own work on CPU 0".to_owned());
    }
    let busy = topology.allowed.intersection(&facts.leased).difference(&CpuSet::from_iter([cpu]));
    if !busy.is_empty() {
        why.push(format!("another becalm measures on {}", named(&busy)));
    }
    if topology.allowed.iter().any(|other| facts.is_interrupted(other))
        && !facts.is_interrupted(cpu)
    {
        why.push("devices interrupt others".to_owned());
    }
    let equals = equal_cores(topology, facts, cpu);
    if equals > 1 {
        why.push(format!("it is the last of {equals} equally good cores"));
    }
    let idle = siblings.intersection(&topology.allowed).difference(housekeeping);
    if !idle.is_empty() {
        why.push(format!("becalm starts nothing on its SMT sibling, {}", named(&idle)));
    }
    let because = if why.is_empty() { String::new() } else { format!(" because {}", join(&why)) };
    format!("CPU {cpu} runs the subject{because}; becalm itself runs on {}.", named(housekeeping))
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
fn quieter(topology: &Topology, facts: &ChoiceFacts, cpu: CpuId) -> Option<String> {
    let ours = facts.noise.rank(cpu)?;
    let others = topology.allowed.iter().filter_map(|other| facts.noise.rank(other));
    let noisier: Vec<u64> =
        others.filter(|other| other.tier > ours.tier).map(|other| other.lost_ppm).collect();
    let (least, most) = (noisier.iter().min()?, noisier.iter().max()?);
    let percent = |ppm: &u64| format!("{:.2}", *ppm as f64 * 1e-4);
    let (least, most) = (percent(least), percent(most));
    let range = if least == most { most } else { format!("{least} to {most}") };
    Some(format!(
        "`becalm noise probe` found it quieter ({} % of its time lost, others {range} %)",
        percent(&ours.lost_ppm)
    ))
}

/// Joins phrases with commas and a last `and`.
fn join(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
