//! The journal on disk: what was there before becalm changed it.
//!
//! Every line is written and synced before what it speaks of is done. There is one journal on a
//! machine, in a folder that only root may enter: who can write it could make root write anything.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use becalm_model::wire::{
    JOURNAL_SCHEMA, Journal, JournalError, JournalHeader, JournalLine, ProcessDocument,
    read_journal,
};
use becalm_model::{Change, Target};

use super::task::this_process;
use crate::SysRoot;

/// Where the journal lies: the first folder that can be written. The second one does not outlive a
/// boot, which resets what becalm changes anyway.
const FOLDERS: [&str; 2] = ["/var/lib/becalm", "/run/becalm"];
const NAME: &str = "journal";

/// What is wrong with the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalFileError {
    /// It cannot be written, so nothing may be changed.
    #[error("cannot write the journal {path}: {source}; nothing further is changed without it")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is there and cannot be opened.
    #[error("cannot read the journal {path}: {source}; the machine may still be tuned")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is there and makes no sense.
    #[error(
        "the journal {path} is damaged: {source}; the machine may still be tuned. The lines of the \
         file hold the old values; a restart of the machine resets them all, then remove the file"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: JournalError,
    },
    /// Somebody else than root could have written it.
    #[error(
        "the journal {path} belongs to user {owner} or others may write it, so it cannot be \
         trusted; look at it and remove it"
    )]
    NotOurs {
        /// Which file.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
    },
}

/// A journal that is being written.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
}

impl JournalFile {
    /// Starts a journal for this process, which runs `command`. What `leftovers` tells of is not
    /// yet undone, and stays known.
    pub fn start(
        root: &SysRoot,
        command: &str,
        leftovers: &[Change],
    ) -> Result<Self, JournalFileError> {
        let header = header(root, command);
        let mut failure = None;
        for folder in FOLDERS {
            let path = root.resolve(Path::new(folder)).join(NAME);
            match start(&path, &header, leftovers) {
                Ok(file) => return Ok(Self { path, file }),
                Err(source) => {
                    failure = Some(JournalFileError::Write { path, source });
                }
            }
        }
        Err(failure.expect("there is at least one folder"))
    }

    /// Takes note of a guardian.
    pub fn guardian(&mut self, guardian: ProcessDocument) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Guardian(guardian))
    }

    /// Takes note of changes that are about to be made.
    pub fn plan(&mut self, changes: &[Change]) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Plan(changes.iter().map(Into::into).collect()))
    }

    /// Takes note of the values after all changes so far.
    pub fn settled(&mut self, values: Vec<Option<String>>) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Settled(values))
    }

    /// Opens the journal that is there, to take note of what is done about it.
    pub fn reopen(root: &SysRoot) -> Result<Option<Self>, JournalFileError> {
        let Some((path, _)) = find(root) else { return Ok(None) };
        let open = || {
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).append(true).custom_flags(libc::O_NOFOLLOW).open(&path)?;
            drop_half_line(&mut file)?;
            Ok(file)
        };
        match open() {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(source) => Err(JournalFileError::Write { path, source }),
        }
    }

    /// Takes note that everything is about to be put back, but for what somebody else has set.
    pub fn restoring(&mut self, foreign: &[Target]) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Restoring(foreign.iter().map(Into::into).collect()))
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), JournalFileError> {
        append(&mut self.file, line)
            .map_err(|source| JournalFileError::Write { path: self.path.clone(), source })
    }
}

/// Returns the journal of this machine, if there is one.
pub fn load(root: &SysRoot) -> Result<Option<Journal>, JournalFileError> {
    let Some((path, metadata)) = find(root) else { return Ok(None) };
    // A folder that stands for a machine belongs to whoever tests with it.
    if root.is_live() && (metadata.uid() != 0 || metadata.mode() & 0o022 != 0) {
        return Err(JournalFileError::NotOurs { path, owner: metadata.uid() });
    }
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(JournalFileError::Read { path, source }),
    };
    match read_journal(&text) {
        Ok(Some(journal)) => Ok(Some(journal)),
        // The owner died before it had changed anything.
        Ok(None) => Ok(None),
        Err(source) => Err(JournalFileError::Damaged { path, source }),
    }
}

/// Says whether there is a journal, whether or not this process may read it.
pub fn exists(root: &SysRoot) -> bool {
    find(root).is_some()
}

/// Leaves only `changes` in the journal, which could not be undone; removes it if there are none,
/// if it is there at all.
pub fn keep_only(root: &SysRoot, changes: &[Change]) -> Result<(), JournalFileError> {
    let Some((path, _)) = find(root) else { return Ok(()) };
    let failed = |source| JournalFileError::Write { path: path.clone(), source };
    if changes.is_empty() {
        // What a becalm left that was killed while it replaced its journal says nothing new.
        let _ = fs::remove_file(path.with_extension("new"));
        fs::remove_file(&path).map_err(failed)?;
        return sync_folder(&path).map_err(failed);
    }
    let header = header(root, "what could not be put back");
    replace(&path, &header, changes).map(|_| ()).map_err(failed)
}

