//! The sentences about the CPUs of subjects.

use becalm_model::conditions::{AffinityReason, ChosenFor, CpuMerit};
use becalm_model::{CpuSet, PlacementLimit, SharedBecause};

/// Says why the subjects have their CPUs.
pub(crate) fn affinity(reason: &AffinityReason) -> String {
    match reason {
        AffinityReason::ChosenByUser => "chosen by the user".to_owned(),
        AffinityReason::Refused => "they could not be chosen".to_owned(),
        AffinityReason::OnlyCpu { cpus } => {
            format!("{} is the only one that this process may use.", cpus.named())
        }
        AffinityReason::Chosen { cpus, housekeeping, threads, because } => {
            let verb = if cpus.len() == 1 { "runs" } else { "run" };
            let phrases: Vec<String> = because.iter().map(|one| merit(one, *threads)).collect();
            let because = match (phrases.as_slice(), threads) {
                ([], _) => String::new(),
                (phrases, ChosenFor::One) => format!(" because {}", joined(phrases)),
                (phrases, ChosenFor::Several) => format!(", {}", phrases.join(", ")),
                (phrases, ChosenFor::Any) => format!("; {}", phrases.join("; ")),
            };
            format!(
                "{} {verb} the subject{because}; becalm itself runs on {}.",
                cpus.named(),
                housekeeping.named()
            )
        }
        AffinityReason::Spared { cpus, others } => format!(
            "{} {} only the subject; {} left to everything else.",
            cpus.named(),
            if cpus.len() == 1 { "runs" } else { "run" },
            are(others)
        ),
    }
}

fn merit(merit: &CpuMerit, threads: ChosenFor) -> String {
    use CpuMerit as M;
    match merit {
        M::Isolated => "it is isolated from the scheduler".to_owned(),
        M::OfKinds { kinds } => match (kinds.as_slice(), threads) {
            ([kind], ChosenFor::One) => format!("it is a {kind}"),
            ([kind], _) => format!("all of one kind ({kind})"),
            (kinds, _) => format!("of several kinds ({})", kinds.join(", ")),
        },
        M::OnlyFastest { kinds, of_several_cores } => format!(
            "only the fastest kind{} ({}) is used, so that all threads are equally fast",
            if *of_several_cores { " of more than one core" } else { "" },
            kinds.join(" and ")
        ),
        M::Quieter { lost_ppm, least_ppm, most_ppm } => {
            let [lost, least, most] =
                [lost_ppm, least_ppm, most_ppm].map(|ppm| format!("{:.2}", *ppm as f64 * 1e-4));
            let range = if least == most { most } else { format!("{least} to {most}") };
            format!(
                "`becalm noise probe` found it quieter ({lost} % of its time lost, others {range} %)"
            )
        }
        M::AwayFromCpu0 if threads == ChosenFor::One => {
            "the kernel does most of its own work on CPU 0".to_owned()
        }
        M::AwayFromCpu0 => "away from CPU 0, where the kernel does most of its own work".to_owned(),
        M::OthersMeasured { cpus } => format!("another becalm measures on {}", cpus.named()),
        M::NotInterrupted => "devices interrupt others".to_owned(),
        M::LastOfEquals { cores } => format!("it is the last of {cores} equally good cores"),
        M::IdleSiblings { cpus } => {
            format!("becalm starts nothing on its SMT sibling, {}", cpus.named())
        }
        M::IsolatedLeftOut { cpus } => {
            format!(
                "the isolated {} are not used, because threads are not balanced there",
                cpus.named()
            )
        }
        M::CoreSpared { cpus } => format!("the core of {} is kept free for becalm", cpus.named()),
        M::OwnCores => "each on a separate core".to_owned(),
        M::OneNode { node } => format!("all in NUMA node {node}"),
        M::OwnCaches { level } if threads == ChosenFor::One => {
            format!("it shares no L{level} cache with becalm or other measurements")
        }
        M::OwnCaches { level } => {
            format!("sharing no L{level} cache with becalm or other measurements")
        }
        M::WholeCaches { caches: 1 } => "on all cores of one L3 cache".to_owned(),
        M::WholeCaches { caches } => format!("on all cores of {caches} L3 caches"),
        M::FarFromInterrupts if threads == ChosenFor::One => {
            "interrupts go to other NUMA nodes".to_owned()
        }
        M::FarFromInterrupts => "in another NUMA node than those that interrupts go to".to_owned(),
        M::Preferred if threads == ChosenFor::One => "the firmware prefers its core".to_owned(),
        M::Preferred => "on cores that the firmware prefers".to_owned(),
    }
}

