//! Apply and restore on a folder that stands for a machine, with a kernel that refuses.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use becalm_machine::knobs::{Situation, TuningRequest};
use becalm_machine::tune::{
    Effect, Foreign, JournalFile, Recovered, apply, journal, plan, recover, saved,
};
use becalm_machine::{SysRoot, Topology};
use becalm_model::{Change, Nature, Target};
use becalm_testkit::{FakeMachine, FakeTree};

const A: &str = "/sys/a";
const B: &str = "/sys/b";
const MIN: &str = "/sys/min";
const MAX: &str = "/sys/max";

fn tree() -> FakeTree {
    FakeTree::new()
        .file("/proc/sys/kernel/random/boot_id", "boot\n")
        .file(A, "1\n")
        .file(B, "always [madvise] never\n")
        .file(MIN, "800\n")
        .file(MAX, "3200\n")
}

/// A range of frequencies whose minimum may never lie above its maximum.
fn kernel(folder: &Path, path: &Path, value: &str) -> io::Result<Option<String>> {
    let number = |path: &str| -> u64 {
        let path = folder.join(path.trim_start_matches('/'));
        fs::read_to_string(path).unwrap().trim().parse().unwrap()
    };
    let refused = Err(io::Error::from_raw_os_error(22));
    match path.to_str().unwrap() {
        MIN if value.parse::<u64>().unwrap() > number(MAX) => refused,
        MAX if value.parse::<u64>().unwrap() < number(MIN) => refused,
        B => Ok(Some(
            ["always", "madvise", "never"]
                .map(|word| if word == value { format!("[{word}]") } else { word.into() })
                .join(" ")
                + "\n",
        )),
        _ => Ok(Some(format!("{value}\n"))),
    }
}

fn changes() -> Vec<Change> {
    vec![
        Change::file("a", A, "1", "0", "why"),
        // As the kernel shows it, which is not as it takes it.
        Change::file("b", B, "always [madvise] never", "never", "why"),
        Change::file("range", MAX, "3200", "700", "why"),
        Change::file("range", MIN, "800", "700", "why"),
        Change::file("range", MAX, "3200", "700", "why"),
    ]
}

/// Everything below the folder but becalm's own.
fn contents(tree: &FakeTree) -> BTreeMap<PathBuf, String> {
    tree.files(|path| !path.ends_with("becalm/journal"))
}

fn root(tree: &FakeTree) -> SysRoot {
    let folder = tree.path().to_owned();
    SysRoot::new(tree.path()).with_kernel(move |path, value| kernel(&folder, path, value))
}

#[test]
fn everything_is_as_it_was_after_restoring() {
    let tree = tree();
    let (before, root) = (contents(&tree), root(&tree));
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let applied = apply(&root, &mut file, &changes()).unwrap();
    assert!(matches!(applied[2].effect, Effect::Refused { .. }), "a maximum below the minimum");
    assert_eq!(applied[4].effect, Effect::Set);
    assert_ne!(contents(&tree), before);
    let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
    assert_eq!((restored.put_back.len(), restored.left.len()), (4, 0), "{restored:?}");
    assert_eq!(contents(&tree), before);
    assert!(!journal::exists(&root));
    assert_eq!(recover(&root, Foreign::Leave).unwrap(), Recovered::Nothing);
}

#[test]
fn interrupts_that_appear_while_tuned_get_the_cpus_of_before() {
    let tree = FakeMachine::default()
        .tree()
        .file("/proc/sys/kernel/random/boot_id", "boot\n")
        .file("/proc/irq/default_smp_affinity", "f\n")
        .file("/proc/irq/5/smp_affinity_list", "0-1\n");
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let request = TuningRequest { only: vec!["irq-affinity".to_owned()], ..Default::default() };
    let situation = Situation::of(&root, &topology, "2-3".parse().unwrap(), &request);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let _ = apply(&root, &mut file, &plan(&situation).unwrap().changes).unwrap();
    assert_eq!(root.read("/proc/irq/default_smp_affinity").value().unwrap(), "00000003");
    let tree = tree
        .file("/proc/irq/6/smp_affinity_list", "0-1\n")
        .file("/proc/irq/7/smp_affinity_list", "0\n");
    let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
    assert_eq!((restored.foreign.len(), restored.left.len()), (0, 0), "{restored:?}");
    let cpus = |number: u32| root.read(format!("/proc/irq/{number}/smp_affinity_list")).value();
    assert_eq!([5, 6, 7].map(|number| cpus(number).unwrap()), ["0-1", "0-3", "0"]);
    drop(tree);
}

/// Which writes fail.
#[derive(Debug, Clone, Copy)]
enum Failing {
    /// Only the n-th.
    Once(usize),
    /// The n-th and all later ones.
    From(usize),
}

