//! What is called noisy, and what is not.

use std::fs;
use std::path::PathBuf;

use becalm_machine::{ChoiceFacts, SysRoot, Topology, Width, check, choose};
use becalm_model::{Checkup, Fix, Severity};
use becalm_testkit::{FakeCpufreq, FakeMachine, FakeTree, Switch};
use proptest::prelude::*;

const CPUFREQ: FakeCpufreq = FakeCpufreq {
    driver: "intel_pstate",
    governor: "powersave",
    epp: true,
    switch: Switch::NoTurbo,
    switch_per_policy: false,
    tells_nominal: false,
};

/// A machine on which nothing is wrong, and every check has something to read.
fn quiet() -> FakeTree {
    let machine = FakeMachine { cpufreq: false, ..FakeMachine::default() };
    let cpu = "/sys/devices/system/cpu";
    CPUFREQ
        .add_to(machine.tree(), &[0, 1, 2, 3])
        .file(format!("{cpu}/isolated"), "2-3\n")
        .file(format!("{cpu}/intel_pstate/no_turbo"), "1\n")
        .file(format!("{cpu}/cpufreq/policy0/scaling_governor"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy1/scaling_governor"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy2/scaling_governor"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy3/scaling_governor"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy0/energy_performance_preference"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy1/energy_performance_preference"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy2/energy_performance_preference"), "performance\n")
        .file(format!("{cpu}/cpufreq/policy3/energy_performance_preference"), "performance\n")
        .file(format!("{cpu}/vulnerabilities/meltdown"), "Not affected\n")
        .file(format!("{cpu}/cpu1/thermal_throttle/core_throttle_count"), "0\n")
        .file("/proc/cmdline", "quiet isolcpus=managed_irq,2-3\n")
        .file("/proc/stat", "cpu  100 0 100 10000 0 0 0 0 0 0\n")
        .file("/proc/meminfo", "MemTotal: 9 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n")
        .file("/proc/7/comm", "sshd\n")
        .file("/proc/sys/kernel/numa_balancing", "0\n")
        .file("/proc/sys/kernel/randomize_va_space", "2\n")
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .file("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n")
        .file("/sys/class/power_supply/AC/online", "1\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "40000\n")
        .file("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
        .file("/sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n")
        .file("/sys/class/thermal/thermal_zone0/trip_point_0_temp", "95000\n")
        .file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
        .file("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n")
}

fn look(tree: &FakeTree) -> Checkup {
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let cpus = choose(&topology, &ChoiceFacts::read(&root), Width::One).subject;
    check(&root, &topology, &cpus)
}

fn ids(checkup: &Checkup) -> Vec<&str> {
    checkup.findings.iter().map(|finding| finding.id.as_str()).collect()
}

#[test]
fn a_quiet_machine_is_called_quiet() {
    let checkup = look(&quiet());
    assert!(!checkup.is_noisy(), "{:?}", checkup.findings);
    // All cores share the one L3 that the machine has.
    let notes = vec!["aslr", "shared-cache"];
    assert_eq!((ids(&checkup), checkup.surroundings.as_str()), (notes, ""));
    assert_eq!(checkup.unreadable, Vec::<String>::new());
}

#[test]
fn a_capture_of_the_topology_alone_is_not_called_quiet_in_silence() {
    let tree = FakeTree::new()
        .file("/sys/devices/system/cpu/online", "0-1\n")
        .file("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0\n")
        .file("/sys/devices/system/cpu/cpu1/topology/core_cpus_list", "1\n");
    let checkup = look(&tree);
    let unread = checkup.unreadable.join("\n");
    for what in ["settings of the kernel", "settings of huge pages", "governor"] {
        assert!(unread.contains(what), "{what} is missing in:\n{unread}");
    }
}

/// Checks that a quiet machine with this change is found noisy for it.
#[track_caller]
fn finds(id: &str, severity: Severity, change: &dyn Fn(FakeTree) -> FakeTree) {
    let checkup = look(&change(quiet()));
    let found = checkup.findings.iter().find(|finding| finding.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id}: {:?}", ids(&checkup)));
    assert_eq!(found.severity, severity, "{found:?}");
    assert!(found.what.ends_with('.') && found.why.ends_with('.'), "{found:?}");
}

fn with(path: &'static str, value: &'static str) -> impl Fn(FakeTree) -> FakeTree {
    move |tree| tree.file(path, format!("{value}\n"))
}

const CPU: &str = "/sys/devices/system/cpu";

#[test]
fn each_setting_that_makes_noise_is_found() {
    use Severity::{Noise, Note, Severe};
    finds("governor", Severe, &|tree| {
        tree.file(format!("{CPU}/cpufreq/policy2/scaling_governor"), "schedutil\n")
    });
    finds("turbo", Severe, &with("/sys/devices/system/cpu/intel_pstate/no_turbo", "0"));
    finds(
        "thp",
        Noise,
        &with("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"),
    );
    finds("numa-balancing", Noise, &with("/proc/sys/kernel/numa_balancing", "1"));
    finds("kernel-threads", Note, &|tree| {
        let stat = "40 (khungtaskd) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n";
        tree.file("/proc/40/stat", stat)
            .file("/proc/40/status", "Name:\tkhungtaskd\nCpus_allowed_list:\t0-3\n")
    });
    finds("ksm", Noise, &with("/sys/kernel/mm/ksm/run", "1"));
    finds(
        "hwp-dynamic-boost",
        Noise,
        &with("/sys/devices/system/cpu/intel_pstate/hwp_dynamic_boost", "1"),
    );
    finds(
        "pcie-aspm",
        Note,
        &with("/sys/module/pcie_aspm/parameters/policy", "default [powersave]"),
    );
    finds(
        "nvme-power",
        Note,
        &with("/sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us", "100000"),
    );
    finds(
        "sata-power",
        Note,
        &with("/sys/class/scsi_host/host1/link_power_management_policy", "min_power"),
    );
    finds("runtime-pm", Note, &|tree| {
        tree.file("/sys/block/sda/device/power/control", "auto\n")
            .file("/sys/block/sda/device/power/runtime_status", "suspended\n")
    });
    finds("packet-steering", Note, &with("/sys/class/net/eth0/queues/rx-0/rps_cpus", "f"));
    finds("isolation", Note, &with("/sys/devices/system/cpu/isolated", ""));
    finds("isolcpus", Note, &with("/proc/cmdline", "isolcpus=2-3"));
    finds("network", Note, &|tree| {
        tree.file("/sys/class/net/eth0/flags", "0x1003\n").file("/sys/class/net/eth0/device/x", "")
    });
    finds(
        "clocksource",
        Noise,
        &with("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"),
    );
    finds(
        "throttled",
        Note,
        &with("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "3"),
    );
}

#[test]
fn each_other_source_of_noise_is_found() {
    use Severity::{Noise, Note, Severe};
    finds("power-limited", Noise, &|tree| {
        tree.file(format!("{CPU}/cpu0/thermal_throttle/package_power_limit_count"), "2\n")
    });
    finds("cooling", Severe, &|tree| {
        tree.file("/sys/class/thermal/cooling_device3/type", "cpufreq-cpu0\n")
            .file("/sys/class/thermal/cooling_device3/cur_state", "2\n")
    });
    finds("power-limit", Noise, &|tree| {
        let zone = "/sys/class/powercap/intel-rapl:0";
        tree.file(format!("{zone}/name"), "package-0\n")
            .file(format!("{zone}/enabled"), "1\n")
            .file(format!("{zone}/constraint_0_power_limit_uw"), "15000000\n")
            .file(format!("{zone}/constraint_0_max_power_uw"), "45000000\n")
    });
    finds("hot", Severe, &|tree| {
        tree.file("/sys/class/hwmon/hwmon2/name", "coretemp\n")
            .file("/sys/class/hwmon/hwmon2/temp1_input", "96000\n")
            .file("/sys/class/hwmon/hwmon2/temp1_crit", "100000\n")
    });
    finds("frequency-cap", Noise, &|tree| {
        (0..4).fold(tree, |tree, one| {
            tree.file(format!("{CPU}/cpufreq/policy{one}/bios_limit"), "1200000\n")
        })
    });
    finds("frequency-cap", Note, &|tree| {
        (0..4).fold(tree, |tree, one| {
            tree.file(format!("{CPU}/cpufreq/policy{one}/scaling_max_freq"), "1200000\n")
        })
    });
    finds(
        "fabric",
        Note,
        &with("/proc/cpuinfo", "processor : 0\nmodel name : AMD EPYC 7763 64-Core Processor"),
    );
    finds("hot", Severe, &with("/sys/class/thermal/thermal_zone0/temp", "93000"));
    finds(
        "mitigations",
        Note,
        &with("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI"),
    );
    finds("swap", Noise, &with("/proc/meminfo", "SwapTotal: 2000000 kB\nSwapFree: 1000000 kB"));
    finds("steal", Noise, &with("/proc/stat", "cpu  100 0 100 10000 0 0 0 300 0 0"));
    finds("other-tuner", Noise, &with("/proc/7/comm", "tuned"));
    finds("irqbalance", Note, &with("/proc/7/comm", "irqbalance"));
    finds("desktop", Noise, &with("/proc/7/comm", "gnome-shell"));
    finds("services", Note, &with("/proc/7/comm", "snapd"));
    finds("services", Note, &with("/proc/7/comm", "cron"));
    finds("other-tuner", Noise, &with("/proc/7/comm", "thermald"));
    finds("battery", Severe, &|tree| {
        tree.file("/sys/class/power_supply/AC/online", "0\n")
            .file("/sys/class/power_supply/BAT0/type", "Battery\n")
            .file("/sys/class/power_supply/BAT0/status", "Discharging\n")
    });
    finds("quota", Severe, &|tree| {
        tree.file("/proc/self/cgroup", "0::/a\n")
            .file("/proc/self/mountinfo", "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n")
            .file("/sys/fs/cgroup/a/cpu.stat", "nr_throttled 12\n")
    });
}

#[test]
fn reserved_cpus_that_share_a_cache_are_found() {
    use Severity::{Noise, Note};
    let check = |machine: &FakeMachine, expected: Option<(Severity, &str, &str)>| {
        let checkup = look(&machine.tree());
        let found = checkup.findings.iter().find(|finding| finding.id == "shared-cache");
        let told = found.map(|one| (one.severity, one.what.as_str(), one.fix.clone()));
        let expected =
            expected.map(|(severity, what, todo)| (severity, what, Fix::Advice(todo.into())));
        assert_eq!(told, expected);
    };
    let four = FakeMachine { cores: 8, l3s: 2, ..FakeMachine::default() };
    let whole = "`becalm boot-params --cpus 4-7` reserves all CPUs of one L3 cache";
    let half = FakeMachine { isolated: "6-7", ..four.clone() };
    check(&half, Some((Noise, "CPUs 6-7 (reserved) share L3 caches with CPUs 4-5.", whole)));
    check(&FakeMachine { isolated: "4-7", ..four.clone() }, None);
    let tickless = FakeMachine { nohz_full: "3-7", ..four.clone() };
    check(&tickless, Some((Noise, "CPUs 3-7 (reserved) share L3 caches with CPUs 0-2.", whole)));
    let nothing = "CPU 7 (what a measurement would get) shares its L3 cache with CPUs 4-6.";
    check(&four, Some((Note, nothing, whole)));
    let one = FakeMachine { isolated: "6-7", l3s: 1, ..four.clone() };
    let todo = "leave the other CPUs idle: this machine has one L3 cache, which only `resctrl` can divide, if the processor supports it";
    check(&one, Some((Note, "CPUs 6-7 (reserved) share L3 caches with CPUs 0-5.", todo)));
    // An E-core's second level is nearer than the third. A sibling is another matter.
    let efficient =
        FakeMachine { cores: 0, efficient: 8, efficient_per_l2: 4, isolated: "7", ..four.clone() };
    let whole = "`becalm boot-params --cpus 4-7` reserves all CPUs of one L2 cache";
    check(&efficient, Some((Noise, "CPU 7 (reserved) shares its L2 cache with CPUs 4-6.", whole)));
    check(&FakeMachine { threads: 2, isolated: "4-7", ..four.clone() }, None);
    check(&FakeMachine { l3s: 0, ..four }, None);
}

#[test]
fn caches_that_could_be_divided_are_found() {
    let check = |tree: &FakeTree, expected: Option<(&str, Fix)>| {
        let checkup = look(tree);
        let found = checkup.findings.iter().find(|finding| finding.id == "resctrl");
        assert_eq!(found.map(|one| (one.what.as_str(), one.fix.clone())), expected);
    };
    let top = "/sys/fs/resctrl";
    let advice = |text: &str| Fix::Advice(text.to_owned());
    let machine = || FakeMachine::default().tree();
    check(&machine(), None);
    let kernel = "use a kernel with CONFIG_X86_CPU_RESCTRL, without `rdt=` switching it off; then `--isolate`";
    check(
        &machine().file("/proc/cpuinfo", "processor: 0\nflags: fpu cat_l3 cdp_l3\n"),
        Some((
            "The processor can divide its caches (cat_l3), but this kernel does not.",
            advice(kernel),
        )),
    );
    let mount = "`mount -t resctrl resctrl /sys/fs/resctrl`; then `--isolate` gives the measured CPUs a separate part of the caches";
    check(
        &machine().unreadable(top),
        Some(("The caches can be divided, but resctrl is not mounted.", advice(mount))),
    );
    let mut mounted = machine()
        .file(format!("{top}/schemata"), "L3:0=ffff\n")
        .file(format!("{top}/info/L3/cbm_mask"), "ffff\n")
        .file(format!("{top}/info/L3/min_cbm_bits"), "1\n")
        .file(format!("{top}/info/L3/shareable_bits"), "0\n");
    for cpu in 0..4 {
        mounted = mounted.file(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index2/id"), "0\n");
    }
    let what = "CPU 3: a separate part of the caches is possible, but all of them are shared.";
    check(&mounted, Some((what, Fix::Knob("resctrl".to_owned()))));
    let used = mounted
        .file(format!("{top}/pod7/schemata"), "L3:0=ffff\n")
        .file(format!("{top}/pod7/cpus_list"), "0\n");
    let what = "The caches are not divided for a measurement: the L3 cache 0 has no ways to spare: other programs have groups (pod7).";
    check(&used, Some((what, advice("remove groups below /sys/fs/resctrl that are not needed"))));
    // One L3 for each core.
    let alone = FakeMachine { l3s: 4, ..FakeMachine::default() }.tree().unreadable(top);
    check(&alone, None);
}

#[test]
fn memory_reserved_as_huge_pages_is_found() {
    use Severity::{Noise, Note};
    let check = |nodes: &[(u32, u32)], expected: Option<(Severity, &str)>| {
        let machine = FakeMachine { nodes: 2, ..FakeMachine::default() };
        let mut tree = machine.tree().file("/proc/meminfo", "MemTotal: 4194304 kB\n");
        for (node, (all, free)) in nodes.iter().enumerate() {
            let folder = format!("/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB");
            tree = tree
                .file(format!("{folder}/nr_hugepages"), format!("{all}\n"))
                .file(format!("{folder}/free_hugepages"), format!("{free}\n"));
        }
        let checkup = look(&tree);
        let found = checkup.findings.iter().find(|finding| finding.id == "huge-pages");
        assert_eq!(found.map(|one| (one.severity, one.what.as_str())), expected);
    };
    check(&[], None);
    check(&[(0, 0), (0, 0)], None);
    let some = "128 MiB are reserved as huge pages of 2 MiB, 64 MiB of them are free.";
    check(&[(32, 16), (32, 16)], Some((Note, some)));
    let much = "2048 MiB are reserved as huge pages of 2 MiB, 1600 MiB of them are free.";
    check(&[(1024, 800)], Some((Noise, much)));
    let elsewhere = "128 MiB are reserved as huge pages of 2 MiB, 64 MiB of them are free. Node 1, which a measurement would get, has no free one.";
    check(&[(32, 32), (32, 0)], Some((Note, elsewhere)));
}

#[test]
fn cpus_whose_list_cannot_be_read_are_not_called_unreserved() {
    let path = "/sys/fs/cgroup/cpuset.cpus.isolated";
    let tree = quiet().file("/sys/devices/system/cpu/isolated", "\n");
    assert!(ids(&look(&tree)).contains(&"isolation"));
    for damaged in [
        tree.unreadable(path),
        quiet().file("/sys/devices/system/cpu/isolated", "2-\n").file("/proc/cmdline", "quiet\n"),
    ] {
        let checkup = look(&damaged);
        assert!(!ids(&checkup).contains(&"isolation"), "{:?}", checkup.findings);
        let unread = checkup.unreadable.join("\n");
        assert!(unread.contains("which CPUs are reserved: "), "{unread}");
    }
}

#[test]
fn near_misses_are_no_findings() {
    let check = |id: &str, path: &str, value: &str| {
        let checkup = look(&quiet().file(path, format!("{value}\n")));
        assert!(!ids(&checkup).contains(&id), "{id}: {:?}", checkup.findings);
    };
    check(
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "kvm-clock",
    );
    check("steal", "/proc/stat", "cpu  100 0 100 10000 0 0 0 20 0 0");
    check("swap", "/proc/meminfo", "SwapTotal: 2000000 kB\nSwapFree: 1990000 kB");
    check("isolcpus", "/proc/cmdline", "isolcpus=managed_irq,2-3");
    // A device that cools nothing at the moment, a fan at work, a sensor without a limit.
    let device = "/sys/class/thermal/cooling_device0";
    let idle = quiet()
        .file(format!("{device}/type"), "intel_powerclamp\n")
        .file(format!("{device}/cur_state"), "-1\n")
        .file("/sys/class/thermal/cooling_device1/type", "Fan\n")
        .file("/sys/class/thermal/cooling_device1/cur_state", "3\n")
        .file("/sys/class/hwmon/hwmon0/temp1_input", "96000\n")
        .file("/sys/class/hwmon/hwmon0/temp2_input", "96000\n")
        .file("/sys/class/hwmon/hwmon0/temp2_crit", "65261850\n")
        .file("/sys/class/powercap/intel-rapl:0/name", "package-0\n")
        .file("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "45000000\n")
        .file("/sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "45000000\n");
    assert_eq!(ids(&look(&idle)), ids(&look(&quiet())));
    check("fabric", "/proc/cpuinfo", "model name : AMD EPYC 7763\nflags : fpu hypervisor");
    // The battery of a mouse, and one that charges.
    check("battery", "/sys/class/power_supply/hidpp/status", "Discharging");
    check("hot", "/sys/class/thermal/thermal_zone0/trip_point_0_temp", "0");
}

#[test]
fn swappiness_matters_where_there_is_swap() {
    let with = |swap: &str| {
        let tree = quiet()
            .file("/proc/sys/vm/swappiness", "60\n")
            .file("/proc/meminfo", format!("SwapTotal: {swap} kB\nSwapFree: {swap} kB\n"));
        ids(&look(&tree)).contains(&"swappiness")
    };
    assert!(with("2000000") && !with("0"));
}

#[test]
fn a_virtual_machine_is_one_paragraph() {
    let machine = FakeMachine { cpufreq: false, ..FakeMachine::default() };
    let tree = machine
        .tree()
        .file("/proc/cpuinfo", "processor: 0\nflags: fpu hypervisor\n")
        .file("/sys/class/dmi/id/sys_vendor", "QEMU\n")
        .file("/sys/class/dmi/id/product_name", "Standard PC\n");
    let checkup = look(&tree);
    assert!(checkup.surroundings.starts_with("This is a virtual machine (QEMU)."), "{checkup:?}");
    for id in ["governor", "turbo", "epp", "cstates"] {
        assert!(!ids(&checkup).contains(&id));
    }
}

#[test]
fn every_finding_is_documented() {
    let text = include_str!("../../../docs/MACHINE.md");
    let section =
        text.split("## What check looks at").nth(1).unwrap().split("\n## ").next().unwrap();
    for id in [
        "governor",
        "turbo",
        "epp",
        "epb",
        "hwp-dynamic-boost",
        "uncore",
        "pcie-aspm",
        "nvme-power",
        "sata-power",
        "runtime-pm",
        "packet-steering",
        "platform-profile",
        "cstates",
        "thp",
        "ksm",
        "numa-balancing",
        "compaction",
        "swappiness",
        "watchdog",
        "timer-migration",
        "vmstat-interval",
        "machine-check",
        "rt-throttling",
        "autogroup",
        "perf-limits",
        "writeback",
        "irq-affinity",
        "workqueues",
        "kernel-threads",
        "aslr",
        "smt",
        "hybrid",
        "clocksource",
        "battery",
        "throttled",
        "power-limited",
        "power-limit",
        "cooling",
        "frequency-cap",
        "fabric",
        "hot",
        "mitigations",
        "isolation",
        "isolcpus",
        "shared-cache",
        "resctrl",
        "huge-pages",
        "threads",
        "other-tuner",
        "irqbalance",
        "desktop",
        "services",
        "network",
        "swap",
        "steal",
        "quota",
        "load",
        "cpu-pressure",
        "memory-pressure",
        "io-pressure",
        "rtprio",
        "nice",
        "memlock",
    ] {
        assert!(section.contains(&format!("`{id}`")), "docs/MACHINE.md does not explain {id}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_missing_or_rubbish_is_no_panic_and_no_new_finding(
        hits in proptest::collection::vec(any::<prop::sample::Index>(), 0..30),
        rubbish in proptest::option::of("[ -~]{0,30}"),
    ) {
        let tree = quiet();
        let mut paths: Vec<PathBuf> = Vec::new();
        let mut folders = vec![tree.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { paths.push(path) }
            }
        }
        paths.sort();
        for index in hits {
            let path = index.get(&paths);
            match &rubbish {
                Some(text) => fs::write(path, text).unwrap(),
                None => { let _ = fs::remove_file(path); }
            }
        }
        let root = SysRoot::new(tree.path());
        if let Ok(topology) = Topology::read(&root) {
            let cpus = choose(&topology, &ChoiceFacts::read(&root), Width::One).subject;
            let checkup = check(&root, &topology, &cpus);
            if rubbish.is_none() {
                // Without a list of isolated CPUs the boot parameters alone say too little to be sure.
                let extra: Vec<&str> = ids(&checkup)
                    .into_iter()
                    .filter(|id| !matches!(*id, "aslr" | "isolation" | "isolcpus" | "shared-cache"))
                    .collect();
                prop_assert!(extra.is_empty(), "{extra:?}");
            }
        }
    }
}
