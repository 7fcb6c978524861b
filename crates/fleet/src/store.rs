//! What becalm keeps on the other machine: files by their content, and a folder for each job.
//!
//! ```text
//! STORE/bin/becalm-HASH   copies of becalm
//! STORE/files/HASH        files of jobs, so that each is sent once
//! STORE/work/PID/         a job: its files at the paths that they have on the machine that asks
//! ```
//!
//! The user may name the folder, so it may contain files of others: becalm removes only what has a name that it gives.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use becalm_kernel::file::{O_NOFOLLOW, O_NONBLOCK};

use crate::parcel::{Item, Kind, is_confined};
use crate::{hash, names};

/// Files that no job has used for so long are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// What becalm keeps.
#[derive(Debug)]
pub(crate) struct Store(PathBuf);

/// The folder of a job, removed with this.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    path: PathBuf,
    /// Tells other jobs that this one still uses its folder in the store; a folder elsewhere has none.
    lock: Option<File>,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no space, or no permission.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What arrived is not what was announced.
    #[error("{} arrived damaged", path.display())]
    Damaged {
        /// The file, of the machine that asks.
        path: PathBuf,
    },
    /// A path that leads out of the folder of the job.
    #[error("{} is not a path that a job may have", path.display())]
    Path {
        /// It.
        path: PathBuf,
    },
}

fn writing(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Write { path: path.to_owned(), source }
}

