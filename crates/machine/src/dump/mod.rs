//! A capture of the files that becalm reads of a machine, for bug reports and for tests.
//!
//! Taken is what topology, facts, findings and knobs are read from; left out is what says whose
//! machine it is: serial numbers, host and user names, hardware addresses, UUIDs. Files are read up to
//! a limit, and only those that the kernel calls regular files, so that no device can hold us up.

mod redact;
mod take;
mod tar;
mod wanted;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use redact::Redactor;
pub use tar::archive;

use crate::sysroot::SysRoot;

/// The captured files of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// What is captured, by its path on the machine.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// What was left out and why, as sentences.
    pub left_out: Vec<String>,
}

/// One captured path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file and its content; a file that can only be written is empty.
    File(Vec<u8>),
    /// A folder, which may be empty.
    Folder,
    /// A relative link to another captured path.
    Link(PathBuf),
}

impl Dump {
    /// Captures a machine. `names` are words that must not appear, such as the user's name.
    pub fn of(root: &SysRoot, names: &[String]) -> Self {
        let redactor = Redactor::new(root, names);
        let mut taking = take::Taking::new(root, &redactor);
        wanted::all(root, &mut taking);
        taking.finish()
    }
}

#[cfg(test)]
mod tests;
