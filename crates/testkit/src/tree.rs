//! A temporary folder that stands for a machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A root folder with invented `/proc` and `/sys` files; removed when dropped.
///
/// Methods take and return the tree, so that a machine reads as one expression.
#[derive(Debug)]
pub struct FakeTree {
    folder: tempfile::TempDir,
}

impl Default for FakeTree {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeTree {
    /// Makes an empty root folder.
    pub fn new() -> Self {
        // In memory where there is such a place: what becalm syncs need not reach a disk here.
        let memory = tempfile::tempdir_in("/dev/shm");
        let folder = memory.or_else(|_| tempfile::tempdir());
        Self { folder: folder.expect("a temporary folder can be made") }
    }

    /// Returns the root folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in place, so that readers that have it open see the new content.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let path = self.place(path.as_ref());
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    /// Makes a symbolic link that says `to`.
    #[must_use]
    pub fn link(self, path: impl AsRef<Path>, to: impl AsRef<Path>) -> Self {
        let path = self.place(path.as_ref());
        std::os::unix::fs::symlink(to, &path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    /// Removes a file or folder, as unplugging or another kernel would.
    #[must_use]
    pub fn without(self, path: impl AsRef<Path>) -> Self {
        let path = self.place(path.as_ref());
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    /// Makes a path that exists and fails to be read, for root too: a folder in place of a file.
    #[must_use]
    pub fn unreadable(self, path: impl AsRef<Path>) -> Self {
        let path = self.place(path.as_ref());
        if path.is_file() {
            fs::remove_file(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    /// Returns the texts of all files whose paths are `wanted`.
    pub fn files(&self, wanted: impl Fn(&Path) -> bool) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder of the tree can be listed") {
                let path = entry.expect("a folder of the tree can be listed").path();
                if path.is_dir() {
                    folders.push(path);
                } else if wanted(&path) {
                    let text = fs::read_to_string(&path);
                    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    all.insert(path, text);
                }
            }
        }
        all
    }

    /// Returns where a path of the machine lies, and makes the folders above it.
    fn place(&self, path: &Path) -> PathBuf {
        let place = self.path().join(path.strip_prefix("/").unwrap_or(path));
        let above = place.parent().expect("a file of a machine lies in a folder");
        fs::create_dir_all(above).unwrap_or_else(|error| panic!("{}: {error}", above.display()));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_files_and_goes_away() {
        let tree = FakeTree::new().file("/proc/stat", "cpu 1\n").unreadable("/sys/odd");
        let path = tree.path().to_owned();
        assert_eq!(fs::read_to_string(path.join("proc/stat")).unwrap(), "cpu 1\n");
        assert!(fs::read(path.join("sys/odd")).is_err());
        assert!(tree.files(|path| path.ends_with("stat")).into_values().eq(["cpu 1\n"]));
        assert!(tree.files(|path| !path.ends_with("stat")).is_empty());
        let tree = tree.without("/proc");
        assert!(!path.join("proc").exists());
        drop(tree);
        assert!(!path.exists());
    }
}
