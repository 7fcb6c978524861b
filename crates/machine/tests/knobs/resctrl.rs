//! A part of the caches for the measured CPUs, with a resctrl that answers as the kernel does.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becalm_machine::SysRoot;
use becalm_machine::knobs::NoteKind;
use becalm_machine::tune::{Applied, Foreign, JournalFile, Recovered, apply, journal, recover};
use becalm_testkit::{FakeMachine, FakeTree};

use crate::{CPU, lines, only, planned};

const TOP: &str = "/sys/fs/resctrl";
const GROUP: &str = "/sys/fs/resctrl/becalm";
const INVALID: i32 = 22;
const NO_SPACE: i32 = 28;

/// Two cores of two threads that share an L3, of which devices use the two highest of eleven ways.
fn machine() -> FakeTree {
    let machine = FakeMachine { cores: 2, threads: 2, cpufreq: false, ..FakeMachine::default() };
    let mut tree = machine.tree().file("/proc/sys/kernel/random/boot_id", "boot\n");
    for cpu in 0..4 {
        tree = tree
            .file(format!("{CPU}/cpu{cpu}/cache/index1/id"), format!("{}\n", cpu % 2))
            .file(format!("{CPU}/cpu{cpu}/cache/index2/id"), "0\n");
    }
    tree
}

fn resctrl(tree: FakeTree, resource: &str, schemata: &str) -> FakeTree {
    let info = format!("{TOP}/info/{resource}");
    tree.file(format!("{TOP}/schemata"), schemata)
        .file(format!("{TOP}/cpus_list"), "0-3\n")
        .file(format!("{TOP}/mode"), "shareable\n")
        .file(format!("{TOP}/mon_groups/.keep"), "")
        .file(format!("{info}/cbm_mask"), "7ff\n")
        .file(format!("{info}/min_cbm_bits"), "1\n")
        .file(format!("{info}/num_closids"), "16\n")
        .file(format!("{info}/shareable_bits"), "600\n")
}

fn tree() -> FakeTree {
    resctrl(machine(), "L3", "    L3:0=7ff\n    MB:0=100\n")
        .file(format!("{TOP}/info/MB/bandwidth_gran"), "10\n")
        .file(format!("{TOP}/info/MB/min_bandwidth"), "10\n")
        .file(format!("{TOP}/info/MB/num_closids"), "8\n")
}

fn group(tree: FakeTree, name: &str, cpus: &str, schemata: &str) -> FakeTree {
    tree.file(format!("{TOP}/{name}/schemata"), schemata)
        .file(format!("{TOP}/{name}/cpus_list"), format!("{cpus}\n"))
        .file(format!("{TOP}/{name}/mode"), "shareable\n")
}

/// What Linux does with these files, as far as becalm uses them.
fn kernel(folder: &Path, path: &Path, value: &str) -> io::Result<Option<String>> {
    let refuse = |code: i32| Err(io::Error::from_raw_os_error(code));
    let place = |path: &str| folder.join(path.trim_start_matches('/'));
    let path = path.to_str().unwrap();
    match (path, value) {
        (GROUP, "present") => {
            let default = fs::read_to_string(place(&format!("{TOP}/schemata"))).unwrap();
            fs::create_dir(place(GROUP))?;
            fs::write(place(&format!("{GROUP}/schemata")), default)?;
            fs::write(place(&format!("{GROUP}/cpus_list")), "\n")?;
            Ok(None)
        }
        (GROUP, _) => {
            fs::remove_dir_all(place(GROUP))?;
            Ok(None)
        }
        (path, value) if path.ends_with("/schemata") => {
            if !value.ends_with('\n') {
                return refuse(INVALID);
            }
            let shown = fs::read_to_string(place(path))?;
            let entries = |text: &str| -> Option<BTreeMap<(String, String), String>> {
                let mut all = BTreeMap::new();
                for line in text.lines() {
                    let (resource, domains) = line.trim().split_once(':')?;
                    for domain in domains.split(';') {
                        let (id, value) = domain.split_once('=')?;
                        all.insert((resource.to_owned(), id.to_owned()), value.trim().to_owned());
                    }
                }
                Some(all)
            };
            let (Some(mut now), Some(wanted)) = (entries(&shown), entries(value)) else {
                return refuse(INVALID);
            };
            for ((resource, id), value) in wanted {
                let Some(known) = now.get_mut(&(resource.clone(), id)) else {
                    return refuse(INVALID);
                };
                let mask = u64::from_str_radix(&value, 16).unwrap();
                let low = mask >> mask.trailing_zeros().min(63);
                if resource != "MB" && (mask == 0 || low & (low + 1) != 0) {
                    return refuse(INVALID);
                }
                *known =
                    if resource == "MB" { format!("{value:>3}") } else { format!("{mask:03x}") };
            }
            let line = |((resource, id), value)| format!("    {resource}:{id}={value}\n");
            Ok(Some(now.into_iter().map(line).collect()))
        }
        (_, value) => Ok(Some(format!("{value}\n"))),
    }
}

