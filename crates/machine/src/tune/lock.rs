//! One tuned machine at a time.
//!
//! The lock is a file lock, which the kernel frees when the last process that shares it has ended.
//! The guardian shares the owner's, so the lock is free only when the machine is restored.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use becalm_model::wire::ProcessDocument;
use serde::{Deserialize, Serialize};

use super::task::this_process;
use crate::SysRoot;

const FOLDER: &str = "/run/becalm";
const NAME: &str = "lock";
/// How often a queue looks whether the lock is free.
const PATIENCE: Duration = Duration::from_millis(50);

/// The right to change the machine. Given up when dropped, unless a guardian shares it.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

/// How long to queue for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// For so long.
    For(Duration),
    /// Until it is free.
    Forever,
}

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: ProcessDocument,
    /// Its command.
    pub command: String,
}

/// Why the lock cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("the machine is being tuned by {}; nothing was changed", describe(.0.as_ref()))]
    Held(Option<Holder>),
    /// It cannot be made.
    #[error("cannot make the lock {path}: {source}; tuning needs root")]
    Make {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
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
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {
                    let is_over = match wait {
                        Wait::No => true,
                        Wait::For(limit) => waited >= limit,
                        Wait::Forever => false,
                    };
                    if is_over || stop() {
                        return Err(LockError::Held(read_holder(&mut file)));
                    }
                    std::thread::sleep(PATIENCE);
                    waited += PATIENCE;
                }
            }
        }
        let mut lock = Self { file };
        let holder = Holder { process: this_process(), command: command.to_owned() };
        lock.name_holder(&holder).map_err(failed)?;
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

/// Says who holds the lock now; `None` if it is free or cannot be looked at.
pub fn holder(root: &SysRoot) -> Option<Holder> {
    let path = root.resolve(Path::new(FOLDER)).join(NAME);
    let mut file = OpenOptions::new().read(true).open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(&mut file),
        _ => None,
    }
}

fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().expect("the lock lies in a folder");
    match DirBuilder::new().mode(0o755).recursive(true).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
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
    use becalm_testkit::FakeTree;

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
}