/// Returns the id of this boot; empty where the kernel does not tell.
pub fn boot_id(root: &SysRoot) -> String {
    root.read("/proc/sys/kernel/random/boot_id").value().unwrap_or_default()
}

fn find(root: &SysRoot) -> Option<(PathBuf, fs::Metadata)> {
    FOLDERS.iter().find_map(|folder| {
        let path = root.resolve(Path::new(folder)).join(NAME);
        let metadata = fs::symlink_metadata(&path).ok()?;
        Some((path, metadata))
    })
}

fn header(root: &SysRoot, command: &str) -> JournalHeader {
    JournalHeader {
        journal: JOURNAL_SCHEMA.to_owned(),
        boot_id: boot_id(root),
        owner: this_process(),
        command: command.to_owned(),
    }
}

fn start(path: &Path, header: &JournalHeader, changes: &[Change]) -> io::Result<File> {
    let folder = path.parent().expect("the journal lies in a folder");
    match DirBuilder::new().mode(0o700).recursive(true).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => replace(path, header, changes),
    }
}

/// Writes a journal in place of the one that is there, if any: at every moment one of them is whole.
fn replace(path: &Path, header: &JournalHeader, changes: &[Change]) -> io::Result<File> {
    let fresh = path.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file =
        OpenOptions::new().append(true).create_new(true).mode(0o600).open(&fresh)?;
    append(&mut file, header)?;
    if !changes.is_empty() {
        append(&mut file, &JournalLine::Plan(changes.iter().map(Into::into).collect()))?;
    }
    fs::rename(&fresh, path)?;
    sync_folder(path)?;
    Ok(file)
}

/// Adds a line, whole or not at all: on a full disk half of it may be written, and would spoil the
/// line that comes after it.
fn append(file: &mut File, line: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let end = file.metadata()?.len();
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Where this fails too, whoever opens the journal next drops the half line.
        let _ = file.set_len(end);
    }
    written
}

/// Removes what a process left that was killed while it wrote a line: what that line would have
/// spoken of was not done, and the next line must not become the end of it.
fn drop_half_line(file: &mut File) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() { file.set_len(whole as u64) } else { Ok(()) }
}

/// Makes the names in a file's folder as durable as the file.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().expect("the journal lies in a folder"))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn change(value: &str) -> Change {
        Change::file("k", "/sys/k", value, "new", "why")
    }

    fn machine() -> (FakeTree, SysRoot) {
        let tree = FakeTree::new().file("/proc/sys/kernel/random/boot_id", "this-boot\n");
        let root = SysRoot::new(tree.path());
        (tree, root)
    }

    #[test]
    fn what_is_about_to_be_done_is_on_disk() {
        let (_tree, root) = machine();
        assert!(!exists(&root));
        let mut journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
        journal.plan(&[change("1")]).unwrap();
        journal.settled(vec![Some("new".into())]).unwrap();
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
        keep_only(&root, &[change("2")]).unwrap();
        assert_eq!(load(&root).unwrap().unwrap().changes, [change("2")]);
        keep_only(&root, &[]).unwrap();
        assert!(!exists(&root));
        assert_eq!(fs::read_dir(tree.path().join("var/lib/becalm")).unwrap().count(), 0);
        keep_only(&root, &[]).unwrap();
    }

    #[test]
    fn half_a_line_does_not_spoil_the_next_one() {
        // A kill in the middle of a long line, or a disk that becomes full.
        let (tree, root) = machine();
        let mut journal = JournalFile::start(&root, "becalm tune", &[]).unwrap();
        journal.plan(&[change("1")]).unwrap();
        let path = tree.path().join("var/lib/becalm/journal");
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{{\"plan\":[{{\"knob\":\"thp\"")).unwrap();
        let foreign = [Target::File("/sys/k".into())];
        JournalFile::reopen(&root).unwrap().unwrap().restoring(&foreign).unwrap();
        let read = load(&root).unwrap().unwrap();
        assert_eq!((&read.changes[..], read.restoring.as_deref()), (&[change("1")][..], Some(&foreign[..])));
    }

    #[test]
    fn without_a_journal_there_is_an_error_that_says_so() {
        let (tree, _) = machine();
        // Files in place of the folders.
        let tree = tree.file("/var", "").file("/run", "");
        let error =
            JournalFile::start(&SysRoot::new(tree.path()), "c", &[]).unwrap_err().to_string();
        assert!(error.contains("nothing further is changed without it"), "{error}");
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
}
