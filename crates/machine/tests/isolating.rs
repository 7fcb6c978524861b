//! Isolation: on folders whose kernel behaves as the real one does with partitions, and on the sets
//! of CPUs of the machine that runs the tests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use becalm_machine::isolate::{
    Broken, IsolateError, Isolation, Partition, clear_leftovers, companions, plan,
};
use becalm_machine::tune::{Foreign, JournalFile, MachineLock, Recovered, Wait, apply, recover};
use becalm_machine::{SysRoot, Topology};
use becalm_model::{Change, CpuSet};
use becalm_testkit::{FakeMachine, FakeTree, Sleeper, skipped};

const MOUNT: &str = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
const TOP: &str = "/sys/fs/cgroup";
const GROUP: &str = "/sys/fs/cgroup/becalm";

/// A machine of four cores with control groups of version 2.
fn unified() -> FakeTree {
    FakeMachine::default()
        .tree()
        .file("/proc/self/mountinfo", MOUNT)
        .file("/proc/sys/kernel/random/boot_id", "boot\n")
        .file(format!("{TOP}/cgroup.controllers"), "cpuset cpu memory\n")
        .file(format!("{TOP}/cgroup.subtree_control"), "cpu memory\n")
        .file(format!("{TOP}/cgroup.procs"), "1\n")
        .file(format!("{TOP}/cpuset.cpus.effective"), "0-3\n")
}

/// What a kernel makes of a partition that was asked for: the file then says so.
type Verdict = fn(&str) -> String;

fn taken(word: &str) -> String {
    word.to_owned()
}

/// Control groups of version 2 as Linux 6.12 keeps them, as far as isolation goes.
struct Kernel {
    folder: PathBuf,
    verdict: Verdict,
}

impl Kernel {
    fn root(tree: &FakeTree, verdict: Verdict) -> SysRoot {
        let kernel = Self { folder: tree.path().to_owned(), verdict };
        SysRoot::new(tree.path()).with_kernel(move |path, value| kernel.answer(path, value))
    }

    fn place(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    fn answer(&self, path: &Path, value: &str) -> io::Result<Option<String>> {
        let path = path.to_str().unwrap();
        if path == GROUP && value == "present" {
            let group = self.place(GROUP);
            fs::create_dir(&group)?;
            let hands_on = self.read(&format!("{TOP}/cgroup.subtree_control")).contains("cpuset");
            let names: &[&str] = if hands_on {
                &["cgroup.procs", "cpuset.cpus", "cpuset.cpus.partition", "cpuset.cpus.effective"]
            } else {
                &["cgroup.procs"]
            };
            for name in names {
                fs::write(
                    group.join(name),
                    if name.ends_with("partition") { "member\n" } else { "" },
                )?;
            }
            return Ok(None);
        }
        if path == GROUP {
            if !self.read(&format!("{GROUP}/cgroup.procs")).is_empty() {
                return Err(io::Error::from_raw_os_error(16));
            }
            fs::remove_dir_all(self.place(GROUP))?;
            return Ok(None);
        }
        match path.rsplit('/').next().unwrap() {
            "cgroup.subtree_control" => Ok(Some(match value {
                "+cpuset" => "cpuset cpu memory\n".to_owned(),
                "-cpuset" => "cpu memory\n".to_owned(),
                _ => return Err(io::Error::from_raw_os_error(22)),
            })),
            "cpuset.cpus.partition" => {
                let says = (self.verdict)(value);
                let (ours, others) = if says == value && value != "member" {
                    ("2-3\n", "0-1\n")
                } else {
                    ("0-3\n", "0-3\n")
                };
                fs::write(self.place(&format!("{GROUP}/cpuset.cpus.effective")), ours)?;
                fs::write(self.place(&format!("{TOP}/cpuset.cpus.effective")), others)?;
                Ok(Some(format!("{says}\n")))
            }
            "cgroup.procs" => {
                // Who goes to the top leaves the group.
                fs::write(self.place(&format!("{GROUP}/cgroup.procs")), "")?;
                Ok(None)
            }
            _ => Ok(Some(format!("{value}\n"))),
        }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.place(path)).unwrap_or_default()
    }
}

fn planned(root: &SysRoot, cpus: &str, partition: Partition) -> Result<Isolation, IsolateError> {
    let topology = Topology::read(root).unwrap();
    plan(root, &topology, &cpus.parse().unwrap(), partition)
}

/// Every file below the folder but becalm's own.
fn contents(tree: &FakeTree) -> BTreeMap<PathBuf, String> {
    let files = tree.files(|path| !path.ends_with("becalm/journal"));
    files.into_iter().map(|(path, text)| (path, text.trim_end().to_owned())).collect()
}