fn live(
    tree: &FakeTree,
    is_refused: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> (SysRoot, Arc<AtomicUsize>) {
    let folder = tree.path().to_owned();
    let writes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&writes);
    let root = SysRoot::new(tree.path()).with_kernel(move |path: &Path, value: &str| {
        if is_refused(counter.fetch_add(1, Ordering::Relaxed)) {
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        kernel(&folder, path, value)
    });
    (root, writes)
}

fn contents(tree: &FakeTree) -> BTreeMap<PathBuf, String> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let files = tree.files(|path| !path.ends_with("becalm/journal"));
    files.into_iter().map(|(path, text)| (path, words(text))).collect()
}

fn make(root: &SysRoot) -> Vec<Applied> {
    let plan = planned(root, &only("resctrl"));
    let mut journal = JournalFile::start(root, "test", &[]).unwrap();
    apply(root, &mut journal, &plan.changes).unwrap()
}

#[track_caller]
fn check_plan(tree: &FakeTree, expected: &[&str]) {
    let plan = planned(&SysRoot::new(tree.path()), &only("resctrl"));
    let set: Vec<String> =
        lines(&plan).iter().map(|line| line.replace(TOP, "").trim_start().to_owned()).collect();
    assert_eq!(set, expected, "{:?}", plan.notes);
}

#[track_caller]
fn check_refused(tree: &FakeTree, kind: NoteKind, why: &str) {
    let plan = planned(&SysRoot::new(tree.path()), &only("resctrl"));
    assert_eq!(lines(&plan), Vec::<String>::new());
    let [note] = &plan.notes[..] else { panic!("{:?}", plan.notes) };
    assert!(note.kind == kind && note.text.contains(why), "{note:?}");
}

/// What `becalm` gets, and what everything else has before and afterwards.
#[track_caller]
fn check_shares(tree: &FakeTree, own: &str, before: &str, after: &str) {
    let expected = [
        "/becalm absent -> present".to_owned(),
        format!("/becalm/schemata  -> {own}"),
        "/becalm/cpus_list  -> 1,3".to_owned(),
        format!("/schemata {before} -> {after}"),
    ];
    check_plan(tree, &expected.each_ref().map(String::as_str));
}

