//! Every knob on invented machines: what it plans, and that nothing of it stays.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becalm_machine::knobs::{Frequency, KNOBS, NoteKind, Profile, Request, Situation, Smt};
use becalm_machine::tune::{Foreign, JournalFile, Plan, apply, journal, plan, recover};
use becalm_machine::{SysRoot, Topology};
use becalm_model::{CpuSet, Target};
use becalm_testkit::{FakeCpufreq, FakeMachine, FakeTree, Switch};
use proptest::prelude::*;

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
        .file("/proc/irq/default_smp_affinity", "f\n")
        .file("/proc/irq/9/smp_affinity_list", "0-3\n")
        .file("/proc/irq/10/smp_affinity_list", "1\n")
        .file("/proc/irq/11/smp_affinity_list", "0\n")
        .file("/sys/devices/virtual/workqueue/cpumask", "f\n")
        .file("/sys/devices/virtual/workqueue/writeback/cpumask", "f\n")
        .file("/sys/devices/system/machinecheck/machinecheck0/check_interval", "300\n")
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
        .file("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n")
        .file("/sys/kernel/mm/ksm/run", "1\n");
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
fn planned(root: &SysRoot, request: &Request) -> Plan {
    let topology = Topology::read(root).unwrap();
    let cpus: CpuSet = "1,3".parse().unwrap();
    let housekeeping = topology.online.difference(&cpus);
    plan(&Situation { root, topology: &topology, cpus, housekeeping, request }).unwrap()
}

fn everything() -> Request {
    Request { profile: Profile::OnRequest, ..Request::default() }
}

fn only(knob: &str) -> Request {
    Request { only: vec![knob.to_owned()], ..Request::default() }
}

/// What a plan sets, one line each, without the folder that all share.
fn lines(plan: &Plan) -> Vec<String> {
    let set = plan.changes.iter().filter_map(|change| {
        let new = change.new.as_ref()?;
        let target = change.target.to_string().replace(&format!("{CPU}/"), "");
        Some(format!("{target} {} -> {new}", change.old))
    });
    set.collect()
}