/// Isolates CPUs 2 and 3, looks at them, and puts everything back.
#[track_caller]
fn check(verdict: Verdict, partition: Partition, look: impl Fn(&SysRoot, &Isolation)) {
    let tree = unified();
    let before = contents(&tree);
    let root = Kernel::root(&tree, verdict);
    let isolation = planned(&root, "2-3", partition).unwrap();
    assert_eq!(isolation.group, GROUP);
    let mut journal = JournalFile::start(&root, "test", &[]).unwrap();
    let _ = apply(&root, &mut journal, &isolation.changes).unwrap();
    look(&root, &isolation);
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!(recovered.left(), [], "{recovered:?}");
    assert_eq!(contents(&tree), before);
}

fn broken(root: &SysRoot, isolation: &Isolation) -> Broken {
    isolation.check(root).unwrap_err()
}

#[test]
fn a_partition_without_cpus_is_refused() {
    let tree = unified();
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    for partition in [Partition::Isolated, Partition::Balanced] {
        let planned = plan(&root, &topology, &CpuSet::new(), partition);
        assert_eq!(planned.unwrap_err(), IsolateError::NoCpus);
    }
}

#[test]
fn a_partition_is_made_and_taken_down() {
    for partition in [Partition::Isolated, Partition::Balanced] {
        check(taken, partition, |root, isolation| {
            assert_eq!(isolation.check(root), Ok(()));
            let read = |name: &str| root.read(format!("{GROUP}/{name}")).value().unwrap();
            assert_eq!(read("cpuset.cpus"), "2-3");
            let word = if partition == Partition::Isolated { "isolated" } else { "root" };
            assert_eq!(read("cpuset.cpus.partition"), word);
            assert_eq!(isolation.stragglers(root), []);
        });
    }
}

#[test]
fn a_partition_that_the_kernel_calls_invalid_is_an_error_with_its_reason() {
    let refused = |word: &str| match word {
        "member" => word.to_owned(),
        word => format!("{word} invalid (Cpu list in cpuset.cpus not exclusive)"),
    };
    check(refused, Partition::Isolated, |root, isolation| {
        assert_eq!(
            broken(root, isolation).to_string(),
            "CPUs 2-3 are not isolated: /sys/fs/cgroup/becalm/cpuset.cpus.partition is `isolated \
             invalid (Cpu list in cpuset.cpus not exclusive)` and should be `isolated`"
        );
    });
}

#[test]
fn a_partition_that_becomes_invalid_later_is_found() {
    let tree = unified();
    let root = Kernel::root(&tree, taken);
    let isolation = planned(&root, "2-3", Partition::Balanced).unwrap();
    let mut journal = JournalFile::start(&root, "test", &[]).unwrap();
    let _ = apply(&root, &mut journal, &isolation.changes).unwrap();
    assert_eq!(isolation.check(&root), Ok(()));
    let tree = tree.file(format!("{GROUP}/cpuset.cpus.partition"), "root invalid (hotplug)\n");
    assert!(broken(&root, &isolation).to_string().contains("`root invalid (hotplug)`"));
    // It is becalm's own group: whatever became of it, it goes.
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!(recovered.left(), [], "{recovered:?}");
    assert!(!tree.path().join("sys/fs/cgroup/becalm").exists());
}

#[test]
fn whoever_is_left_inside_goes_to_the_top() {
    check(taken, Partition::Balanced, |root, _| {
        // Written past the kernel, as by a subject that left somebody behind.
        let plain = SysRoot::new(root.path());
        plain.write(format!("{GROUP}/cgroup.procs"), "4711").unwrap();
    });
}

#[test]
fn what_the_kernel_would_not_do_is_refused_before_anything_is_changed() {
    let refused = |tree: &FakeTree, cpus: &str| {
        planned(&SysRoot::new(tree.path()), cpus, Partition::Isolated).unwrap_err().to_string()
    };
    let everything = refused(&unified(), "0-3");
    assert!(everything.contains("no CPU would be left for everything else"), "{everything}");
    let tree = unified().file(format!("{TOP}/cpuset.cpus.effective"), "0-2\n");
    assert!(refused(&tree, "3").contains("only 0-2 can be reserved"));
    assert!(refused(&tree, "0-2").contains("no CPU would be left"));
    let tree = unified()
        .file(format!("{TOP}/pinned.slice/cgroup.procs"), "")
        .file(format!("{TOP}/pinned.slice/cpuset.cpus"), "1-2\n");
    let sibling = refused(&tree, "2-3");
    assert!(
        sibling.contains("CPU 2 cannot be isolated: the control group /sys/fs/cgroup/pinned.slice"),
        "{sibling}"
    );
    let tree = FakeMachine { isolated: "2-3", ..FakeMachine::default() }.tree();
    let at_boot = refused(&tree, "3");
    assert!(at_boot.contains("already isolated by the kernel's boot parameters"), "{at_boot}");
    let nothing = refused(&FakeMachine::default().tree(), "3");
    assert!(nothing.contains("no control groups are mounted"), "{nothing}");
}

