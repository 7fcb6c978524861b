//! Captures of real machines, compared with what `lstopo` and `lscpu` say about the same files.
//!
//! The captures are not ours to ship: `BECALM_MACHINE_TREES` names a folder that holds them
//! unpacked, one folder with `proc` and `sys` for each machine. Without it these tests are skipped.

use std::path::PathBuf;

use becalm_machine::{SysRoot, Topology};
use becalm_testkit::skipped;

/// Returns the folder of one capture, or says that the test is skipped.
fn capture(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("BECALM_MACHINE_TREES") else {
        skipped("BECALM_MACHINE_TREES names no folder of captured machines");
        return None;
    };
    let folder = PathBuf::from(folder).join(name);
    if !folder.is_dir() {
        skipped(&format!("{} is not there", folder.display()));
        return None;
    }
    Some(folder)
}

/// Returns the counts that both `lstopo` and `lscpu` print.
fn counts(topology: &Topology) -> String {
    let caches = |level| topology.data_caches(level).count();
    format!(
        "{} packages, {} nodes, {} cores, {} CPUs, {} L2, {} L3, offline {}",
        topology.packages.len(),
        topology.nodes.len(),
        topology.cores.len(),
        topology.cpus.len(),
        caches(2),
        caches(3),
        if topology.offline.is_empty() { "none".into() } else { topology.offline.to_string() },
    )
}

#[track_caller]
fn check(name: &str, expected: &str, kinds: &[&str]) {
    let Some(folder) = capture(name) else { return };
    let topology = Topology::read(&SysRoot::new(folder)).unwrap();
    assert_eq!(counts(&topology), expected);
    let found: Vec<_> =
        topology.kinds.iter().map(|kind| format!("{}: {}", kind.name, kind.cpus)).collect();
    assert_eq!(found, kinds);
}

#[test]
fn four_packages_with_cpus_offline() {
    check(
        "16em64t-4s2c2t-offlines",
        "4 packages, 1 nodes, 7 cores, 12 CPUs, 7 L2, 4 L3, offline 2,5,13-14",
        &["core: 0-1,3-4,6-12,15"],
    );
}

#[test]
fn performance_and_efficient_cores() {
    check(
        "20em64t-hybrid-1p6c2t+2ca4co1t",
        "1 packages, 1 nodes, 14 cores, 20 CPUs, 8 L2, 1 L3, offline none",
        &["P-core: 0-11", "E-core: 12-19"],
    );
}

#[test]
fn two_arm_cores_without_cache_files() {
    check(
        "2arm-2c",
        "1 packages, 0 nodes, 2 cores, 2 CPUs, 0 L2, 0 L3, offline none",
        &["core: 0-1"],
    );
}

// `lstopo` undoes what the kernel says about this family and shows each half of a module as a core,
// 64 in all; the halves share their front end and floating point unit, so we keep the 32.
#[test]
fn four_packages_of_two_nodes() {
    check(
        "64amd64-4s2n4ca2co",
        "4 packages, 8 nodes, 32 cores, 64 CPUs, 32 L2, 8 L3, offline none",
        &["core: 0-63"],
    );
}

#[test]
fn caches_that_differ_from_core_to_core() {
    check(
        "8em64t-2s4c-heterogeneous",
        "2 packages, 1 nodes, 8 cores, 8 CPUs, 3 L2, 0 L3, offline none",
        &["core: 0-7"],
    );
}

// Kernels of phones before Linux 5.19 call each cluster a package; so does the table of `lscpu -p`.
#[test]
fn arm_with_cores_of_four_designs_and_three_capacities() {
    check(
        "arm-A510-A710-A715-X3",
        "3 packages, 0 nodes, 8 cores, 8 CPUs, 7 L2, 1 L3, offline none",
        &["Cortex-X3: 7", "Cortex-A715: 3-4", "Cortex-A710: 5-6", "Cortex-A510: 0-2"],
    );
}

#[test]
fn a_batch_system_leaves_its_jobs_six_cpus() {
    let Some(folder) = capture("32amd64-4s2n4c-cgroup") else { return };
    let topology = Topology::read(&SysRoot::new(folder)).unwrap();
    assert_eq!((topology.online.len(), topology.allowed.to_string()), (32, "0-5".to_owned()));
}

#[test]
fn one_package_with_smt() {
    check(
        "x86_64-64cpu-linux6.2",
        "1 packages, 1 nodes, 4 cores, 8 CPUs, 4 L2, 1 L3, offline none",
        &["core: 0-7"],
    );
}

#[test]
fn many_last_level_caches() {
    check(
        "x86_64-epyc_7451",
        "2 packages, 8 nodes, 48 cores, 96 CPUs, 48 L2, 16 L3, offline none",
        &["core: 0-95"],
    );
}

#[test]
fn opteron_modules_count_as_cores_as_the_kernel_says() {
    check(
        "vmware_fpe",
        "2 packages, 4 nodes, 8 cores, 16 CPUs, 8 L2, 4 L3, offline none",
        &["core: 0-15"],
    );
}
