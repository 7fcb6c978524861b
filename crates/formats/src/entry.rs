//! What is known of a format that can be imported.

use becalm_model::Record;

use crate::file::{name_of, only};
use crate::imported::Imported;
use crate::{File, ImportError};

/// One format that can be imported.
#[derive(Debug)]
pub struct Entry {
    /// Its name on the command line: `hyperfine`.
    pub name: &'static str,
    /// What writes it, for people.
    pub about: &'static str,
    /// Says by the content whether files are of this format. It must be quick and may be wrong about
    /// files that are damaged.
    pub(crate) recognise: Takes<bool>,
    /// Reads files of this format.
    pub(crate) read: Takes<Result<Imported, ImportError>>,
}

/// What is done with a format's one file, or with all of its files.
#[derive(Debug)]
pub(crate) enum Takes<T> {
    File(fn(&File) -> T),
    Files(fn(&[File]) -> T),
}

impl Entry {
    /// Says by the content whether files are of this format.
    pub fn is_of(&self, files: &[File]) -> bool {
        match self.recognise {
            Takes::File(is) => matches!(files, [file] if is(file)),
            Takes::Files(are) => are(files),
        }
    }

    /// Says whether a file of this format stands for itself, whatever others lie beside it.
    pub(crate) fn takes_one(&self) -> bool {
        matches!(self.read, Takes::File(_))
    }

    /// Reads files of this format.
    pub fn read(&self, files: &[File]) -> Result<Record, ImportError> {
        let imported = match &self.read {
            Takes::File(read) => read(only(files)?)?,
            Takes::Files(read) => read(files)?,
        };
        match files {
            [first, ..] => imported.finish(first),
            [] => Err(ImportError::Unrecognised { file: name_of(files) }),
        }
    }
}
