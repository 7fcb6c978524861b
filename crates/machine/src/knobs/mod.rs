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
mod hwp_dynamic_boost;
pub(crate) mod irq_affinity;
mod irqbalance;
mod kernel_threads;
mod ksm;
mod limits;
mod machine_check;
mod network;
mod numa_balancing;
mod nvme_power;
mod packet_steering;
mod pcie_aspm;
mod perf_limits;
mod planner;
mod platform_profile;
mod policies;
mod prefetchers;
mod request;
pub(crate) mod resctrl;
mod rt_throttling;
mod runtime_pm;
mod sata_power;
mod services;
mod smt;
mod swap;
mod swappiness;
pub(crate) mod thp;
mod timer_migration;
pub(crate) mod tunables;
mod turbo;
mod uncore;
mod vmstat_interval;
mod watchdog;
mod ways;
mod workqueues;
mod writeback;

pub use planner::{Note, NoteKind, Planned, Planner};
pub use request::{Frequency, Profile, Smt, Thp, TuningRequest};

use becalm_model::CpuSet;

use crate::{SysRoot, Topology};

/// One machine setting that can be read, changed and put back.
#[derive(Debug)]
pub struct Knob {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// What it does, as a fragment: `highest scaling governor`.
    pub summary: &'static str,
    /// From which profile on it is turned.
    pub profile: Profile,
    /// Why what it changes makes noise, as a fragment.
    pub reason: &'static str,
    /// Plans its changes.
    pub plan: fn(&mut Planner<'_>),
}

impl Knob {
    /// Says whether it only looks at kernel files, so that its plan is cheap.
    pub fn looks_at_files_only(&self) -> bool {
        !matches!(self.name, "services" | "desktop" | "kernel-threads" | "network" | "prefetchers")
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

    /// Returns the threads that switching SMT off will take: none if it is not to be switched off
    /// or would take all CPUs that are measured.
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
    &hwp_dynamic_boost::HWP_DYNAMIC_BOOST,
    &uncore::UNCORE,
    &cstates::CSTATES,
    &prefetchers::PREFETCHERS,
    &pcie_aspm::PCIE_ASPM,
    &nvme_power::NVME_POWER,
    &sata_power::SATA_POWER,
    &runtime_pm::RUNTIME_PM,
    &aslr::ASLR,
    &thp::THP,
    &ksm::KSM,
    &numa_balancing::NUMA_BALANCING,
    &compaction::COMPACTION,
    &swappiness::SWAPPINESS,
    &swap::SWAP,
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
    &packet_steering::PACKET_STEERING,
    &workqueues::WORKQUEUES,
    &kernel_threads::KERNEL_THREADS,
    &resctrl::RESCTRL,
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
