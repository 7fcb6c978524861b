//! The journal on disk: what was there before becalm changed it.
//!
//! Every line is written and synced before what it speaks of is done. There is one journal on a
//! machine, in a folder in which only root may write: who can write it could make root write anything.

mod place;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use becalm_kernel::file::{O_NOFOLLOW, O_NONBLOCK};
use becalm_model::wire::{
    JOURNAL_SCHEMA, Journal, JournalError, JournalHeader, JournalLine, VersionError,
    boot_of_journal, read_journal,
};
use becalm_model::{Change, ProcessIdentity, Target};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use self::place::make_folder;
use self::place::{check_owner, find, find_all, folder_of, places, remove_others, sync_folder};
use super::saved::{Saved, Trace};
use super::target::{self, is};
use super::task::{self, this_process};
use crate::SysRoot;

/// What is wrong with the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalFileError {
    /// It cannot be written, so nothing may be changed.
    #[error("cannot write the journal {path}: {source}; no further change is made without it")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is there and cannot be read.
    #[error(
        "cannot read the journal {path}: {source}; the machine may still be tuned. A restart of the \
         machine resets every setting; after that `becalm restore --force` moves the journal aside, so \
         that becalm can be used again"
    )]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// One of its lines makes no sense.
    #[error(
        "the journal {path} is damaged: {source}; the machine may still be tuned. `becalm restore \
         --force` puts back what the lines before the damage contain, and removes it; a restart \
         of the machine resets every setting"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: JournalError,
    },
    /// Its first line makes no sense, so that nothing tells of which boot or version the others are.
    #[error(
        "the journal {path} is damaged: {source}; the machine may still be tuned, and its former \
         state is unknown. A restart of the machine resets every setting; after that `becalm \
         restore --force` moves the journal aside, so that becalm can be used again"
    )]
    Headless {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: JournalError,
    },
    /// A newer becalm has written it.
    #[error(
        "the journal {path} cannot be used: {source}; the machine may still be tuned. To put it \
         back, run `restore` of the becalm that wrote the journal, or restart the machine"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Which version.
        source: VersionError,
    },
    /// Somebody else than root could have written it.
    #[error(
        "{path} belongs to user {owner} and has the mode {mode:o}: users other than root could \
         have written the journal there, so becalm does not follow it. Check it, and make it \
         writable by root only (chown 0 {path}; chmod go-w {path}) or remove it"
    )]
    NotOurs {
        /// Which file or folder.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who may do what with it, as for `chmod`.
        mode: u32,
    },
    /// The steward has found one of these, or was lost.
    #[error("{0}")]
    Steward(String),
}

impl Serialize for JournalFileError {
    /// What the steward finds goes over to becalm as the sentence that it prints.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JournalFileError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Steward)
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    /// All changes in it, in order.
    noted: Vec<Noted>,
}

/// A change in the journal.
#[derive(Debug)]
struct Noted {
    target: Target,
    /// What it left behind, as far as that could be read.
    settled: Option<String>,
    /// Whether nobody else has set another value since, before further changes were made.
    is_untouched: bool,
}

impl Noted {
    fn new(target: &Target, settled: Option<String>) -> Self {
        Self { target: target.clone(), settled, is_untouched: true }
    }
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
        for path in places(root) {
            match start(root, &path, &header, leftovers) {
                Ok(file) => {
                    remove_others(root, &path);
                    let noted = leftovers
                        .iter()
                        .map(|one| Noted::new(&one.change.target, settled_value(&one.trace)))
                        .collect();
                    return Ok(Self { path, file, noted });
                }
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.expect("there is at least one folder"))
    }