#[test]
fn whatever_write_fails_nothing_differs_in_silence() {
    for n in 0..14 {
        check_failing(Failing::Once(n));
        check_failing(Failing::From(n));
    }
}

fn check_failing(failing: Failing) {
    let tree = tree();
    let before = contents(&tree);
    let folder = tree.path().to_owned();
    let writes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&writes);
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        let number = counter.fetch_add(1, Ordering::Relaxed);
        match failing {
            Failing::Once(n) if number == n => Err(io::Error::from_raw_os_error(5)),
            Failing::From(n) if number >= n => Err(io::Error::from_raw_os_error(5)),
            _ => kernel(&folder, path, value),
        }
    });
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &changes()).unwrap();
    let recovered = recover(&root, Foreign::Leave).unwrap();
    let left: Vec<&Target> = recovered.left().iter().map(|left| &left.change.target).collect();
    let after = contents(&tree);
    for (path, old) in &before {
        let name = format!("/{}", path.strip_prefix(tree.path()).unwrap().display());
        let is_told = left.contains(&&Target::File(name.clone()));
        assert_eq!(&after[path] == old, !is_told, "{failing:?} {name}: {recovered:?}");
    }
    assert_eq!(journal::exists(&root), !left.is_empty(), "{failing:?}");
    if left.is_empty() {
        return;
    }
    // What is left is put back as soon as the kernel allows it.
    let again = recover(&self::root(&tree), Foreign::Leave).unwrap();
    assert_eq!((again.left(), contents(&tree)), (&[][..], before), "{failing:?}");
}

#[test]
fn what_somebody_else_set_meanwhile_stays_unless_forced() {
    let check = |foreign: Foreign, expected: &str| {
        let tree = tree();
        let root = root(&tree);
        let mut file = JournalFile::start(&root, "test", &[]).unwrap();
        apply(&root, &mut file, &changes()).unwrap();
        let tree = tree.file(A, "7\n");
        let Recovered::Restored(restored) = recover(&root, foreign).unwrap() else { panic!() };
        assert_eq!(restored.foreign.len(), usize::from(foreign == Foreign::Leave));
        assert_eq!(restored.left, []);
        assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap(), expected);
        assert!(!journal::exists(&root));
    };
    check(Foreign::Leave, "7\n");
    check(Foreign::Overwrite, "1\n");
}

#[test]
fn what_somebody_else_set_before_a_second_plan_is_not_taken_for_becalms_own() {
    let tree = tree();
    let folder = tree.path().to_owned();
    // The second plan disturbs a setting of the first one, as isolation does with the CPUs of threads.
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if path == Path::new(MAX) {
            fs::write(folder.join("sys/b"), "[always] madvise never\n")?;
        }
        kernel(&folder, path, value)
    });
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let [first, second] = changes_of_two_plans();
    let both = [first, vec![second[0].clone()]].concat();
    apply(&root, &mut file, &both).unwrap();
    let tree = tree.file(A, "7\n");
    apply(&root, &mut file, &[second[1].clone()]).unwrap();
    apply(&root, &mut file, &[second[2].clone()]).unwrap();
    let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
    let foreign: Vec<String> =
        restored.foreign.iter().map(|left| left.change.target.to_string()).collect();
    assert_eq!((foreign, restored.left.len()), (vec![A.to_owned()], 0));
    let read = |path: &str| fs::read_to_string(tree.path().join(path)).unwrap();
    assert_eq!([read("sys/a"), read("sys/b")], ["7\n", "always [madvise] never\n"]);
}

#[test]
fn what_drifts_by_itself_is_put_back_whatever_it_is() {
    let tree = tree();
    let root = root(&tree);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let change = Change::file("a", A, "1", "0", "why").with(Nature::Drifts);
    apply(&root, &mut file, &[change]).unwrap();
    let tree = tree.file(A, "7\n");
    recover(&root, Foreign::Leave).unwrap();
    assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap(), "1\n");
}

#[test]
fn a_guarded_value_that_another_change_disturbs_comes_back() {
    let tree = tree();
    let folder = tree.path().to_owned();
    // Writing A resets B, as a governor does with a preference.
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if path == Path::new(A) {
            fs::write(folder.join("sys/b"), "[always] madvise never\n")?;
        }
        kernel(&folder, path, value)
    });
    let before = contents(&tree);
    let guarded = Change { new: None, ..Change::file("b", B, "madvise", "", "why") };
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let set = Change::file("a", A, "1", "0", "why");
    apply(&root, &mut file, &[set, guarded]).unwrap();
    recover(&root, Foreign::Leave).unwrap();
    assert_eq!(contents(&tree), before);
}

