//! One tuned machine at a time.
//!
//! The lock is a file lock, which the kernel frees when the last process that shares it has ended.
//! The guardian shares the owner's, so the lock is free only when the machine is restored. Only root
//! may open the file: whoever can open it can hold the lock, and keep the machine from being restored.
//!
//! The file can be lost while it is held (somebody empties /run) or belong to another view of the
//! file system. Then the journal tells that a becalm is at work.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use becalm_model::ProcessIdentity;
use becalm_model::wire::Holder;
use serde::{Deserialize, Serialize};

use super::task::{is_alive_in, pid_namespace, this_process};
use super::{file_locks, journal};
use crate::{SysRoot, steward};

const FOLDER: &str = "/run/becalm";
const NAME: &str = "lock";
/// How often a queue looks whether the lock is free.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long also who does not want to queue waits: another becalm may be looking who has the lock.
const MOMENT: Duration = Duration::from_millis(50);
/// How long a process may take to end after it has given up its files, the lock among them.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// The right to change the machine. Given up when dropped, unless a guardian shares it.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

/// How long to queue for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// Not at all.
    No,
    /// For so long.
    For(Duration),
    /// Until it is free.
    Forever,
}

/// Why the lock cannot be had.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum LockError {
    /// Somebody else has it.
    #[error("the machine is being tuned by {}; nothing was changed", describe(.0.as_ref()))]
    Held(Option<Holder>),
    /// It cannot be made.
    #[error("cannot create the lock {path}: {source}; {}", without_lock(source))]
    Make {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[serde(with = "crate::steward::failure")]
        source: io::Error,
    },
}

impl LockError {
    /// Says whether root could have had it.
    pub fn needs_root(&self) -> bool {
        matches!(self, Self::Make { source, .. } if is_refused(source))
    }
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn without_lock(error: &io::Error) -> &'static str {
    if is_refused(error) { "tuning needs root" } else { "nothing was changed without it" }
}

fn describe(holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder { process, command }) => format!("`{command}` (process {})", process.pid),
        None => "another becalm".to_owned(),
    }
}

impl MachineLock {
    /// Takes the lock for `command`; `stop` ends the queue early, as Ctrl-C does.
    pub fn take(
        root: &SysRoot,
        command: &str,
        wait: Wait,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, LockError> {
        let path = root.resolve(Path::new(FOLDER)).join(NAME);
        let failed = |source| LockError::Make { path: path.clone(), source };
        let mut file = open(&path).map_err(failed)?;
        let mut waited = Duration::ZERO;
        loop {
            let (holder, at_least) = match file.try_lock() {
                Ok(()) => match at_work(root) {
                    None => break,
                    Some(holder) => {
                        file.unlock().map_err(failed)?;
                        (Some(holder), LAST_BREATH)
                    }
                },
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => (read_holder(&mut file), MOMENT),
            };
            let is_over = match wait {
                Wait::No => waited >= at_least,
                Wait::For(limit) => waited >= limit.max(at_least),
                Wait::Forever => false,
            };
            if is_over || stop() {
                return Err(LockError::Held(holder));
            }
            std::thread::sleep(PATIENCE);
            waited += PATIENCE;
        }
        let mut lock = Self { file };
        // Whoever reads it wants to end becalm, and not its steward.
        let process = steward::served().unwrap_or_else(this_process);
        let holder = Holder { process, command: command.to_owned() };
        // The name is for people. On a full /run the machine must be restored all the same.
        let _ = lock.name_holder(&holder);
        Ok(lock)
    }

    /// Writes down who holds the lock.
    pub(super) fn name_holder(&mut self, holder: &Holder) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(serde_json::to_string(holder)?.as_bytes())
    }

    /// Returns the lock as a file, for a guardian to share.
    pub fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Returns whoever is at work by the journal: its owner or its guardian, if that runs and is not this
/// process.
fn at_work(root: &SysRoot) -> Option<Holder> {
    // What is wrong with it comes up when the machine is restored.
    let journal = journal::load_readable(root).ok()??;
    if !journal::is_of_boot(&journal.header.boot_id, &journal::boot_id(root)) {
        return None;
    }
    let namespace = journal.header.pid_namespace.as_deref();
    let is_this = |one: &ProcessIdentity| {
        *one == this_process() && namespace == pid_namespace("self").as_deref()
    };
    let mut processes = std::iter::once(journal.header.owner).chain(journal.guardian);
    let process = processes.find(|one| !is_this(one) && is_alive_in(namespace, *one))?;
    Some(Holder { process, command: journal.header.command })
}

/// Says who holds the lock now; `None` if it is free or cannot be looked at.
pub fn holder(root: &SysRoot) -> Option<Holder> {
    let path = root.resolve(Path::new(FOLDER)).join(NAME);
    let mut file = OpenOptions::new().read(true).open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(&mut file),
        _ => None,
    }
}

