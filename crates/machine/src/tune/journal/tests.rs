//! The journal on disk: what survives a kill, and what is trusted.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::slice;

use becalm_testkit::FakeTree;

use super::place::check_owner;
use super::*;
use crate::tune::saved::saved;

fn change(value: &str) -> Change {
    Change::file("k", "/sys/k", value, "new", "why")
}

fn machine() -> (FakeTree, SysRoot) {
    let tree = FakeTree::new()
        .file("/proc/sys/kernel/random/boot_id", "this-boot\n")
        .file("/sys/k", "new\n");
    let root = SysRoot::new(tree.path());
    (tree, root)
}

#[test]
fn what_is_about_to_be_done_is_on_disk() {
    let (_tree, root) = machine();
    assert!(!exists(&root));
    let mut journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
    journal.plan(&[change("1")]).unwrap();
    journal.settled(&root).unwrap();
    journal.plan(&[change("2")]).unwrap();
    let read = load(&root).unwrap().unwrap();
    assert_eq!(read.header.boot_id, "this-boot");
    assert_eq!(read.changes, [change("1"), change("2")]);
    assert_eq!(read.settled, [Some("new".to_owned())]);
}

#[test]
fn what_could_not_be_undone_stays_and_the_rest_goes() {
    let (tree, root) = machine();
    let mut journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
    journal.plan(&[change("1"), change("2")]).unwrap();
    let leftover = Saved { change: change("2"), trace: Trace::Settled("odd".into()) };
    keep_only(&root, std::slice::from_ref(&leftover)).unwrap();
    let read = load(&root).unwrap().unwrap();
    assert_eq!(saved(&read), slice::from_ref(&leftover));
    // It goes on to the next journal as it is.
    JournalFile::start(&root, "the next", slice::from_ref(&leftover)).unwrap();
    assert_eq!(saved(&load(&root).unwrap().unwrap()), [leftover]);
    keep_only(&root, &[]).unwrap();
    assert!(!exists(&root));
    assert_eq!(fs::read_dir(tree.path().join("var/lib/becalm")).unwrap().count(), 0);
    keep_only(&root, &[]).unwrap();
}

#[test]
fn who_may_not_read_a_journal_sees_by_the_clock_whether_a_restart_came_after_it() {
    let (tree, root) = machine();
    let _journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
    assert!(!is_older_than_boot(&root), "nothing tells when this boot was");
    let tree = tree.file("/proc/stat", "cpu 1\nbtime 1700000000\n");
    assert!(!is_older_than_boot(&root));
    let _tree = tree.file("/proc/stat", "cpu 1\nbtime 99999999999\n");
    assert!(is_older_than_boot(&root));
}

#[test]
fn half_a_line_does_not_spoil_the_next_one() {
    // A kill in the middle of a long line, or a disk that becomes full.
    let (tree, root) = machine();
    let mut journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
    journal.plan(&[change("1")]).unwrap();
    journal.plan(&[change("2")]).unwrap();
    let path = tree.path().join("var/lib/becalm/journal");
    let text = fs::read_to_string(&path).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end + 1).collect();
    let foreign = [Target::File("/sys/k".into())];
    for cut in ends[0]..=text.len() {
        fs::write(&path, &text[..cut]).unwrap();
        JournalFile::reopen(&root).unwrap().unwrap().restoring(&foreign).unwrap();
        let read = load(&root).unwrap().unwrap();
        let whole_plans = ends[1..].iter().filter(|end| **end <= cut).count();
        assert_eq!((read.changes.len(), read.restoring), (whole_plans, Some(foreign.to_vec())));
    }
}

#[test]
fn without_a_journal_there_is_an_error_that_says_so() {
    let (tree, _) = machine();
    // Files in place of the folders.
    let tree = tree.file("/var", "").file("/run", "");
    let error = JournalFile::start(&SysRoot::new(tree.path()), "c", &[]).unwrap_err().to_string();
    assert!(error.contains("no further change is made without it"), "{error}");
}

#[test]
fn a_second_folder_serves_where_the_first_cannot_be_written() {
    let (tree, _) = machine();
    let tree = tree.file("/var", "");
    let root = SysRoot::new(tree.path());
    let _journal = JournalFile::start(&root, "c", &[]).unwrap();
    assert!(tree.path().join("run/becalm/journal").exists());
    assert!(load(&root).unwrap().is_some());
}

#[test]
fn of_two_journals_none_is_forgotten_and_none_comes_back() {
    let (tree, root) = machine();
    let in_memory = tree.path().join("run/becalm/journal");
    let on_disk = tree.path().join("var/lib/becalm/journal");
    // /var could not be written at first, and then it could.
    let mut first = JournalFile::start(&root, "first", &[]).unwrap();
    first.plan(&[change("1")]).unwrap();
    fs::create_dir_all(in_memory.parent().unwrap()).unwrap();
    fs::rename(&on_disk, &in_memory).unwrap();
    let leftovers = saved(&load(&root).unwrap().unwrap());
    JournalFile::start(&root, "second", &leftovers).unwrap();
    assert!(on_disk.exists() && !in_memory.exists());
    // A journal on disk that cannot be removed, of an earlier boot, and one of this boot.
    let text = fs::read_to_string(&on_disk).unwrap();
    fs::write(&in_memory, &text).unwrap();
    fs::write(&on_disk, text.replace("this-boot", "earlier-boot")).unwrap();
    assert_eq!(load(&root).unwrap().unwrap().header.boot_id, "this-boot");
}

#[test]
fn every_way_of_being_unusable_has_a_message_of_its_own() {
    let check = |text: &[u8], told: &str| {
        let (tree, root) = machine();
        let _tree = tree.file("/var/lib/becalm/journal", text);
        let error = load(&root).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert!(error.contains("the machine may still be tuned"), "{error}");
    };
    check(b"rubbish\n", "its former state is unknown");
    check(b"\xff\xfe\n", "its former state is unknown");
    check(b"{\"journal\":\"becalm/run/1\"}\n", "its former state is unknown");
    check(
        b"{\"journal\":\"becalm/journal/9\"}\n",
        "`restore` of the becalm that wrote the journal",
    );
    let (tree, root) = machine();
    let _tree = tree.unreadable("/var/lib/becalm/journal");
    let error = load(&root).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the journal"), "{error}");
}

#[test]
fn what_others_could_have_written_is_not_trusted() {
    let check = |mode: u32, is_trusted: bool| {
        let tree = FakeTree::new().file("/journal", "");
        let path = tree.path().join("journal");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let metadata = path.metadata().unwrap();
        let is_ours = metadata.uid() == 0;
        assert_eq!(check_owner(&path, &metadata).is_ok(), is_trusted && is_ours, "{mode:o}");
    };
    check(0o600, true);
    check(0o644, true);
    check(0o620, false);
    check(0o602, false);
}
