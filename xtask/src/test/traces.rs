//! What becalm keeps on the machine, before and after the tests: they leave it as they found it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

/// Where becalm keeps its journal, its locks and what it remembers.
const FOLDERS: [&str; 2] = ["/var/lib/becalm", "/run/becalm"];

/// Files with what is in them.
pub(super) struct Traces(BTreeMap<PathBuf, Vec<u8>>);

impl Traces {
    pub(super) fn read() -> Self {
        let mut files = BTreeMap::new();
        for folder in FOLDERS {
            add(Path::new(folder), &mut files);
        }
        Self(files)
    }

    /// Fails where files were left, changed or removed since.
    pub(super) fn check(&self) -> Result<()> {
        let now = Self::read();
        let left = self.differing(&now);
        ensure!(left.is_empty(), "tests left traces on this machine: {}", left.join(", "));
        Ok(())
    }

    fn differing(&self, now: &Self) -> Vec<String> {
        let all = self.0.keys().chain(now.0.keys().filter(|path| !self.0.contains_key(*path)));
        all.filter(|path| self.0.get(*path) != now.0.get(*path))
            .map(|path| path.display().to_string())
            .collect()
    }
}

/// Adds the files below a folder. A lock stays where it is for good, so that nobody locks another file of its name.
fn add(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            add(&path, files);
        } else if path.file_name().is_some_and(|name| name != "lock") {
            let content = fs::read(&path).unwrap_or_default();
            files.insert(path, content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_changed_or_gone_is_found() {
        let traces = |files: &[(&str, &str)]| {
            let file =
                |(path, text): &(&str, &str)| (PathBuf::from(path), text.as_bytes().to_vec());
            Traces(files.iter().map(file).collect())
        };
        let before = traces(&[("same", "1"), ("changed", "1"), ("gone", "1")]);
        let after = traces(&[("same", "1"), ("changed", "2"), ("new", "1")]);
        assert_eq!(before.differing(&after), ["changed", "gone", "new"]);
        assert_eq!(before.differing(&before), [""; 0]);
    }
}
