//! The knobs: one file each, in the order in which they are turned.
//!
//! A knob reads the machine and returns changes; it never writes. All plans are made before the
//! first write, so every old value is one of the untouched machine.

mod aslr;
mod autogroup;
mod base_frequency;
mod compaction;
mod cstates;
mod desktop;
mod epb;
mod epp;
mod frequency;
mod governor;
mod hotplug;
pub(crate) mod irq_affinity;
mod irqbalance;
mod kernel_threads;
mod ksm;
mod limits;
mod machine_check;
mod network;
mod numa_balancing;
mod perf_limits;
mod platform_profile;
mod policies;
mod request;
mod rt_throttling;
mod services;
mod smt;
mod swappiness;
mod thp;
mod timer_migration;
pub(crate) mod tunables;
mod turbo;
mod uncore;
mod vmstat_interval;
mod watchdog;
mod workqueues;
mod writeback;

pub use request::{Frequency, Profile, Smt, TuningRequest};

use becalm_model::{Change, CpuSet, Nature, Target};

use crate::{Reading, SysRoot, Topology};

/// One machine setting that can be read, changed and put back.
#[derive(Debug)]
pub struct Knob {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// What it does, as a fragment: `highest scaling governor`.
    pub summary: &'static str,
    /// From which profile on it is turned.
    pub profile: Profile,
    /// Plans its changes.
    pub plan: fn(&Situation<'_>) -> Planned,
}

impl Knob {
    /// Says whether it only looks at kernel files, so that its plan is cheap.
    pub fn looks_at_files_only(&self) -> bool {
        !matches!(self.name, "services" | "desktop" | "kernel-threads" | "network")
    }
}

/// What a knob may look at.
#[derive(Debug)]
pub struct Situation<'a> {
    /// The machine.
    pub root: &'a SysRoot,
    /// How its CPUs are built together.
    pub topology: &'a Topology,
    /// CPUs that a measurement will use.
    pub cpus: CpuSet,
    /// CPUs that are left to everything else. Never empty; the same as `cpus` where there are no
    /// others.
    pub housekeeping: CpuSet,
    /// What was asked for.
    pub request: &'a TuningRequest,
}

impl<'a> Situation<'a> {
    /// A measurement on `cpus`, with everything else on the others that run.
    pub fn of(
        root: &'a SysRoot,
        topology: &'a Topology,
        cpus: CpuSet,
        request: &'a TuningRequest,
    ) -> Self {
        let others = topology.online.difference(&cpus);
        let housekeeping = if others.is_empty() { topology.online.clone() } else { others };
        Self { root, topology, cpus, housekeeping, request }
    }

    /// Returns the CPUs that run, without those that switching SMT off is about to take.
    fn staying(&self) -> CpuSet {
        self.topology.online.difference(&self.going_threads())
    }

    /// Returns the threads that switching SMT off will take: none where it is not to be switched off or
    /// would take all CPUs that are measured.
    fn going_threads(&self) -> CpuSet {
        let is_going = self.request.smt == Smt::Off
            && self.request.selects(&smt::SMT)
            && smt::can_be_switched(self.root);
        let seconds = if is_going { policies::second_threads(self) } else { CpuSet::new() };
        if self.cpus.difference(&seconds).is_empty() { CpuSet::new() } else { seconds }
    }

    /// Returns the CPUs that everything else may use from now on.
    fn elsewhere(&self) -> CpuSet {
        let staying = self.housekeeping.intersection(&self.staying());
        if staying.is_empty() { self.housekeeping.clone() } else { staying }
    }
}

/// What a knob wants to do here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planned {
    /// Its changes, in the order in which the kernel wants them.
    pub changes: Vec<Change>,
    /// What it cannot do here or need not do, as sentences for people.
    pub notes: Vec<Note>,
    /// Every kernel file that it looked at, with its value.
    pub seen: Vec<(String, String)>,
}

/// A sentence about a knob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Name of the knob.
    pub knob: String,
    /// Whether it matters.
    pub kind: NoteKind,
    /// The sentence.
    pub text: String,
}

/// What a note says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// The machine does not have this setting: a VM without frequencies, another architecture.
    NotHere,
    /// It is there and cannot be changed in this way (locked by firmware, not readable).
    Refused,
    /// It is as it should be already.
    AlreadyQuiet,
}

impl NoteKind {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotHere => "not-here",
            Self::Refused => "refused",
            Self::AlreadyQuiet => "already-quiet",
        }
    }
}

impl Planned {
    /// A plan that does nothing, because the machine does not have the setting.
    pub fn not_here(knob: &str, text: impl Into<String>) -> Self {
        Self::default().note(knob, NoteKind::NotHere, text)
    }

    /// Adds a sentence.
    #[must_use]
    pub fn note(mut self, knob: &str, kind: NoteKind, text: impl Into<String>) -> Self {
        self.notes.push(Note { knob: knob.to_owned(), kind, text: text.into() });
        self
    }

