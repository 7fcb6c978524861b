//! What took time from a subject, by name.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RatioInterval;
use crate::note::Limit;
use crate::wire::{RatioFields, ratio};

/// Who or what took time.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Culprit {
    /// A program.
    Process {
        /// Its name, as the kernel keeps it (at most 15 bytes).
        #[serde(default)]
        name: String,
        /// Its process number; `None` if several processes of one name are reported together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// The systemd unit that it belongs to, or its control group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// A thread of the kernel.
    KernelThread {
        /// Its name: `ksoftirqd/1`, `kworker/1:2`.
        #[serde(default)]
        name: String,
        /// For a worker: the function that it worked on.
        #[serde(default, rename = "function", skip_serializing_if = "Option::is_none")]
        work: Option<String>,
    },
    /// The interrupt of a device.
    Interrupt {
        /// Its number in `/proc/interrupts`.
        #[serde(default)]
        line: u32,
        /// Its name there.
        #[serde(default, rename = "name")]
        device: String,
    },
    /// An interrupt that a CPU sends itself or another one, such as that of its timer.
    LocalInterrupt {
        /// The kernel's word: `local_timer`, `reschedule`, `call_function_single`.
        #[serde(default, rename = "name")]
        kind: String,
        /// The timer function that ran in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        function: Option<String>,
    },
    /// Work that the kernel put off from an interrupt to its end.
    Softirq {
        /// The kernel's word: `NET_RX`, `TIMER`, `RCU`.
        #[serde(default, rename = "name")]
        kind: String,
        /// The timer function that ran in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        function: Option<String>,
    },
    /// A non-maskable interrupt.
    NonMaskable,
    /// Page faults of the subject itself that were settled without I/O.
    MinorFault,
    /// Page faults of the subject itself that had to wait for I/O.
    MajorFault,
    /// Another thread or child of the subject had the CPU.
    OwnThreads,
    /// The CPU was idle and had to notice that the subject is ready.
    WakeUp,
    /// The CPU was idle although the subject was ready and had not waited for anything: the quota of
    /// a control group, as a rule.
    HeldBack,
    /// A signal had stopped the subject.
    Stopped,
    /// The subject waited in the kernel and nothing could interrupt that: for a disk or a lock.
    Blocked,
    /// The subject waited for something voluntarily.
    Asleep,
    /// The hypervisor ran something else, by its own account.
    Steal,
    /// The CPU did nothing that the kernel knows of for longer than from one tick to the next: the
    /// hypervisor, the firmware, or code that holds interrupts off.
    Gap,
    /// becalm itself, which reads the events.
    Becalm,
    /// Events were lost, so it is unknown.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Culprit {
    /// Returns the same culprit without what tells two of its kind apart: the number of a process and
    /// of a kernel worker.
    #[must_use]
    pub fn group(&self) -> Self {
        match self {
            Self::Process { name, unit, .. } => {
                Self::Process { name: name.clone(), pid: None, unit: unit.clone() }
            }
            Self::KernelThread { name, work } if name.starts_with(WORKER) => {
                Self::KernelThread { name: WORKER.to_owned(), work: work.clone() }
            }
            other => other.clone(),
        }
    }
}

/// How the kernel names the threads that work for everybody.
const WORKER: &str = "kworker";

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { name, pid: Some(pid), .. } => write!(f, "{name} (process {pid})"),
            Self::KernelThread { name, work: Some(work) } => {
                write!(f, "{name} ({})", plain_work(work))
            }
            Self::Process { name, pid: None, .. } | Self::KernelThread { name, work: None } => {
                f.write_str(name)
            }
            Self::Interrupt { device, line } => write!(f, "{device} interrupt ({line})"),
            Self::LocalInterrupt { kind, function } => {
                write!(f, "{} interrupt", kind.replace('_', " "))?;
                function.iter().try_for_each(|function| write!(f, " ({})", plain_timer(function)))
            }
            Self::Softirq { kind, function } => {
                write!(f, "softirq {kind}")?;
                function.iter().try_for_each(|function| write!(f, " ({})", plain_timer(function)))
            }
            Self::NonMaskable => f.write_str("non-maskable interrupt"),
            Self::MinorFault => f.write_str("page faults"),
            Self::MajorFault => f.write_str("page faults that read the disk"),
            Self::OwnThreads => f.write_str("its own threads and children"),
            Self::WakeUp => f.write_str("waking an idle CPU"),
            Self::HeldBack => f.write_str("held back while its CPU was idle"),
            Self::Stopped => f.write_str("stopped by a signal"),
            Self::Blocked => f.write_str("blocked in the kernel"),
            Self::Asleep => f.write_str("waiting voluntarily"),
            Self::Steal => f.write_str("steal by the hypervisor"),
            Self::Gap => f.write_str("gap outside the kernel"),
            Self::Becalm => f.write_str("becalm's own tracing"),
            Self::Unknown => f.write_str("unknown, for lack of events"),
        }
    }
}

