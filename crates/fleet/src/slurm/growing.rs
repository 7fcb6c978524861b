//! A file to which another machine adds lines.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

/// A file to which another machine adds lines.
#[derive(Debug)]
pub(crate) struct Growing {
    path: PathBuf,
    read: u64,
    /// Whether there was a whole line.
    pub(crate) is_begun: bool,
    last: Vec<u8>,
}

impl Growing {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, read: 0, is_begun: false, last: Vec::new() }
    }

    /// Returns the whole lines that were added. It is opened each time, as shared file systems show the changes of others then.
    pub(crate) fn more(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let Ok(mut file) = File::open(&self.path) else { return lines };
        if file.seek(SeekFrom::Start(self.read)).is_err() {
            return lines;
        }
        let mut reader = BufReader::new(file);
        loop {
            let mut line = Vec::new();
            let is_whole =
                reader.by_ref().read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n");
            if !is_whole {
                return lines;
            }
            self.read += line.len() as u64;
            self.is_begun = true;
            self.last.clone_from(&line);
            lines.push(line);
        }
    }

    /// Returns the last line that was read.
    pub(crate) fn last_line(&self) -> Option<String> {
        (!self.last.is_empty()).then(|| crate::ssh::last_line(&String::from_utf8_lossy(&self.last)))
    }
}
