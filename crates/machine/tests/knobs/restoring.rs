//! Whatever fails on the way, nothing differs afterwards without being told.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becalm_machine::knobs::{Frequency, KNOBS, Situation, Smt, TuningRequest};
use becalm_machine::tune::{Foreign, JournalFile, Recovered, apply, journal, plan, recover};
use becalm_machine::{SysRoot, Topology};
use becalm_testkit::{FakeCpufreq, FakeTree};
use proptest::prelude::*;

use crate::{
    ACPI, ALL, AMD_EPP, AMD_EPP_OLD, AMD_PASSIVE, CPU, INTEL_HWP, contents, everything, only,
    planned, tree,
};

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
    request: &TuningRequest,
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
        let target = match format!("/{}", path.strip_prefix(tree.path()).unwrap().display()) {
            // The table of what is told by its areas.
            table if table == "/proc/swaps" => "swap on /dev/vda2".to_owned(),
            target => target,
        };
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
                let request = TuningRequest { frequency, smt, ..everything() };
                check_cycle(cpufreq, &request, "whole plan", |_| false);
            }
        }
    }
}

#[test]
fn whatever_write_of_a_knob_fails_nothing_differs_in_silence() {
    let cpufreq = AMD_EPP;
    for knob in KNOBS {
        let request = TuningRequest { frequency: Frequency::Base, ..only(knob.name) };
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
    let with_smt = TuningRequest { only: depending, smt: Smt::Off, ..TuningRequest::default() };
    for (cpufreq, request) in
        [(INTEL_HWP, everything()), (AMD_EPP_OLD, everything()), (AMD_EPP, with_smt)]
    {
        let request = TuningRequest { frequency: Frequency::Base, ..request };
        let writes = check_cycle(cpufreq, &request, "whole plan", |_| false);
        for n in 0..writes {
            check_cycle(cpufreq, &request, "whole plan", move |number| number == n);
            check_cycle(cpufreq, &request, "whole plan", move |number| number >= n);
        }
    }
}

#[test]
fn both_limits_come_back_though_the_kernel_holds_them_lower() {
    let check = |meanwhile: &[(&str, &str)], foreign: usize, expected: [&str; 2]| {
        let policy = format!("{CPU}/cpufreq/policy0");
        let tree = tree(AMD_PASSIVE).file(format!("{policy}/bios_limit"), "3200000\n");
        let root = SysRoot::new(tree.path()).with_kernel(AMD_PASSIVE.kernel(&tree));
        let plan =
            planned(&root, &TuningRequest { frequency: Frequency::Base, ..only("frequency") });
        let mut file = JournalFile::start(&root, "test", &[]).unwrap();
        apply(&root, &mut file, &plan.changes).unwrap();
        for (name, value) in meanwhile {
            root.write(format!("{policy}/{name}"), value).unwrap();
        }
        let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else {
            panic!()
        };
        assert_eq!((restored.foreign.len(), restored.left.len()), (foreign, 0), "{restored:?}");
        // The CPU has cooled down.
        root.write(format!("{policy}/bios_limit"), "3200000").unwrap();
        let read = |name: &str| root.read(format!("{policy}/{name}")).value().unwrap();
        assert_eq!([read("scaling_min_freq"), read("scaling_max_freq")], expected);
    };
    check(&[], 0, ["800000", "3200000"]);
    check(&[("bios_limit", "1800000")], 0, ["800000", "3200000"]);
    let theirs = [("scaling_min_freq", "1600000"), ("scaling_max_freq", "1600000")];
    check(&theirs, 2, ["1600000", "1600000"]);
}

#[test]
fn tunables_of_a_governor_that_somebody_else_has_replaced_are_not_missed() {
    let tree = tree(ACPI);
    let kernel = ACPI.kernel(&tree);
    let root = SysRoot::new(tree.path()).with_kernel(kernel);
    let request = only("governor");
    let plan = planned(&root, &request);
    let tunable = "/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us";
    assert!(plan.changes.iter().any(|change| change.target.to_string() == tunable));
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &plan.changes).unwrap();
    assert!(!root.exists(tunable));
    for policy in 0..4 {
        let path = format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor");
        root.write(path, "powersave").unwrap();
    }
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!((recovered.left(), journal::exists(&root)), (&[][..], false), "{recovered:?}");
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
            let request = TuningRequest { smt: Smt::Off, frequency: Frequency::Base, ..everything() };
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