#[test]
fn what_a_later_change_undoes_is_not_called_set() {
    let tree = tree();
    let folder = tree.path().to_owned();
    // Writing A gives B its old value, as a service does that stops.
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if path == Path::new(A) {
            fs::write(folder.join("sys/b"), "always [madvise] never\n")?;
        }
        kernel(&folder, path, value)
    });
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    let changes =
        [Change::file("b", B, "madvise", "never", "why"), Change::file("a", A, "1", "0", "why")];
    let applied = apply(&root, &mut file, &changes).unwrap();
    assert_eq!([&applied[0].effect, &applied[1].effect], [&Effect::Ignored, &Effect::Set]);
}

#[test]
fn a_journal_of_another_boot_is_discarded_and_nothing_is_written() {
    let tree = tree();
    let root = root(&tree);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &changes()).unwrap();
    let tree = tree.file("/proc/sys/kernel/random/boot_id", "next\n");
    let tuned = contents(&tree);
    let reset = Recovered::OtherBoot { changes: 5, kept: Vec::new() };
    assert_eq!(recover(&root, Foreign::Leave).unwrap(), reset);
    assert_eq!(contents(&tree), tuned);
    assert!(!journal::exists(&root));
}

#[test]
fn what_firmware_kept_over_a_restart_is_told() {
    const PROFILE: &str = "/sys/firmware/acpi/platform_profile";
    let check = |now: &str, is_told: bool| {
        let tree = tree().file(PROFILE, "balanced\n");
        let root = root(&tree);
        let mut file = JournalFile::start(&root, "test", &[]).unwrap();
        let change = Change::file("platform-profile", PROFILE, "balanced", "performance", "why");
        apply(&root, &mut file, &[change, changes()[0].clone()]).unwrap();
        let tree = tree.file("/proc/sys/kernel/random/boot_id", "next\n").file(PROFILE, now);
        let Recovered::OtherBoot { changes: 2, kept } = recover(&root, Foreign::Leave).unwrap()
        else {
            panic!()
        };
        assert_eq!(kept.len(), usize::from(is_told), "{kept:?}");
        assert_eq!(fs::read_to_string(tree.path().join(&PROFILE[1..])).unwrap(), now);
    };
    check("performance\n", true);
    check("balanced\n", false);
    check("quiet\n", false);
}

#[test]
fn a_journal_of_another_boot_is_discarded_whatever_else_is_wrong_with_it() {
    let check = |damage: &dyn Fn(Vec<u8>) -> Vec<u8>, changes: usize| {
        let tree = tree();
        let root = root(&tree);
        let mut file = JournalFile::start(&root, "test", &[]).unwrap();
        apply(&root, &mut file, &changes_of_two_plans()[0]).unwrap();
        file.plan(&changes_of_two_plans()[1]).unwrap();
        let path = tree.path().join("var/lib/becalm/journal");
        fs::write(&path, damage(fs::read(&path).unwrap())).unwrap();
        assert!(recover(&root, Foreign::Leave).is_err(), "of this boot it is not thrown away");
        let tree = tree.file("/proc/sys/kernel/random/boot_id", "next\n");
        let tuned = contents(&tree);
        let reset = Recovered::OtherBoot { changes, kept: Vec::new() };
        assert_eq!(recover(&root, Foreign::Leave).unwrap(), reset);
        assert_eq!((contents(&tree), journal::exists(&root)), (tuned, false));
    };
    // The third line are the values of the first plan.
    let spoil_third = |text: Vec<u8>| {
        let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        lines[2] = b"{\"settled\":\xff}\n";
        lines.concat()
    };
    check(&spoil_third, 1);
    let newer = |text: Vec<u8>| {
        String::from_utf8(text).unwrap().replace("becalm/journal/1", "becalm/journal/9").into()
    };
    check(&newer, 0);
}

fn changes_of_two_plans() -> [Vec<Change>; 2] {
    let mut changes = changes();
    let second = changes.split_off(1);
    [changes, second]
}

#[test]
fn a_journal_that_cannot_be_used_goes_aside_for_whoever_insists() {
    let check = |tree: FakeTree| {
        let root = root(&tree);
        let before = contents(&tree);
        assert!(recover(&root, Foreign::Leave).is_err() && journal::exists(&root));
        for number in 1..3 {
            let Recovered::SetAside { place, why } = recover(&root, Foreign::Overwrite).unwrap()
            else {
                panic!("nothing can be read of it")
            };
            assert!(!why.is_empty() && !journal::exists(&root));
            let name = format!("var/lib/becalm/journal.damaged-{number}");
            assert_eq!(place, tree.path().join(name));
            // Nothing stands in the way of the next one, whose journal is damaged in the same way.
            fs::rename(place, tree.path().join("var/lib/becalm/journal")).unwrap();
            fs::write(tree.path().join(format!("var/lib/becalm/journal.damaged-{number}")), "")
                .unwrap();
        }
        assert!(contents(&tree).keys().all(|path| {
            before.contains_key(path) || path.to_string_lossy().contains("damaged")
        }));
    };
    check(tree().file("/var/lib/becalm/journal", "rubbish\n"));
    check(tree().file("/var/lib/becalm/journal", b"\xff\xff\n"));
    check(tree().file("/var/lib/becalm/journal", "{\"journal\":\"becalm/journal/9\"}\n"));
    check(tree().unreadable("/var/lib/becalm/journal"));
}