/// Work functions whose name does not say what they do.
const PLAIN_WORK: &[(&str, &str)] = &[
    ("wb_workfn", "writeback"),
    ("blk_mq_run_work_fn", "block I/O"),
    ("blk_mq_requeue_work", "block I/O"),
    ("vmstat_update", "vmstat"),
    ("vmstat_shepherd", "vmstat"),
    ("lru_add_drain_per_cpu", "page lists"),
    ("flush_to_ldisc", "terminal"),
    ("psi_avgs_work", "pressure averages"),
    ("mce_timer_fn", "machine checks"),
    ("neigh_periodic_work", "neighbour table"),
    ("drm_fb_helper_damage_work", "screen"),
    ("update_balloon_stats_func", "balloon statistics"),
];

/// Timer functions, likewise.
const PLAIN_TIMERS: &[(&str, &str)] = &[
    ("tick_nohz_handler", "tick"),
    ("tick_sched_timer", "tick"),
    ("tick_nohz_highres_handler", "tick"),
    ("timerfd_tmrproc", "timerfd"),
    ("timerfd_alarmproc", "timerfd"),
    ("hrtimer_wakeup", "sleep ends"),
    ("posix_timer_fn", "POSIX timer"),
    ("it_real_fn", "setitimer"),
    ("process_timeout", "sleep ends"),
    ("delayed_work_timer_fn", "delayed work"),
    ("sched_cfs_period_timer", "CPU quota"),
    ("watchdog_timer_fn", "watchdog"),
    ("perf_swevent_hrtimer", "perf sampling"),
];

fn plain_work(function: &str) -> &str {
    plain(PLAIN_WORK, function)
}

fn plain_timer(function: &str) -> &str {
    plain(PLAIN_TIMERS, function)
}

fn plain<'a>(table: &[(&str, &'static str)], function: &'a str) -> &'a str {
    table.iter().find(|(name, _)| *name == function).map_or(function, |(_, word)| word)
}

/// What one culprit took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Taken {
    /// Who.
    #[serde(flatten)]
    pub culprit: Culprit,
    /// Seconds altogether, summed over the threads of the subject that it kept waiting.
    pub seconds: f64,
    /// How many times.
    pub times: u64,
    /// Seconds of the longest time.
    pub longest: f64,
}

/// Where the time of one run went, from the birth of the process to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TracedRun {
    /// Index into [`crate::Record::runs`]; documents have it beside the run itself.
    #[serde(skip)]
    pub run: usize,
    /// Seconds from birth to end.
    pub wall: f64,
    /// Threads and children that it had, itself included. With more than one, times are sums over
    /// them and can be longer than the run.
    pub threads: u32,
    /// Seconds in which it executed its own instructions and system calls.
    pub own: f64,
    /// The rest, most first.
    pub taken: Vec<Taken>,
}

/// What one CPU did while nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WatchedCpu {
    /// Its number.
    pub cpu: u32,
    /// Seconds for which it was watched.
    pub window: f64,
    /// What would have kept a subject from it, most first.
    pub taken: Vec<Taken>,
}

/// Who ran when on which CPU, during one run or while the CPUs were watched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Index into [`crate::Record::runs`]; `None` where nothing was measured.
    pub run: Option<usize>,
    /// Seconds from its beginning to its end.
    pub seconds: f64,
    /// Seconds of a slot.
    pub slot: f64,
    /// Who ran on which CPU, in the order of the CPUs.
    pub lanes: Vec<Lane>,
}

/// What one of those that ran on a CPU had of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lane {
    /// The number of the CPU.
    pub cpu: u32,
    /// Who; `None` for the subject itself.
    pub who: Option<Culprit>,
    /// Slots in which it ran, in rising order, each with its share of the slot.
    pub shares: Vec<(u32, f64)>,
}

impl Lane {
    /// Adds shares of slots.
    pub fn add(&mut self, shares: impl IntoIterator<Item = (u32, f64)>) {
        for (slot, share) in shares {
            match self.shares.binary_search_by_key(&slot, |(slot, _)| *slot) {
                Ok(at) => self.shares[at].1 += share,
                Err(at) => self.shares.insert(at, (slot, share)),
            }
        }
    }

    /// Makes each `by` slots one.
    pub fn widen(&mut self, by: u32) {
        let by = by.max(1);
        let narrow = std::mem::take(&mut self.shares);
        self.add(narrow.into_iter().map(|(slot, share)| (slot / by, share / f64::from(by))));
    }

    /// Returns the sum of its shares: slots that it would have filled alone.
    pub fn total(&self) -> f64 {
        self.shares.iter().map(|(_, share)| share).sum()
    }
}

/// What a trace of a session gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The runs, in time order. Those of an earlier, resumed session may be missing.
    pub runs: Vec<TracedRun>,
    /// Events that were recorded.
    pub events: u64,
    /// Events that were lost because nobody read them in time.
    pub lost: u64,
    /// What could not be traced here.
    pub limits: Vec<Limit>,
    /// Who ran when, during the longest measured run and then during a typical one; not kept in
    /// records.
    pub timelines: Vec<Timeline>,
}

/// Why one run took longer than its like.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LongerRun {
    /// Index into [`crate::Record::runs`].
    #[serde(skip)]
    pub run: usize,
    /// Seconds more than the median run of the same subject.
    pub longer: f64,
    /// What took more than in the median run, most first.
    pub causes: Vec<Cause>,
}

