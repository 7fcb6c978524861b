use super::*;
use becalm_testkit::{FakeMachine, FakeTree};

fn facts(root: &SysRoot) -> MachineFacts {
    read_facts(root, &Topology::read(root).unwrap())
}

#[track_caller]
fn check(tree: &FakeTree, expected: &[(&str, &str)]) {
    let found = facts(&SysRoot::new(tree.path()));
    for (key, value) in expected {
        assert_eq!(found.facts.get(*key).map(String::as_str), Some(*value), "{key} of {found:#?}");
    }
}

#[test]
fn a_laptop_tells_everything() {
    let cpus = "/sys/devices/system/cpu";
    let tree = FakeMachine { cores: 2, threads: 2, ..FakeMachine::default() }
        .tree()
        .file(
            "/proc/cpuinfo",
            "processor: 0\nmodel name: Fast CPU\nmicrocode: 0xa6\nflags: fpu sse\n",
        )
        .file(format!("{cpus}/cpu1/cpufreq/scaling_governor"), "performance\n")
        .file(format!("{cpus}/cpu0/cpufreq/base_frequency"), "2800000\n")
        .file(format!("{cpus}/intel_pstate/no_turbo"), "1\n")
        .file(format!("{cpus}/smt/control"), "on\n")
        .file(format!("{cpus}/vulnerabilities/mds"), "Not affected\n")
        .file(format!("{cpus}/vulnerabilities/spectre_v2"), "Mitigation: IBRS\n")
        .file(format!("{cpus}/vulnerabilities/srbds"), "Vulnerable: no microcode\n")
        .file("/proc/sys/kernel/randomize_va_space", "2\n")
        .file("/proc/sys/kernel/sched_rt_runtime_us", "950000\n")
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .file("/proc/cmdline", "root=/dev/sda1 mitigations=auto\n")
        .file("/proc/meminfo", "MemTotal:       16777216 kB\nSwapTotal:             0 kB\n")
        .file("/proc/loadavg", "0.10 0.20 0.30 1/200 4711\n")
        .file("/proc/uptime", "120.75 400.00\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "45000\n")
        .file("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
        .file("/sys/class/power_supply/BAT0/type", "Battery\n")
        .file("/sys/class/power_supply/BAT0/status", "Discharging\n");
    check(
        &tree,
        &[
            ("cpu_model", "Fast CPU"),
            ("packages", "1"),
            ("microcode", "0xa6"),
            ("cpu_online", "0-3"),
            ("cores", "2"),
            ("threads_per_core", "2"),
            ("isolated", "none"),
            ("governor", "0,2-3:schedutil 1:performance"),
            ("frequency_range", "0-3:800-4000 MHz"),
            ("base_frequency", "0:2800 MHz"),
            ("turbo", "off"),
            ("smt", "on"),
            ("mitigations", "mitigated: spectre_v2; 1 not affected; vulnerable: srbds"),
            ("aslr", "on"),
            ("rt_runtime", "950000 us"),
            ("thp", "madvise"),
            ("kernel_options", "mitigations=auto"),
            ("memory_total", "16.0 GiB"),
            ("swap", "none"),
            ("load_average", "0.10 0.20 0.30"),
            ("uptime", "121 s"),
            ("temperature", "45 C (x86_pkg_temp)"),
            ("on_battery", "yes"),
            ("virtualisation", "none"),
            ("container", "no sign of any"),
        ],
    );
}

#[test]
fn a_virtual_machine_says_why_it_has_no_frequency() {
    let machine = FakeMachine { cpufreq: false, ..FakeMachine::default() };
    let tree = machine
        .tree()
        .file("/proc/cpuinfo", "processor: 0\nflags: fpu hypervisor\n")
        .file("/sys/class/dmi/id/sys_vendor", "QEMU\n")
        .file("/sys/class/dmi/id/product_name", "Standard PC\n");
    check(&tree, &[("virtualisation", "QEMU")]);
    let found = facts(&SysRoot::new(tree.path()));
    for key in ["governor", "scaling_driver", "turbo", "frequency_range"] {
        assert!(found.unreadable[key].contains("virtual machines"), "{found:#?}");
    }
    check(
        &tree.without("/sys/class/dmi"),
        &[("virtualisation", "a hypervisor that does not say its name")],
    );
}

#[test]
fn turbo_goes_by_the_driver_and_not_by_the_maker() {
    let cpus = "/sys/devices/system/cpu";
    let tree = FakeMachine::default().tree().file(format!("{cpus}/cpufreq/boost"), "1\n");
    check(&tree, &[("turbo", "on")]);
    let tree = FakeMachine::default()
        .tree()
        .file(format!("{cpus}/cpu0/cpufreq/boost"), "0\n")
        .file(format!("{cpus}/cpu1/cpufreq/boost"), "1\n");
    check(&tree, &[("turbo", "0:off 1:on")]);
}

#[test]
fn a_container_with_a_quota_is_noticed() {
    let tree = FakeMachine::default()
        .tree()
        .file("/proc/self/cgroup", "0::/kubepods/pod1\n")
        .file("/sys/fs/cgroup/kubepods/pod1/cpu.max", "50000 100000\n");
    check(&tree, &[("container", "Kubernetes"), ("cgroup", "v2"), ("cpu_quota", "0.50 CPUs")]);
    let tree = tree.file("/.dockerenv", "");
    check(&tree, &[("container", "Docker")]);
    // The file came with the image that the machine was made from.
    let own = tree.path().join("proc/self/ns/pid");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("pid:[4026531836]", own).unwrap();
    check(&tree, &[("container", "Docker")]);
    let tree = tree.file("/proc/self/mounts", "/dev/vda / ext4 rw 0 0\n");
    check(&tree, &[("container", "no sign of any")]);
}

#[test]
fn every_key_is_either_read_or_explained() {
    let rich = FakeMachine::default().tree();
    let poor = FakeTree::new().file("/proc/stat", "cpu0 1 2 3 4 5 6 7\n");
    let keys = |tree: &FakeTree| {
        let found = facts(&SysRoot::new(tree.path()));
        assert!(found.facts.keys().all(|key| !found.unreadable.contains_key(key)));
        assert!(found.unreadable.values().all(|reason| !reason.is_empty()));
        found.facts.into_keys().chain(found.unreadable.into_keys()).collect::<Vec<_>>()
    };
    let (mut rich, mut poor) = (keys(&rich), keys(&poor));
    rich.sort();
    poor.sort();
    assert_eq!(rich, poor);
}

#[test]
fn a_refused_file_is_named_with_its_reason() {
    let tree = FakeMachine::default().tree();
    let root = SysRoot::new(tree.path()).denying("/proc/sys/kernel");
    let found = facts(&root);
    assert_eq!(
        found.unreadable["kernel_release"],
        "/proc/sys/kernel/osrelease may not be read by this process"
    );
}

#[test]
fn a_missing_file_system_is_blamed_and_not_the_kernel() {
    let tree = FakeTree::new()
        .file("/proc/stat", "cpu0 1 2 3 4 5 6 7\n")
        .file("/proc/self/cgroup", "0::/job\n");
    let found = facts(&SysRoot::new(tree.path())).unreadable;
    assert_eq!(found["thp"], "/sys is not mounted here");
    assert_eq!(found["governor"], "/sys is not mounted here");
    assert_eq!(found["aslr"], "/proc/sys is not mounted here");
    assert_eq!(found["cpu_quota"], "becalm's control group /sys/fs/cgroup/job does not exist here");
}

#[test]
fn a_watchdog_that_is_off_is_not_asked() {
    let part = "/proc/sys/kernel/nmi_watchdog";
    let tree =
        FakeMachine::default().tree().file(part, "1\n").file("/proc/sys/kernel/watchdog", "0\n");
    let found = facts(&SysRoot::new(tree.path()).denying(part));
    assert_eq!(found.facts.get("nmi_watchdog").map(String::as_str), Some("off"), "{found:#?}");
}
