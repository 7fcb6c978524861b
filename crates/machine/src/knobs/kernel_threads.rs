//! Moves the kernel's own threads off the CPUs that are measured.
//!
//! Threads that every CPU has (`ksoftirqd/N`, `migration/N`, `cpuhp/N`, bound workers) cannot be
//! moved, and the kernel says so in their flags; workers of unbound work queues are moved by the
//! masks of the queues. Those that are started meanwhile run anywhere: the kernel does not let them
//! inherit the CPUs of `kthreadd` (`__kthread_create_on_node`).
//!
//! Older kernels take CPUs that are offline out of every list that they are given; threads that have some
//! are left there, because they could not be put back.
//!
//! Threads that were on other CPUs anyway are saved too: the kernel widens the masks of all of them
//! when CPUs are taken away by a control group and given back. Risk: none known; the threads do
//! their work elsewhere. <https://docs.kernel.org/admin-guide/kernel-per-CPU-kthreads.html>

use super::{Knob, Planner, Profile, Situation};
use crate::tasks::{self, Thread};

pub(super) const KERNEL_THREADS: Knob = Knob {
    name: "kernel-threads",
    summary: "kernel threads off the measured CPUs",
    reason: "a kernel thread takes the CPU whenever it wakes up",
    profile: Profile::Safe,
    plan,
};

/// Its id is always this one.
const KTHREADD: u32 = 2;

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let Situation { cpus, housekeeping, .. } = situation;
    let (staying, others) = (situation.staying(), situation.elsewhere());
    if !cpus.intersection(housekeeping).is_empty() {
        return planner.not_here("every CPU is measured, so kernel threads cannot go elsewhere");
    }
    let mut threads: Vec<Thread> = tasks::threads(situation.root)
        .into_iter()
        // Those of interrupts follow them: the kernel gives each the CPU of its interrupt, also once that is put
        // back (`irq_thread_check_affinity`).
        .filter(|thread| thread.is_kernel && !thread.is_bound && !thread.is_of_interrupt)
        .collect();
    threads.sort_by_key(|thread| (thread.tid != KTHREADD, thread.tid));
    let online = &situation.topology.online;
    let offline = |thread: &Thread| thread.cpus.difference(online);
    let all_offline = tasks::offline_cpus(&threads, online);
    let keeps = all_offline.is_empty() || tasks::keeps_offline_cpus(situation.root, &all_offline);
    let Knob { name, reason, .. } = planner.knob;
    let mut left = 0;
    for thread in &threads {
        if !keeps && !offline(thread).is_empty() {
            left += 1;
            continue;
        }
        if thread.cpus.intersection(cpus).is_empty() {
            planner.add(thread.change(name, None, "it is disturbed by other changes"));
            continue;
        }
        let elsewhere = thread.cpus.difference(cpus).intersection(&staying);
        let elsewhere = if elsewhere.is_empty() { &others } else { &elsewhere };
        planner.add(thread.change(name, Some(elsewhere), reason));
    }
    if left > 0 {
        let text = format!(
            "{left} kernel threads may also run on offline CPUs ({all_offline}), and this kernel \
             could not restore that: they are not moved"
        );
        return planner.refuse(text);
    }
    if planner.planned.changes.iter().all(|change| change.new.is_none()) {
        let text = "no movable kernel thread may run on the measured CPUs";
        planner.is_quiet(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::TuningRequest;
    use crate::{SysRoot, Topology};
    use becalm_testkit::{FakeMachine, FakeTree};

    const KTHREAD: u64 = 0x0020_8040;
    const BOUND: u64 = 0x0420_8040;
    const PROGRAM: u64 = 0x0040_0100;
    /// The thread of an interrupt.
    const INTERRUPT: u32 = 19;

    fn with_task(tree: FakeTree, tid: u32, flags: u64, cpus: &str) -> FakeTree {
        let name = if tid == INTERRUPT { "irq/24-nvme0q1" } else { "t (irq/1)" };
        let stat = format!("{tid} ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n");
        tree.file(format!("/proc/{tid}/stat"), stat)
            .file(format!("/proc/{tid}/status"), format!("Name:\tt\nCpus_allowed_list:\t{cpus}\n"))
    }

    #[track_caller]
    fn check(measured: &str, tasks: &[(u32, u64, &str)], expected: &[(&str, &str, Option<&str>)]) {
        let mut tree = FakeMachine { cores: 4, ..FakeMachine::default() }.tree();
        for &(tid, flags, cpus) in tasks {
            tree = with_task(tree, tid, flags, cpus);
        }
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let cpus = measured.parse().unwrap();
        let housekeeping = topology.online.difference(&cpus);
        let housekeeping =
            if housekeeping.is_empty() { topology.online.clone() } else { housekeeping };
        let request = TuningRequest::default();
        let situation =
            Situation { root: &root, topology: &topology, cpus, housekeeping, request: &request };
        let planned = KERNEL_THREADS.planned(&situation);
        let found: Vec<_> = planned
            .changes
            .iter()
            .map(|one| (one.target.to_string(), one.old.clone(), one.new.clone()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(target, old, new)| (target.to_owned(), old.to_owned(), new.map(str::to_owned)))
            .collect();
        assert_eq!(found, expected, "{:?}", planned.notes);
    }

    #[test]
    fn threads_that_can_be_moved_go_elsewhere_the_father_of_all_first() {
        check(
            "3",
            &[
                (1, PROGRAM, "0-3"),
                (2, KTHREAD, "0-3"),
                (15, BOUND, "3"),
                (16, KTHREAD, "0-3"),
                (17, KTHREAD, "3"),
                (18, KTHREAD, "0-1"),
                (INTERRUPT, KTHREAD, "3"),
            ],
            &[
                ("CPUs of task 2", "0-3", Some("0-2")),
                ("CPUs of task 16", "0-3", Some("0-2")),
                ("CPUs of task 17", "3", Some("0-2")),
                ("CPUs of task 18", "0-1", None),
            ],
        );
    }

    #[test]
    fn where_all_cpus_are_measured_nothing_can_be_moved() {
        check("0-3", &[(2, KTHREAD, "0-3")], &[]);
    }
}
