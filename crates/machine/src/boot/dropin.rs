//! The one file that becalm may leave behind on purpose.

use std::io;
use std::path::Path;

use super::loader::{Loader, MARK};
use crate::sysroot::SysRoot;

/// Why the file was not written or removed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum DropinError {
    /// The loader has no folder for files of others.
    #[error("{0} reads no drop-in files: add the line by hand")]
    NoFolder(String),
    /// No known loader.
    #[error(
        "no boot loader that becalm knows was found: add the line to the kernel's command line by \
         hand"
    )]
    NoLoader,
    /// Someone else's file.
    #[error("{0} exists and was not written by becalm, so it was not changed")]
    NotOurs(String),
    /// There is none.
    #[error("becalm has no file in the boot loader's folders ({0})")]
    None(String),
    /// The file system refused.
    #[error("cannot {action} {path}: {source}")]
    Refused {
        /// What was tried: `write` or `remove`.
        action: &'static str,
        /// The file.
        path: String,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// Writes our file for the loader of this machine, in place of an older one of ours; returns its path.
pub fn write_dropin(root: &SysRoot, line: &str) -> Result<(Loader, String), DropinError> {
    let loader = Loader::of(root).ok_or(DropinError::NoLoader)?;
    let path = loader
        .dropin(root)
        .ok_or_else(|| DropinError::NoFolder(format!("{loader:?}").to_lowercase()))?;
    if root.exists(&path) && !is_ours(root, &path) {
        return Err(DropinError::NotOurs(path));
    }
    let folder = Path::new(&path).parent().filter(|folder| !root.exists(folder));
    let made = folder.map_or(Ok(()), |folder| root.make_folder(folder));
    match made.and_then(|()| root.put_file(&path, &loader.dropin_text(line))) {
        Ok(()) => Ok((loader, path)),
        Err(source) => Err(DropinError::Refused { action: "write", path, source }),
    }
}

/// Removes our file; returns its path. A file that becalm did not write stays.
pub fn remove_dropin(root: &SysRoot) -> Result<(Loader, String), DropinError> {
    let all = Loader::all_dropins();
    let there = || all.iter().filter(|path| root.exists(path));
    let Some(path) = there().find(|path| is_ours(root, path)).cloned() else {
        return Err(match there().next() {
            Some(path) => DropinError::NotOurs(path.clone()),
            None => DropinError::None(all.join(", ")),
        });
    };
    let loader = if path.starts_with("/etc/default/") { Loader::Grub } else { Loader::SystemdBoot };
    match root.remove_file(&path) {
        Ok(()) => Ok((loader, path)),
        Err(source) => Err(DropinError::Refused { action: "remove", path, source }),
    }
}

fn is_ours(root: &SysRoot, path: &str) -> bool {
    root.read(path).value().is_some_and(|text| text.starts_with(MARK))
}