    /// Takes note of a guardian.
    pub fn guardian(&mut self, guardian: ProcessIdentity) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Guardian(guardian))
    }

    /// Looks whether the changes so far have the values that they left behind. To be called before further
    /// changes, which may disturb them: from then on a strange value can be becalm's own.
    pub fn look(&mut self, root: &SysRoot) {
        for one in &mut self.noted {
            let now = target::read(root, &one.target).value();
            one.is_untouched = match (&one.settled, &now) {
                (Some(settled), Some(now)) => is(&one.target, now, settled),
                _ => false,
            };
        }
    }

    /// Takes note of changes that are about to be made.
    pub fn plan(&mut self, changes: &[Change]) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Plan(changes.to_vec()))?;
        self.noted.extend(changes.iter().map(|change| Noted::new(&change.target, None)));
        Ok(())
    }

    /// Takes note of the values that all targets so far have now. What somebody else had set before the
    /// latest changes stays a value that becalm did not leave.
    pub fn settled(&mut self, root: &SysRoot) -> Result<(), JournalFileError> {
        for one in self.noted.iter_mut().filter(|one| one.is_untouched) {
            one.settled = target::read(root, &one.target).value();
        }
        let values = self.noted.iter().map(|one| one.settled.clone());
        self.append(&JournalLine::Settled(values.collect()))
    }

    /// Opens the journal that is there, to take note of what is done about it.
    pub fn reopen(root: &SysRoot) -> Result<Option<Self>, JournalFileError> {
        let Some(path) = find(root) else { return Ok(None) };
        let open = || {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).append(true).custom_flags(O_NOFOLLOW).open(&path)?;
            drop_half_line(&mut file)?;
            Ok(file)
        };
        match open() {
            Ok(file) => Ok(Some(Self { path, file, noted: Vec::new() })),
            Err(source) => Err(JournalFileError::Write { path, source }),
        }
    }

    /// Takes note that everything is about to be put back, but for what somebody else has set.
    pub fn restoring(&mut self, foreign: &[Target]) -> Result<(), JournalFileError> {
        self.append(&JournalLine::Restoring(foreign.to_vec()))
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), JournalFileError> {
        append(&mut self.file, line)
            .map_err(|source| JournalFileError::Write { path: self.path.clone(), source })
    }
}

/// Returns the journal of this machine, if there is one.
pub fn load(root: &SysRoot) -> Result<Option<Journal>, JournalFileError> {
    let Some((path, text)) = text(root)? else { return Ok(None) };
    // Without a whole first line the owner died before it had changed anything.
    read_journal(&text).map_err(|source| unusable(path, source))
}

/// Returns what the lines of the journal tell up to the first that makes no sense.
pub fn load_readable(root: &SysRoot) -> Result<Option<Journal>, JournalFileError> {
    let Some((path, text)) = text(root)? else { return Ok(None) };
    match read_journal(&text) {
        Err(JournalError::Line { line, .. } | JournalError::Path { line, .. }) => {
            let readable = text.split_inclusive(|byte| *byte == b'\n').take(line - 1);
            read_journal(&readable.flatten().copied().collect::<Vec<u8>>())
        }
        other => other,
    }
    .map_err(|source| unusable(path, source))
}

fn unusable(path: PathBuf, source: JournalError) -> JournalFileError {
    match source {
        JournalError::Line { .. } | JournalError::Path { .. } => {
            JournalFileError::Damaged { path, source }
        }
        JournalError::Version(source @ VersionError::TooNew { .. }) => {
            JournalFileError::Newer { path, source }
        }
        JournalError::Header(_) | JournalError::Version(_) => {
            JournalFileError::Headless { path, source }
        }
    }
}

/// Says whether the journal is of an earlier boot, whatever else is wrong with it.
pub(super) fn is_of_earlier_boot(root: &SysRoot) -> bool {
    let text = text(root).ok().flatten();
    let written = text.and_then(|(_, text)| boot_of_journal(&text));
    written.is_some_and(|written| !is_of_boot(&written, &boot_id(root)))
}

/// Moves a journal aside that cannot be used, and returns where to. It is kept for whoever can read more
/// of it; becalm does not look at it again.
pub(super) fn set_aside(root: &SysRoot) -> Result<Option<PathBuf>, JournalFileError> {
    let Some(path) = find(root) else { return Ok(None) };
    let is_free = |place: &PathBuf| fs::symlink_metadata(place).is_err();
    let place =
        (1..=u32::MAX).map(|number| path.with_extension(format!("damaged-{number}"))).find(is_free);
    let place = place.expect("there are more numbers than files");
    fs::rename(&path, &place)
        .and_then(|()| sync_folder(&path))
        .map_err(|source| JournalFileError::Write { path, source })?;
    Ok(Some(place))
}