#[test]
fn turbo_goes_off_by_the_way_that_the_driver_has() {
    let check = |cpufreq: FakeCpufreq, expected: &[&str]| {
        let tree = tree(cpufreq);
        let plan = planned(&SysRoot::new(tree.path()), &only("turbo"));
        assert_eq!(lines(&plan), expected, "{}", cpufreq.driver);
    };
    check(ACPI, &["cpufreq/boost 1 -> 0"]);
    let switches = [0, 1, 2, 3].map(|policy| format!("cpufreq/policy{policy}/cpb 1 -> 0"));
    check(ACPI_CPB, &switches.iter().map(String::as_str).collect::<Vec<_>>());
    check(INTEL_HWP, &["intel_pstate/no_turbo 0 -> 1"]);
    check(INTEL_CPUFREQ, &["intel_pstate/no_turbo 0 -> 1"]);
    check(AMD_PASSIVE, &["cpufreq/boost 1 -> 0"]);
    check(AMD_EPP, &["cpufreq/boost 1 -> 0"]);
    let clamps = [0, 1, 2, 3]
        .map(|policy| format!("cpufreq/policy{policy}/scaling_max_freq 3200000 -> 2400000"));
    let clamps: Vec<&str> = clamps.iter().map(String::as_str).collect();
    check(AMD_EPP_OLD, &[&["cpufreq/boost 1 -> 0"], &clamps[..]].concat());
    check(AMD_EPP_BARE, &clamps);
    check(CPPC, &["cpufreq/boost 1 -> 0"]);
    let switches = [0, 1, 2, 3].map(|policy| format!("cpufreq/policy{policy}/boost 1 -> 0"));
    check(POLICY_SWITCHES, &switches.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn firmware_may_allow_less_than_the_nominal_frequency() {
    let tree = tree(AMD_EPP_BARE).file(format!("{CPU}/cpufreq/policy0/bios_limit"), "2000000\n");
    let tree = tree.file(format!("{CPU}/cpufreq/policy1/bios_limit"), "3000000\n");
    let plan = planned(&SysRoot::new(tree.path()), &only("turbo"));
    assert_eq!(
        lines(&plan)[..2],
        [
            "cpufreq/policy0/scaling_max_freq 3200000 -> 2000000",
            "cpufreq/policy1/scaling_max_freq 3200000 -> 2400000"
        ]
    );
}

#[test]
fn a_limit_that_the_kernel_holds_lower_is_left_alone() {
    const COOLING: &str = "/sys/class/thermal/cooling_device0";
    let check = |limit: &str, state: &str, firmware: &str, is_left: bool| {
        let policy = format!("{CPU}/cpufreq/policy0");
        let tree = tree(AMD_EPP_BARE)
            .file(format!("{policy}/scaling_max_freq"), limit)
            .file(format!("{policy}/bios_limit"), firmware)
            .file(format!("{COOLING}/type"), "Processor\n")
            .file(format!("{COOLING}/cur_state"), state);
        let root = SysRoot::new(tree.path());
        let request = Request { frequency: Frequency::Base, ..Request::default() };
        let plan = planned(&root, &request);
        let target = Target::File(format!("{policy}/scaling_max_freq"));
        let is_planned = plan.changes.iter().any(|change| change.target == target);
        let is_told = plan.notes.iter().any(|note| note.text.contains("cannot be told"));
        assert_eq!((is_planned, is_told), (!is_left, is_left), "{limit} {state} {firmware}");
    };
    let highest = "3200000\n";
    check(highest, "0\n", highest, false);
    // Somebody has lowered it, and the CPU is cool; it is hot and not slowed down yet.
    check("3000000\n", "0\n", highest, false);
    check(highest, "3\n", highest, false);
    check("3000000\n", "3\n", highest, true);
    check("2800000\n", "0\n", "2800000\n", true);
    check("2000000\n", "0\n", "2800000\n", false);
}

#[test]
fn without_a_frequency_driver_there_is_a_note_and_no_error() {
    let tree = FakeMachine { cpufreq: false, ..FakeMachine::default() }.tree();
    let root = SysRoot::new(tree.path());
    for knob in ["governor", "epp", "turbo", "frequency"] {
        let topology = Topology::read(&root).unwrap();
        let cpus: CpuSet = "1".parse().unwrap();
        let housekeeping = topology.online.difference(&cpus);
        let request = only(knob);
        let situation =
            Situation { root: &root, topology: &topology, cpus, housekeeping, request: &request };
        let plan = plan(&situation).unwrap();
        assert_eq!((plan.changes.len(), plan.notes.len()), (0, 1), "{knob}: {plan:?}");
        assert_eq!(plan.notes[0].kind, NoteKind::NotHere);
    }
}

#[test]
fn a_fixed_frequency_is_set_in_the_order_that_the_kernel_needs() {
    let check = |frequency: Frequency, expected: &[&str]| {
        let tree = tree(AMD_PASSIVE);
        let request = Request { frequency, ..only("frequency") };
        let plan = planned(&SysRoot::new(tree.path()), &request);
        assert_eq!(&lines(&plan)[..expected.len().min(2)], expected);
    };
    let first = "cpufreq/policy0/scaling_";
    check(Frequency::Keep, &[]);
    check(
        Frequency::Base,
        &[
            &format!("{first}min_freq 800000 -> 2400000"),
            &format!("{first}max_freq 3200000 -> 2400000"),
        ],
    );
    check(
        Frequency::Share(0.5),
        &[
            &format!("{first}min_freq 800000 -> 1200000"),
            &format!("{first}max_freq 3200000 -> 1200000"),
        ],
    );
    check(
        Frequency::Kilohertz(4_000_000),
        &[
            &format!("{first}max_freq 3200000 -> 4000000"),
            &format!("{first}min_freq 800000 -> 4000000"),
        ],
    );
}

#[test]
fn a_frequency_that_is_asked_for_is_not_undone_by_keeping_turbo_away() {
    for cpufreq in [AMD_EPP_BARE, AMD_EPP_OLD, ACPI, INTEL_HWP] {
        for (frequency, value) in [
            (Frequency::Kilohertz(1_200_000), "1200000"),
            (Frequency::Kilohertz(3_000_000), "3000000"),
        ] {
            let tree = tree(cpufreq);
            let request = Request { frequency, ..Request::default() };
            let plan = planned(&SysRoot::new(tree.path()), &request);
            for limit in ["scaling_min_freq", "scaling_max_freq"] {
                let target = Target::File(format!("{CPU}/cpufreq/policy0/{limit}"));
                let change = plan.changes.iter().find(|change| change.target == target).unwrap();
                assert_eq!(change.new.as_deref(), Some(value), "{}", cpufreq.driver);
            }
        }
    }
}

#[test]
fn simple_knobs_set_what_their_documentation_says() {
    let check = |knob: &str, expected: &[&str]| {
        let tree = tree(ACPI);
        assert_eq!(lines(&planned(&SysRoot::new(tree.path()), &only(knob))), expected, "{knob}");
    };
    check("aslr", &["/proc/sys/kernel/randomize_va_space 2 -> 0"]);
    check(
        "thp",
        &[
            "/sys/kernel/mm/transparent_hugepage/enabled always -> never",
            "/sys/kernel/mm/transparent_hugepage/defrag madvise -> never",
        ],
    );
    check("ksm", &["/sys/kernel/mm/ksm/run 1 -> 0"]);
    check("numa-balancing", &["/proc/sys/kernel/numa_balancing 1 -> 0"]);
    check("compaction", &["/proc/sys/vm/compaction_proactiveness 20 -> 0"]);
    check("swappiness", &["/proc/sys/vm/swappiness 60 -> 1"]);
    check("watchdog", &["/proc/sys/kernel/watchdog 1 -> 0"]);
    check("timer-migration", &["/proc/sys/kernel/timer_migration 1 -> 0"]);
    check("vmstat-interval", &["/proc/sys/vm/stat_interval 1 -> 120"]);
    check(
        "machine-check",
        &["/sys/devices/system/machinecheck/machinecheck0/check_interval 300 -> 0"],
    );
    check("rt-throttling", &["/proc/sys/kernel/sched_rt_runtime_us 950000 -> -1"]);
    check("autogroup", &["/proc/sys/kernel/sched_autogroup_enabled 1 -> 0"]);
    check("perf-limits", &["/proc/sys/kernel/perf_event_max_sample_rate 100000 -> 1"]);
    check("writeback", &["/proc/sys/vm/dirty_writeback_centisecs 500 -> 6000"]);
    check("platform-profile", &["/sys/firmware/acpi/platform_profile balanced -> performance"]);
    check(
        "irq-affinity",
        &[
            "/proc/irq/default_smp_affinity f -> 00000005",
            "/proc/irq/9/smp_affinity_list 0-3 -> 0,2",
            "/proc/irq/10/smp_affinity_list 1 -> 0,2",
        ],
    );
    check(
        "workqueues",
        &[
            "/sys/devices/virtual/workqueue/cpumask f -> 00000005",
            "/sys/devices/virtual/workqueue/writeback/cpumask f -> 00000005",
        ],
    );
    check("cstates", &["cpu1/cpuidle/state2/disable 0 -> 1", "cpu3/cpuidle/state2/disable 0 -> 1"]);
    check(
        "epb",
        &[0, 1, 2, 3]
            .map(|cpu| format!("cpu{cpu}/power/energy_perf_bias 6 -> 0"))
            .each_ref()
            .map(String::as_str),
    );
    check("uncore", &["intel_uncore_frequency/package_00_die_00/min_freq_khz 800000 -> 2400000"]);
    check("smt", &[]);
}

#[test]
fn switching_smt_off_leaves_the_policies_of_vanishing_cpus_alone() {
    let tree = tree(AMD_EPP);
    let root = SysRoot::new(tree.path());
    let request = Request { smt: Smt::Off, ..Request::default() };
    let plan = planned(&root, &request);
    let set = lines(&plan);
    assert_eq!(set[0], "smt/control on -> off");
    let governors: Vec<_> = set.iter().filter(|line| line.contains("scaling_governor")).collect();
    assert_eq!(governors.len(), 2, "{set:?}");
    // Second threads are CPUs 2 and 3. Their settings are saved all the same.
    let guarded = |path: &str| {
        let target = Target::File(format!("{CPU}/{path}"));
        plan.changes.iter().any(|change| change.target == target && change.new.is_none())
    };
    assert!(guarded("cpufreq/policy3/scaling_governor") && guarded("cpu3/online"));
}

/// A task of a tree: one that sleeps, with its CPUs and its set of CPUs.
fn with_task(tree: FakeTree, pid: u32, cpus: &str, group: &str) -> FakeTree {
    tree.file(
        format!("/proc/{pid}/stat"),
        format!("{pid} (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n"),
    )
    .file(format!("/proc/{pid}/status"), format!("Name:\tx\nCpus_allowed_list:\t{cpus}\n"))
    .file(format!("/proc/{pid}/cgroup"), format!("4:cpuset:{group}\n"))
}

#[test]
fn what_goes_with_cpus_by_itself_comes_back_with_them() {
    const SETS: &str = "/sys/fs/cgroup/cpuset";
    let mounts = format!("34 31 0:31 / {SETS} rw - cgroup cgroup rw,cpuset\n");
    let tree = tree(ACPI)
        .file("/proc/self/mountinfo", mounts)
        .file(format!("{SETS}/cgroup.procs"), "\n")
        .file(format!("{SETS}/box/cpuset.cpus"), "1-3\n")
        .file(format!("{SETS}/box/in/cpuset.cpus"), "2-3\n")
        .file(format!("{SETS}/box/in/cgroup.procs"), "70\n")
        .file("/proc/irq/12/smp_affinity_list", "2-3\n");
    let tree = with_task(with_task(tree, 70, "2-3", "/box/in"), 71, "3", "/");
    let before = contents(&tree);
    let folder = tree.path().to_owned();
    let driver = ACPI.kernel(&tree);
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        let put = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
        let have = |path: &str| fs::read_to_string(folder.join(path)).unwrap().trim().to_owned();
        let task = |pid: u32, cpus: &str| {
            put(&format!("proc/{pid}/status"), &format!("Name:\tx\nCpus_allowed_list:\t{cpus}\n"));
        };
        match (path.to_str().unwrap(), value) {
            (control, "off") if control.ends_with("smt/control") => {
                put("sys/fs/cgroup/cpuset/box/in/cpuset.cpus", "");
                put("sys/fs/cgroup/cpuset/box/cpuset.cpus", "1");
                put("proc/70/cgroup", "4:cpuset:/box\n");
                put("proc/irq/12/smp_affinity_list", "0-1");
                task(70, "1");
                task(71, "0-1");
            }
            // A set lies within the one above it, and takes members only if it has CPUs.
            (inner, "2-3")
                if inner.ends_with("box/in/cpuset.cpus")
                    && have("sys/fs/cgroup/cpuset/box/cpuset.cpus") == "1" =>
            {
                return Err(io::Error::from_raw_os_error(13));
            }
            (procs, "70") if procs.ends_with("box/in/cgroup.procs") => {
                if have("sys/fs/cgroup/cpuset/box/in/cpuset.cpus").is_empty() {
                    return Err(io::Error::from_raw_os_error(28));
                }
                put("proc/70/cgroup", "4:cpuset:/box/in\n");
                task(70, "2-3");
            }
            _ => {}
        }
        driver(path, value)
    });
    let request = Request { smt: Smt::Off, ..only("smt") };
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &planned(&root, &request).changes).unwrap();
    assert_ne!(contents(&tree), before);
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!((recovered.left(), contents(&tree)), (&[][..], before), "{recovered:?}");
}