#[test]
fn the_measured_cpus_get_ways_that_nobody_else_fills() {
    check_shares(&tree(), "L3:0=ff", "L3:0=7ff MB:0=100", "L3:0=700 MB:0=50");
    // Code and data apart, and a second L3 on which nothing is measured.
    let apart = resctrl(machine(), "L3CODE", "L3DATA:0=7ff;1=7ff\nL3CODE:0=7ff;1=7ff\n");
    let (before, after) = ("L3CODE:0=7ff L3DATA:0=7ff", "L3CODE:0=700 L3DATA:0=700");
    check_shares(&apart, "L3CODE:0=ff L3DATA:0=ff", before, after);
    // A group of somebody else keeps what it has, also one whose ways are locked.
    let other = group(tree(), "pod7", "0", "L3:0=00f\nMB:0=100\n")
        .file(format!("{TOP}/schemata"), "L3:0=7f0\nMB:0=100\n");
    check_shares(&other, "L3:0=f0", "L3:0=7f0 MB:0=100", "L3:0=700 MB:0=50");
    let locked = group(tree(), "locked", "", "L3:0=0x003\n")
        .file(format!("{TOP}/schemata"), "L3:0=7fc\nMB:0=100\n");
    check_shares(&locked, "L3:0=fc", "L3:0=7fc MB:0=100", "L3:0=700 MB:0=50");
    // AMD counts the bandwidth in eighths of a GB/s, and Linux can count it in MB/s.
    let amd = tree().file(format!("{TOP}/schemata"), "    L3:0=7ff\n    MB:0=2048\n");
    check_shares(&amd, "L3:0=ff", "L3:0=7ff", "L3:0=700");
    let mount = "30 1 0:1 / /sys/fs/resctrl rw - resctrl resctrl rw,mba_MBps\n";
    let software = tree().file("/proc/self/mountinfo", mount);
    check_shares(&software, "L3:0=ff", "L3:0=7ff", "L3:0=700");
}

#[test]
fn bandwidth_alone_is_divided_too() {
    let tree = tree().file(format!("{TOP}/schemata"), "MB:0=100;1=100\n");
    let made =
        ["/becalm absent -> present", "/becalm/cpus_list  -> 1,3", "/schemata MB:0=100 -> MB:0=50"];
    check_plan(&tree, &made);
}

#[test]
fn a_second_level_that_cores_share_is_divided() {
    let mut tree = resctrl(machine(), "L2", "L2:0=7ff\n");
    for cpu in 0..4 {
        let folder = format!("{CPU}/cpu{cpu}/cache/index1");
        tree = tree
            .file(format!("{folder}/shared_cpu_list"), "0-3\n")
            .file(format!("{folder}/id"), "0\n");
    }
    check_shares(&tree, "L2:0=ff", "L2:0=7ff", "L2:0=700");
}

#[test]
fn where_nothing_can_be_divided_the_reason_is_told() {
    use NoteKind::{AlreadyQuiet, NotHere, Refused};
    check_refused(&machine(), NotHere, "there is no /sys/fs/resctrl");
    let unmounted = machine().file(format!("{TOP}/x"), "").without(format!("{TOP}/x"));
    check_refused(&unmounted, Refused, "`mount -t resctrl resctrl /sys/fs/resctrl`");
    check_refused(&tree().file(format!("{TOP}/schemata"), "\n"), NotHere, "does not divide them");
    let at_top = |name: &str, text: &str| tree().file(format!("{TOP}/{name}"), format!("{text}\n"));
    check_refused(&at_top("schemata", "rubbish"), Refused, "contains `rubbish`");
    check_refused(
        &tree().unreadable(format!("{TOP}/schemata")),
        Refused,
        "schemata cannot be read",
    );
    check_refused(&at_top("mode", "exclusive"), Refused, "mode `exclusive`");
    check_refused(&at_top("info/L3/num_closids", "1"), Refused, "1 classes of service");
    check_refused(&at_top("info/L3/cbm_mask", "x"), Refused, "cbm_mask contains `x`");
    let nowhere = tree().without(format!("{TOP}/info/L3/shareable_bits"));
    check_refused(&nowhere, Refused, "shareable_bits does not exist here");
    let full =
        at_top("info/L3/shareable_bits", "7ff").without(format!("{TOP}/info/MB/min_bandwidth"));
    let plan = planned(&SysRoot::new(full.path()), &only("resctrl"));
    assert_eq!(lines(&plan), Vec::<String>::new());
    assert!(plan.notes[0].text.contains("no ways to spare"), "{:?}", plan.notes);
    let here = tree().file("/proc/self/cpu_resctrl_groups", "res:/pod7\nmon:\n");
    check_refused(&here, Refused, "becalm itself is in the group /pod7");
    let there = group(tree(), "becalm", "", "L3:0=7ff\n");
    check_refused(&there, Refused, "/sys/fs/resctrl/becalm already exists");
    let theirs = group(tree(), "pod7", "2-3", "L3:0=00f\n");
    check_refused(&theirs, Refused, "CPU 3 is in the group pod7");
    let setup = group(tree(), "lock", "", "L3:uninitialized\n");
    check_refused(&setup, Refused, "the part of that group is unknown");
    let unnumbered = tree().without(format!("{CPU}/cpu1/cache/index2/id"));
    check_refused(&unnumbered, Refused, "index2/id does not exist here");
    let mut alone = tree();
    for cpu in 0..4 {
        let (own, folder) =
            (if cpu % 2 == 0 { "0,2" } else { "1,3" }, format!("{CPU}/cpu{cpu}/cache"));
        alone = alone
            .file(format!("{folder}/index2/shared_cpu_list"), format!("{own}\n"))
            .file(format!("{folder}/index2/id"), format!("{}\n", cpu % 2));
    }
    check_refused(&alone, AlreadyQuiet, "share no cache that can be divided");
}

