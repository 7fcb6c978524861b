//! Facts about the machine that a result has to carry with it.
//!
//! Nothing that identifies a machine or a person is read: no host name, serial number, boot id or
//! user name, and of the kernel's command line only options that change timing.

mod cpu;
mod cpuinfo;
mod frequency;
mod kernel;
mod surroundings;
mod system;

use std::collections::BTreeMap;
use std::path::Path;

use becalm_model::{CpuId, CpuSet, MachineFacts, Target};

use crate::sysroot::{Reading, SysRoot};
use crate::topology::Topology;
use crate::tune::read_target;

pub(crate) use cpuinfo::CpuInfo;
pub(crate) use system::memory;

/// Reads every fact. Each key ends up either among the facts or, with a reason, among the unreadable.
pub fn read_facts(root: &SysRoot, topology: &Topology) -> MachineFacts {
    let mut collector = Collector { root, facts: MachineFacts::default() };
    cpu::collect(&mut collector, topology);
    frequency::collect(&mut collector, topology);
    kernel::collect(&mut collector);
    surroundings::collect(&mut collector);
    system::collect(&mut collector);
    collector.facts
}

/// Gathers facts under their keys.
struct Collector<'a> {
    root: &'a SysRoot,
    facts: MachineFacts,
}

impl Collector<'_> {
    fn put(&mut self, key: &str, value: impl Into<String>) {
        self.facts.facts.insert(key.to_owned(), value.into());
    }

    fn put_number(&mut self, key: &str, value: usize) {
        self.put(key, value.to_string());
    }

    fn miss(&mut self, key: &str, why: impl Into<String>) {
        self.facts.unreadable.insert(key.to_owned(), why.into());
    }

    /// Notes a fact whose file does not exist; blames the file system where all of it is missing.
    fn absent(&mut self, key: &str, path: &str, meaning: &str) {
        let hidden = [("/proc/sys/", "/proc/sys/kernel"), ("/sys/", "/sys/devices")]
            .iter()
            .find(|(tree, landmark)| path.starts_with(tree) && !self.root.exists(landmark));
        match hidden {
            Some((tree, _)) => {
                self.miss(key, format!("{} is not mounted here", tree.trim_end_matches('/')));
            }
            None => self.miss(key, meaning),
        }
    }

    /// Takes the fact from one file; `absent` says what it means when there is no such file. Read as tuning
    /// does: some files change what they tell of when they are read.
    fn file(
        &mut self,
        key: &str,
        path: &str,
        absent: &str,
        shape: impl FnOnce(&str) -> Option<String>,
    ) {
        match read_target(self.root, &Target::File(path.to_owned())) {
            Reading::Value(text) => match shape(&text) {
                Some(value) => self.put(key, value),
                None => self.miss(key, format!("{path} contains `{}`", excerpt(&text))),
            },
            Reading::Absent => self.absent(key, path, absent),
            other => self.miss(key, format!("{path} {}", other.why_not().unwrap_or_default())),
        }
    }

    /// Takes a fact that each CPU has, and writes it as groups: `0-3:performance 4-7:powersave`.
    fn each_cpu(
        &mut self,
        key: &str,
        cpus: &CpuSet,
        absent: &str,
        read: impl Fn(&SysRoot, CpuId) -> Option<String>,
    ) {
        let mut groups: BTreeMap<String, CpuSet> = BTreeMap::new();
        for cpu in cpus.iter() {
            if let Some(value) = read(self.root, cpu) {
                groups.entry(value).or_default().insert(cpu);
            }
        }
        if groups.is_empty() {
            return self.absent(key, "/sys/devices/system/cpu", absent);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, cpus)| cpus.first());
        let shown: Vec<String> =
            groups.iter().map(|(value, cpus)| format!("{cpus}:{value}")).collect();
        self.put(key, shown.join(" "));
    }

    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.root.read(path).value()
    }
}

/// Keeps a text as it is, unless it is empty.
fn as_is(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Turns the kernel's 0 and 1 into words.
fn on_off(text: &str) -> Option<String> {
    match text.trim() {
        "0" => Some("off".into()),
        "1" => Some("on".into()),
        other => as_is(other),
    }
}

/// Returns the start of a text for a message.
fn excerpt(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(40).collect()
}

#[cfg(test)]
mod tests;
