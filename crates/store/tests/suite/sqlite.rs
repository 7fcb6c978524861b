//! What is special to a file.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use becalm_store::{Access, EntryFilter, HistoryLocation, Store, StoreError, open};
use becalm_testkit::skipped;

use crate::support::{Bench, added, begun_by_several, entry, values};

fn file(bench: &Bench) -> &Path {
    let HistoryLocation::File(path) = &bench.place else { panic!("not a file") };
    path
}

fn refused(place: &HistoryLocation, access: Access) -> StoreError {
    open(place, access).err().expect("it is refused")
}

#[test]
fn a_newer_history_is_refused_and_left_alone() {
    let bench = Bench::sqlite();
    added(&mut bench.open(), &entry("1", 1.0, 1.0));
    let raw = rusqlite::Connection::open(file(&bench)).unwrap();
    raw.execute_batch("PRAGMA user_version = 99").unwrap();
    for access in [Access::Write, Access::Read] {
        let error = refused(&bench.place, access);
        assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
    }
}

#[test]
fn a_history_of_before_entries_had_authors_is_read_as_it_is() {
    let bench = Bench::sqlite();
    added(&mut bench.open(), &entry("1", 1.0, 1.0));
    let raw = rusqlite::Connection::open(file(&bench)).unwrap();
    raw.execute_batch(
        "ALTER TABLE entries DROP COLUMN author; ALTER TABLE entries DROP COLUMN title; PRAGMA user_version = 3",
    )
    .unwrap();
    let of = |mut store: Store| store.entries(&EntryFilter::default()).unwrap().remove(0).commit;
    let commit = of(bench.open_for_reading()).unwrap();
    assert_eq!((commit.id.as_str(), commit.author, commit.title), ("c1", None, None));
    // Whoever writes to it brings it up to date.
    added(&mut bench.open(), &entry("2", 0.0, 1.0));
    assert_eq!(of(bench.open_for_reading()).unwrap().author.as_deref(), Some("Ada"));
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "no database at all, and rather long for one".repeat(100)).unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    for path in [text, other] {
        let before = std::fs::read(&path).unwrap();
        for access in [Access::Write, Access::Read] {
            let error = refused(&HistoryLocation::File(path.clone()), access);
            assert!(matches!(error, StoreError::HistoryLocation { .. }), "{error}");
        }
        assert!(std::fs::read(&path).unwrap() == before, "{}", path.display());
    }
}

#[test]
fn several_writers_may_begin_it_at_once() {
    for _ in 0..30 {
        begun_by_several(&Bench::sqlite());
    }
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let place = HistoryLocation::parse("/nowhere/at/all/history.db");
    let error = refused(&place, Access::Write);
    assert!(matches!(error, StoreError::HistoryLocation { .. }), "{error}");
}

/// A file system of one size that nothing else uses, for root.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(options: &str) -> Option<Self> {
        Self::by(Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]))
    }

    /// The same files once more, where nobody can write them.
    fn read_only(other: &Self) -> Option<Self> {
        Self::by(Command::new("mount").args(["-o", "bind,ro"]).arg(other.path()))
    }

    fn by(mount: &mut Command) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        mount.arg(folder.path());
        if mount.output().is_ok_and(|done| done.status.success()) {
            return Some(Self(folder));
        }
        skipped("a file system cannot be mounted here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Later, where another test has just started something that still has our files open.
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_is_told() {
    let Some(disk) = Mounted::new("size=2m") else { return };
    let place = HistoryLocation::File(disk.path().join("history.db"));
    let mut store = open(&place, Access::Write).unwrap();
    let mut kept: u32 = 0;
    let error = loop {
        let mut new = entry(&kept.to_string(), f64::from(kept), 1.0);
        // Nothing that could be compressed.
        let mut number = u64::from(kept) + 1;
        for _ in 0..2000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            write!(new.document.get_or_insert_default(), "{number:x}").unwrap();
        }
        match store.add(&new) {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 1000, "the disk is never full");
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(kept > 3, "{kept}");
    let is_whole = |store: &mut Store| {
        assert_eq!(store.entries(&EntryFilter::default()).unwrap().len(), kept as usize);
        assert_eq!(values(store)[0].1.len(), kept as usize);
    };
    is_whole(&mut store);
    drop(store);
    is_whole(&mut open(&place, Access::Read).unwrap());
    let raw = rusqlite::Connection::open(disk.path().join("history.db")).unwrap();
    let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_history_is_read_where_nothing_can_be_written() {
    let Some(disk) = Mounted::new("size=8m") else { return };
    let path = disk.path().join("a%20 #?.db");
    let place = HistoryLocation::File(path.clone());
    for at in 0..3 {
        added(&mut open(&place, Access::Write).unwrap(), &entry(&at.to_string(), 1.0, 1.0));
    }
    // At a second place: for a moment other tests have our files open too, and then no file system is made
    // read-only.
    let Some(same) = Mounted::read_only(&disk) else { return };
    let unwritable = HistoryLocation::File(same.path().join("a%20 #?.db"));
    let mut store = open(&unwritable, Access::Read).unwrap();
    assert_eq!(values(&mut store)[0].1.len(), 3);
    drop(store);
    let error = refused(&unwritable, Access::Write);
    assert!(matches!(error, StoreError::HistoryLocation { .. }), "{error}");
    // A log that its writer left, because it was killed.
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("PRAGMA wal_autocheckpoint = 0; DELETE FROM points").unwrap();
    std::fs::copy(disk.path().join("a%20 #?.db-wal"), disk.path().join("kept")).unwrap();
    drop(raw);
    std::fs::rename(disk.path().join("kept"), disk.path().join("a%20 #?.db-wal")).unwrap();
    let told = refused(&unwritable, Access::Read).to_string();
    assert!(told.contains("its last writer left a log"), "{told}");
}
