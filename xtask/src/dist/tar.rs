//! Archives that are the same bytes whenever and wherever they are made: entries in order of their names, owned by root,
//! with one time for all.
//!
//! Format: `ustar` of POSIX.1-1988, which every tar reads, compressed by gzip without name and time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use anyhow::{Result, ensure};
use flate2::{Compression, GzBuilder};

const BLOCK: usize = 512;
/// Longest name: what does not fit needs the second field, which nothing here does.
const LONGEST_NAME: usize = 100;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) content: Vec<u8>,
    /// Who may do what with it, as for `chmod`.
    pub(super) mode: u32,
}

impl File {
    /// Returns one that everybody may read.
    pub(super) fn text(content: impl Into<Vec<u8>>) -> Self {
        Self { content: content.into(), mode: 0o644 }
    }

    /// Returns one that everybody may run.
    pub(super) fn program(content: Vec<u8>) -> Self {
        Self { content, mode: 0o755 }
    }
}

/// Files by their paths, which have no slash in front.
pub(super) type Files = BTreeMap<String, File>;

/// Returns the archive of these files and the folders above them; `prefix` is put before every name. All get this time,
/// in seconds since 1970.
pub(super) fn archive(files: &Files, prefix: &str, time: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let folders: BTreeSet<String> = files.keys().flat_map(|path| folders_above(path)).collect();
    let folders = folders.into_iter().map(|folder| (folder, None));
    let files = files.iter().map(|(path, file)| (path.clone(), Some(file)));
    let mut entries: Vec<_> = folders.chain(files).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, file) in entries {
        let name = format!("{prefix}{path}");
        ensure!(name.len() <= LONGEST_NAME, "{name} is too long a name for an archive");
        let content = file.map_or(&[][..], |file| &file.content);
        let (mode, kind) = file.map_or((0o755, b'5'), |file| (file.mode, b'0'));
        bytes.extend(header(&name, mode, content.len(), time, kind));
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    }
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    Ok(bytes)
}

/// Compresses by gzip: the same bytes for the same content.
pub(super) fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(content)?;
    Ok(writer.finish()?)
}

/// Returns the folders in which a path lies, each with a slash behind.
fn folders_above(path: &str) -> impl Iterator<Item = String> {
    path.match_indices('/').map(|(end, _)| path[..=end].to_owned())
}

fn header(name: &str, mode: u32, size: usize, time: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, &format!("{mode:07o}"));
    // User and group.
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, &format!("{time:011o}"));
    // The checksum is made with spaces in its place.
    put(148, "        ");
    put(257, "ustar");
    put(263, "00");
    put(265, "root");
    put(297, "root");
    block[156] = kind;
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn sample() -> Files {
        let mut files = Files::new();
        files.insert("b/c/two".to_owned(), File::text("2\n"));
        files.insert("b/one".to_owned(), File::program(vec![b'x'; 600]));
        files.insert("a".to_owned(), File::text(""));
        files
    }

    /// Returns what tar says of an archive.
    fn listed(archive: &[u8], arguments: &[&str]) -> String {
        let mut tar = Command::new("tar");
        tar.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).env("TZ", "UTC");
        let mut child = tar.spawn().unwrap();
        child.stdin.take().unwrap().write_all(archive).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn entries_stand_in_order_with_folders_before_their_files() {
        let archive = archive(&sample(), "./", 0).unwrap();
        assert_eq!(listed(&archive, &["-t"]), "./a\n./b/\n./b/c/\n./b/c/two\n./b/one\n");
    }

    #[test]
    fn owner_mode_time_and_content_are_the_given_ones() {
        let archive = gzip(&archive(&sample(), "", 86_400).unwrap()).unwrap();
        let list = listed(&archive, &["-tvz"]);
        let words: Vec<&str> = list.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(words, ["-rwxr-xr-x", "root/root", "600", "1970-01-02", "00:00", "b/one"]);
        assert_eq!(listed(&archive, &["-xzO", "b/c/two"]), "2\n");
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_changes_with_any_file() {
        let whole = |files: &Files| gzip(&archive(files, "", 7).unwrap()).unwrap();
        let mut files = sample();
        let first = whole(&files);
        assert_eq!(whole(&files), first);
        files.insert("a".to_owned(), File::program(Vec::new()));
        assert_ne!(whole(&files), first);
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let files = Files::from([("x".repeat(101), File::text(""))]);
        assert!(archive(&files, "", 0).is_err());
    }
}
