//! Files with CPUs, and which of them could not be read.
//!
//! A file that is there and tells nothing is no statement that there are no CPUs: whoever asks gets
//! `None` for it, and has to look elsewhere. That it could not be read is kept, and said.

use std::cell::RefCell;

use becalm_model::{CpuSet, TopologyLimit};

use crate::cpumask::{read_list, read_mask};
use crate::sysroot::{Reading, SysRoot};

/// Reads files with CPUs, and remembers those that tell nothing.
pub(super) struct Lists<'a> {
    pub(super) root: &'a SysRoot,
    /// Path and error of each.
    unread: RefCell<Vec<(String, String)>>,
}

impl<'a> Lists<'a> {
    pub(super) fn new(root: &'a SysRoot) -> Self {
        Self { root, unread: RefCell::default() }
    }

    /// Reads a list.
    pub(super) fn read(&self, path: &str) -> Option<CpuSet> {
        self.keep(path, read_list(self.root, path))
    }

    /// Reads a list that has to contain `least`.
    pub(super) fn read_with(&self, path: &str, least: &CpuSet) -> Option<CpuSet> {
        self.containing(path, least, read_list(self.root, path))
    }

    /// Reads the CPUs in a folder's first file that tells: lists where the name says so, else masks.
    pub(super) fn first(&self, folder: &str, names: &[&str], least: &CpuSet) -> Option<CpuSet> {
        names.iter().find_map(|name| {
            let path = format!("{folder}/{name}");
            let is_list = name.ends_with("list");
            let read = if is_list { read_list } else { read_mask };
            self.containing(&path, least, read(self.root, &path))
        })
    }

    fn containing(&self, path: &str, least: &CpuSet, reading: Reading<CpuSet>) -> Option<CpuSet> {
        let set = self.keep(path, reading)?;
        let missing = least.difference(&set);
        if missing.is_empty() {
            return Some(set);
        }
        self.remember(path, format!("lacks {}", missing.named()));
        None
    }

    /// Returns the names in a folder; none if it is not there, or cannot be read.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        self.keep(folder, self.root.list_dir(folder)).unwrap_or_default()
    }

    /// Returns the text of a file.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.keep(path, self.root.read(path))
    }

    /// Returns the number in a file.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        let text = self.text(path)?;
        let number = text.parse().ok();
        if number.is_none() {
            self.remember(path, format!("contains `{text}`, which is not a number"));
        }
        number
    }

    /// Returns what could not be read, as one limit: a kernel that writes one list wrong writes
    /// hundreds so.
    pub(super) fn limit(&self) -> Option<TopologyLimit> {
        let unread = self.unread.borrow();
        let (path, error) = unread.first()?.clone();
        Some(TopologyLimit::Unreadable { path, error, others: unread.len() - 1 })
    }

    fn keep<T>(&self, path: &str, reading: Reading<T>) -> Option<T> {
        if let (Some(why), false) = (reading.why_not(), matches!(reading, Reading::Absent)) {
            self.remember(path, why);
        }
        reading.value()
    }

    fn remember(&self, path: &str, why: String) {
        let mut unread = self.unread.borrow_mut();
        if unread.iter().all(|(other, _)| other != path) {
            unread.push((path.to_owned(), why));
        }
    }
}
