//! Files that stay open and are read again from their start.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::sysroot::SysRoot;

/// One open file of the kernel. Reading from offset 0 makes the kernel write it anew.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    file: File,
}

impl Held {
    /// Opens a file; an error is a sentence fragment that starts with the path.
    pub(crate) fn open(root: &SysRoot, path: impl AsRef<Path>) -> Result<Self, String> {
        let path = path.as_ref();
        let file = root.open(path).of(path.display())?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Returns the path it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole file into `buffer`, which keeps its size from call to call.
    pub(crate) fn read<'a>(&self, buffer: &'a mut Vec<u8>) -> io::Result<&'a str> {
        let mut length = 0;
        loop {
            if length == buffer.len() {
                buffer.resize((buffer.len() * 2).max(4096), 0);
            }
            match self.file.read_at(&mut buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        std::str::from_utf8(&buffer[..length]).map_err(io::Error::other)
    }

    /// Reads the file and hands its text to a parser; `None` when either fails.
    pub(crate) fn parse<T>(
        &self,
        buffer: &mut Vec<u8>,
        parser: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        parser(self.read(buffer).ok()?)
    }

    /// Measures what a reading costs: the first one, and the shortest of some more, which
    /// other programs on the machine disturb the least.
    pub(crate) fn cost(&self, buffer: &mut Vec<u8>) -> Cost {
        let mut time = || {
            let start = Instant::now();
            let _ = self.read(buffer);
            start.elapsed()
        };
        let first = time();
        let usual = (0..8).map(|_| time()).min().unwrap_or(first);
        Cost { first, usual }
    }
}

/// What reading a file costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// The first reading after a while.
    pub(crate) first: Duration,
    /// A reading soon after another.
    pub(crate) usual: Duration,
}
