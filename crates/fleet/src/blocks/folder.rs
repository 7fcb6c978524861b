//! The place of a fleet on disk.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use becalm_session::files;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::FolderError;
use super::state::{Plan, State};
use crate::error::FleetError;

/// The folder of one fleet.
#[derive(Debug, Clone)]
pub struct FleetFolder(PathBuf);

/// Held by the becalm that attends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl FleetFolder {
    /// Makes the folder of a new fleet below the shared one; without a name it gets the next number.
    pub fn make(shared: &Path, name: Option<&str>) -> Result<Self, FleetError> {
        let fleets = shared.join("fleets");
        let mut make = DirBuilder::new();
        make.mode(0o700).recursive(true);
        make.create(&fleets).map_err(here(&fleets))?;
        make.recursive(false);
        if let Some(name) = name {
            let folder = Self(fleets.join(checked(name)?));
            return match make.create(&folder.0) {
                Ok(()) => Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    Err(FolderError::Exists(name.to_owned()).into())
                }
                Err(error) => Err(here(&folder.0)(error)),
            };
        }
        let taken = names(shared).iter().filter_map(|name| name.parse::<u32>().ok()).max();
        let mut number = taken.unwrap_or(0);
        loop {
            number += 1;
            let folder = Self(fleets.join(number.to_string()));
            match make.create(&folder.0) {
                Ok(()) => return Ok(folder),
                // Somebody was faster.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(here(&folder.0)(error)),
            }
        }
    }

    /// Finds the fleet of this name, or the one that was started last.
    pub fn find(shared: &Path, name: Option<&str>) -> Result<Self, FleetError> {
        let fleets = shared.join("fleets");
        if let Some(name) = name {
            let folder = Self(fleets.join(checked(name)?));
            if folder.path("plan.json").is_file() {
                return Ok(folder);
            }
            return Err(FolderError::Absent { name: name.to_owned(), folder: fleets }.into());
        }
        let all = names(shared).into_iter().map(|name| Self(fleets.join(name)));
        let started = |folder: &Self| folder.plan().map_or(0.0, |plan| plan.started_at);
        let last = all
            .filter(|folder| folder.path("plan.json").is_file())
            .max_by(|a, b| started(a).total_cmp(&started(b)));
        last.ok_or_else(|| FolderError::None(fleets).into())
    }

    /// Returns where its machines come from, as the user named it.
    pub fn place(&self) -> Result<String, FleetError> {
        Ok(self.plan()?.place)
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the folder of a try.
    pub(crate) fn of_try(&self, index: usize) -> PathBuf {
        self.0.join("tries").join(index.to_string())
    }

    /// Makes the folder of a try. What an earlier becalm left in it before it died is removed.
    pub(crate) fn make_try(&self, index: usize) -> Result<PathBuf, FleetError> {
        let path = self.of_try(index);
        let _ = fs::remove_dir_all(&path);
        let mut make = DirBuilder::new();
        make.mode(0o700).recursive(true).create(&path).map_err(here(&path))?;
        Ok(path)
    }

    pub(crate) fn plan(&self) -> Result<Plan, FleetError> {
        let plan: Plan = self.read("plan.json")?;
        if plan.version != env!("CARGO_PKG_VERSION") {
            return Err(FolderError::Version { name: self.name(), version: plan.version }.into());
        }
        Ok(plan)
    }

    pub(crate) fn state(&self) -> Result<State, FleetError> {
        self.read("state.json")
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, FleetError> {
        let path = self.path(name);
        let text = fs::read(&path).map_err(here(&path))?;
        serde_json::from_slice(&text).map_err(|source| FolderError::Damaged { path, source }.into())
    }

    /// Writes a file so that a crash leaves the old one.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), FleetError> {
        let text = crate::frame::line(value);
        Ok(files::write_atomically(&self.path(name), &text)?)
    }

    /// Takes the lock, so that two becalms do not submit the same block.
    pub(crate) fn lock(&self) -> Result<Lock, FleetError> {
        let path = self.path("lock");
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(here(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(FolderError::Attended(self.name()).into()),
            Err(TryLockError::Error(source)) => Err(FleetError::Here { path, source }),
        }
    }
}

/// Returns the names of the fleets, in the order of their numbers and then of their names.
fn names(shared: &Path) -> Vec<String> {
    let entries = fs::read_dir(shared.join("fleets")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by_key(|name| (name.parse::<u32>().unwrap_or(u32::MAX), name.clone()));
    names
}

fn checked(name: &str) -> Result<&str, FolderError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 50 || !name.chars().all(is_plain) {
        return Err(FolderError::Name(name.to_owned()));
    }
    Ok(name)
}

pub(crate) fn here(path: &Path) -> impl FnOnce(std::io::Error) -> FleetError {
    let path = path.to_owned();
    move |source| FleetError::Here { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fleets_are_numbered_or_named() {
        let shared = tempfile::tempdir().unwrap();
        let made = |name| FleetFolder::make(shared.path(), name).map(|folder| folder.name());
        assert_eq!(made(None).unwrap(), "1");
        assert_eq!(made(Some("nightly")).unwrap(), "nightly");
        assert_eq!(made(None).unwrap(), "2");
        for wrong in ["", "..", "a/b", "a b"] {
            assert!(
                made(Some(wrong)).unwrap_err().to_string().contains("is not a name"),
                "{wrong}"
            );
        }
        assert!(made(Some("nightly")).unwrap_err().to_string().contains("already"));
        assert_eq!(names(shared.path()), ["1", "2", "nightly"]);
        // Without a plan none was started.
        assert!(FleetFolder::find(shared.path(), None).is_err());
        assert!(FleetFolder::find(shared.path(), Some("1")).is_err());
    }

    #[test]
    fn one_becalm_attends() {
        let shared = tempfile::tempdir().unwrap();
        let folder = FleetFolder::make(shared.path(), None).unwrap();
        let lock = folder.lock().unwrap();
        assert!(folder.lock().unwrap_err().to_string().contains("another becalm attends"));
        drop(lock);
        assert!(folder.lock().is_ok());
    }
}
