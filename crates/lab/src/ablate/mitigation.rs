//! The mitigations that are tried, one value each.
//!
//! The list is what guides to stable benchmarks recommend: LLVM's "Benchmarking tips", pyperf's
//! "Tune the system for benchmarks", the user guide of Google Benchmark; and whatever else becalm
//! has a knob for.

use Renown::{Popular, Rare};
use becalm_model::conditions::Thp;

/// One thing that may make times steadier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mitigation {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// What is done, as a fragment: `pinned to the CPU that becalm chooses`.
    pub summary: &'static str,
    /// How it is done.
    pub means: Means,
    /// How well known it is.
    pub renown: Renown,
    /// Who else on the machine notices.
    pub reach: Reach,
}

/// How a mitigation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// The subject may use this CPU only.
    Pin(Cpu),
    /// The subject's CPU is taken away from everything else by control groups.
    Isolation,
    /// Real-time class `SCHED_FIFO`, lowest priority.
    Fifo,
    /// Niceness -20.
    Nice,
    /// No address space layout randomisation.
    NoAslr,
    /// Transparent huge pages of the subject alone.
    HugePages(Thp),
    /// An environment of the few variables that programs need.
    ClearEnvironment,
    /// Another size of the environment in every block, which moves the stack.
    MoveStack,
    /// All memory of the subject locked into RAM and touched beforehand.
    LockMemory,
    /// Iterations, or a whole run, before the measured ones.
    WarmUp,
    /// The page cache emptied before every run.
    ColdCache,
    /// Settings of the machine: names of the knobs of `becalm tune`.
    Knobs(&'static [&'static str]),
    /// The second threads of cores are switched off.
    SmtOff,
}

/// Which CPU a subject is pinned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpu {
    /// The one that becalm chooses.
    Chosen,
    /// The first one that it may use.
    First,
}

/// How well known a mitigation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renown {
    /// Nearly every guide recommends it, so that it is worth a sentence when it does nothing.
    Popular,
    /// Found in some.
    Rare,
}

/// Who else on the machine notices a mitigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nobody.
    Subject,
    /// Everybody, a little, while it lasts.
    Machine,
    /// Others lose something that they may need: it is tried only when asked for.
    Others,
}

const fn own(
    name: &'static str,
    summary: &'static str,
    means: Means,
    renown: Renown,
) -> Mitigation {
    Mitigation { name, summary, means, renown, reach: Reach::Subject }
}

const fn machine(
    name: &'static str,
    summary: &'static str,
    means: Means,
    renown: Renown,
) -> Mitigation {
    Mitigation { name, summary, means, renown, reach: Reach::Machine }
}