/// Says whether somebody holds the lock, also to who may not open it.
pub fn is_held(root: &SysRoot) -> bool {
    let path = root.resolve(Path::new(FOLDER)).join(NAME);
    let Ok(facts) = path.metadata() else { return false };
    file_locks::is_held(root, &facts) || holder(root).is_some()
}

fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().expect("the lock is in a folder");
    journal::make_folder(folder)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(becalm_kernel::file::O_NOFOLLOW)
        .open(path)?;
    // An earlier becalm may have made it.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::{FakeTree, Sleeper, skipped};
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn the_second_one_is_told_who_is_first_or_waits() {
        let tree = FakeTree::new();
        let root = SysRoot::new(tree.path());
        assert_eq!(holder(&root), None);
        let first = MachineLock::take(&root, "becalm tune", Wait::No, &|| false).unwrap();
        let error = MachineLock::take(&root, "second", Wait::No, &|| false).unwrap_err();
        let expected = format!("tuned by `becalm tune` (process {})", std::process::id());
        assert!(error.to_string().contains(&expected), "{error}");
        assert_eq!(holder(&root).unwrap().command, "becalm tune");
        let short = Wait::For(Duration::from_millis(1));
        assert!(MachineLock::take(&root, "third", short, &|| false).is_err());
        assert!(MachineLock::take(&root, "fourth", Wait::Forever, &|| true).is_err());
        let shared = first.share().unwrap();
        drop(first);
        assert!(MachineLock::take(&root, "fifth", Wait::No, &|| false).is_err(), "still shared");
        drop(shared);
        assert!(MachineLock::take(&root, "sixth", Wait::Forever, &|| false).is_ok());
    }

    #[test]
    fn root_is_asked_for_only_where_it_would_help() {
        let check = |source: io::ErrorKind, needs_root: bool| {
            let error = LockError::Make { path: "/run/becalm/lock".into(), source: source.into() };
            assert_eq!(error.needs_root(), needs_root);
            assert_eq!(error.to_string().contains("needs root"), needs_root, "{error}");
        };
        check(io::ErrorKind::PermissionDenied, true);
        check(io::ErrorKind::ReadOnlyFilesystem, false);
    }

    #[test]
    fn nobody_but_root_can_hold_the_lock() {
        let tree = FakeTree::new().file("/run/becalm/lock", "");
        let path = tree.path().join("run/becalm/lock");
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let _lock = MachineLock::take(&SysRoot::new(tree.path()), "c", Wait::No, &|| false);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_lock_that_is_held_is_seen() {
        let tree = FakeTree::new();
        let root = SysRoot::new(tree.path());
        assert!(!is_held(&root));
        let _lock = MachineLock::take(&root, "c", Wait::No, &|| false).unwrap();
        let facts = tree.path().join("run/becalm/lock").metadata().unwrap();
        if !file_locks::is_held(&SysRoot::default(), &facts) {
            skipped("a_lock_that_is_held: this kernel does not list it to who may not open it");
        }
        assert!(is_held(&root));
    }

    #[test]
    fn everybody_may_ask_whether_there_is_a_lock_or_a_journal() {
        let tree = FakeTree::new().file("/run/becalm/lock", "");
        let folder = tree.path().join("run/becalm");
        // As an earlier becalm made it.
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let root = SysRoot::new(tree.path());
        let _lock = MachineLock::take(&root, "c", Wait::No, &|| false).unwrap();
        let _journal = journal::JournalFile::start(&root, "c", &[]).unwrap();
        let mode = |path: &str| tree.path().join(path).metadata().unwrap().mode() & 0o777;
        assert_eq!([mode("run/becalm"), mode("var/lib/becalm")], [0o711, 0o711]);
        assert_eq!([mode("run/becalm/lock"), mode("var/lib/becalm/journal")], [0o600, 0o600]);
    }

    #[test]
    fn who_is_at_work_by_the_journal_is_not_disturbed_though_the_lock_is_lost() {
        let tree = FakeTree::new().file("/proc/sys/kernel/random/boot_id", "boot\n");
        let root = SysRoot::new(tree.path());
        let other = Sleeper::start();
        let mut journal = journal::JournalFile::start(&root, "becalm tune", &[]).unwrap();
        // This process is the owner, which may do everything.
        assert!(MachineLock::take(&root, "own", Wait::No, &|| false).is_ok());
        journal.guardian(super::super::task::named(other.id())).unwrap();
        let refused = MachineLock::take(&root, "second", Wait::No, &|| true).unwrap_err();
        let expected = format!("`becalm tune` (process {})", other.id());
        assert!(refused.to_string().contains(&expected), "{refused}");
        drop(other);
        assert!(MachineLock::take(&root, "third", Wait::No, &|| false).is_ok());
    }
}