impl Store {
    /// Opens the store in this folder, makes it where it is missing, and removes what nobody uses.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let store = Self(folder.to_owned());
        for part in ["files", "work"] {
            let path = store.0.join(part);
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&path)
                .map_err(writing(&path))?;
        }
        store.forget();
        Ok(store)
    }

    /// Removes files that no job has used for long, and folders of jobs that are over. What cannot be removed stays, and what
    /// has no name of becalm's is left alone.
    fn forget(&self) {
        let own = |part: &str, is_own: fn(&str) -> bool| {
            let entries = fs::read_dir(self.0.join(part)).into_iter().flatten().flatten();
            entries.filter(move |entry| has_own_name(entry, is_own))
        };
        for entry in own("files", is_content).chain(own("bin", names::is_copy)) {
            let used = entry.metadata().and_then(|facts| facts.modified());
            let age = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
            if age.is_some_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
        for path in own("work", is_lock).map(|entry| entry.path()) {
            let is_over = File::open(&path).is_ok_and(|lock| lock.try_lock().is_ok());
            if is_over {
                let _ = fs::remove_dir_all(path.with_extension(""));
                let _ = fs::remove_file(path);
            }
        }
    }

    fn content(&self, hash: &str) -> PathBuf {
        self.0.join("files").join(hash)
    }

    /// Returns which of these files it lacks. The others count as used now: a job may wait long before it uses them.
    pub(crate) fn lacks(&self, items: &[Item]) -> Vec<usize> {
        let mut asked = BTreeSet::new();
        let mut is_lacking = |item: &Item| match &item.kind {
            Kind::File { size, hash, .. } => !self.has(hash, *size) && asked.insert(hash.clone()),
            Kind::Folder | Kind::Link(_) => false,
        };
        (0..items.len()).filter(|&index| is_lacking(&items[index])).collect()
    }

    fn has(&self, hash: &str, size: u64) -> bool {
        let has = |file: &File| file.metadata().is_ok_and(|facts| facts.len() == size);
        let found = File::open(self.content(hash)).ok().filter(has);
        if let Some(file) = &found {
            let _ = file.set_modified(SystemTime::now());
        }
        found.is_some()
    }

    /// Takes in the content of a file.
    pub(crate) fn receive(&self, item: &Item, from: impl Read) -> Result<(), StoreError> {
        let Kind::File { size, hash, .. } = &item.kind else { return Ok(()) };
        let damaged = || StoreError::Damaged { path: item.path.clone() };
        if !hash::is_hash(hash) {
            return Err(damaged());
        }
        let path = self.content(hash);
        let temporary = self.0.join("files").join(format!(".{}.new", std::process::id()));
        let file = File::create(&temporary).map_err(writing(&temporary))?;
        let received = hash::copy(from.take(*size), &file);
        let result = match received {
            Err(error) => Err(writing(&path)(error)),
            Ok(got) if got == (hash.clone(), *size) => {
                fs::rename(&temporary, &path).map_err(writing(&path))
            }
            Ok(_) => Err(damaged()),
        };
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    }

    /// Makes the folder of a job with these files, of which the store has all. It is in the store, or in another folder, of
    /// this machine alone, if other machines use the store too.
    pub(crate) fn set_up(
        &self,
        items: &[Item],
        elsewhere: Option<&Path>,
    ) -> Result<WorkFolder, StoreError> {
        let work = match elsewhere {
            None => self.own_folder()?,
            Some(folder) => temporary_folder(folder)?,
        };
        if let Some(item) = items.iter().find(|item| !item.is_confined()) {
            return Err(StoreError::Path { path: item.path.clone() });
        }
        // Links come last, so that no file is put where one of them leads.
        let (links, others): (Vec<&Item>, _) =
            items.iter().partition(|item| matches!(item.kind, Kind::Link(_)));
        for item in others.into_iter().chain(links) {
            self.place(item, &work.at(&item.path))?;
        }
        Ok(work)
    }

    /// Makes an empty folder for the job of this process.
    fn own_folder(&self) -> Result<WorkFolder, StoreError> {
        let path = self.0.join("work").join(std::process::id().to_string());
        let lock_path = path.with_extension("lock");
        let mut open = OpenOptions::new();
        let open = open.write(true).create(true).truncate(false).custom_flags(O_NOFOLLOW);
        let lock = open.open(&lock_path).map_err(writing(&lock_path))?;
        // Where files cannot be locked it is removed by who comes next, and not before.
        let _ = lock.lock();
        if path.exists() {
            fs::remove_dir_all(&path).map_err(writing(&path))?;
        }
        let mut make = fs::DirBuilder::new();
        make.mode(0o700).create(&path).map_err(writing(&path))?;
        Ok(WorkFolder { path, lock: Some(lock) })
    }

    fn place(&self, item: &Item, at: &Path) -> Result<(), StoreError> {
        let parent = if item.kind == Kind::Folder { Some(at) } else { at.parent() };
        parent.map_or(Ok(()), make_folder)?;
        match &item.kind {
            Kind::Folder => Ok(()),
            Kind::Link(to) => symlink(to, at).map_err(writing(at)),
            Kind::File { size, hash, executable, modified } => {
                let content = self.content(hash);
                let from = File::open(&content).map_err(writing(&content))?;
                // A job that runs again shows that its files are in use.
                let _ = from.set_modified(SystemTime::now());
                let to = File::create_new(at).map_err(writing(at))?;
                let copied = hash::copy(from, &to).map_err(writing(at))?;
                if copied != (hash.clone(), *size) {
                    // The next job gets it anew.
                    let _ = fs::remove_file(&content);
                    return Err(StoreError::Damaged { path: item.path.clone() });
                }
                let mode = if *executable { 0o755 } else { 0o644 };
                to.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(*modified))
                    .and_then(|()| to.set_permissions(fs::Permissions::from_mode(mode)))
                    .map_err(writing(at))
            }
        }
    }
}

/// Makes an empty folder for a job where others may write too. They cannot know its name, so nothing of theirs is in its
/// place; the length of the name is always the same, because the current folder is part of a subject's environment.
fn temporary_folder(within: &Path) -> Result<WorkFolder, StoreError> {
    let mut name = tempfile::Builder::new();
    let name = name.prefix("becalm-").permissions(fs::Permissions::from_mode(0o700));
    let made = name.tempdir_in(within).map_err(writing(within))?;
    Ok(WorkFolder { path: made.keep(), lock: None })
}

/// Says whether a file, which is no link, has a name of becalm's.
fn has_own_name(entry: &DirEntry, is_own: fn(&str) -> bool) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_file())
        && entry.file_name().to_str().is_some_and(is_own)
}

/// Says whether `files` has the content of a file by this name, or what has arrived of one.
fn is_content(name: &str) -> bool {
    let arriving = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
    hash::is_hash(name) || arriving.is_some_and(names::is_number)
}

/// Says whether `work` has the lock of a job by this name.
fn is_lock(name: &str) -> bool {
    name.strip_suffix(".lock").is_some_and(names::is_number)
}

