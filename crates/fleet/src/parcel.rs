//! The files of a job: which they are, and their bytes.
//!
//! On the other machine they lie below a folder of the job's own, at the paths that they have here, so that relative
//! names lead to each other as they do here.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::hash;
use crate::path_text;

/// A file, folder or link that a job needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Where it is, of the machine that asks; absolute and without `..`.
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A folder, for its own sake: those above other items are made anyway.
    Folder,
    /// A symbolic link.
    Link(#[serde(with = "path_text")] PathBuf),
    /// A regular file.
    File {
        /// Bytes.
        size: u64,
        /// SHA-256 of its content.
        hash: String,
        /// Whether it may be executed.
        executable: bool,
        /// When it was written last, in seconds of Unix time: becalm warns of a program that changes while a session
        /// is interrupted.
        modified: u64,
    },
}

/// Why a file cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum ParcelError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is neither a file nor a folder nor a link.
    #[error("cannot send {}: it is neither a file nor a folder", path.display())]
    Special {
        /// It.
        path: PathBuf,
    },
    /// It was written to while it was sent.
    #[error("{} changed while it was sent", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// The files of a job.
#[derive(Debug)]
pub struct Parcel {
    folder: PathBuf,
    items: BTreeMap<PathBuf, Kind>,
}

impl Parcel {
    /// Makes an empty one for a job that starts in this folder, which is absolute.
    pub fn new(folder: &Path) -> Self {
        Self { folder: normal(folder), items: BTreeMap::new() }
    }

    /// Adds a file, or a folder with everything in it. A link that is named is followed; one within a folder stays a
    /// link.
    pub fn add(&mut self, path: &Path) -> Result<(), ParcelError> {
        let path = normal(&self.folder.join(path));
        let read = |source| ParcelError::Read { path: path.clone(), source };
        let facts = fs::metadata(&path).map_err(read)?;
        if facts.is_dir() { self.add_tree(&path) } else { self.add_file(path) }
    }

    /// Adds a folder without what is in it.
    pub fn add_folder(&mut self, path: &Path) {
        let path = normal(&self.folder.join(path));
        self.items.entry(path).or_insert(Kind::Folder);
    }

    fn add_tree(&mut self, folder: &Path) -> Result<(), ParcelError> {
        let read = |source| ParcelError::Read { path: folder.to_owned(), source };
        self.items.insert(folder.to_owned(), Kind::Folder);
        for entry in fs::read_dir(folder).map_err(read)? {
            let entry = entry.map_err(read)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(read)?;
            if kind.is_dir() {
                self.add_tree(&path)?;
            } else if kind.is_symlink() {
                let to = fs::read_link(&path).map_err(read)?;
                self.items.insert(path, Kind::Link(to));
            } else if kind.is_file() {
                self.add_file(path)?;
            } else {
                return Err(ParcelError::Special { path });
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: PathBuf) -> Result<(), ParcelError> {
        let read = |source| ParcelError::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(read)?;
        let facts = file.metadata().map_err(read)?;
        if !facts.is_file() {
            return Err(ParcelError::Special { path });
        }
        let (hash, size) = hash::of(file).map_err(read)?;
        let executable = facts.permissions().mode() & 0o111 != 0;
        let modified = facts.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = modified.unwrap_or_default().as_secs();
        self.items.insert(path, Kind::File { size, hash, executable, modified });
        Ok(())
    }

    /// Returns the folder that the job starts in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns what is in it.
    pub fn items(&self) -> Vec<Item> {
        let item =
            |(path, kind): (&PathBuf, &Kind)| Item { path: path.clone(), kind: kind.clone() };
        self.items.iter().map(item).collect()
    }
}

impl Item {
    /// Returns how many bytes it has.
    pub(crate) fn size(&self) -> u64 {
        match self.kind {
            Kind::File { size, .. } => size,
            Kind::Folder | Kind::Link(_) => 0,
        }
    }

    /// Opens a file.
    pub(crate) fn open(&self) -> Result<File, ParcelError> {
        let read = |source| ParcelError::Read { path: self.path.clone(), source };
        File::open(&self.path).map_err(read)
    }

    /// Writes the content of a file, exactly as many bytes as it had when it was listed.
    pub(crate) fn send(&self, to: impl Write) -> Result<(), ParcelError> {
        let read = |source| ParcelError::Read { path: self.path.clone(), source };
        let file = File::open(&self.path).map_err(read)?;
        let (hash, size) = hash::copy(file.take(self.size()), to).map_err(read)?;
        match &self.kind {
            Kind::File { size: listed, hash: known, .. } if *listed == size && *known == hash => {
                Ok(())
            }
            _ => Err(ParcelError::Changed { path: self.path.clone() }),
        }
    }

    /// Says whether its path stays below the folder that it is put into.
    pub(crate) fn is_confined(&self) -> bool {
        is_confined(&self.path)
    }
}

/// Says whether a path of the machine that asks stays below the folder that it is put into.
pub(crate) fn is_confined(path: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute() && path.components().all(is_plain)
}

/// Returns an absolute path without `.` and `..`, by its words alone, as a shell's `cd` does.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn files_folders_and_links_are_listed_and_sent() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/deep/empty")).unwrap();
        fs::write(root.join("a/deep/data"), "12345").unwrap();
        fs::write(root.join("a").join(OsStr::from_bytes(b"odd \xff name")), "x").unwrap();
        std::os::unix::fs::symlink("deep/data", root.join("a/link")).unwrap();
        fs::set_permissions(root.join("a/deep/data"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(root.join("here")).unwrap();
        let mut parcel = Parcel::new(&root.join("here"));
        parcel.add(Path::new("../a")).unwrap();
        let items = parcel.items();
        assert_eq!(items.len(), 6, "{items:?}");
        assert!(items.iter().all(Item::is_confined));
        let data = items.iter().find(|item| item.path == root.join("a/deep/data")).unwrap();
        assert!(matches!(&data.kind, Kind::File { size: 5, executable: true, .. }));
        let mut bytes = Vec::new();
        data.send(&mut bytes).unwrap();
        assert_eq!(bytes, b"12345");
        fs::write(&data.path, "54321").unwrap();
        assert!(matches!(data.send(io::sink()), Err(ParcelError::Changed { .. })));
        let text = serde_json::to_string(&items).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Item>>(&text).unwrap(), items);
    }

    #[test]
    fn devices_are_not_sent() {
        let error = Parcel::new(Path::new("/")).add(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "cannot send /dev/zero: it is neither a file nor a folder");
    }

    #[test]
    fn a_path_that_leads_out_is_seen() {
        for path in ["relative", "/a/../../b", ""] {
            assert!(!Item { path: path.into(), kind: Kind::Folder }.is_confined(), "{path}");
        }
    }
}
