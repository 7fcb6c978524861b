use super::*;
use crate::sysroot::SysRoot;
use becalm_testkit::{FakeMachine, FakeTree};

fn read(tree: &FakeTree) -> Topology {
    Topology::read(&SysRoot::new(tree.path())).unwrap()
}

/// One line that shows the whole build.
fn shown(topology: &Topology) -> String {
    let sets =
        |sets: Vec<&CpuSet>| sets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    format!(
        "cores {} | packages {} | L3 {}",
        sets(topology.cores.iter().map(|core| &core.cpus).collect()),
        sets(topology.packages.iter().map(|package| &package.cpus).collect()),
        sets(topology.data_caches(3).map(|cache| &cache.cpus).collect()),
    )
}

#[test]
fn two_packages_with_smt_are_put_together() {
    let tree = FakeMachine { packages: 2, cores: 2, threads: 2, ..FakeMachine::default() }.tree();
    let topology = read(&tree);
    assert_eq!(
        shown(&topology),
        "cores 0,4 1,5 2,6 3,7 | packages 0-1,4-5 2-3,6-7 | L3 0-1,4-5 2-3,6-7"
    );
    assert_eq!(topology.threads_per_core(), 2);
    assert_eq!(topology.siblings_of(CpuId(5)).to_string(), "1");
    assert_eq!(topology.nodes.len(), 2);
    assert_eq!(topology.cpu(CpuId(6)).map(|cpu| (cpu.package, cpu.node)), Some((1, Some(1))));
    assert_eq!(topology.data_caches(2).next().unwrap().size, Some(1024 * 1024));
    assert_eq!(topology.limits, Vec::<String>::new());
}

#[test]
fn offline_cpus_leave_holes() {
    let machine =
        FakeMachine { cores: 4, threads: 2, offline: vec![2, 5], ..FakeMachine::default() };
    let topology = read(&machine.tree());
    assert_eq!(topology.offline.to_string(), "2,5");
    assert_eq!(shown(&topology), "cores 0,4 1 3,7 6 | packages 0-1,3-4,6-7 | L3 0-1,3-4,6-7");
    assert_eq!(topology.cpu(CpuId(2)), None);
}

#[test]
fn kinds_are_named_and_the_fastest_comes_first() {
    let machine = FakeMachine { cores: 2, threads: 2, efficient: 4, ..FakeMachine::default() };
    let names = |topology: &Topology| {
        let kinds = topology.kinds.iter().map(|kind| format!("{} {}", kind.name, kind.cpus));
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(names(&read(&machine.tree())), ["P-core 0-3", "E-core 4-7"]);
    let old_kernel =
        machine.tree().without("/sys/devices/cpu_core").without("/sys/devices/cpu_atom");
    assert_eq!(names(&read(&old_kernel)), ["core of 4.0 GHz 0-3", "core of 3.0 GHz 4-7"]);
}

#[test]
fn the_affinity_and_the_boot_line_narrow_what_may_be_used() {
    let machine =
        FakeMachine { cores: 8, allowed: "2-5", isolated: "4-7", ..FakeMachine::default() };
    let topology = read(&machine.tree().file("/sys/devices/system/cpu/nohz_full", "  (null)\n"));
    assert_eq!(topology.allowed.to_string(), "2-5");
    assert_eq!(topology.isolated.to_string(), "4-7");
    assert!(topology.nohz_full.is_empty());
}

#[test]
fn without_sys_the_cpus_are_those_of_proc_and_that_is_said() {
    let tree = FakeMachine { cores: 2, ..FakeMachine::default() }.tree().without("/sys");
    let topology = read(&tree);
    assert_eq!(shown(&topology), "cores 0 1 | packages 0-1 | L3 ");
    let limits = topology.limits.join("\n");
    assert!(limits.contains("those of /proc/stat") && limits.contains("share a core"), "{limits}");

    let cpuinfo =
        "processor: 0\nphysical id: 0\ncore id: 0\n\nprocessor: 1\nphysical id: 0\ncore id: 0\n";
    let topology = read(&tree.without("/proc/stat").file("/proc/cpuinfo", cpuinfo));
    assert_eq!(shown(&topology), "cores 0-1 | packages 0-1 | L3 ");
}

#[test]
fn the_affinity_alone_is_enough_and_nothing_at_all_is_an_error() {
    let tree = FakeTree::new().file("/proc/self/status", "Cpus_allowed_list:\t3,7\n");
    assert_eq!(read(&tree).online.to_string(), "3,7");
    let tree = FakeTree::new();
    let error = Topology::read(&SysRoot::new(tree.path())).unwrap_err();
    assert!(error.to_string().contains("/proc/stat does not exist here"), "{error}");
}

#[test]
fn refused_sys_is_the_same_as_no_sys() {
    let tree = FakeMachine { cores: 2, ..FakeMachine::default() }.tree();
    let root = SysRoot::new(tree.path()).denying("/sys");
    let topology = Topology::read(&root).unwrap();
    assert_eq!(topology.online.to_string(), "0-1");
    assert!(!topology.limits.is_empty());
}

#[test]
fn masks_of_old_kernels_and_cpus_without_a_list_are_read() {
    let cpus = "/sys/devices/system/cpu";
    let tree = FakeTree::new()
        .file(format!("{cpus}/cpu0/topology/thread_siblings"), "00000000,00000005\n")
        .file(format!("{cpus}/cpu0/topology/physical_package_id"), "3\n")
        .file(format!("{cpus}/cpu1/online"), "0\n")
        .file(format!("{cpus}/cpu2/online"), "1\n")
        .file(format!("{cpus}/cpu2/topology/thread_siblings"), "00000000,00000005\n")
        .file(format!("{cpus}/cpu2/topology/physical_package_id"), "3\n");
    let topology = read(&tree);
    assert_eq!(shown(&topology), "cores 0,2 | packages 0,2 | L3 ");
    assert_eq!((topology.offline.to_string(), topology.packages[0].id), ("1".into(), 3));
}
