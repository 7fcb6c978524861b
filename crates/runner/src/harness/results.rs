//! The folder in which a harness leaves its results.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use becalm_formats::File;

use super::table::ResultsPlace;
use crate::WorkFolder;

/// Most that is read of one run's results, in bytes: a harness writes kilobytes.
const LARGEST: u64 = 64 << 20;

/// Folders below folders are looked into up to this depth: criterion's have four.
const DEEPEST: usize = 12;

/// A folder for the results of one run after the other, removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct ResultFolder(WorkFolder);

impl ResultFolder {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// If no place for temporary files can be written to.
    pub fn create() -> io::Result<Self> {
        WorkFolder::for_results().map(Self)
    }

    /// Returns where a harness has to leave its results.
    pub fn path(&self, place: ResultsPlace) -> PathBuf {
        match place {
            ResultsPlace::File(name) => self.0.path().join(name),
            ResultsPlace::Folder(_) | ResultsPlace::Output => self.0.path().to_owned(),
        }
    }

    /// Returns the folder itself.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Removes the results of the run before: what is read next is then of the next run.
    pub(crate) fn empty(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.0.path())? {
            let entry = entry?;
            // A link is removed itself, and never what it leads to.
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Reads what a run has left.
    pub(crate) fn read(&self, place: ResultsPlace) -> io::Result<Vec<File>> {
        let mut files = Vec::new();
        match place {
            ResultsPlace::Output => {}
            ResultsPlace::File(name) => {
                let path = self.0.path().join(name);
                let bytes = bounded(&path)?;
                files.push(File::new(name, bytes));
            }
            ResultsPlace::Folder(endings) => {
                self.collect(self.0.path(), endings, DEEPEST, &mut files)?;
                files.sort_by(|a, b| a.name.cmp(&b.name));
            }
        }
        Ok(files)
    }

    fn collect(
        &self,
        folder: &Path,
        endings: &[&str],
        depth: usize,
        files: &mut Vec<File>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let (kind, path) = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())))?;
            let name =
                path.strip_prefix(self.0.path()).unwrap_or(&path).to_string_lossy().into_owned();
            if kind.is_dir() && depth > 0 {
                self.collect(&path, endings, depth - 1, files)?;
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                files.push(File::new(name, bounded(&path)?));
            }
        }
        Ok(())
    }
}

fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let length = fs::symlink_metadata(path)?;
    if !length.is_file() || length.len() > LARGEST {
        return Err(io::Error::other(format!(
            "it is larger than {} MiB, or not a regular file",
            LARGEST >> 20
        )));
    }
    fs::read(path)
}