/// Returns the sentence of a limit of CPUs, scheduling and isolation.
pub(super) fn sentence(limit: &PlacementLimit) -> String {
    use PlacementLimit as L;
    match limit {
        L::OneCpu { cpus } => format!(
            "becalm and the rest of the system share {} with the subject: what they do meanwhile is part of the \
             measured time",
            cpus.named()
        ),
        L::Shared { cpus, because } => {
            let why = match because {
                SharedBecause::NoOthers => String::new(),
                SharedBecause::OthersInUse => ": other measurements use all other CPUs".to_owned(),
                SharedBecause::FewCores(1) => ": with one core, none is free".to_owned(),
                SharedBecause::FewCores(n) => format!(": with {n} cores, none is free"),
            };
            format!("becalm shares {} with the subject{why}", cpus.named())
        }
        L::SameCore { cpus } => format!(
            "becalm has to run on {}, on the same core as the subject, and slows it down while it runs",
            cpus.named()
        ),
        L::ForeignSiblings { cpus } => format!(
            "{} with the subject and {} outside becalm's affinity: whatever others run there slows the subject down",
            if cpus.len() == 1 {
                format!("{} shares a core", cpus.named())
            } else {
                format!("{} share cores", cpus.named())
            },
            becalm_model::is_are(cpus.len())
        ),
        L::AllIsolated { cpus } => format!(
            "every CPU that this process may use ({cpus}) is isolated: threads are not balanced there and stay on \
             the CPU they start on, so the subject gets one CPU"
        ),
        L::TooManyThreads { threads, cpus } => format!(
            "{threads} threads share {}: becalm may use no other CPUs among which the scheduler balances threads",
            cpus.named()
        ),
        L::ThreadsShareCores => {
            "some threads of the subject share a core and slow each other down".to_owned()
        }
        L::MeasuredByOthers { cpus, holders } => {
            let name = |&pid: &u32| match pid {
                0 => "another container".to_owned(),
                pid => format!("process {pid}"),
            };
            format!(
                "another becalm measures on {} at the same time ({}): each slows the other down",
                cpus.named(),
                holders.iter().map(name).collect::<Vec<_>>().join(", ")
            )
        }
        L::NotKeptOff { error } => {
            format!("becalm could not be kept off the subject's CPUs: {error}")
        }
        L::NotThere { cpus, granted } => {
            format!("CPUs {cpus} are offline or not allowed here: the subjects have only {granted}")
        }
        L::NotPinned { error } => format!("the subjects are not pinned, or no longer: {error}"),
        L::MemoryNotBound { nodes, error } => format!(
            "the subjects' memory is not bound to NUMA {}, where their CPUs are: {error}",
            nodes.named()
        ),
        L::CachedElsewhere { files, nodes, near } => format!(
            "{} {} cached in the memory of {}, and the subjects run on {}: after `sysctl vm.drop_caches=1` the first \
             run reads them into its own",
            files.join(", "),
            becalm_model::is_are(files.len()),
            nodes.named(),
            near.named()
        ),
        L::BusyNeighbours { level, cpus, busy_percent } => format!(
            "{} {} an L{level} cache with the subjects and {} busy meanwhile ({busy_percent} % of the time of one \
             CPU): what runs there displaces what the subjects keep in it",
            cpus.named(),
            if cpus.len() == 1 { "shares" } else { "share" },
            if cpus.len() == 1 { "was" } else { "were" },
        ),
        L::NoHugePages => {
            "this machine has transparent huge pages off, so a subject that asks for them gets none"
                .to_owned()
        }
        L::SeesEndLate { error } => format!(
            "other programs compete for the CPUs, and becalm may not raise its priority (SCHED_FIFO: {error}): it \
             notices the end of a run late, so wall_time is too long by that delay"
        ),
        L::NoFifo { error } => format!("SCHED_FIFO is not permitted here: {error}"),
        L::GroupOverlaps { group, cpus } => {
            format!("what runs in the control group {group} may also run on {}", cpus.named())
        }
        L::NotIsolated { error } => error.clone(),
        L::IsolationLost { error } => {
            format!("the isolation did not last until the end: {error}")
        }
        L::CachesShared { why } => {
            format!("no part of the caches is reserved for the subject: {why}")
        }
        L::InterruptsStay { locked, refused } => interrupts_stay(locked, refused),
    }
}