#[test]
fn everything_is_as_it_was_whatever_the_kernel_refuses() {
    let before = contents(&tree());
    let before: Vec<&String> = before.values().collect();
    let writes = {
        let tree = tree();
        let (root, writes) = live(&tree, |_| false);
        let applied = make(&root);
        assert!(applied.iter().all(|one| !one.is_failure()), "{applied:?}");
        let shown = |path: &str| root.read(path).value().unwrap();
        assert_eq!(shown(&format!("{TOP}/schemata")), "    L3:0=700\n    MB:0= 50");
        assert_eq!(shown(&format!("{GROUP}/schemata")), "    L3:0=0ff\n    MB:0=100");
        assert_eq!(shown(&format!("{GROUP}/cpus_list")), "1,3");
        writes.load(Ordering::Relaxed)
    };
    // The second half is met while everything is put back.
    for refused in 0..2 * writes {
        let tree = tree();
        let (root, _) = live(&tree, move |number| number == refused);
        let applied = make(&root);
        let narrowed = root.read(format!("{TOP}/schemata")).value().unwrap().contains("700");
        let is_made = applied[..3].iter().all(|one| !one.is_failure());
        assert!(is_made || !narrowed, "nobody has what everything else lost: {applied:?}");
        // Another process, which knows the journal only.
        let recovered = recover(&root, Foreign::Leave).unwrap();
        assert_eq!(recovered.left(), [], "{recovered:?}");
        assert_eq!(contents(&tree).values().collect::<Vec<_>>(), before, "write {refused}");
        assert!(!journal::exists(&root));
    }
}

#[test]
fn what_others_do_with_other_caches_meanwhile_stays() {
    let shown = "    L3:0=7ff;1=7ff\n    MB:0=100;1=100\n";
    let tree = tree().file(format!("{TOP}/schemata"), shown);
    let schemata = format!("{TOP}/schemata");
    let check = |now: &str, foreign: usize, afterwards: &str| {
        let (root, _) = live(&tree, |_| false);
        let _ = make(&root);
        fs::write(tree.path().join("sys/fs/resctrl/schemata"), now).unwrap();
        let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else {
            panic!()
        };
        assert_eq!((restored.foreign.len(), restored.left.len()), (foreign, 0), "{restored:?}");
        let words = root.read(&schemata).value().unwrap();
        assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), afterwards);
        fs::write(tree.path().join("sys/fs/resctrl/schemata"), shown).unwrap();
    };
    check("L3:0=700;1=00f\nMB:0= 50;1=100\n", 0, "L3:0=7ff L3:1=00f MB:0=100 MB:1=100");
    check("L3:0=0f0;1=7ff\nMB:0= 50;1=100\n", 1, "L3:0=0f0;1=7ff MB:0= 50;1=100");
    // All CPUs of the other cache are switched off.
    check("L3:0=700\nMB:0= 50\n", 0, "L3:0=7ff MB:0=100");
}