#[test]
fn a_file_that_cannot_be_read_is_never_taken_for_free_cpus() {
    let pinned = format!("{TOP}/pinned.slice/cpuset.cpus");
    let readable =
        || unified().file(format!("{TOP}/pinned.slice/cgroup.procs"), "").file(&pinned, "1\n");
    planned(&SysRoot::new(readable().path()), "2-3", Partition::Isolated).unwrap();
    for file in
        [&pinned, "/sys/fs/cgroup/cgroup.subtree_control", &format!("{TOP}/cpuset.cpus.effective")]
    {
        let tree = readable().unreadable(file);
        let root = SysRoot::new(tree.path());
        let error = planned(&root, "2-3", Partition::Isolated).unwrap_err();
        let why = error.to_string();
        assert!(why.contains(file) && why.contains("cannot be read"), "{why}");
    }
    for damage in ["0-", "x", "3-1"] {
        let tree = readable().file(&pinned, damage);
        let error = planned(&SysRoot::new(tree.path()), "2-3", Partition::Isolated).unwrap_err();
        assert!(error.to_string().contains(&pinned), "{damage}: {error}");
    }
}

#[test]
fn a_group_without_a_journal_is_cleared_away() {
    let tree = unified();
    let root = Kernel::root(&tree, taken);
    let before = contents(&tree);
    assert_eq!(clear_leftovers(&root), Vec::<String>::new());
    root.make_folder(GROUP).unwrap();
    let said = clear_leftovers(&root);
    assert!(said[0].contains("left /sys/fs/cgroup/becalm;"), "{said:?}");
    assert_eq!(contents(&tree), before);
}

#[test]
fn a_group_or_slice_of_somebody_else_is_left_and_named() {
    let check = |tree: &FakeTree, path: &str| {
        let before = contents(tree);
        let root = Kernel::root(tree, taken);
        assert_eq!(clear_leftovers(&root), Vec::<String>::new());
        let refused = planned(&root, "2-3", Partition::Isolated).unwrap_err();
        assert_eq!(refused, IsolateError::Occupied(path.to_owned()));
        assert_eq!(contents(tree), before);
    };
    check(&unified().file(format!("{GROUP}/cgroup.procs"), "4711\n"), GROUP);
    let slice = format!("{TOP}/becalm.slice");
    let kept = || unified().file(format!("{slice}/cgroup.procs"), "");
    let file = "/run/systemd/system/becalm.slice";
    check(&kept().file(file, "[Slice]\nMemoryMax=1G\n"), &slice);
    let ours = "[Unit]\nDescription=CPUs that becalm measures on\n[Slice]\nAllowedCPUs=2-3\n";
    let shared = kept().file(file, ours).file(format!("{slice}/db.service/cgroup.procs"), "7\n");
    check(&shared, &slice);
    // What a killed becalm leaves has somebody inside, too.
    let partition = unified()
        .file(format!("{GROUP}/cgroup.procs"), "4711\n")
        .file(format!("{GROUP}/cpuset.cpus.partition"), "root invalid (hotplug)\n");
    let said = clear_leftovers(&Kernel::root(&partition, taken));
    assert!(said[0].contains("left /sys/fs/cgroup/becalm;"), "{said:?}");
}

#[test]
fn who_may_run_on_cpus_that_are_offline_has_chosen_nothing() {
    let tree = unified()
        .file("/proc/8/stat", "8 (sh) S 1 8 8 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 76 0 0\n")
        .file("/proc/8/status", "Name:\tsh\nCpus_allowed_list:\t0-7\n");
    let isolation = planned(&SysRoot::new(tree.path()), "2-3", Partition::Isolated).unwrap();
    assert!(isolation.changes.iter().all(|change| change.new.is_some()), "{isolation:?}");
}

#[test]
fn a_thread_that_chose_its_cpus_has_them_saved() {
    let tree = unified()
        .file("/proc/9/stat", "9 (db) S 1 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n")
        .file("/proc/9/status", "Name:\tdb\nCpus_allowed_list:\t3\n")
        .file("/proc/8/stat", "8 (sh) S 1 8 8 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 76 0 0\n")
        .file("/proc/8/status", "Name:\tsh\nCpus_allowed_list:\t0-3\n");
    let isolation = planned(&SysRoot::new(tree.path()), "2-3", Partition::Isolated).unwrap();
    let saved: Vec<String> = isolation
        .changes
        .iter()
        .filter(|change| change.new.is_none())
        .map(|change| format!("{} {}", change.target, change.old))
        .collect();
    assert_eq!(saved, ["CPUs of task 9 3"]);
}

