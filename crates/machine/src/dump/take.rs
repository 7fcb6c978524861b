//! Takes files and folders into a dump.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::{Dump, Entry, Redactor};
use crate::sysroot::{Links, PathKind, Reading, SysRoot};
use crate::tune::watchdog_is_off;

/// More of one file is not taken; the largest that becalm reads is `/proc/interrupts` of a large
/// server.
const LIMIT: usize = 1 << 20;

/// More folders inside each other than the kernel's own trees have.
const DEEPEST: usize = 12;

/// Names that nobody needs, or that tell whose machine it is.
const SKIPPED: [&str; 18] = [
    "uevent",
    "crash_notes",
    "crash_notes_size",
    "subsystem",
    "driver",
    "firmware_node",
    "hostname",
    "domainname",
    "random",
    "autosuspend_delay_ms",
    "runtime_active_time",
    "runtime_status",
    "runtime_suspended_time",
    "serial_number",
    "address",
    "core_pattern",
    "modprobe",
    "poweroff_cmd",
];

/// A dump while it is taken.
pub(super) struct Taking<'a> {
    root: &'a SysRoot,
    redactor: &'a Redactor,
    entries: BTreeMap<PathBuf, Entry>,
    links: Vec<(PathBuf, PathBuf)>,
    cut: Vec<PathBuf>,
    refused: usize,
}

impl<'a> Taking<'a> {
    pub(super) fn new(root: &'a SysRoot, redactor: &'a Redactor) -> Self {
        Self {
            root,
            redactor,
            entries: BTreeMap::new(),
            links: Vec::new(),
            cut: Vec::new(),
            refused: 0,
        }
    }

    /// Takes one file, if it is there.
    pub(super) fn file(&mut self, path: impl AsRef<Path>) {
        self.file_with(path, |_| true);
    }

    /// Takes the lines of a file that `keeps` keeps.
    pub(super) fn file_with(&mut self, path: impl AsRef<Path>, keeps: impl Fn(&str) -> bool) {
        let path = path.as_ref();
        if self.root.path_kind(path, Links::Follow) != Some(PathKind::File) {
            return;
        }
        if path.to_str().is_some_and(|path| watchdog_is_off(self.root, path)) {
            // To read it would keep the watchdog off for good.
            self.entries.insert(self.redactor.path(path), Entry::File(b"0\n".to_vec()));
            return;
        }
        match self.root.read_start(path, LIMIT) {
            Reading::Value(bytes) => {
                if bytes.len() == LIMIT {
                    self.cut.push(path.to_owned());
                }
                let content = self.redactor.content(path, &bytes, keeps);
                self.entries.insert(self.redactor.path(path), Entry::File(content));
            }
            Reading::NoPermission => {
                self.refused += 1;
                // That it is there decides what can be tuned.
                self.entries.insert(self.redactor.path(path), Entry::File(Vec::new()));
            }
            Reading::Unreadable { .. } | Reading::Absent => {}
        }
    }

    /// Takes a folder and everything in it. Links are kept where what they lead to is taken too.
    pub(super) fn tree(&mut self, path: impl AsRef<Path>) {
        self.level(path.as_ref(), DEEPEST);
    }

    fn level(&mut self, path: &Path, depth: usize) {
        let Reading::Value(names) = self.root.list_dir(path) else { return };
        self.entries.insert(self.redactor.path(path), Entry::Folder);
        for name in names.iter().filter(|name| !SKIPPED.contains(&name.as_str())) {
            let inner = path.join(name);
            match self.root.path_kind(&inner, Links::Keep) {
                Some(PathKind::Folder) if depth > 0 => self.level(&inner, depth - 1),
                Some(PathKind::File) => self.file(&inner),
                Some(PathKind::Link(to)) => self.links.push((inner, to)),
                _ => {}
            }
        }
    }

    /// Takes the plain files of a folder that `wants` names; links to the folder are followed.
    pub(super) fn files_of(&mut self, folder: impl AsRef<Path>, wants: impl Fn(&str) -> bool) {
        let folder = folder.as_ref();
        for name in self.root.list_dir(folder).value().unwrap_or_default() {
            if wants(&name) {
                self.file(folder.join(&name));
            }
        }
    }

    /// Takes such files of every device of a class.
    pub(super) fn class(&mut self, class: &str, wants: impl Fn(&str) -> bool) {
        for device in self.root.list_dir(class).value().unwrap_or_default() {
            self.files_of(Path::new(class).join(device), &wants);
        }
    }

    /// Takes a link, the folder that it leads to, and those of its files that `wants` names.
    pub(super) fn linked(&mut self, path: &str, wants: impl Fn(&str) -> bool) {
        let path = Path::new(path);
        let Some(to) = self.root.link(path) else { return };
        let Some(target) = path.parent().and_then(|folder| joined(folder, &to)) else { return };
        self.entries.insert(self.redactor.path(&target), Entry::Folder);
        self.files_of(&target, wants);
        self.links.push((path.to_owned(), to));
    }

    /// Says that a file is there without its content.
    pub(super) fn mark(&mut self, path: &str) {
        if self.root.exists(path) {
            self.entries.insert(PathBuf::from(path), Entry::File(Vec::new()));
        }
    }

    pub(super) fn finish(mut self) -> Dump {
        for (path, to) in std::mem::take(&mut self.links) {
            // Names of network interfaces can hold addresses.
            let (path, to) = (self.redactor.path(&path), self.redactor.path(&to));
            let Some(target) = path.parent().and_then(|folder| joined(folder, &to)) else {
                continue;
            };
            if self.entries.contains_key(&target) {
                self.entries.insert(path, Entry::Link(to));
            }
        }
        let mut left_out = vec![
            "serial numbers, host and user names, hardware addresses, UUIDs and file systems"
                .into(),
            "running programs, except for their names; open files; the journal of the system"
                .into(),
            "what systemd knows about its units, which is not in files".into(),
        ];
        if self.refused > 0 {
            left_out.push(format!(
                "the content of {} that this process may not read",
                becalm_model::counted(self.refused, "file")
            ));
        }
        for path in &self.cut {
            left_out
                .push(format!("everything after the first {LIMIT} bytes of {}", path.display()));
        }
        Dump { entries: self.entries, left_out }
    }
}

/// Follows a relative link from a folder, by its text; `None` if it leads above the root or is
/// absolute.
fn joined(folder: &Path, link: &Path) -> Option<PathBuf> {
    if link.is_absolute() {
        return None;
    }
    let mut path = folder.to_owned();
    for part in link.components() {
        let is_inside = match part {
            Component::Normal(name) => {
                path.push(name);
                true
            }
            Component::ParentDir => path.pop(),
            _ => true,
        };
        if !is_inside {
            return None;
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_by_their_text() {
        let target = |folder: &str, link: &str| joined(Path::new(folder), Path::new(link));
        let found = target("/sys/devices/system/cpu/cpu0", "../cpufreq/policy0");
        assert_eq!(found, Some("/sys/devices/system/cpu/cpufreq/policy0".into()));
        assert_eq!(target("/sys", "/etc/passwd"), None);
        assert_eq!(target("/sys", "../../../x"), None);
    }
}
