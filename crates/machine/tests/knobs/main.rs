//! Every knob on invented machines: what it plans, and that nothing of it stays.

mod frequency;
mod plans;
mod resctrl;
mod restoring;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use becalm_machine::knobs::{Profile, Situation, TuningRequest};
use becalm_machine::tune::{TuningPlan, plan};
use becalm_machine::{SysRoot, Topology};
use becalm_model::CpuSet;
use becalm_testkit::{FakeCpufreq, FakeMachine, FakeTree, Switch};

const CPU: &str = "/sys/devices/system/cpu";

const ACPI: FakeCpufreq = FakeCpufreq {
    driver: "acpi-cpufreq",
    governor: "schedutil",
    epp: false,
    switch: Switch::Boost,
    switch_per_policy: false,
    tells_nominal: false,
};
const INTEL_HWP: FakeCpufreq = FakeCpufreq {
    driver: "intel_pstate",
    governor: "powersave",
    epp: true,
    switch: Switch::NoTurbo,
    switch_per_policy: false,
    tells_nominal: false,
};
const INTEL_CPUFREQ: FakeCpufreq =
    FakeCpufreq { driver: "intel_cpufreq", governor: "schedutil", epp: false, ..INTEL_HWP };
const AMD_PASSIVE: FakeCpufreq = FakeCpufreq { driver: "amd-pstate", tells_nominal: true, ..ACPI };
const AMD_EPP: FakeCpufreq = FakeCpufreq {
    driver: "amd-pstate-epp",
    governor: "powersave",
    epp: true,
    switch: Switch::Boost,
    switch_per_policy: true,
    tells_nominal: true,
};
/// As before Linux 6.11: the global switch is taken and not heeded.
const AMD_EPP_OLD: FakeCpufreq =
    FakeCpufreq { switch: Switch::IdleBoost, switch_per_policy: false, ..AMD_EPP };
const AMD_EPP_BARE: FakeCpufreq = FakeCpufreq { switch: Switch::None, ..AMD_EPP_OLD };
const CPPC: FakeCpufreq = FakeCpufreq { driver: "cppc_cpufreq", ..AMD_PASSIVE };
const POLICY_SWITCHES: FakeCpufreq =
    FakeCpufreq { driver: "scmi", switch: Switch::None, switch_per_policy: true, ..CPPC };

/// AMD processors before the global switch.
const ACPI_CPB: FakeCpufreq = FakeCpufreq { switch: Switch::Cpb, ..ACPI };

const ALL: [FakeCpufreq; 10] = [
    ACPI,
    ACPI_CPB,
    INTEL_HWP,
    INTEL_CPUFREQ,
    AMD_PASSIVE,
    AMD_EPP,
    AMD_EPP_OLD,
    AMD_EPP_BARE,
    CPPC,
    POLICY_SWITCHES,
];

