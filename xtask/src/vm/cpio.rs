//! Writes cpio archives in the `newc` format, which the kernel unpacks as an initramfs and the guest
//! reads from a disk.
//!
//! Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// An archive as it grows.
#[derive(Debug, Default)]
pub(super) struct Cpio {
    bytes: Vec<u8>,
    n_entries: u32,
}

impl Cpio {
    /// Adds a folder; those above it must have been added before.
    pub(super) fn folder(&mut self, path: &str) {
        self.entry(path, FOLDER | 0o755, &[]);
    }

    /// Adds a file with its permissions.
    pub(super) fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.entry(path, FILE | permissions, content);
    }

    /// Adds a symbolic link.
    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.entry(path, LINK | 0o777, target.as_bytes());
    }

    /// Adds a file of this machine, whatever links lead to it.
    pub(super) fn copy(&mut self, path: &str, from: &Path) -> Result<()> {
        let content = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        let permissions = fs::metadata(from)?.permissions().mode() & 0o777;
        self.file(path, permissions, &content);
        Ok(())
    }

    /// Ends the archive and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.n_entries += 1;
        let size = u32::try_from(content.len()).expect("files of a guest are small");
        let name_size = u32::try_from(path.len() + 1).expect("paths are short");
        // Inode, mode, user, group, links, time, size, four device numbers, length of the name,
        // checksum (unused).
        let inode = self.n_entries;
        let fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    /// Names and contents start at multiples of four.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_headers_names_and_contents_on_multiples_of_four() {
        let mut archive = Cpio::default();
        archive.folder("bin");
        archive.file("bin/x", 0o755, b"hello");
        archive.link("sh", "bin/x");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let headers: Vec<&str> = text.split("070701").skip(1).collect();
        let modes: Vec<&str> = headers.iter().map(|header| &header[8..16]).collect();
        assert_eq!(modes, ["000041ED", "000081ED", "0000A1FF", "00000000"]);
        assert_eq!(&headers[1][48..56], "00000005");
        assert!(headers[1].contains("bin/x\0"), "{:?}", headers[1]);
        assert!(headers[1].ends_with("hello\0\0\0"), "{:?}", headers[1]);
        assert!(headers[3].contains("TRAILER!!!\0"), "{:?}", headers[3]);
    }
}
