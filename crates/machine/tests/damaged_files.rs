//! What cannot be read is never taken for nothing: each file of a machine in turn is unreadable or
//! damaged, and the topology and the choice are as before, or say so.

use std::fs;
use std::path::{Path, PathBuf};

use becalm_machine::{Choice, ChoiceFacts, SysRoot, Topology, Width, choose};
use becalm_model::TopologyLimit;
use becalm_testkit::{FakeMachine, FakeTree};

/// A machine with a file of every sort that tells of CPUs.
fn machine() -> FakeTree {
    let cpus = "/sys/devices/system/cpu";
    let machine = FakeMachine {
        cores: 4,
        threads: 2,
        efficient: 4,
        efficient_per_l2: 2,
        l3s: 2,
        offline: vec![2],
        isolated: "3,7",
        nohz_full: "3,7",
        allowed: "0-1,3-11",
        ..FakeMachine::default()
    };
    let mut tree = machine
        .tree()
        .file("/proc/cmdline", "isolcpus=3,7 nohz_full=3,7\n")
        .file("/proc/mounts", "c /sys/fs/cgroup cgroup2 rw 0 0\n")
        .file("/proc/self/cgroup", "0::/job\n")
        .file("/sys/fs/cgroup/job/cpuset.cpus.effective", "0-1,3-11\n");
    for cpu in (0..12).filter(|cpu| *cpu != 2) {
        let topology = format!("{cpus}/cpu{cpu}/topology");
        let clusters = ["0,4", "1,5", "3,7", "6", "8-9", "10-11"];
        let cluster = clusters.iter().find(|list| {
            list.parse::<becalm_model::CpuSet>().unwrap().contains(becalm_model::CpuId(cpu))
        });
        tree = tree
            .file(format!("{topology}/core_siblings_list"), "0-1,3-11\n")
            .file(format!("{topology}/cluster_cpus_list"), format!("{}\n", cluster.unwrap()))
            .file(format!("{cpus}/cpu{cpu}/online"), "1\n")
            .file(format!("/sys/devices/system/node/node0/cpu{cpu}/online"), "1\n");
    }
    tree.file(format!("{cpus}/cpu2/online"), "0\n")
}

/// What is read and chosen on a machine.
struct Answers {
    topology: Topology,
    choices: Vec<Choice>,
}

fn answers(tree: &FakeTree) -> Answers {
    let topology = topology(tree);
    let choices = choices(tree, &topology);
    Answers { topology, choices }
}

fn topology(tree: &FakeTree) -> Topology {
    Topology::read(&SysRoot::new(tree.path())).unwrap()
}

fn choices(tree: &FakeTree, topology: &Topology) -> Vec<Choice> {
    let root = SysRoot::new(tree.path());
    let facts = ChoiceFacts::read(&root);
    let several = |threads: usize| Width::Several(threads.try_into().unwrap());
    let widths = [Width::One, several(2), several(3), several(6), Width::All];
    widths.map(|width| choose(topology, &facts, width)).into()
}

/// Returns the paths of all files of a machine that hold CPUs or what the choice goes by.
fn files(tree: &FakeTree) -> Vec<PathBuf> {
    let names = [
        "online",
        "present",
        "possible",
        "isolated",
        "nohz_full",
        "cpulist",
        "cpus",
        "cpuinfo_max_freq",
        "cpuset.cpus.effective",
        "status",
    ];
    let tells = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let is_link = path.to_string_lossy().contains("/node0/cpu");
        (name.ends_with("_list") || names.contains(&name.as_ref())) && !is_link
    };
    let all = tree.files(tells).into_keys();
    all.map(|path| Path::new("/").join(path.strip_prefix(tree.path()).unwrap())).collect()
}

#[track_caller]
fn check(file: &Path, damage: &str, damaged: &FakeTree, whole: &Answers) {
    let mut found = topology(damaged);
    let case = format!("{}, {damage}", file.display());
    // No CPU is ever lost, whatever is said.
    assert_eq!(found.online, whole.topology.online, "{case}");
    assert_eq!(found.allowed, whole.topology.allowed, "{case}");
    assert_eq!(found.isolated, whole.topology.isolated, "{case}");
    assert_eq!(found.nohz_full, whole.topology.nohz_full, "{case}");
    let is_told = |limit: &TopologyLimit| !whole.topology.limits.contains(limit);
    if found.limits.iter().any(is_told) {
        return;
    }
    found.limits.clone_from(&whole.topology.limits);
    assert_eq!(found, whole.topology, "{case}");
    assert_eq!(choices(damaged, &found), whole.choices, "{case}");
}

#[test]
fn a_file_that_cannot_be_read_is_never_taken_for_no_cpu() {
    let tree = machine();
    let whole = answers(&tree);
    assert_eq!(whole.topology.limits, []);
    let files = files(&tree);
    assert!(files.len() > 80, "{} files", files.len());
    let mut tree = tree;
    for file in &files {
        let place = tree.path().join(file.strip_prefix("/").unwrap());
        let intact = fs::read(&place).unwrap();
        tree = tree.unreadable(file);
        check(file, "unreadable", &tree, &whole);
        fs::remove_dir(&place).unwrap();
        for damage in ["0-", "7-3\n", "\u{fffd}\n", "0-63,\u{0}1\n"] {
            tree = tree.file(file, damage);
            check(file, damage, &tree, &whole);
        }
        tree = tree.file(file, &intact);
    }
}

#[test]
fn a_list_without_the_cpu_that_it_is_of_is_damaged() {
    let whole = answers(&machine());
    for name in ["topology/thread_siblings_list", "topology/core_siblings_list"] {
        for text in ["", "\n", "1\n"] {
            let file = format!("/sys/devices/system/cpu/cpu0/{name}");
            let tree = machine().file(&file, text);
            check(Path::new(&file), text, &tree, &whole);
            let limits = topology(&tree).limits;
            let is_told = |limit: &TopologyLimit| matches!(limit, TopologyLimit::Unreadable { path, .. } if *path == file);
            assert!(limits.iter().any(is_told), "{limits:?}");
        }
    }
    for name in ["present", "possible"] {
        let file = format!("/sys/devices/system/cpu/{name}");
        check(Path::new(&file), "", &machine().file(&file, ""), &whole);
    }
}

/// Linux 5.15-rc wrote its lists so.
#[test]
fn a_nul_at_the_end_of_a_list_is_no_damage() {
    let mut tree = machine();
    let whole = answers(&tree);
    for file in files(&tree) {
        let place = tree.path().join(file.strip_prefix("/").unwrap());
        let text = fs::read_to_string(&place).unwrap();
        tree = tree.file(&file, format!("{text}\u{0}"));
    }
    let found = answers(&tree);
    assert_eq!((found.topology, found.choices), (whole.topology, whole.choices));
}

#[test]
fn without_any_list_the_cpus_are_those_of_the_folders() {
    let mut tree = machine();
    let whole = answers(&tree);
    for file in files(&tree).iter().filter(|file| !file.ends_with("status")) {
        tree = tree.file(file, "0-63;\n");
    }
    let found = topology(&tree);
    assert_eq!(found.allowed, whole.topology.allowed);
    assert_eq!(found.isolated, whole.topology.isolated);
    let limits = found.limits;
    let is_told = |limit: &TopologyLimit| matches!(limit, TopologyLimit::Unreadable { others, .. } if *others > 60);
    assert!(limits.iter().any(is_told), "{limits:?}");
}