#[test]
fn the_oldest_value_of_a_target_is_the_one_that_comes_back() {
    // What could not be put back once, and was then changed again by the next becalm.
    let tree = tree();
    let root = root(&tree);
    let before = contents(&tree);
    let first = Change::file("a", A, "1", "0", "why");
    let mut file = JournalFile::start(&root, "first", &[]).unwrap();
    apply(&root, &mut file, &[first]).unwrap();
    let second = Change::file("a", A, "0", "5", "why");
    let leftovers = saved(&journal::load(&root).unwrap().unwrap());
    let mut file = JournalFile::start(&root, "second", &leftovers).unwrap();
    apply(&root, &mut file, &[second]).unwrap();
    recover(&root, Foreign::Leave).unwrap();
    assert_eq!(contents(&tree), before);
}

#[test]
fn what_was_left_and_then_set_by_somebody_else_is_theirs() {
    let tree = tree();
    let folder = tree.path().to_owned();
    let is_stubborn = Arc::new(AtomicBool::new(false));
    let stubborn = Arc::clone(&is_stubborn);
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if stubborn.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(16));
        }
        kernel(&folder, path, value)
    });
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &[Change::file("a", A, "1", "0", "why")]).unwrap();
    is_stubborn.store(true, Ordering::Relaxed);
    assert_eq!(recover(&root, Foreign::Leave).unwrap().left().len(), 1);
    is_stubborn.store(false, Ordering::Relaxed);
    let tree = tree.file(A, "7\n");
    let Recovered::Restored(restored) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
    assert_eq!((restored.foreign.len(), journal::exists(&root)), (1, false));
    assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap(), "7\n");
}

/// Tunes and restores a machine on which the journal cannot be removed as soon as settings are put back.
fn restored_beside_a_stuck_journal(tree: &FakeTree) -> (SysRoot, Recovered) {
    let folder = tree.path().to_owned();
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if value == "1" {
            let journal = folder.join("var/lib/becalm/journal");
            fs::rename(&journal, folder.join("was"))?;
            // For root, too, no file that could be removed.
            fs::create_dir(&journal)?;
        }
        kernel(&folder, path, value)
    });
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &[Change::file("a", A, "1", "0", "why")]).unwrap();
    let recovered = recover(&root, Foreign::Leave).unwrap();
    assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap(), "1\n");
    (root, recovered)
}

#[test]
fn a_journal_that_cannot_be_removed_counts_no_more_when_everything_is_put_back() {
    let tree = tree();
    let (_, Recovered::Restored(restored)) = restored_beside_a_stuck_journal(&tree) else {
        panic!()
    };
    assert_eq!((restored.put_back.len(), restored.stale_journal), (1, None));
    // What cannot be removed says what it said before.
    let journal = tree.path().join("var/lib/becalm/journal");
    fs::remove_dir(&journal).unwrap();
    fs::rename(tree.path().join("was"), &journal).unwrap();
    let tree = tree.file(A, "0\n");
    let root = root(&tree);
    assert_eq!(recover(&root, Foreign::Leave).unwrap(), Recovered::Nothing);
    assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap(), "0\n", "by somebody else");
    assert!(!journal::exists(&root), "and now it could be removed");
}

#[test]
fn a_journal_that_cannot_be_written_is_told_beside_what_was_put_back() {
    let tree = tree().file("/run/becalm", "is not a folder");
    let (_, Recovered::Restored(restored)) = restored_beside_a_stuck_journal(&tree) else {
        panic!()
    };
    assert_eq!(restored.put_back.len(), 1);
    let why = restored.stale_journal.unwrap();
    assert!(why.contains("/var/lib/becalm/journal: "), "{why}");
}

#[test]
fn a_journal_that_names_no_boot_is_not_thrown_away() {
    let tree = tree();
    let root = root(&tree);
    let before = contents(&tree);
    let mut file = JournalFile::start(&root, "test", &[]).unwrap();
    apply(&root, &mut file, &changes()).unwrap();
    let path = tree.path().join("var/lib/becalm/journal");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"boot_id\":\"boot\"", "\"boot_id\":\"\"")).unwrap();
    recover(&root, Foreign::Leave).unwrap();
    assert_eq!(contents(&tree), before);
}
