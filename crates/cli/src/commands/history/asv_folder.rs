//! A folder of ASV's results, of which one file is read after the other: those of a large project do not fit in memory.

use std::path::{Path, PathBuf};

use becalm_formats::{AsvFolder, File, ImportError};
use becalm_model::history::AtCommit;

use crate::error::CommandError;
use crate::foreign::{self, Listed};

/// Results of ASV in a folder.
pub(super) struct AsvResults {
    root: PathBuf,
    folder: AsvFolder,
    files: std::vec::IntoIter<Listed>,
    /// Bytes of all files.
    pub(super) bytes: u64,
}

impl AsvResults {
    /// Looks whether a folder has such results, with what is about all of them beside them.
    pub(super) fn look(path: &Path) -> Result<Option<Self>, CommandError> {
        if !path.is_dir() {
            return Ok(None);
        }
        let (common, mut files): (Vec<_>, Vec<_>) =
            foreign::listed(path)?.into_iter().partition(|one| AsvFolder::is_common(&one.name));
        files.retain(|one| Path::new(&one.name).extension().is_some_and(|end| end == "json"));
        let Some(first) = files.first().filter(|_| !common.is_empty()) else { return Ok(None) };
        if !AsvFolder::is_result(&first.read(path)?) {
            return Ok(None);
        }
        let common: Vec<File> =
            common.iter().map(|one| one.read(path)).collect::<Result<_, _>>()?;
        let folder = AsvFolder::of(&common).map_err(not_imported)?;
        let bytes = files.iter().map(|one| one.bytes).sum();
        Ok(Some(Self { root: path.to_owned(), folder, files: files.into_iter(), bytes }))
    }
}

impl AsvResults {
    /// Leaves what ASV computed of the values.
    pub(super) fn values_alone(self) -> Self {
        Self { folder: self.folder.values_alone(), ..self }
    }

    /// Says what was left out of the files that were read, as a sentence.
    pub(super) fn left_out(&self) -> Option<String> {
        self.folder.left_out()
    }

    /// Returns how many files there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }
}

impl Iterator for AsvResults {
    type Item = Result<AtCommit, CommandError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let listed = self.files.next()?;
            let read = listed.read(&self.root).and_then(|file| {
                if AsvFolder::is_result(&file) {
                    self.folder.commit(&file).map_err(not_imported)
                } else {
                    Ok(None)
                }
            });
            match read {
                Ok(None) => {}
                Ok(Some(mut one)) => {
                    env!("CARGO_PKG_VERSION").clone_into(&mut one.record.version);
                    return Some(Ok(one));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

fn not_imported(error: ImportError) -> CommandError {
    CommandError::measure(error).hint(
        "entries before this file are in the history; add the folder again when it is repaired or \
         removed",
    )
}
