//! Files that a command writes in the end.

use std::path::PathBuf;

use becalm_session::files;

use crate::error::CommandError;

/// Refuses, before anything is done, files that could not be written in the end, and one that is named twice.
pub(crate) fn check_files<'a>(all: impl Iterator<Item = &'a PathBuf>) -> Result<(), CommandError> {
    let all: Vec<&PathBuf> = all.collect();
    for (index, path) in all.iter().enumerate() {
        if all[..index].contains(path) {
            let path = path.display();
            return Err(CommandError::usage(format!("two exports write to the same file {path}")));
        }
        files::check_writable(path)?;
    }
    Ok(())
}