#[test]
fn cpus_that_go_with_smt_have_no_idle_states_to_switch() {
    let tree = tree(ACPI);
    let request =
        Request { smt: Smt::Off, only: vec!["smt".into(), "cstates".into()], ..only("smt") };
    let plan = planned(&SysRoot::new(tree.path()), &request);
    assert_eq!(lines(&plan), ["smt/control on -> off", "cpu1/cpuidle/state2/disable 0 -> 1"]);
}

#[test]
fn smt_stays_on_where_it_would_take_what_is_measured() {
    let tree = tree(ACPI);
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let cpus: CpuSet = "3".parse().unwrap();
    let housekeeping = topology.online.difference(&cpus);
    let request = Request { smt: Smt::Off, ..only("smt") };
    let situation =
        Situation { root: &root, topology: &topology, cpus, housekeeping, request: &request };
    let plan = plan(&situation).unwrap();
    assert_eq!(plan.changes, []);
    assert_eq!(plan.notes[0].text, "CPU 3 would go, which is to be measured");
}

#[test]
fn a_platform_profile_that_cannot_be_written_back_is_left() {
    let tree = tree(ACPI).file("/sys/firmware/acpi/platform_profile", "custom\n");
    let plan = planned(&SysRoot::new(tree.path()), &only("platform-profile"));
    assert_eq!((plan.changes.len(), plan.notes[0].kind), (0, NoteKind::Refused));
    assert!(plan.notes[0].text.contains("no way back"), "{}", plan.notes[0].text);
}