    /// Plans to write `new` to a file, unless it holds that already. A file that does not exist or
    /// cannot be read becomes a note: without the old value there is no way back.
    pub fn set(
        &mut self,
        situation: &Situation<'_>,
        knob: &str,
        path: impl Into<String>,
        new: &str,
        reason: &str,
    ) {
        let path = path.into();
        let reading = self.see(situation, &path);
        match reading {
            Reading::Value(old) if crate::tune::same(&path, &old, new) => {
                self.note_quiet(knob, &path, new);
            }
            Reading::Value(old) => {
                let old = crate::tune::chosen(&old).to_owned();
                self.changes.push(Change::file(knob, path, &old, new, reason));
            }
            missing => self.cannot_read(knob, &path, &missing),
        }
    }

    /// Plans to raise a number to `least`, unless it is so high already.
    pub fn raise(
        &mut self,
        situation: &Situation<'_>,
        knob: &str,
        path: &str,
        least: u64,
        reason: &str,
    ) {
        let now = situation.root.read(path).value().and_then(|text| text.parse::<u64>().ok());
        match now.filter(|now| *now >= least) {
            Some(_) => self.already_quiet(situation, knob, path),
            None => self.set(situation, knob, path, &least.to_string(), reason),
        }
    }

    /// Notes that a file needs no change, whatever it holds.
    pub fn already_quiet(&mut self, situation: &Situation<'_>, knob: &str, path: &str) {
        let value = self.see(situation, path).value().unwrap_or_default();
        self.note_quiet(knob, path, &value);
    }

    fn note_quiet(&mut self, knob: &str, path: &str, value: &str) {
        self.notes.push(Note {
            knob: knob.to_owned(),
            kind: NoteKind::AlreadyQuiet,
            text: format!("{path} is {value} already"),
        });
    }

    /// Plans to save a file and put it back, because other changes may disturb it. Files that do
    /// not exist need no care.
    pub fn guard(&mut self, situation: &Situation<'_>, knob: &str, path: impl Into<String>) {
        let path = path.into();
        if let Reading::Value(old) = self.see(situation, &path) {
            self.changes.push(Change {
                knob: knob.to_owned(),
                target: Target::File(path),
                old: crate::tune::chosen(&old).to_owned(),
                new: None,
                reason: "other changes disturb it".to_owned(),
                nature: Nature::Plain,
            });
        }
    }

    /// Reads a file as it is read to be put back, and remembers its value.
    pub fn see(&mut self, situation: &Situation<'_>, path: &str) -> Reading {
        let reading = crate::tune::read_target(situation.root, &Target::File(path.to_owned()));
        if let Reading::Value(value) = &reading {
            self.seen.push((path.to_owned(), crate::tune::chosen(value).to_owned()));
        }
        reading
    }

    fn cannot_read<T>(&mut self, knob: &str, path: &str, reading: &Reading<T>) {
        let kind = match reading {
            Reading::Absent => NoteKind::NotHere,
            _ => NoteKind::Refused,
        };
        self.notes.push(Note {
            knob: knob.to_owned(),
            kind,
            text: format!("{path} {}", reading.why_not().unwrap_or_default()),
        });
    }
}

/// All knobs, in the order in which they are turned.
///
/// What stops programs comes first, and so is put back last: some of them (tuned, TLP) keep settings that
/// are turned here, which they take back as they stop, and when they start they save what they find.
pub const KNOBS: &[&Knob] = &[
    &services::SERVICES,
    &desktop::DESKTOP,
    &smt::SMT,
    &platform_profile::PLATFORM_PROFILE,
    &governor::GOVERNOR,
    &epp::EPP,
    &epb::EPB,
    &frequency::FREQUENCY,
    &turbo::TURBO,
    &uncore::UNCORE,
    &cstates::CSTATES,
    &aslr::ASLR,
    &thp::THP,
    &ksm::KSM,
    &numa_balancing::NUMA_BALANCING,
    &compaction::COMPACTION,
    &swappiness::SWAPPINESS,
    &watchdog::WATCHDOG,
    &timer_migration::TIMER_MIGRATION,
    &vmstat_interval::VMSTAT_INTERVAL,
    &machine_check::MACHINE_CHECK,
    &rt_throttling::RT_THROTTLING,
    &autogroup::AUTOGROUP,
    &perf_limits::PERF_LIMITS,
    &writeback::WRITEBACK,
    &irqbalance::IRQBALANCE,
    &irq_affinity::IRQ_AFFINITY,
    &workqueues::WORKQUEUES,
    &kernel_threads::KERNEL_THREADS,
    &network::NETWORK,
];

/// Names of knobs that stop programs. Everything else is planned when these have been turned.
pub(crate) const STOPPING: [&str; 2] = ["services", "desktop"];

/// Names of knobs whose settings are in the hands of firmware, or in registers that it may leave alone: a restart
/// of the machine resets them nearly always.
pub(crate) const MAY_OUTLIVE_A_BOOT: [&str; 3] = ["platform-profile", "epb", "uncore"];

/// Names of knobs in the order in which they are put back first; the others follow in the reverse
/// of [`KNOBS`].
///
/// CPUs come back before the files of their policies can be written; turbo comes back before the
/// limits that it had lowered; the governor before the EPP that `performance` locks.
pub const RESTORED_FIRST: &[&str] = &["smt", "turbo", "frequency", "governor", "epp"];