/// All mitigations. Some pairs cannot be had together: see [`excludes`].
pub const MITIGATIONS: &[Mitigation] = &[
    own("pin", "pinned to the CPU that becalm chooses", Means::Pin(Cpu::Chosen), Popular),
    own("pin-first", "pinned to the first CPU", Means::Pin(Cpu::First), Rare),
    machine("isolation", "a reserved CPU by control groups", Means::Isolation, Popular),
    own("fifo", "real-time class SCHED_FIFO", Means::Fifo, Popular),
    own("nice", "niceness -20", Means::Nice, Popular),
    machine(
        "governor",
        "governor `performance`, and related settings",
        Means::Knobs(&["platform-profile", "governor", "epp", "epb", "hwp-dynamic-boost"]),
        Popular,
    ),
    machine("turbo", "no turbo", Means::Knobs(&["turbo"]), Popular),
    machine("uncore", "fixed frequency of the uncore", Means::Knobs(&["uncore"]), Rare),
    machine("smt", "second threads of cores off", Means::SmtOff, Popular),
    machine("cstates", "no deep idle states", Means::Knobs(&["cstates"]), Popular),
    machine(
        "interrupts",
        "interrupts of devices on other CPUs",
        Means::Knobs(&["irqbalance", "irq-affinity", "packet-steering"]),
        Popular,
    ),
    machine(
        "kernel-work",
        "kernel work on other CPUs",
        Means::Knobs(&["timer-migration", "writeback", "workqueues", "kernel-threads"]),
        Rare,
    ),
    machine(
        "periodic",
        "watchdogs and periodic kernel work off or rare",
        Means::Knobs(&["watchdog", "vmstat-interval", "machine-check"]),
        Rare,
    ),
    machine(
        "memory",
        "no compaction, page merging or swapping",
        Means::Knobs(&["ksm", "compaction", "swappiness"]),
        Rare,
    ),
    machine(
        "resctrl",
        "a separate part of the caches and of the memory bandwidth",
        Means::Knobs(&["resctrl"]),
        Rare,
    ),
    machine("thp", "transparent huge pages off", Means::Knobs(&["thp"]), Popular),
    machine(
        "numa-balancing",
        "pages stay on their NUMA node",
        Means::Knobs(&["numa-balancing"]),
        Rare,
    ),
    machine("autogroup", "no grouping of tasks by session", Means::Knobs(&["autogroup"]), Rare),
    Mitigation {
        name: "services",
        summary: "background services and desktop stopped",
        means: Means::Knobs(&["services", "desktop"]),
        renown: Popular,
        reach: Reach::Others,
    },
    own("aslr", "no address space layout randomisation", Means::NoAslr, Popular),
    own("thp-off", "no transparent huge pages for the subject", Means::HugePages(Thp::Off), Rare),
    own("thp-on", "huge pages for memory of glibc's allocator", Means::HugePages(Thp::On), Rare),
    own("fixed-env", "an environment of few, fixed variables", Means::ClearEnvironment, Rare),
    own("moved-stack", "a different start of the stack in every block", Means::MoveStack, Rare),
    own("mlock", "memory locked and touched in advance", Means::LockMemory, Popular),
    own("warm-up", "warmed up before measuring", Means::WarmUp, Popular),
    Mitigation {
        name: "cold-cache",
        summary: "the page cache emptied before every run",
        means: Means::ColdCache,
        renown: Rare,
        reach: Reach::Others,
    },
];

impl Mitigation {
    /// Returns the knobs of `becalm tune` that it turns.
    pub fn knobs(&self) -> &'static [&'static str] {
        match self.means {
            Means::Knobs(names) => names,
            Means::SmtOff => &["smt"],
            _ => &[],
        }
    }
}

/// Returns the mitigation called `name`, as an index into [`MITIGATIONS`].
pub fn find(name: &str) -> Option<usize> {
    MITIGATIONS.iter().position(|one| one.name == name)
}

/// Says whether two mitigations, given as indices, cannot be had together, or one makes the other
/// pointless: a real-time class leaves niceness without meaning.
pub fn excludes(one: usize, other: usize) -> bool {
    let pair = (MITIGATIONS[one].means, MITIGATIONS[other].means);
    one != other
        && [pair, (pair.1, pair.0)].into_iter().any(|pair| {
            matches!(
                pair,
                (Means::Pin(_), Means::Pin(_))
                    | (Means::Pin(Cpu::First), Means::Isolation)
                    | (Means::Fifo, Means::Nice)
                    | (Means::HugePages(_), Means::HugePages(_) | Means::Knobs(["thp"]))
                    | (Means::WarmUp, Means::ColdCache)
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_that_is_named_exists_and_belongs_to_one_mitigation() {
        let known = becalm_machine::tune::names();
        let mut named: Vec<&str> =
            MITIGATIONS.iter().flat_map(super::Mitigation::knobs).copied().collect();
        assert!(named.iter().all(|name| known.contains(name)), "{named:?} of {known:?}");
        let before = named.len();
        named.sort_unstable();
        named.dedup();
        assert_eq!(named.len(), before);
    }

    #[test]
    fn names_are_unique() {
        for (index, one) in MITIGATIONS.iter().enumerate() {
            assert_eq!(find(one.name), Some(index));
        }
    }

    #[test]
    fn what_cannot_be_had_together_is_known_from_both_sides() {
        #[track_caller]
        fn check(one: &str, other: &str, expected: bool) {
            let (one, other) = (find(one).unwrap(), find(other).unwrap());
            assert_eq!((excludes(one, other), excludes(other, one)), (expected, expected));
        }
        check("pin", "pin-first", true);
        check("isolation", "pin-first", true);
        check("isolation", "pin", false);
        check("fifo", "nice", true);
        check("fifo", "aslr", false);
        check("pin", "pin", false);
        check("thp-on", "thp-off", true);
        check("thp-on", "thp", true);
        check("thp-on", "memory", false);
    }
}