#[test]
fn a_part_of_the_cache_goes_with_the_cpus() {
    let mut tree = unified()
        .file("/sys/fs/resctrl/schemata", "    L3:0=ffff\n")
        .file("/sys/fs/resctrl/info/L3/cbm_mask", "ffff\n")
        .file("/sys/fs/resctrl/info/L3/min_cbm_bits", "1\n")
        .file("/sys/fs/resctrl/info/L3/shareable_bits", "0\n");
    for cpu in 0..4 {
        tree = tree.file(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index2/id"), "0\n");
    }
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let isolation = planned(&root, "2-3", Partition::Balanced).unwrap();
    let taken = |without: &[String]| {
        let mut targets = Vec::new();
        let collect = |changes: &[Change]| {
            targets.extend(changes.iter().map(|change| change.target.to_string()));
            Ok::<_, ()>(Vec::new())
        };
        let _ = isolation.take(&root, &topology, without, collect).unwrap();
        targets.iter().filter(|target| target.starts_with("/sys/fs/resctrl/becalm")).count()
    };
    assert_eq!((taken(&[]), taken(&["resctrl".to_owned()])), (3, 0));
}

/// What becalm may change in the cpuset hierarchy of this machine: its own sets, and whether the top is
/// balanced. Others make and remove sets at any time.
fn sets(top: &str) -> ([bool; 2], String) {
    let folders = ["becalm", "becalm-others"].map(|name| Path::new(top).join(name).exists());
    let balance = fs::read_to_string(format!("{top}/cpuset.sched_load_balance")).unwrap();
    (folders, balance)
}

#[test]
fn sets_of_cpus_of_version_1_are_made_and_taken_down_here() {
    const TEST: &str = "sets_of_cpus_of_version_1";
    const TOP: &str = "/sys/fs/cgroup/cpuset";
    let root = SysRoot::default();
    let topology = Topology::read(&root).unwrap();
    let Some(last) = topology.online.iter().next_back().filter(|_| topology.online.len() > 1)
    else {
        return skipped(&format!("{TEST}: one CPU only"));
    };
    if !Path::new(TOP).join("cpuset.cpus").exists() {
        return skipped(&format!("{TEST}: no cpuset hierarchy of version 1"));
    }
    let cpus: CpuSet = [last].into_iter().collect();
    let wait = Wait::For(Duration::from_secs(120));
    let lock = match MachineLock::take(&root, TEST, wait, &|| false) {
        Ok(lock) => lock,
        Err(error) => return skipped(&format!("{TEST}: {error}")),
    };
    let _ = recover(&root, Foreign::Leave).unwrap();
    let before = sets(TOP);
    let child = Sleeper::start();
    let of_child = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    let at_first = (of_child("cgroup"), allowed(&of_child("status")));

    let isolation = match plan(&root, &topology, &cpus, Partition::Isolated) {
        Ok(isolation) => isolation,
        Err(error) => return skipped(&format!("{TEST}: {error}")),
    };
    let mut journal = JournalFile::start(&root, TEST, &[]).unwrap();
    let without: Vec<String> = companions().into_iter().map(str::to_owned).collect();
    let make = |changes: &[Change]| apply(&root, &mut journal, changes);
    let _ = isolation.take(&root, &topology, &without, make).unwrap();
    let holds = isolation.check(&root);
    let aside = (of_child("cgroup"), allowed(&of_child("status")));
    // Somebody who was started meanwhile is nobody's business of the journal.
    let born = Sleeper::start();
    let recovered = recover(&root, Foreign::Leave).unwrap();
    let at_last = (of_child("cgroup"), allowed(&of_child("status")));
    let of_born = fs::read_to_string(format!("/proc/{}/cgroup", born.id())).unwrap();
    drop(lock);
    assert_eq!(holds, Ok(()));
    assert!(aside.0.contains(":cpuset:/becalm-others\n"), "{}", aside.0);
    assert!(!aside.1.contains(last), "{}", aside.1);
    assert_eq!(at_last, at_first);
    assert!(of_born.contains(":cpuset:/\n"), "{of_born}");
    assert_eq!(sets(TOP), before);
    assert!(
        matches!(recovered, Recovered::Restored(_)) && recovered.left().is_empty(),
        "{recovered:?}"
    );
}

fn allowed(status: &str) -> CpuSet {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.parse().unwrap()
}
