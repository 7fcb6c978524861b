//! Files of other tools, as they lie on disk.

use std::path::{Path, PathBuf};

use becalm_formats::{File, History, ImportError, import, recognise};
use becalm_model::Record;
use becalm_session::files::LARGEST;

use crate::error::CommandError;

/// How deep folders are searched.
const DEEPEST: usize = 16;

/// Endings of files in a folder that may hold results; programs and pictures beside them do not.
const ENDINGS: [&str; 5] = ["json", "csv", "txt", "xml", "ndjson"];

/// Reads the files of another tool, a file or a folder, into a record.
pub(crate) fn read(path: &Path, format: Option<&str>) -> Result<Record, CommandError> {
    record(path, &files(path)?, format)
}

/// Makes a record of what was read from this path.
pub(crate) fn record(
    path: &Path,
    files: &[File],
    format: Option<&str>,
) -> Result<Record, CommandError> {
    if path.is_dir() && format.is_none() && recognise(files).is_none() {
        return Err(CommandError::measure(format!(
            "{}: no file in this folder has a format that becalm recognises",
            path.display()
        ))
        .hint(
            "`becalm import --formats` lists the formats; if this is one of them, give the file \
             itself",
        ));
    }
    from_files(files, format)
}

/// Reads the files of another tool that hold many commits; `None` if these hold none.
pub(crate) fn history(
    files: &[File],
    format: Option<&str>,
) -> Result<Option<History>, CommandError> {
    let history = becalm_formats::history(files, format)
        .map_err(|error| CommandError::measure(error).hint("nothing was imported"))?;
    Ok(history.map(|mut history| {
        for one in &mut history.commits {
            env!("CARGO_PKG_VERSION").clone_into(&mut one.record.version);
        }
        history
    }))
}

/// Makes a record of files that were read.
pub(crate) fn from_files(files: &[File], format: Option<&str>) -> Result<Record, CommandError> {
    let mut record = import(files, format).map_err(|error| {
        let hint = match &error {
            ImportError::Unrecognised { .. } => {
                "expected a file saved with --export-json, or one of another tool: `becalm import \
                 --formats` lists the formats, and --format selects one"
            }
            ImportError::NoFormat { .. } => "`becalm import --formats` lists the formats",
            ImportError::Folder { .. } => "give the file itself",
            ImportError::Empty { .. } => {
                "expected results; for standard input, pipe the output of a benchmark into becalm"
            }
            _ => "nothing was imported",
        };
        let is_usage = matches!(error, ImportError::NoFormat { .. });
        let said = error.to_string();
        // `-` is how a user names it, and no name to read.
        let said = match said.strip_prefix('-') {
            Some(rest) if rest.starts_with([' ', ':']) => format!("standard input{rest}"),
            _ => said,
        };
        let told = if is_usage { CommandError::usage(said) } else { CommandError::measure(said) };
        told.hint(hint)
    })?;
    env!("CARGO_PKG_VERSION").clone_into(&mut record.version);
    Ok(record)
}

/// Reads a file, standard input for `-`, or the files of a folder that may hold results.
pub(crate) fn files(path: &Path) -> Result<Vec<File>, CommandError> {
    let failed = |error: std::io::Error| cannot_read(path, &error);
    if !path.is_dir() {
        let bytes = becalm_session::files::read_bytes(path)?;
        return Ok(vec![File::new(path.display().to_string(), bytes)]);
    }
    let mut left = LARGEST;
    let mut files = Vec::new();
    for one in listed(path)? {
        left = left.checked_sub(one.bytes).ok_or_else(|| {
            failed(std::io::Error::other(format!(
                "its files have more than {} GiB together",
                LARGEST >> 30
            )))
        })?;
        files.push(one.read(path)?);
    }
    if files.is_empty() {
        return Err(CommandError::measure(format!(
            "{}: no file of results in this folder",
            path.display()
        )));
    }
    Ok(files)
}

/// A file of a folder.
pub(crate) struct Listed {
    /// Its path inside the folder.
    pub(crate) name: String,
    path: PathBuf,
    /// Its size.
    pub(crate) bytes: u64,
}

impl Listed {
    /// Reads it; `root` is the folder.
    pub(crate) fn read(&self, root: &Path) -> Result<File, CommandError> {
        let bytes = std::fs::read(&self.path).map_err(|error| cannot_read(root, &error))?;
        Ok(File::new(self.name.clone(), bytes))
    }
}

fn cannot_read(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::measure(format!("cannot read {}: {error}", path.display()))
}

/// Lists the files of a folder that may hold results, by name.
pub(crate) fn listed(path: &Path) -> Result<Vec<Listed>, CommandError> {
    let mut found = Vec::new();
    collect(path, path, DEEPEST, &mut found).map_err(|error| cannot_read(path, &error))?;
    found.sort_by(|a: &Listed, b| a.name.cmp(&b.name));
    Ok(found)
}

fn collect(
    root: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Listed>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_result = path
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| ENDINGS.contains(&ending));
        if kind.is_dir() && depth > 0 {
            collect(root, &path, depth - 1, found)?;
        } else if kind.is_file() && is_result {
            let bytes = entry.metadata()?.len();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            found.push(Listed { name, path, bytes });
        }
    }
    Ok(())
}
