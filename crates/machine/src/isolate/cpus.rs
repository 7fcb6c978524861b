//! Which CPUs to take away from everything else, for CPUs chosen for a subject.

use becalm_model::CpuSet;
use becalm_model::conditions::AffinityReason;

use super::Partition;
use crate::{Choice, Topology};

/// CPUs for a subject that is to be alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Alone {
    /// Where the subject and becalm itself run.
    pub choice: Choice,
    /// What is taken away from everything else: the subject's CPUs, and siblings that stay idle.
    pub cpus: CpuSet,
    /// What the scheduler does with them.
    pub partition: Partition,
}

/// Makes room around a choice: a subject of one CPU gets its whole core, one of many leaves a core
/// to everything else.
pub fn alone(topology: &Topology, choice: &Choice) -> Alone {
    if choice.subject.len() == 1 {
        let whole = topology.whole_cores(&choice.subject);
        let is_too_much = topology.online.difference(&whole).is_empty();
        // Isolated by the boot parameters, it can be no part of a partition, and needs none.
        let whole = whole.difference(&topology.isolated.difference(&choice.subject));
        let cpus = if is_too_much { choice.subject.clone() } else { whole };
        let partition = Partition::Isolated;
        return Alone { choice: housed(topology, choice, &cpus), cpus, partition };
    }
    let mut choice = choice.clone();
    if topology.online.difference(&choice.subject).is_empty() {
        let spared =
            choice.subject.first().map(|first| topology.core_of(first)).unwrap_or_default();
        let rest = choice.subject.difference(&spared);
        // Two threads of one core: one of them is all that can be given.
        let spared = if rest.is_empty() { choice.subject.iter().take(1).collect() } else { spared };
        choice.subject = choice.subject.difference(&spared);
        choice.reason = AffinityReason::Spared { cpus: choice.subject.clone(), others: spared };
        choice.limits.clear();
    }
    // Siblings of the subject's CPUs stay idle, where somebody else has a place.
    let whole = topology.whole_cores(&choice.subject).difference(&topology.isolated);
    let is_too_much = topology.online.difference(&whole).is_empty();
    let cpus = if is_too_much { choice.subject.clone() } else { whole };
    // One CPU is one CPU, whatever the number of threads.
    let partition =
        if choice.subject.len() == 1 { Partition::Isolated } else { Partition::Balanced };
    Alone { choice: housed(topology, &choice, &cpus), cpus, partition }
}

/// Moves becalm itself off the CPUs that are taken away.
fn housed(topology: &Topology, choice: &Choice, taken: &CpuSet) -> Choice {
    let mut choice = choice.clone();
    let left = choice.housekeeping.difference(taken);
    let any = topology.allowed.difference(taken);
    choice.housekeeping = match (left.is_empty(), any.is_empty()) {
        (false, _) => left,
        (true, false) => any,
        (true, true) => topology.online.difference(taken),
    };
    choice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChoiceFacts, SysRoot, Width, choose};
    use becalm_testkit::FakeMachine;

    #[track_caller]
    fn check(machine: &FakeMachine, width: Width, subject: &str, cpus: &str, others: &str) {
        let tree = machine.tree();
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        let alone = alone(&topology, &choose(&topology, &ChoiceFacts::default(), width));
        let found = (
            alone.choice.subject.to_string(),
            alone.cpus.to_string(),
            alone.choice.housekeeping.to_string(),
        );
        assert_eq!(found, (subject.to_owned(), cpus.to_owned(), others.to_owned()), "{alone:?}");
        let is_one = alone.choice.subject.len() == 1;
        assert_eq!(alone.partition == Partition::Isolated, is_one);
    }

    fn machine(packages: u32, cores: u32, threads: u32) -> FakeMachine {
        FakeMachine { packages, cores, threads, ..FakeMachine::default() }
    }

    #[test]
    fn one_thread_gets_a_whole_core_where_another_is_left() {
        check(&machine(1, 4, 2), Width::One, "3", "3,7", "0-2,4-6");
        check(&machine(1, 2, 1), Width::One, "1", "1", "0");
        check(&machine(1, 1, 2), Width::One, "0", "0", "1");
    }

    #[test]
    fn many_threads_leave_a_core_to_everything_else() {
        check(&machine(1, 4, 2), Width::All, "1-3,5-7", "1-3,5-7", "0,4");
        check(&machine(1, 2, 1), Width::All, "1", "1", "0");
        check(&machine(1, 2, 2), Width::All, "1,3", "1,3", "0,2");
        check(&machine(1, 1, 2), Width::All, "1", "1", "0");
    }
}
