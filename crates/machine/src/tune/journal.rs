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

use super::restore::{Saved, Trace};
use super::target;
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
        "{path} belongs to user {owner} or others may write it, so the journal there cannot be \
         trusted; look at it and remove it"
    )]
    NotOurs {
        /// Which file or folder.
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
    /// The targets of all changes in it, in order.
    targets: Vec<Target>,
}

impl JournalFile {
    /// Starts a journal for this process, which runs `command`, in place of the one that is there.
    /// What `leftovers` tells of is not yet undone, and stays known.
    pub fn start(
        root: &SysRoot,
        command: &str,
        leftovers: &[Saved],
    ) -> Result<Self, JournalFileError> {
        let header = header(root, command, this_process());
        let mut failure = None;
        for folder in FOLDERS {
            let path = root.resolve(Path::new(folder)).join(NAME);
            match start(root, &path, &header, leftovers) {
                Ok(file) => {
                    remove_others(root, &path);
                    let targets = leftovers.iter().map(|one| one.change.target.clone()).collect();
                    return Ok(Self { path, file, targets });
                }
                Err(error) => failure = Some(error),
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
        self.append(&JournalLine::Plan(changes.iter().map(Into::into).collect()))?;
        self.targets.extend(changes.iter().map(|change| change.target.clone()));
        Ok(())
    }

    /// Takes note of the values that all targets so far have now.
    pub fn settled(&mut self, root: &SysRoot) -> Result<(), JournalFileError> {
        let values = self.targets.iter().map(|target| target::read(root, target).value());
        self.append(&JournalLine::Settled(values.collect()))
    }

    /// Opens the journal that is there, to take note of what is done about it.
    pub fn reopen(root: &SysRoot) -> Result<Option<Self>, JournalFileError> {
        let Some(path) = find(root) else { return Ok(None) };
        let open = || {
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).append(true).custom_flags(libc::O_NOFOLLOW).open(&path)?;
            drop_half_line(&mut file)?;
            Ok(file)
        };
        match open() {
            Ok(file) => Ok(Some(Self { path, file, targets: Vec::new() })),
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
    let Some(path) = find(root) else { return Ok(None) };
    let failed = |source| JournalFileError::Read { path: path.clone(), source };
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(&path).map_err(failed)?;
    // A folder that stands for a machine belongs to whoever tests with it.
    if root.is_live() {
        let folder = folder_of(&path);
        check_owner(folder, &folder.metadata().map_err(failed)?)?;
        check_owner(&path, &file.metadata().map_err(failed)?)?;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    match read_journal(&text) {
        Ok(Some(journal)) => Ok(Some(journal)),
        // The owner died before it had changed anything.
        Ok(None) => Ok(None),
        Err(source) => Err(JournalFileError::Damaged { path, source }),
    }
}

/// Says whether there is a journal, whether or not this process may read it.
pub fn exists(root: &SysRoot) -> bool {
    !find_all(root).is_empty()
}

/// Leaves only `leftovers` in the journal, which could not be undone; removes it if there are none,
/// if it is there at all.
pub fn keep_only(root: &SysRoot, leftovers: &[Saved]) -> Result<(), JournalFileError> {
    let Some(path) = find(root) else { return Ok(()) };
    let failed = |source| JournalFileError::Write { path: path.clone(), source };
    remove_others(root, &path);
    if leftovers.is_empty() {
        // What a becalm left that was killed while it replaced its journal says nothing new.
        let _ = fs::remove_file(path.with_extension("new"));
        fs::remove_file(&path).map_err(failed)?;
        return sync_folder(&path).map_err(failed);
    }
    // Nobody answers for it any more, however long this process lives.
    let nobody = ProcessDocument { pid: 0, start_time: 0 };
    let header = header(root, "what could not be put back", nobody);
    replace(&path, &header, leftovers).map(|_| ()).map_err(failed)
}

/// Returns the id of this boot; empty where the kernel does not tell.
pub fn boot_id(root: &SysRoot) -> String {
    root.read("/proc/sys/kernel/random/boot_id").value().unwrap_or_default()
}

/// Says whether a journal was written in this boot, whose id is `boot`. One that does not tell is
/// taken for one of this boot, because the other way round old values would be lost.
pub(super) fn is_of_boot(header: &JournalHeader, boot: &str) -> bool {
    header.boot_id == boot || header.boot_id.is_empty() || boot.is_empty()
}

/// Returns where the journal lies. One of an earlier boot, which perhaps cannot be removed, hides no
/// other.
fn find(root: &SysRoot) -> Option<PathBuf> {
    let mut all = find_all(root);
    let boot = boot_id(root);
    let is_of_now = |path: &PathBuf| {
        let journal = read_journal(&fs::read_to_string(path).ok()?).ok()??;
        Some(is_of_boot(&journal.header, &boot))
    };
    let index = match all.as_slice() {
        [] => return None,
        [_] => 0,
        several => several.iter().position(|path| is_of_now(path) == Some(true)).unwrap_or(0),
    };
    Some(all.swap_remove(index))
}

fn find_all(root: &SysRoot) -> Vec<PathBuf> {
    let places = FOLDERS.iter().map(|folder| root.resolve(Path::new(folder)).join(NAME));
    places.filter(|path| fs::symlink_metadata(path).is_ok()).collect()
}

/// Removes what an earlier becalm wrote into another folder: all that it tells of is in this one.
fn remove_others(root: &SysRoot, path: &Path) {
    for other in find_all(root).iter().filter(|other| *other != path) {
        // Where that is not possible it is passed over once its boot is over.
        let _ = fs::remove_file(other);
    }
}

fn header(root: &SysRoot, command: &str, owner: ProcessDocument) -> JournalHeader {
    JournalHeader {
        journal: JOURNAL_SCHEMA.to_owned(),
        boot_id: boot_id(root),
        owner,
        command: command.to_owned(),
    }
}

fn start(
    root: &SysRoot,
    path: &Path,
    header: &JournalHeader,
    leftovers: &[Saved],
) -> Result<File, JournalFileError> {
    let failed = |source| JournalFileError::Write { path: path.to_owned(), source };
    let folder = folder_of(path);
    match DirBuilder::new().mode(0o700).recursive(true).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    if root.is_live() {
        check_owner(folder, &folder.metadata().map_err(failed)?)?;
    }
    replace(path, header, leftovers).map_err(failed)
}

/// Refuses what somebody else than root could have written: who writes the journal writes as root.
fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<(), JournalFileError> {
    if metadata.uid() == 0 && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(JournalFileError::NotOurs { path: path.to_owned(), owner: metadata.uid() })
}

/// Writes a journal in place of the one that is there, if any: at every moment one of them is whole.
fn replace(path: &Path, header: &JournalHeader, leftovers: &[Saved]) -> io::Result<File> {
    let fresh = path.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&fresh)?;
    append(&mut file, header)?;
    if !leftovers.is_empty() {
        let changes = leftovers.iter().map(|one| (&one.change).into());
        append(&mut file, &JournalLine::Plan(changes.collect()))?;
        let values = leftovers.iter().map(|one| match &one.trace {
            Trace::Settled(value) => Some(value.clone()),
            Trace::Unknown | Trace::Capped | Trace::Foreign => None,
        });
        append(&mut file, &JournalLine::Settled(values.collect()))?;
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
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().expect("the journal lies in a folder")
}

#[cfg(test)]
mod tests {
    use super::super::restore::saved;
    use super::*;
    use becalm_testkit::FakeTree;
    use std::os::unix::fs::PermissionsExt as _;
    use std::slice;

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
}
