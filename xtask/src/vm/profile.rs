//! The machines that becalm is tested on.

use super::acpi::{CPPC_MEMORY, Power};

/// A machine as QEMU shows it to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) name: &'static str,
    /// The `cpufreq` driver that must be at work; none where there must be none.
    pub(super) driver: Option<&'static str>,
    pub(super) cpu: &'static str,
    /// QEMU's description of sockets, cores and threads; always four CPUs.
    pub(super) smp: &'static str,
    pub(super) power: &'static [Power],
    /// Added to the command line of the kernel.
    pub(super) boot: &'static str,
    /// Added to the command line of QEMU.
    pub(super) devices: &'static [&'static str],
    pub(super) needs: Needs,
}

/// Which QEMU shows such a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Any.
    Stock,
    /// One with a patch that adds registers for power management, chosen by these variables of its
    /// environment.
    Patched(&'static [(&'static str, &'static str)]),
}

/// CPUs of every profile.
pub(super) const N_CPUS: usize = 4;

const TWO_CORES: &str = "4,sockets=1,cores=2,threads=2";
const FOUR_CORES: &str = "4,sockets=1,cores=4,threads=1";

const BASE: Profile = Profile {
    name: "",
    driver: None,
    cpu: "Skylake-Server",
    smp: TWO_CORES,
    power: &[Power::Idle],
    boot: "",
    devices: &[],
    needs: Needs::Stock,
};

/// All machines.
pub(super) const PROFILES: &[Profile] = &[
    // Two cores with two threads each, frequencies per CPU.
    Profile {
        name: "acpi-cpufreq",
        driver: Some("acpi-cpufreq"),
        power: &[Power::States, Power::Idle],
        ..BASE
    },
    // The two threads of a core share their frequency policy.
    Profile {
        name: "acpi-shared",
        driver: Some("acpi-cpufreq"),
        power: &[Power::States, Power::SharedByTwo, Power::Idle],
        ..BASE
    },
    Profile {
        name: "amd-pstate",
        driver: Some("amd-pstate"),
        cpu: "EPYC-Rome",
        smp: FOUR_CORES,
        power: &[Power::Cppc],
        boot: CPPC_BOOT,
        ..BASE
    },
    // As most virtual machines are: neither frequencies nor idle states nor threads.
    Profile { name: "plain", smp: FOUR_CORES, power: &[], ..BASE },
    Profile {
        name: "numa",
        smp: "4,sockets=2,cores=2,threads=1",
        devices: &[
            "-object",
            "memory-backend-ram,id=m0,size=384M",
            "-object",
            "memory-backend-ram,id=m1,size=384M",
            "-numa",
            "node,nodeid=0,cpus=0-1,memdev=m0",
            "-numa",
            "node,nodeid=1,cpus=2-3,memdev=m1",
        ],
        ..BASE
    },
    // Queues whose interrupts the kernel does not let anybody move.
    Profile { name: "managed-irqs", devices: &["-device", "virtio-scsi-pci,num_queues=4"], ..BASE },
    // CPUs that the boot line took away from the scheduler.
    Profile {
        name: "boot-isolated",
        driver: Some("acpi-cpufreq"),
        power: &[Power::States, Power::Idle],
        boot: "isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1",
        ..BASE
    },
    Profile {
        name: "intel-pstate",
        driver: Some("intel_pstate"),
        needs: Needs::Patched(&[("VMLAB_PM", "hwp")]),
        ..BASE
    },
    Profile {
        name: "intel-cpufreq",
        driver: Some("intel_cpufreq"),
        power: &[Power::States, Power::Idle],
        needs: Needs::Patched(&[("VMLAB_PM", "intel")]),
        ..BASE
    },
    Profile {
        name: "acpi-boost-intel",
        driver: Some("acpi-cpufreq"),
        power: &[Power::States, Power::Idle],
        boot: "intel_pstate=disable",
        needs: Needs::Patched(&[("VMLAB_PM", "intel")]),
        ..BASE
    },
    Profile {
        name: "acpi-boost-amd",
        driver: Some("acpi-cpufreq"),
        cpu: "EPYC-Rome",
        smp: FOUR_CORES,
        power: &[Power::AmdStates, Power::Idle],
        boot: "amd_pstate=disable",
        needs: Needs::Patched(&[("VMLAB_PM", "amd")]),
        ..BASE
    },
    Profile {
        name: "amd-pstate-epp",
        driver: Some("amd-pstate-epp"),
        cpu: "EPYC-Milan",
        smp: FOUR_CORES,
        power: &[Power::Cppc],
        boot: CPPC_ACTIVE_BOOT,
        needs: Needs::Patched(&[("VMLAB_PM", "cppc")]),
        ..BASE
    },
    // Performance counters, and with them the NMI watchdog.
    Profile {
        name: "pmu",
        driver: Some("intel_pstate"),
        needs: Needs::Patched(&[("VMLAB_PM", "hwp"), ("VMLAB_PMU", "1")]),
        ..BASE
    },
];

/// Keeps the kernel away from the registers of [`Power::Cppc`].
const CPPC_BOOT: &str = "amd_pstate=passive memmap=1M$0x1ff00000";
const CPPC_ACTIVE_BOOT: &str = "amd_pstate=active memmap=1M$0x1ff00000";
const _: () = assert!(CPPC_MEMORY == 0x1ff0_0000);

impl Profile {
    /// Says whether the profile makes sense with a kernel: amd-pstate has its active mode since 6.3.
    pub(super) fn runs_on(&self, series: super::kernel::Series) -> bool {
        self.name != "amd-pstate-epp" || series > super::kernel::Series::V6_1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn profiles_have_different_names_and_four_cpus() {
        let names: BTreeSet<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        assert_eq!(names.len(), PROFILES.len());
        for profile in PROFILES {
            assert!(profile.smp.starts_with(&format!("{N_CPUS},")), "{}", profile.name);
        }
    }
}