impl WorkFolder {
    /// Returns where a path of the machine that asks is here.
    pub(crate) fn at(&self, path: &Path) -> PathBuf {
        self.path.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Makes the folder that a path of the machine that asks leads to.
    pub(crate) fn make(&self, path: &Path) -> Result<PathBuf, StoreError> {
        if !is_confined(path) {
            return Err(StoreError::Path { path: path.to_owned() });
        }
        let at = self.at(path);
        make_folder(&at).map(|()| at)
    }

    /// Returns the text of a file that the job has written, if it has. A link is not followed, and none leads there.
    pub(crate) fn written(&self, path: &Path) -> Option<String> {
        let at = self.at(path);
        let parent = at.parent()?.canonicalize().ok()?;
        if !is_confined(path) || !parent.starts_with(self.path.canonicalize().ok()?) {
            return None;
        }
        let mut open = OpenOptions::new();
        let open = open.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
        let file = open.open(parent.join(at.file_name()?)).ok()?;
        let is_file = file.metadata().is_ok_and(|facts| facts.is_file());
        is_file.then(|| io::read_to_string(file).ok())?
    }
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(writing(path))
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed is removed by a later job.
        if fs::remove_dir_all(&self.path).is_ok() && self.lock.is_some() {
            let _ = fs::remove_file(self.path.with_extension("lock"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parcel::Parcel;

    #[test]
    fn files_are_received_once_and_put_where_they_belong() {
        let scratch = tempfile::tempdir().unwrap();
        let here = scratch.path().join("here");
        fs::create_dir(&here).unwrap();
        fs::write(here.join("one"), "same").unwrap();
        fs::write(here.join("two"), "same").unwrap();
        symlink("one", here.join("link")).unwrap();
        let mut parcel = Parcel::new(&here);
        parcel.add(&here).unwrap();
        let items = parcel.items();
        let store = Store::open(&scratch.path().join("there")).unwrap();
        let lacking = store.lacks(&items);
        // Both have the same content.
        assert_eq!(lacking.len(), 1);
        let item = &items[lacking[0]];
        assert!(matches!(store.receive(item, &b"othr"[..]), Err(StoreError::Damaged { .. })));
        assert!(matches!(store.receive(item, &b"sam"[..]), Err(StoreError::Damaged { .. })));
        store.receive(item, &b"same and what follows"[..]).unwrap();
        assert_eq!(store.lacks(&items), [0; 0]);
        let work = store.set_up(&items, None).unwrap();
        for name in ["one", "two", "link"] {
            assert_eq!(fs::read_to_string(work.at(&here.join(name))).unwrap(), "same");
        }
        let path = work.path.clone();
        // A job of another process leaves it alone.
        Store::open(&scratch.path().join("there")).unwrap();
        assert!(path.exists());
        drop(work);
        assert!(!path.exists() && !path.with_extension("lock").exists());
    }

    #[test]
    fn a_copy_that_was_changed_is_not_used() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("one"), "same").unwrap();
        let mut parcel = Parcel::new(scratch.path());
        parcel.add(Path::new("one")).unwrap();
        let items = parcel.items();
        let store = Store::open(&scratch.path().join("there")).unwrap();
        store.receive(&items[0], &b"same"[..]).unwrap();
        let content = fs::read_dir(scratch.path().join("there/files")).unwrap().next().unwrap();
        fs::write(content.unwrap().path(), "evil").unwrap();
        assert!(matches!(store.set_up(&items, None), Err(StoreError::Damaged { .. })));
        assert_eq!(store.lacks(&items), [0]);
    }

    #[test]
    fn files_of_others_in_the_folder_stay() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |path: &str| scratch.path().join(path);
        for folder in ["files", "bin", "work/Cargo", "work/1x", "work/42", "bin/becalm-data"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let hash = "0123456789abcdef".repeat(4);
        let copy = format!("bin/becalm-{}", &hash[..16]);
        let foreign = [
            "files/notes.txt",
            "files/.new",
            "files/.x.new",
            "bin/becalm",
            "bin/becalm-tools",
            "bin/my-script",
            "work/Cargo.lock",
            "work/1x.lock",
            "work/.lock",
            "work/Cargo/file",
        ];
        let old = [format!("files/{hash}"), "files/.12.new".to_owned(), copy.clone()];
        let old = old.into_iter().chain([format!("{copy}.12.new"), "bin/.new-12".to_owned()]);
        let old: Vec<String> = old.collect();
        let long_ago = SystemTime::now() - 2 * KEPT;
        for path in foreign.iter().copied().chain(old.iter().map(String::as_str)) {
            File::create(at(path)).unwrap().set_modified(long_ago).unwrap();
        }
        fs::write(at("work/42.lock"), "").unwrap();
        let link = format!("bin/becalm-{}", &hash[1..17]);
        symlink("my-script", at(&link)).unwrap();
        Store::open(scratch.path()).unwrap();
        for path in foreign.iter().copied().chain(["work/1x", "bin/becalm-data", link.as_str()]) {
            assert!(at(path).symlink_metadata().is_ok(), "{path}");
        }
        for path in old.iter().map(String::as_str).chain(["work/42", "work/42.lock"]) {
            assert!(!at(path).exists(), "{path}");
        }
    }

    #[test]
    fn a_file_that_a_queued_job_will_use_stays() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("one"), "same").unwrap();
        let mut parcel = Parcel::new(scratch.path());
        parcel.add(Path::new("one")).unwrap();
        let items = parcel.items();
        let there = scratch.path().join("there");
        let store = Store::open(&there).unwrap();
        store.receive(&items[0], &b"same"[..]).unwrap();
        let content = fs::read_dir(there.join("files")).unwrap().next().unwrap().unwrap().path();
        File::open(&content).unwrap().set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        assert_eq!(store.lacks(&items), [0; 0]);
        Store::open(&there).unwrap();
        assert!(content.exists());
    }

