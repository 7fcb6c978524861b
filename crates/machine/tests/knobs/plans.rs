//! What each knob plans, and what it leaves alone.

use std::fs;
use std::io;

use becalm_machine::knobs::{KNOBS, NoteKind, Profile, Situation, Smt, Thp, TuningRequest};
use becalm_machine::tune::{Effect, Foreign, JournalFile, apply, plan, recover};
use becalm_machine::{SysRoot, Topology};
use becalm_model::{CpuSet, Target};
use becalm_testkit::FakeTree;

use crate::{ACPI, AMD_EPP, CPU, contents, lines, only, planned, tree};

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
    check("swap", &["swap on /dev/vda2 -2 -> off"]);
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
    check("hwp-dynamic-boost", &["intel_pstate/hwp_dynamic_boost 1 -> 0"]);
    check("pcie-aspm", &["/sys/module/pcie_aspm/parameters/policy default -> performance"]);
    check("nvme-power", &["/sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us 100000 -> 0"]);
    check(
        "sata-power",
        &[
            "/sys/class/scsi_host/host0/link_power_management_policy med_power_with_dipm -> max_performance",
        ],
    );
    check("runtime-pm", &["/sys/class/nvme/nvme0/device/power/control auto -> on"]);
    check(
        "packet-steering",
        &[
            "/sys/class/net/eth0/queues/rx-0/rps_cpus f -> 00000005",
            "/sys/class/net/eth0/queues/tx-0/xps_cpus 3 -> 0000000a",
            "/sys/class/net/eth0/queues/tx-1/xps_cpus c -> 00000005",
        ],
    );
    check("smt", &[]);
}

#[test]
fn measured_cpus_send_through_a_queue_of_their_own() {
    let check = |masks: &[&str], expected: &[&str]| {
        let mut tree = tree(ACPI).without("/sys/class/net/eth0/queues");
        for (number, mask) in masks.iter().enumerate() {
            let path = format!("/sys/class/net/eth0/queues/tx-{number}/xps_cpus");
            tree = tree.file(path, format!("{mask}\n"));
        }
        let plan = planned(&SysRoot::new(tree.path()), &only("packet-steering"));
        let shown: Vec<String> = lines(&plan)
            .iter()
            .map(|line| line.replace("/sys/class/net/eth0/queues/", "").replace("/xps_cpus", ""))
            .collect();
        assert_eq!(shown, expected, "{masks:?}");
    };
    // CPUs 1 and 3 are measured. Each queue is of one CPU, as most drivers set them.
    check(&["1", "2", "4", "8"], &[]);
    check(&["f", "f"], &["tx-0 f -> 0000000a", "tx-1 f -> 00000005"]);
    // They have one, which the others leave to them.
    check(&["a", "f"], &["tx-1 f -> 00000005"]);
    // Nothing can be parted, or nobody has chosen.
    check(&["f"], &[]);
    check(&["0", "0"], &[]);
    check(&["a", "0"], &[]);
}

#[test]
fn queues_whose_masks_cannot_be_read_are_left_with_the_reason() {
    let path = "/sys/class/net/eth0/queues/tx-1/xps_cpus";
    for tree in [tree(ACPI).unreadable(path), tree(ACPI).file(path, "-\n")] {
        let plan = planned(&SysRoot::new(tree.path()), &only("packet-steering"));
        assert_eq!(lines(&plan), ["/sys/class/net/eth0/queues/rx-0/rps_cpus f -> 00000005"]);
        let note = plan.notes.iter().find(|note| note.kind == NoteKind::Refused).unwrap();
        assert!(note.text.contains(path), "{}", note.text);
    }
}

/// A tree with an Intel processor and registers of CPUs 1 and 3, of which bit 5 is somebody's.
fn with_registers(model: &str) -> FakeTree {
    let mut registers = vec![0_u8; 0x1ac];
    registers[0x1a4] = 0x20;
    tree(ACPI)
        .file(
            "/proc/cpuinfo",
            format!("vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nflags : fpu\n"),
        )
        .file("/dev/cpu/1/msr", &registers)
        .file("/dev/cpu/3/msr", &registers)
}

#[test]
fn prefetchers_are_switched_off_by_register_and_come_back() {
    let tree = with_registers("85");
    let root = SysRoot::new(tree.path());
    let plan = planned(&root, &only("prefetchers"));
    assert_eq!(
        lines(&plan),
        ["register 0x1a4 of CPU 1 0x20 -> 0x2f", "register 0x1a4 of CPU 3 0x20 -> 0x2f"]
    );
    let before = contents(&tree);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let applied = apply(&root, &mut file, &plan.changes).unwrap();
    assert!(applied.iter().all(|one| one.effect == Effect::Set), "{applied:?}");
    let register = || fs::read(tree.path().join("dev/cpu/3/msr")).unwrap()[0x1a4];
    assert_eq!(register(), 0x2f);
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!((recovered.left(), register()), (&[][..], 0x20));
    assert_eq!(contents(&tree), before);
}