/// Returns the journal as it stands in its file.
fn text(root: &SysRoot) -> Result<Option<(PathBuf, Vec<u8>)>, JournalFileError> {
    let Some(path) = find(root) else { return Ok(None) };
    let failed = |source| JournalFileError::Read { path: path.clone(), source };
    let flags = O_NOFOLLOW | O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(&path).map_err(failed)?;
    // A folder that stands for a machine belongs to whoever tests with it.
    if root.is_live() {
        let folder = folder_of(&path);
        check_owner(folder, &folder.metadata().map_err(failed)?)?;
        check_owner(&path, &file.metadata().map_err(failed)?)?;
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    Ok(Some((path, text)))
}

/// Says whether there is a journal, whether or not this process may read it.
pub fn exists(root: &SysRoot) -> bool {
    !find_all(root).is_empty()
}

/// Says whether every journal was last written before this boot, by the clock, for who may not read them. The
/// clock may have been set since: that is good enough for a warning, and for nothing else.
pub fn is_older_than_boot(root: &SysRoot) -> bool {
    let stat = root.read("/proc/stat").value().unwrap_or_default();
    let booted = stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok());
    let Some(booted) = booted.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)) else {
        return false;
    };
    let is_older = |path: &PathBuf| {
        let written = fs::symlink_metadata(path).and_then(|facts| facts.modified());
        written.is_ok_and(|written| written < booted)
    };
    find_all(root).iter().all(is_older)
}

/// Nobody answers for a journal any more, however long this process lives.
const NOBODY: ProcessIdentity = ProcessIdentity { pid: 0, start_time: 0 };

/// Leaves only `leftovers` in the journal, which could not be undone; removes it if there are none,
/// if it is there at all. Where it can be written no longer, one in the second folder takes its place.
pub fn keep_only(root: &SysRoot, leftovers: &[Saved]) -> Result<(), JournalFileError> {
    let Some(path) = find(root) else { return Ok(()) };
    remove_others(root, &path);
    let header = header(root, "what could not be put back", NOBODY);
    // Another one that cannot be removed would count again as soon as this one is gone.
    let written = if leftovers.is_empty() && find_all(root) == [path.clone()] {
        remove(&path)
    } else {
        replace(&path, &header, leftovers).map(drop)
    };
    written.or_else(|source| {
        let mut others = places(root).skip_while(|other| *other != path).skip(1);
        let is_superseded = others.any(|other| start(root, &other, &header, leftovers).is_ok());
        if is_superseded { Ok(()) } else { Err(JournalFileError::Write { path, source }) }
    })
}

/// Says whether a journal tells that everything was put back, beside one that cannot be removed.
pub(super) fn is_settled(journal: &Journal) -> bool {
    journal.header.owner == NOBODY && journal.changes.is_empty()
}

fn remove(path: &Path) -> io::Result<()> {
    // What a becalm left that was killed while it replaced its journal says nothing new.
    let _ = fs::remove_file(path.with_extension("new"));
    fs::remove_file(path)?;
    sync_folder(path)
}

/// Returns the id of this boot; empty if the kernel does not tell.
pub fn boot_id(root: &SysRoot) -> String {
    root.read("/proc/sys/kernel/random/boot_id").value().unwrap_or_default()
}

/// Says whether a journal that names the boot `written` was written in this one, whose id is `boot`. One
/// that does not tell is taken for one of this boot, because the other way round old values would be lost.
pub(super) fn is_of_boot(written: &str, boot: &str) -> bool {
    written == boot || written.is_empty() || boot.is_empty()
}

fn header(root: &SysRoot, command: &str, owner: ProcessIdentity) -> JournalHeader {
    JournalHeader {
        journal: JOURNAL_SCHEMA.to_owned(),
        boot_id: boot_id(root),
        owner,
        command: command.to_owned(),
        pid_namespace: task::pid_namespace("self"),
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
    make_folder(folder).map_err(failed)?;
    if root.is_live() {
        check_owner(folder, &folder.metadata().map_err(failed)?)?;
    }
    replace(path, header, leftovers).map_err(failed)
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
        let changes = leftovers.iter().map(|one| one.change.clone());
        append(&mut file, &JournalLine::Plan(changes.collect()))?;
        let values = leftovers.iter().map(|one| settled_value(&one.trace));
        append(&mut file, &JournalLine::Settled(values.collect()))?;
    }
    fs::rename(&fresh, path)?;
    sync_folder(path)?;
    Ok(file)
}

fn settled_value(trace: &Trace) -> Option<String> {
    match trace {
        Trace::Settled(value) => Some(value.clone()),
        Trace::Unknown | Trace::Capped | Trace::Foreign => None,
    }
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

#[cfg(test)]
mod tests;