#[test]
fn the_watchdogs_are_not_looked_at_while_they_are_off() {
    // Reading one of them would make the kernel believe that it is to stay off for good.
    let tree = tree(ACPI).file("/proc/sys/kernel/watchdog", "0\n");
    let root = SysRoot::new(tree.path());
    let plan = planned(&root, &only("watchdog"));
    assert_eq!((plan.changes.len(), plan.notes[0].kind), (0, NoteKind::AlreadyQuiet));
}

#[test]
fn a_plan_for_every_cpu_says_that_interrupts_have_nowhere_to_go() {
    let tree = tree(ACPI);
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let all = topology.online.clone();
    let request = only("irq-affinity");
    let situation = Situation {
        root: &root,
        topology: &topology,
        cpus: all.clone(),
        housekeeping: all,
        request: &request,
    };
    let plan = plan(&situation).unwrap();
    assert_eq!((plan.changes.len(), plan.notes[0].kind), (0, NoteKind::Refused));
}

#[test]
fn every_knob_is_documented_with_its_profile() {
    let text = include_str!("../../../docs/MACHINE.md");
    for knob in KNOBS {
        let profile = match knob.profile {
            Profile::Safe => "safe",
            Profile::Strict => "strict",
            Profile::OnRequest => "on request",
        };
        let row = format!("| `{}` | {profile}", knob.name);
        assert!(text.contains(&row), "docs/MACHINE.md has no row {row}");
    }
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

/// A kernel whose n-th write, or every one from the n-th on, fails.
fn failing(
    tree: &FakeTree,
    cpufreq: FakeCpufreq,
    is_refused: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> (SysRoot, Arc<AtomicUsize>) {
    let kernel = cpufreq.kernel(tree);
    let writes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&writes);
    let root = SysRoot::new(tree.path()).with_kernel(move |path: &Path, value: &str| {
        let number = counter.fetch_add(1, Ordering::Relaxed);
        if is_refused(number) { Err(io::Error::from_raw_os_error(5)) } else { kernel(path, value) }
    });
    (root, writes)
}

/// Applies a request and restores; checks that what differs afterwards was told. Returns how many
/// writes that took.
fn check_cycle(
    cpufreq: FakeCpufreq,
    request: &Request,
    name: &str,
    is_refused: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> usize {
    let tree = tree(cpufreq);
    let before = contents(&tree);
    let (root, writes) = failing(&tree, cpufreq, is_refused);
    let plan = planned(&root, request);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &plan.changes).unwrap();
    let recovered = recover(&root, Foreign::Leave).unwrap();
    let left: Vec<String> =
        recovered.left().iter().map(|left| left.change.target.to_string()).collect();
    let after = contents(&tree);
    for (path, old) in &before {
        let target = format!("/{}", path.strip_prefix(tree.path()).unwrap().display());
        assert!(
            after.get(path) == Some(old) || left.contains(&target),
            "{} {name}: {target} was {old} and is {:?}: {recovered:?}",
            cpufreq.driver,
            after.get(path)
        );
    }
    assert_eq!(journal::exists(&root), !left.is_empty());
    writes.load(Ordering::Relaxed)
}

#[test]
fn every_driver_ends_as_it_was() {
    for cpufreq in ALL {
        for frequency in [Frequency::Keep, Frequency::Base, Frequency::Kilohertz(9_000_000)] {
            for smt in [Smt::Idle, Smt::Off] {
                let request = Request { frequency, smt, ..everything() };
                check_cycle(cpufreq, &request, "whole plan", |_| false);
            }
        }
    }
}

#[test]
fn whatever_write_of_a_knob_fails_nothing_differs_in_silence() {
    let cpufreq = AMD_EPP;
    for knob in KNOBS {
        let request = Request { frequency: Frequency::Base, ..only(knob.name) };
        let writes = check_cycle(cpufreq, &request, knob.name, |_| false);
        for n in 0..writes {
            check_cycle(cpufreq, &request, knob.name, move |number| number == n);
            check_cycle(cpufreq, &request, knob.name, move |number| number >= n);
        }
    }
}

#[test]
fn whatever_write_of_the_whole_plan_fails_nothing_differs_in_silence() {
    // All knobs on two drivers; CPUs that go and return with what depends on them.
    let depending = ["smt", "governor", "epp", "frequency", "turbo"].map(str::to_owned).to_vec();
    let with_smt = Request { only: depending, smt: Smt::Off, ..Request::default() };
    for (cpufreq, request) in
        [(INTEL_HWP, everything()), (AMD_EPP_OLD, everything()), (AMD_EPP, with_smt)]
    {
        let request = Request { frequency: Frequency::Base, ..request };
        let writes = check_cycle(cpufreq, &request, "whole plan", |_| false);
        for n in 0..writes {
            check_cycle(cpufreq, &request, "whole plan", move |number| number == n);
            check_cycle(cpufreq, &request, "whole plan", move |number| number >= n);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn missing_files_are_notes_and_rubbish_is_no_panic(
        seed in proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 0..40),
        rubbish in "[ -~\n]{0,40}",
    ) {
        let tree = tree(AMD_EPP);
        let paths: Vec<PathBuf> = contents(&tree).into_keys().collect();
        for (index, what) in seed {
            let path = index.get(&paths);
            match what {
                0 => { let _ = fs::remove_file(path); }
                1 => { let _ = fs::write(path, &rubbish); }
                _ => { let _ = fs::write(path, ""); }
            }
        }
        let root = SysRoot::new(tree.path());
        if let Ok(topology) = Topology::read(&root) {
            let cpus = topology.online.clone();
            let request = Request { smt: Smt::Off, frequency: Frequency::Base, ..everything() };
            let situation = Situation {
                root: &root,
                topology: &topology,
                cpus: cpus.clone(),
                housekeeping: cpus,
                request: &request,
            };
            plan(&situation).unwrap();
        }
    }
}