/// One reason why a run took longer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// Who.
    #[serde(flatten)]
    pub culprit: Culprit,
    /// Seconds more than in the median run.
    pub seconds: f64,
}

/// What one culprit took from all measured runs, or from all CPUs that were watched.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Worst {
    /// Who, without numbers that tell two of a kind apart.
    #[serde(flatten)]
    pub culprit: Culprit,
    /// Seconds altogether.
    pub seconds: f64,
    /// Share of the time of all measured runs.
    pub share: f64,
    /// Measured runs in which it took any.
    pub runs: usize,
    /// Seconds of the longest single time.
    pub longest: f64,
    /// What to do about it; empty if there is nothing to do.
    pub advice: String,
}

/// What a trace shows: which runs were delayed and by what, and what took most over all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// Runs that something delayed, in time order.
    pub longer: Vec<LongerRun>,
    /// Measured runs that were traced.
    pub runs: usize,
    /// The culprits, worst first.
    pub worst: Vec<Worst>,
}

/// What was learnt about the cost of a trace: traced runs against runs of the same command without
/// one, in the same rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceCost {
    /// Which metric was compared.
    pub metric: String,
    /// Traced / untraced.
    #[serde(flatten, serialize_with = "ratio::serialize")]
    #[schemars(with = "RatioFields")]
    pub ratio: RatioInterval,
    /// Rounds that were compared.
    pub rounds: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(culprit: &Culprit, expected: &str) {
        assert_eq!(culprit.to_string(), expected);
    }

    #[test]
    fn culprits_are_called_by_names_that_a_person_can_look_up() {
        let text = String::from;
        let worker =
            Culprit::KernelThread { name: text("kworker/u8:1"), work: Some(text("wb_workfn")) };
        assert_eq!(worker.group().to_string(), "kworker (writeback)");
        check(&worker, "kworker/u8:1 (writeback)");
        let hog = Culprit::Process { name: text("hog"), pid: Some(7), unit: None };
        assert_eq!(hog.group().to_string(), "hog");
        check(&hog, "hog (process 7)");
        check(
            &Culprit::Interrupt { line: 36, device: text("virtio1-req.0") },
            "virtio1-req.0 interrupt (36)",
        );
        check(
            &Culprit::LocalInterrupt {
                kind: text("local_timer"),
                function: Some(text("tick_nohz_handler")),
            },
            "local timer interrupt (tick)",
        );
        check(&Culprit::Softirq { kind: text("NET_RX"), function: None }, "softirq NET_RX");
        check(&Culprit::MajorFault, "page faults that read the disk");
    }

    #[test]
    fn slots_of_a_lane_add_up_however_wide_they_are() {
        let mut lane = Lane { shares: vec![(0, 0.5), (1, 1.0), (4, 0.25)], ..Lane::default() };
        lane.add([(1, 0.0), (3, 0.5)]);
        assert_eq!(lane.shares, [(0, 0.5), (1, 1.0), (3, 0.5), (4, 0.25)]);
        lane.widen(2);
        assert_eq!(lane.shares, [(0, 0.75), (1, 0.25), (2, 0.125)]);
        assert!((lane.total() - 1.125).abs() < 1e-12);
    }

    #[test]
    fn every_culprit_is_read_as_it_was_written() {
        let text = String::from;
        let check = |culprit: Culprit, json: &str| {
            let one = Taken { culprit, seconds: 0.5, times: 2, longest: 0.25 };
            let written = serde_json::to_string(&one).unwrap();
            assert_eq!(written, format!("{{{json},\"seconds\":0.5,\"times\":2,\"longest\":0.25}}"));
            assert_eq!(serde_json::from_str::<Taken>(&written).unwrap(), one, "{written}");
        };
        check(
            Culprit::Process { name: text("a"), pid: Some(7), unit: Some(text("a.service")) },
            r#""kind":"process","name":"a","pid":7,"unit":"a.service""#,
        );
        check(
            Culprit::KernelThread { name: text("kworker/1:1"), work: Some(text("wb_workfn")) },
            r#""kind":"kernel_thread","name":"kworker/1:1","function":"wb_workfn""#,
        );
        check(
            Culprit::Interrupt { line: 36, device: text("virtio1-req.0") },
            r#""kind":"interrupt","line":36,"name":"virtio1-req.0""#,
        );
        check(
            Culprit::LocalInterrupt { kind: text("local_timer"), function: Some(text("f")) },
            r#""kind":"local_interrupt","name":"local_timer","function":"f""#,
        );
        check(
            Culprit::Softirq { kind: text("RCU"), function: None },
            r#""kind":"softirq","name":"RCU""#,
        );
        check(Culprit::MinorFault, r#""kind":"minor_fault""#);
        check(Culprit::Unknown, r#""kind":"unknown""#);
        let newer = serde_json::from_str::<Taken>(r#"{"kind":"weather","seconds":1}"#).unwrap();
        assert_eq!(newer.culprit, Culprit::Unknown);
    }
}