#[test]
fn registers_that_nobody_may_write_are_left_with_the_reason() {
    let check = |tree: FakeTree, kind: NoteKind, why: &str| {
        let plan = planned(&SysRoot::new(tree.path()), &only("prefetchers"));
        assert_eq!((plan.changes.len(), plan.notes[0].kind), (0, kind));
        assert!(plan.notes[0].text.contains(why), "{}", plan.notes[0].text);
    };
    // Alder Lake has cores of two kinds.
    check(with_registers("151"), NoteKind::NotHere, "no register that switches off");
    check(with_registers("85").without("/dev/cpu"), NoteKind::Refused, "modprobe msr");
    let locked = with_registers("85")
        .file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    check(locked, NoteKind::Refused, "locked down");
    let off = with_registers("85").file("/sys/module/msr/parameters/allow_writes", "off\n");
    check(off, NoteKind::Refused, "allow_writes");
}

#[test]
fn links_to_drives_that_have_no_way_back_are_left() {
    let check = |file: &str, value: &str, kind: Option<NoteKind>| {
        let path = format!("/sys/class/scsi_host/host0/{file}");
        let tree = tree(ACPI).file(path, format!("{value}\n"));
        let plan = planned(&SysRoot::new(tree.path()), &only("sata-power"));
        assert_eq!(plan.notes.first().map(|note| note.kind), kind, "{value}");
        assert_eq!(plan.changes.is_empty(), kind.is_some(), "{value}");
    };
    let policy = "link_power_management_policy";
    check(policy, "keep_firmware_settings", Some(NoteKind::Refused));
    check(policy, "max_performance", Some(NoteKind::AlreadyQuiet));
    check(policy, "min_power", None);
    check("link_power_management_supported", "0", Some(NoteKind::NotHere));
}

#[test]
fn switching_smt_off_leaves_the_policies_of_vanishing_cpus_alone() {
    let tree = tree(AMD_EPP);
    let root = SysRoot::new(tree.path());
    let request = TuningRequest { smt: Smt::Off, ..TuningRequest::default() };
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

#[test]
fn second_threads_that_stay_are_tuned_whatever_a_profile_says_of_the_others() {
    let tree = tree(AMD_EPP);
    let request =
        TuningRequest { smt: Smt::Off, skip: vec!["smt".into()], ..TuningRequest::default() };
    let set = lines(&planned(&SysRoot::new(tree.path()), &request));
    let governors: Vec<_> = set.iter().filter(|line| line.contains("scaling_governor")).collect();
    assert_eq!(governors.len(), 4, "{set:?}");
}

#[test]
fn unbound_work_gets_back_the_cpus_that_somebody_asked_for() {
    const MASK: &str = "/sys/devices/virtual/workqueue/cpumask";
    // As Linux 6.7 shows it: CPU 2 is in a partition of somebody else's.
    let tree = tree(ACPI).file(MASK, "b\n").file(format!("{MASK}_requested"), "f\n");
    let requested = tree.path().join(&format!("{MASK}_requested")[1..]);
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if path.to_str() == Some(MASK) {
            fs::write(&requested, format!("{value}\n"))?;
            let shown = u32::from_str_radix(value, 16).unwrap() & !4;
            return Ok(Some(format!("{shown:08x}\n")));
        }
        Ok(Some(format!("{value}\n")))
    });
    let plan = planned(&root, &only("workqueues"));
    assert_eq!(lines(&plan)[0], format!("{MASK} f -> 00000005"));
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let applied = apply(&root, &mut file, &plan.changes).unwrap();
    assert!(applied.iter().all(|one| one.effect == Effect::Set), "{applied:?}");
    assert_eq!(root.read(MASK).value().as_deref(), Some("00000001"));
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!(recovered.left(), []);
    let is = |path: &str, mask: u32| {
        let text = root.read(path).value().unwrap();
        assert_eq!(u32::from_str_radix(&text, 16), Ok(mask), "{path}");
    };
    is(MASK, 0xb);
    is(&format!("{MASK}_requested"), 0xf);
}