/// Two cores of two threads, with everything that any knob knows.
fn tree(cpufreq: FakeCpufreq) -> FakeTree {
    let machine = FakeMachine { cores: 2, threads: 2, cpufreq: false, ..FakeMachine::default() };
    let mut tree = machine
        .tree()
        .file("/proc/sys/kernel/random/boot_id", "boot\n")
        .file(format!("{CPU}/smt/control"), "on\n")
        .file("/sys/firmware/acpi/platform_profile", "balanced\n")
        .file("/sys/firmware/acpi/platform_profile_choices", "quiet balanced performance\n")
        .file(format!("{CPU}/intel_uncore_frequency/package_00_die_00/min_freq_khz"), "800000\n")
        .file(format!("{CPU}/intel_uncore_frequency/package_00_die_00/max_freq_khz"), "2400000\n")
        .file(format!("{CPU}/intel_pstate/hwp_dynamic_boost"), "1\n")
        .file("/sys/module/pcie_aspm/parameters/policy", "[default] performance powersave\n")
        .file("/sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us", "100000\n")
        .file("/sys/class/nvme/nvme0/device/power/control", "auto\n")
        .file("/sys/class/nvme/nvme0/device/power/runtime_status", "active\n")
        .file("/sys/class/scsi_host/host0/link_power_management_policy", "med_power_with_dipm\n")
        .file("/sys/class/net/eth0/device/power/control", "auto\n")
        .file("/sys/class/net/eth0/device/power/runtime_status", "unsupported\n")
        .file("/sys/class/net/eth0/queues/rx-0/rps_cpus", "f\n")
        .file("/sys/class/net/eth0/queues/tx-0/xps_cpus", "3\n")
        .file("/sys/class/net/eth0/queues/tx-1/xps_cpus", "c\n")
        .file("/sys/class/net/lo/queues/rx-0/rps_cpus", "0\n")
        .file("/proc/irq/default_smp_affinity", "f\n")
        .file("/proc/irq/9/smp_affinity_list", "0-3\n")
        .file("/proc/irq/10/smp_affinity_list", "1\n")
        .file("/proc/irq/11/smp_affinity_list", "0\n")
        .file("/sys/devices/virtual/workqueue/cpumask", "f\n")
        .file("/sys/devices/virtual/workqueue/writeback/cpumask", "f\n")
        .file("/sys/devices/system/machinecheck/machinecheck0/check_interval", "300\n")
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
        .file("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n")
        .file("/sys/kernel/mm/ksm/run", "1\n")
        .file("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n")
        .file("/proc/swaps", "Filename Type Size Used Priority\n/dev/vda2 partition 9 0 -2\n")
        .file("/dev/vda2", "");
    for (name, value) in [
        ("kernel/randomize_va_space", "2"),
        ("kernel/numa_balancing", "1"),
        ("kernel/watchdog", "1"),
        ("kernel/nmi_watchdog", "0"),
        ("kernel/soft_watchdog", "1"),
        ("kernel/timer_migration", "1"),
        ("kernel/sched_rt_runtime_us", "950000"),
        ("kernel/sched_autogroup_enabled", "1"),
        ("kernel/perf_event_max_sample_rate", "100000"),
        ("kernel/perf_cpu_time_max_percent", "25"),
        ("vm/compaction_proactiveness", "20"),
        ("vm/swappiness", "60"),
        ("vm/stat_interval", "1"),
        ("vm/dirty_writeback_centisecs", "500"),
    ] {
        tree = tree.file(format!("/proc/sys/{name}"), format!("{value}\n"));
    }
    for cpu in 0..4 {
        tree = tree.file(format!("{CPU}/cpu{cpu}/power/energy_perf_bias"), "6\n");
        for (state, latency) in [("state0", 0), ("state1", 2), ("state2", 100)] {
            let folder = format!("{CPU}/cpu{cpu}/cpuidle/{state}");
            tree = tree
                .file(format!("{folder}/latency"), format!("{latency}\n"))
                .file(format!("{folder}/disable"), "0\n");
        }
        if cpu > 0 {
            tree = tree.file(format!("{CPU}/cpu{cpu}/online"), "1\n");
        }
    }
    cpufreq.add_to(tree, &[0, 1, 2, 3])
}

/// A plan for CPUs 1 and 3, which share a core.
fn planned(root: &SysRoot, request: &TuningRequest) -> TuningPlan {
    let topology = Topology::read(root).unwrap();
    let cpus: CpuSet = "1,3".parse().unwrap();
    let housekeeping = topology.online.difference(&cpus);
    plan(&Situation { root, topology: &topology, cpus, housekeeping, request }).unwrap()
}

fn everything() -> TuningRequest {
    TuningRequest { profile: Profile::OnRequest, ..TuningRequest::default() }
}

fn only(knob: &str) -> TuningRequest {
    TuningRequest { only: vec![knob.to_owned()], ..TuningRequest::default() }
}

/// What a plan sets, one line each, without the folder that all share.
fn lines(plan: &TuningPlan) -> Vec<String> {
    let set = plan.changes.iter().filter_map(|change| {
        let new = change.new.as_ref()?;
        let target = change.target.to_string().replace(&format!("{CPU}/"), "");
        Some(format!("{target} {} -> {new}", change.old))
    });
    set.collect()
}

/// Everything below the folder but becalm's own.
fn contents(tree: &FakeTree) -> BTreeMap<PathBuf, String> {
    let of_becalm = |path: &Path| {
        ["/becalm/", "/kept-"].iter().any(|part| path.to_string_lossy().contains(part))
    };
    // Plain files keep a chosen word where the kernel shows all words.
    let chosen = |text: &str| {
        let word = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        word.map_or(text.trim(), |(word, _)| word).to_owned()
    };
    let files = tree.files(|path| !of_becalm(path));
    files.into_iter().map(|(path, text)| (path, chosen(&text))).collect()
}