fn interrupts_stay(locked: &[String], refused: &[String]) -> String {
    let all = [
        ("interrupts that the kernel does not allow to move stay where they are", locked),
        ("interrupts that the kernel did not move as requested", refused),
    ];
    let told = all.iter().filter(|(_, interrupts)| !interrupts.is_empty());
    told.map(|(what, interrupts)| format!("{what}: {}", first_of(interrupts)))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Names the first of several: large machines have hundreds.
fn first_of(names: &[String]) -> String {
    const NAMED: usize = 5;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

/// Returns `CPU 3 is` or `CPUs 2-3 are`.
fn are(cpus: &CpuSet) -> String {
    format!("{} {}", cpus.named(), becalm_model::is_are(cpus.len()))
}

/// Joins phrases with commas and a last `and`.
fn joined(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[track_caller]
    fn check(threads: ChosenFor, list: &str, because: Vec<CpuMerit>, expected: &str) {
        let (cpus, housekeeping) = (cpus(list), cpus("0-1"));
        let reason = AffinityReason::Chosen { cpus, housekeeping, threads, because };
        assert_eq!(affinity(&reason), expected);
    }

    #[test]
    fn what_speaks_for_cpus_is_told_in_the_words_of_how_many_there_are() {
        let kinds = || CpuMerit::OfKinds { kinds: vec!["P-core".to_owned()] };
        check(
            ChosenFor::One,
            "3",
            vec![CpuMerit::Isolated, kinds(), CpuMerit::LastOfEquals { cores: 3 }],
            "CPU 3 runs the subject because it is isolated from the scheduler, it is a P-core and it is the last of \
             3 equally good cores; becalm itself runs on CPUs 0-1.",
        );
        check(
            ChosenFor::Several,
            "2-3",
            vec![CpuMerit::OwnCores, kinds(), CpuMerit::AwayFromCpu0],
            "CPUs 2-3 run the subject, each on a separate core, all of one kind (P-core), away from CPU 0, where the kernel does most of its own work; becalm itself runs on CPUs 0-1.",
        );
        check(
            ChosenFor::Any,
            "2-3",
            vec![CpuMerit::IsolatedLeftOut { cpus: cpus("6,8") }],
            "CPUs 2-3 run the subject; the isolated CPUs 6,8 are not used, because threads are not balanced there; becalm itself runs on CPUs 0-1.",
        );
        check(
            ChosenFor::One,
            "3",
            vec![CpuMerit::Quieter { lost_ppm: 100, least_ppm: 10_100, most_ppm: 20_100 }],
            "CPU 3 runs the subject because `becalm noise probe` found it quieter (0.01 % of its time lost, others \
             1.01 to 2.01 %); becalm itself runs on CPUs 0-1.",
        );
    }

    #[test]
    fn what_cpus_share_is_told() {
        check(
            ChosenFor::One,
            "7",
            vec![
                CpuMerit::OwnCaches { level: 3 },
                CpuMerit::FarFromInterrupts,
                CpuMerit::Preferred,
            ],
            "CPU 7 runs the subject because it shares no L3 cache with becalm or other measurements, interrupts go to other NUMA nodes and the firmware prefers its core; becalm itself runs on CPUs 0-1.",
        );
        check(
            ChosenFor::Several,
            "4-7",
            vec![
                CpuMerit::OwnCaches { level: 2 },
                CpuMerit::WholeCaches { caches: 1 },
                CpuMerit::FarFromInterrupts,
                CpuMerit::Preferred,
            ],
            "CPUs 4-7 run the subject, sharing no L2 cache with becalm or other measurements, on all cores of one L3 cache, in another NUMA node than those that interrupts go to, on cores that the firmware prefers; becalm itself runs on CPUs 0-1.",
        );
    }

    #[test]
    fn interrupts_that_stay_are_told_with_the_reason() {
        let (locked, refused) = (vec!["24 (nvme0q1)".to_owned()], vec!["25 (eth0): no".to_owned()]);
        assert_eq!(
            sentence(&PlacementLimit::InterruptsStay { locked, refused }),
            "interrupts that the kernel does not allow to move stay where they are: 24 (nvme0q1); interrupts that the kernel did not move as requested: 25 (eth0): no"
        );
    }
}