#[test]
fn what_is_quieter_already_is_left() {
    let check = |knob: &str, path: &str, value: &str, expected: &[&str]| {
        let tree = tree(ACPI).file(path, format!("{value}\n"));
        let plan = planned(&SysRoot::new(tree.path()), &only(knob));
        assert_eq!(lines(&plan), expected, "{knob} {value}");
        let is_quiet = plan.notes.iter().any(|note| note.kind == NoteKind::AlreadyQuiet);
        assert_eq!(is_quiet, expected.is_empty(), "{:?}", plan.notes);
    };
    let path = "/proc/sys/vm/dirty_writeback_centisecs";
    check("writeback", path, "0", &[]);
    check("writeback", path, "6000", &[]);
    check("writeback", path, "90000", &[]);
    check("writeback", path, "1", &["/proc/sys/vm/dirty_writeback_centisecs 1 -> 6000"]);
    let path = "/proc/sys/vm/stat_interval";
    check("vmstat-interval", path, "600", &[]);
    check("vmstat-interval", path, "0", &["/proc/sys/vm/stat_interval 0 -> 120"]);
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
    let tree = with_task(tree, 72, "1,3", "/");
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
                // Before Linux 6.2, and in a set of version 1, a part of a choice is forgotten, too.
                task(72, "1");
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
    let request = TuningRequest { smt: Smt::Off, ..only("smt") };
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
        TuningRequest { smt: Smt::Off, only: vec!["smt".into(), "cstates".into()], ..only("smt") };
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
    let request = TuningRequest { smt: Smt::Off, ..only("smt") };
    let situation =
        Situation { root: &root, topology: &topology, cpus, housekeeping, request: &request };
    let plan = plan(&situation).unwrap();
    assert_eq!(plan.changes, []);
    assert_eq!(plan.notes[0].text, "CPU 3 would go offline, but it will be measured");
}

#[test]
fn a_platform_profile_that_cannot_be_written_back_is_left() {
    let tree = tree(ACPI).file("/sys/firmware/acpi/platform_profile", "custom\n");
    let plan = planned(&SysRoot::new(tree.path()), &only("platform-profile"));
    assert_eq!((plan.changes.len(), plan.notes[0].kind), (0, NoteKind::Refused));
    assert!(plan.notes[0].text.contains("there is no way back"), "{}", plan.notes[0].text);
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
    let text = include_str!("../../../../docs/MACHINE.md");
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

#[test]
fn lists_that_cannot_be_read_are_not_taken_for_no_cpu() {
    const SETS: &str = "/sys/fs/cgroup/cpuset";
    let whole = || {
        tree(AMD_EPP)
            .file(
                "/proc/self/mountinfo",
                format!("34 31 0:31 / {SETS} rw - cgroup cgroup rw,cpuset\n"),
            )
            .file(format!("{SETS}/box/cpuset.cpus"), "2-3\n")
            .file(format!("{SETS}/box/cgroup.procs"), "70\n")
    };
    let whole = || with_task(whole(), 70, "2-3", "/box");
    let request = TuningRequest { smt: Smt::Off, ..TuningRequest::default() };
    let plan_of = |tree: &FakeTree| planned(&SysRoot::new(tree.path()), &request);
    let expected = lines(&plan_of(&whole()));
    let paths = [
        format!("{CPU}/cpufreq/policy1/affected_cpus"),
        format!("{CPU}/cpu3/topology/thread_siblings_list"),
        format!("{SETS}/box/cpuset.cpus"),
        "/proc/irq/10/smp_affinity_list".to_owned(),
        "/proc/irq/default_smp_affinity".to_owned(),
    ];
    for path in paths {
        for tree in [whole().unreadable(&path), whole().file(&path, "1-\n")] {
            let plan = plan_of(&tree);
            // An interrupt whose CPUs are not known stays, and that is said.
            let is_told = plan
                .notes
                .iter()
                .any(|note| note.kind == NoteKind::Refused && (note.text.contains(&path)));
            let without = expected.iter().filter(|line| !line.starts_with(&path));
            assert!(lines(&plan).iter().eq(without), "{path}: {:?}", lines(&plan));
            assert_eq!(is_told, path.starts_with("/proc/irq"), "{path}: {:?}", plan.notes);
            let is_member = |target: &Target| matches!(target, Target::Membership { .. });
            assert!(plan.changes.iter().any(|change| is_member(&change.target)), "{path}");
        }
    }
}

#[test]
fn huge_pages_can_be_given_to_all_instead() {
    let tree = tree(ACPI);
    let request = TuningRequest { thp: Thp::Always, ..only("thp") };
    let found = planned(&SysRoot::new(tree.path()), &request);
    assert_eq!(lines(&found), ["/sys/kernel/mm/transparent_hugepage/defrag madvise -> always"]);
}