    #[test]
    fn a_folder_beside_those_of_others_is_fresh_and_private() {
        let scratch = tempfile::tempdir().unwrap();
        let (there, shared) = (scratch.path().join("there"), scratch.path().join("tmp"));
        fs::create_dir(&shared).unwrap();
        fs::write(scratch.path().join("theirs"), "kept").unwrap();
        let number = std::process::id();
        for name in [format!("becalm-{number}"), format!("becalm-{number}.lock")] {
            symlink("../theirs", shared.join(name)).unwrap();
        }
        let store = Store::open(&there).unwrap();
        let works = [(); 2].map(|()| store.set_up(&[], Some(&shared)).unwrap());
        for work in &works {
            assert_eq!(work.path.parent(), Some(shared.as_path()));
            assert_eq!(work.path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(works);
        assert_eq!(fs::read_dir(&shared).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(scratch.path().join("theirs")).unwrap(), "kept");
    }

    #[test]
    fn what_is_sent_back_is_a_file_of_the_job() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("outside"), "secret").unwrap();
        let store = Store::open(&scratch.path().join("there")).unwrap();
        let work = store.set_up(&[], None).unwrap();
        let folder = work.make(Path::new("/in")).unwrap();
        fs::write(folder.join("file"), "written").unwrap();
        symlink(scratch.path().join("outside"), folder.join("link")).unwrap();
        symlink(scratch.path(), folder.join("away")).unwrap();
        assert_eq!(work.written(Path::new("/in/file")).as_deref(), Some("written"));
        let up = format!("/in/{}outside", "../".repeat(4));
        for path in ["/in/link", "/in/away/outside", "/in", "/in/none", "/", up.as_str()] {
            assert_eq!(work.written(Path::new(path)), None, "{path}");
        }
        assert!(matches!(work.make(Path::new("/in/../..")), Err(StoreError::Path { .. })));
    }

    #[test]
    fn nothing_is_put_outside() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::open(scratch.path()).unwrap();
        let item = Item { path: "/../../out".into(), kind: Kind::Folder };
        assert!(matches!(store.set_up(&[item], None), Err(StoreError::Path { .. })));
        let out = Item { path: "/in".into(), kind: Kind::Link("/".into()) };
        let below = Item { path: "/in/file".into(), kind: Kind::Folder };
        // A link of the same job must not lead what comes after it outside.
        assert!(store.set_up(&[out, below], None).is_err());
    }
}
