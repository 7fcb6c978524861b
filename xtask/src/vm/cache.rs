//! Where kernels, images and snapshots are kept between runs.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::target;

/// Names the folder; default is `vm` under cargo's target folder.
const VARIABLE: &str = "BECALM_VM_DIR";

/// The folder of everything that is costly to make again.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Held until the end: a disk with a snapshot is for one QEMU, and what is made has one name.
    _lock: File,
}

impl Cache {
    /// Opens the cache, which may be empty.
    pub(super) fn open() -> Result<Self> {
        let folder = if let Some(folder) = std::env::var_os(VARIABLE) {
            PathBuf::from(folder)
        } else {
            target()?.join("vm")
        };
        make_folder(&folder)?;
        let folder = folder.canonicalize()?;
        let lock = File::create(folder.join("lock"))?;
        if lock.try_lock().is_err() {
            println!("waiting for another run, which uses {}", folder.display());
            lock.lock()?;
        }
        Ok(Self { folder, _lock: lock })
    }

    /// Returns the path of an entry, whether it is there or not.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns a folder of the cache; makes it by `make`, which is given a folder beside it. One that
    /// was interrupted is made again.
    pub(super) fn folder(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let path = self.path(name);
        if !path.is_dir() {
            let fresh = self.path(&format!("{name}.new"));
            remove(&fresh)?;
            make_folder(&fresh)?;
            make(&fresh)?;
            fs::rename(&fresh, &path)
                .with_context(|| format!("cannot rename {} to its place", fresh.display()))?;
        }
        Ok(path)
    }

    /// Removes the entries called `prefix` and a [`key`], but not the one called `keep`.
    pub(super) fn forget(&self, prefix: &str, keep: &str) -> Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // A longer name with the same beginning is another thing.
            let is_one = name.strip_prefix(prefix).is_some_and(|key| !key.contains('-'));
            if is_one && name != keep {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Returns a short name for a value, by which what was made from another value is told apart.
pub(super) fn key(value: &impl Hash) -> String {
    // Stable for one release of Rust, which is long enough for a cache.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Makes a folder and those above it.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}

/// Removes a file or folder, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    let result = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (Cache, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        let lock = tempfile::tempfile().unwrap();
        (Cache { folder: place.path().to_owned(), _lock: lock }, place)
    }

    #[test]
    fn a_folder_is_made_once_and_again_after_an_interruption() {
        let (cache, _place) = empty();
        let failed = cache.folder("kernel", |folder| {
            fs::write(folder.join("half"), "")?;
            anyhow::bail!("interrupted")
        });
        assert!(failed.is_err());
        assert!(!cache.path("kernel").exists());
        let made = cache.folder("kernel", |folder| Ok(fs::write(folder.join("whole"), "")?));
        assert!(made.unwrap().join("whole").exists());
        assert!(!cache.path("kernel/half").exists());
        cache.folder("kernel", |_| anyhow::bail!("made twice")).unwrap();
    }

    #[test]
    fn what_was_made_before_from_other_values_is_forgotten() {
        let (cache, _place) = empty();
        let names = ["a-1", "a-2", "b-1", "a-b-1"];
        for name in names {
            fs::write(cache.path(name), "").unwrap();
        }
        cache.forget("a-", "a-2").unwrap();
        assert_eq!(names.map(|name| cache.path(name).exists()), [false, true, true, true]);
    }
}
