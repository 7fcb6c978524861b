use super::*;
use crate::sysroot::SysRoot;
use becalm_model::wire::Words;
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
    assert_eq!(topology.limits, []);
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
    let source = "/proc/stat".to_owned();
    let expected = [
        TopologyLimit::CpusBy { source },
        TopologyLimit::CoresGuessed { cpus: "0-1".parse().unwrap() },
    ];
    assert!(expected.iter().all(|one| topology.limits.contains(one)), "{:?}", topology.limits);

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

const CPUS: &str = "/sys/devices/system/cpu";

/// A machine from one line per CPU: number, core, package, package id.
fn built(places: &[(u32, &str, &str, &str)]) -> FakeTree {
    let online: Vec<String> = places.iter().map(|place| place.0.to_string()).collect();
    let mut tree = FakeTree::new().file(format!("{CPUS}/online"), online.join(","));
    for (cpu, core, package, id) in places {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        tree = tree
            .file(format!("{folder}/core_cpus_list"), core)
            .file(format!("{folder}/package_cpus_list"), package)
            .file(format!("{folder}/physical_package_id"), id);
    }
    tree
}

#[track_caller]
fn check_kinds(tree: &FakeTree, expected: &[&str]) {
    let topology = read(tree);
    let shown = topology.kinds.iter().map(|kind| format!("{} {}", kind.name, kind.cpus));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn packages_without_numbers_are_told_apart_by_their_cpus() {
    let topology =
        read(&built(&[(0, "0-1", "0-1", "-1"), (1, "0-1", "0-1", "-1"), (4, "4", "4", "-1")]));
    assert_eq!(shown(&topology), "cores 0-1 4 | packages 0-1 4 | L3 ");
    assert_eq!(topology.cpu(CpuId(4)).unwrap().package, 1);
}

#[test]
fn books_of_a_mainframe_number_their_packages_anew() {
    let mut tree = built(&[(0, "0", "0", "1"), (1, "1", "1", "2"), (2, "2", "2", "1")]);
    for (cpu, book, drawer) in [(0, "0-1", "0-2"), (1, "0-1", "0-2"), (2, "2", "0-2")] {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        tree = tree
            .file(format!("{folder}/book_siblings_list"), book)
            .file(format!("{folder}/drawer_siblings_list"), drawer)
            .file(format!("{folder}/drawer_id"), "4");
    }
    let topology = read(&tree);
    assert_eq!(topology.packages.len(), 3);
    let shown = |groups: &[Group]| {
        groups.iter().map(|one| format!("{}: {}", one.id, one.cpus)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&topology.books), ["-1: 0-1", "-1: 2"]);
    assert_eq!(shown(&topology.drawers), ["4: 0-2"]);
}

#[test]
fn dies_and_clusters_count_where_they_say_something() {
    let mut tree = built(&[
        (0, "0", "0-3", "0"),
        (1, "1", "0-3", "0"),
        (2, "2", "0-3", "0"),
        (3, "3", "0-3", "0"),
    ]);
    for (cpu, die, cluster) in
        [(0, "0-2", "0-1"), (1, "0-2", "0-1"), (2, "0-2", "2"), (3, "3", "3")]
    {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        tree = tree
            .file(format!("{folder}/die_cpus_list"), die)
            .file(format!("{folder}/cluster_cpus_list"), cluster);
    }
    let topology = read(&tree);
    let shown =
        |groups: &[Group]| groups.iter().map(|one| one.cpus.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (shown(&topology.dies), shown(&topology.clusters)),
        (vec!["0-2".into()], vec!["0-1".into()])
    );
}

#[test]
fn low_power_e_cores_are_those_without_the_shared_cache() {
    let machine = FakeMachine { cores: 2, efficient: 4, ..FakeMachine::default() };
    let mut tree = machine.tree();
    for cpu in 0..4 {
        tree = tree.file(format!("{CPUS}/cpu{cpu}/cache/index2/shared_cpu_list"), "0-3\n");
    }
    for cpu in 4..6 {
        tree = tree.without(format!("{CPUS}/cpu{cpu}/cache/index2"));
    }
    check_kinds(&tree, &["P-core 0-1", "E-core 2-3", "low-power E-core 4-5"]);
}

#[test]
fn amd_cores_with_caches_of_two_sizes_are_two_kinds() {
    let mut tree = FakeMachine { packages: 2, cores: 2, ..FakeMachine::default() }
        .tree()
        .file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
    for cpu in 0..2 {
        tree = tree.file(format!("{CPUS}/cpu{cpu}/cache/index2/size"), "98304K\n");
    }
    check_kinds(&tree, &["core with 96 MiB of L3 0-1", "core with 16 MiB of L3 2-3"]);
    let ranking = "cpufreq/amd_pstate_prefcore_ranking";
    let tree = tree.file(format!("{CPUS}/cpu3/{ranking}"), "236\n");
    check_kinds(&tree, &["core with 16 MiB of L3 2-3", "core with 96 MiB of L3 0-1"]);
    assert_eq!(read(&tree).cpu(CpuId(3)).unwrap().preference, Some(236));
}

#[test]
fn arm_designs_of_one_capacity_are_kinds_of_their_own() {
    let mut tree = FakeMachine { cores: 4, cpufreq: false, ..FakeMachine::default() }.tree();
    for (cpu, capacity, part) in
        [(0, 280, 0xd46), (1, 855, 0xd47), (2, 855, 0xd4d), (3, 1024, 0xd4e)]
    {
        let register = format!("{:#018x}\n", 0x411f_0000_u64 | part << 4);
        tree = tree
            .file(format!("{CPUS}/cpu{cpu}/cpu_capacity"), format!("{capacity}\n"))
            .file(format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1"), register);
    }
    check_kinds(&tree, &["Cortex-X3 3", "Cortex-A715 2", "Cortex-A710 1", "Cortex-A510 0"]);
}

#[test]
fn a_node_may_have_memory_and_no_cpu() {
    let tree = FakeMachine::default()
        .tree()
        .file("/sys/devices/system/node/node2/cpulist", "\n")
        .file("/sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:       2048 kB\n");
    let topology = read(&tree);
    let node = &topology.nodes[1];
    assert_eq!((node.id, node.cpus.len(), node.memory), (2, 0, Some(2 << 20)));
    assert_eq!(topology.document(None, &[], &Words::NONE).nodes.len(), 2);
}

#[test]
fn memory_of_cpus_is_that_of_their_nodes() {
    let check = |topology: &Topology, cpus: &str, expected: Option<&str>| {
        let found = topology.memory_of(&cpus.parse().unwrap());
        assert_eq!(found.map(|nodes| nodes.to_string()), expected.map(str::to_owned), "{cpus}");
    };
    let two = FakeMachine { packages: 2, ..FakeMachine::default() };
    let topology = read(&two.tree());
    check(&topology, "4-5", Some("1"));
    check(&topology, "3-4", None);
    check(&topology, "", None);
    check(&read(&FakeMachine::default().tree()), "3", None);
    // Memory without CPUs is far from all of them; CPUs without memory have that of others.
    let far = FakeMachine::default().tree().file("/sys/devices/system/node/node2/cpulist", "\n");
    check(&read(&far), "3", Some("0"));
    let none = "Node 1 MemTotal:       0 kB\n";
    let bare = FakeMachine { packages: 3, ..FakeMachine::default() }
        .tree()
        .file("/sys/devices/system/node/node1/meminfo", none);
    check(&read(&bare), "4", None);
    check(&read(&bare), "3-4", None);
    check(&read(&bare), "8", Some("2"));
}

#[test]
fn a_machine_without_nodes_has_one_in_its_document() {
    let tree = FakeMachine::default().tree().without("/sys/devices/system/node");
    let topology = read(&tree);
    assert!(topology.nodes.is_empty());
    let document = topology.document(None, &[], &Words::NONE);
    assert!(document.nodes[0].assumed && document.nodes[0].cpus == [0, 1, 2, 3], "{document:?}");
}

#[test]
fn a_control_group_narrows_a_tree_without_affinity() {
    let tree = FakeMachine::default()
        .tree()
        .without("/proc/self/status")
        .file("/proc/mounts", "c /sys/fs/cgroup cgroup2 rw 0 0\n")
        .file("/proc/self/cgroup", "0::/job\n")
        .file("/sys/fs/cgroup/job/cpuset.cpus.effective", "1-2\n");
    let topology = read(&tree);
    assert_eq!((topology.allowed.to_string(), topology.limits.len()), ("1-2".into(), 0));
}
