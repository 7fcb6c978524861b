use super::*;
use becalm_testkit::{FakeTree, skipped};

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn busy_machine() -> FakeTree {
    FakeTree::new()
        .file("/proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 0 50 7 7 0 0 25 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\nintr 5\nsoftirq 8 1\n")
        .file("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n")
        .file("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        .file("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=500\n")
        .file("/proc/self/cgroup", "0::/job\n")
        .file("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n")
        .file("/sys/fs/cgroup/job/cpu.stat", "usage_usec 1\nthrottled_usec 250000\n")
        .file("/proc/interrupts", "    CPU0  CPU1\n 0:  3  4  timer\n")
        .file("/proc/softirqs", "    CPU0  CPU1\n  HI:  0  1\n  RCU:  6  7\n")
        .file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n")
        .file("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n")
        .file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n")
        .file("/dev/cpu/0/msr", registers())
}

/// A file with a time stamp counter of 7 at 0x10, 5 system management interrupts at 0x34, and APERF at 0xe8. MPERF begins one byte before it.
fn registers() -> Vec<u8> {
    let mut bytes = vec![0; 0xf0];
    bytes[0x10..0x18].copy_from_slice(&7_u64.to_ne_bytes());
    bytes[0x34..0x3c].copy_from_slice(&5_u64.to_ne_bytes());
    bytes[0xe8..0xf0].copy_from_slice(&3_u64.to_ne_bytes());
    bytes
}

/// Opens with a budget that no disturbance of the test machine exceeds.
fn open_patiently(tree: &FakeTree) -> ActivityReader {
    let budget = Duration::from_secs(1);
    ActivityReader::open_within(&SysRoot::new(tree.path()), &set("0"), budget)
}

fn what_is_unseen(limit: &Limit) -> Option<Unseen> {
    match limit {
        Limit::Evidence(EvidenceLimit::NotSeen { what, .. }) => Some(*what),
        _ => None,
    }
}

#[test]
fn every_total_is_read_in_seconds_counts_and_hertz() {
    let tree = busy_machine();
    let mut reader = open_patiently(&tree);
    assert_eq!(reader.limits(), []);
    let activity = reader.read();
    assert_eq!(activity.busy, Some(1.5));
    assert_eq!(activity.steal, Some(0.25));
    assert_eq!(activity.pressure_cpu, Some(2.0));
    assert_eq!(activity.pressure_memory, Some(0.0));
    assert_eq!(activity.pressure_io, Some(0.0005));
    assert_eq!(activity.quota_throttled, Some(0.25));
    assert_eq!(activity.thermal_throttles, Some(7));
    assert_eq!(activity.smis, Some(5));
    assert_eq!(activity.interrupts, Some(3));
    assert_eq!(activity.softirqs, Some(6));
    assert_eq!(activity.siblings, Some(0.01));
    assert_eq!(activity.frequency, Some(2.4e9));
    let clocks = activity.clocks.unwrap();
    assert_eq!((clocks.aperf, clocks.tsc, clocks.cpus), (3, 7, 1));
}

#[test]
fn cpus_that_share_no_core_with_others_have_no_siblings() {
    let path = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    for tree in [busy_machine().without(path), busy_machine().file(path, "0\n")] {
        assert_eq!(open_patiently(&tree).read().siblings, None);
    }
    for tree in [busy_machine().unreadable(path), busy_machine().file(path, "0-\n")] {
        let reader = open_patiently(&tree);
        assert!(reader.limits().iter().any(|one| what_is_unseen(one) == Some(Unseen::Siblings)));
    }
    // All threads of a core are the subject's own.
    let tree = busy_machine();
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0-1"));
    assert_eq!(reader.read().siblings, None);
}

#[test]
fn without_clocks_there_is_the_frequency_after_a_run_and_a_word_about_it() {
    let tree = busy_machine().without("/dev/cpu/0/msr");
    let mut reader = open_patiently(&tree);
    assert_eq!(reader.read().frequency, Some(2.4e9));
    let limits = reader.limits();
    assert_eq!(what_is_unseen(&limits[0]), Some(Unseen::MeanBesideFrequency), "{limits:?}");
    let tree = tree.without("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
    let limits = open_patiently(&tree).limits();
    let [Limit::Evidence(EvidenceLimit::NotSeen { because: Obstacle::NoDriver(_), .. })] =
        &limits[..]
    else {
        panic!("{limits:?}");
    };
}

#[test]
fn a_second_reading_sees_what_changed_even_when_the_file_became_shorter() {
    let tree = busy_machine();
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0"));
    reader.read();
    let tree = tree.file("/proc/stat", "cpu0 200 0 50 7 7 0 0 25\n");
    let later = reader.read();
    assert_eq!(later.busy, Some(2.5));
    drop(tree);
}

#[test]
fn a_machine_with_nothing_to_read_gives_nothing_and_says_why() {
    let tree = FakeTree::new();
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0-1"));
    let activity = reader.read();
    assert_eq!(activity, Activity { at: activity.at, ..Activity::default() });
    let limits = reader.limits();
    for what in [
        Unseen::OthersTime,
        Unseen::PressureOnCpu,
        Unseen::Throttling,
        Unseen::Heat,
        Unseen::Interrupts,
        Unseen::Frequency,
    ] {
        let is_told = limits.iter().any(|limit| what_is_unseen(limit) == Some(what));
        assert!(is_told, "{what:?} is missing in {limits:?}");
    }
}

#[test]
fn cpus_without_a_line_are_left_out_and_named() {
    let tree = busy_machine();
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0,5"));
    assert_eq!(reader.read().busy, Some(1.5));
    let not_watched = EvidenceLimit::CpusNotWatched { cpus: "5".to_owned() };
    assert!(reader.limits().contains(&not_watched.into()));
}

#[test]
fn refused_pressure_is_a_limit_with_its_reason() {
    let tree = busy_machine();
    let root = SysRoot::new(tree.path()).denying("/proc/pressure");
    let mut reader = ActivityReader::open(&root, &set("0"));
    assert_eq!(reader.read().pressure_cpu, None);
    let limits = reader.limits();
    let Limit::Evidence(EvidenceLimit::NotSeen { because: Obstacle::Error(error), .. }) =
        &limits[0]
    else {
        panic!("{limits:?}");
    };
    assert!(error.contains("/proc/pressure/cpu may not be read"), "{limits:?}");
}

#[test]
fn a_file_that_is_dear_to_read_is_left_out_and_named() {
    // Eight megabytes cannot be read in 20 us on any machine.
    let table = format!("    CPU0\n{}", " 0: 1 timer\n".repeat(700_000));
    let tree = busy_machine().file("/proc/interrupts", table);
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0"));
    assert_eq!(reader.read().interrupts, None);
    let limits = reader.limits();
    let Limit::Evidence(EvidenceLimit::NotSeen { what, because: Obstacle::Dear { .. } }) =
        &limits[0]
    else {
        panic!("{limits:?}");
    };
    assert_eq!(*what, Unseen::Interrupts);
}

#[test]
fn all_cpus_together_have_their_interrupts_from_the_file_that_is_read_anyway() {
    let tree = busy_machine().without("/proc/interrupts").without("/proc/softirqs");
    let mut reader = ActivityReader::open(&SysRoot::new(tree.path()), &set("0-1"));
    assert_eq!((reader.read().interrupts, reader.read().softirqs), (Some(5), Some(8)));
    assert!(reader.limits().iter().all(|limit| what_is_unseen(limit) != Some(Unseen::Interrupts)));
}

#[test]
fn the_live_machine_gives_totals_that_grow() {
    let root = SysRoot::default();
    let Some(text) = root.read("/proc/stat").value() else {
        skipped("/proc/stat cannot be read here");
        return;
    };
    let mut reader = ActivityReader::open(&root, &parse::stat_cpus(&text));
    let before = reader.read();
    let after = reader.read();
    assert!(after.at > before.at && after.busy >= before.busy);
    assert!(before.busy.is_some());
}
