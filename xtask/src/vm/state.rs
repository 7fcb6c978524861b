//! The whole state of a machine as text, and what differs between two readings of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The script that reads it; its output is for [`State::parse`].
pub(super) const SCRIPT: &str = include_str!("guest/state.sh");

/// Values that the kernel changes by itself, with the reason. `*` stands for anything within one
/// name.
const VOLATILE: &[(&str, &str)] = &[
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/usage", "counter"),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/time", "counter"),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/above", "counter"),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/below", "counter"),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/rejected", "counter"),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*/s2idle/*", "counter"),
    ("/sys/devices/system/cpu/cpu*/acpi_cppc/feedback_ctrs", "counter"),
    ("/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq", "measured"),
    ("/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_cur_freq", "measured"),
    ("/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_avg_freq", "measured"),
    ("/sys/devices/system/cpu/cpufreq/policy*/stats/*", "counter"),
    ("/sys/devices/system/node/node*/meminfo", "counter"),
    ("/sys/devices/system/node/node*/numastat", "counter"),
    ("/sys/devices/system/node/node*/vmstat", "counter"),
    ("/sys/devices/system/node/node*/hugepages/*/free_hugepages", "counter"),
    ("/sys/kernel/mm/ksm/full_scans", "counter"),
    ("/sys/kernel/mm/ksm/pages_*", "counter"),
    ("/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans", "counter"),
    ("/sys/kernel/mm/transparent_hugepage/khugepaged/pages_collapsed", "counter"),
    ("/sys/kernel/mm/transparent_hugepage/hugepages-*/stats/*", "counter"),
    ("/sys/module/*/parameters/*_stats", "counter"),
    ("/proc/sys/fs/dentry-state", "counter"),
    ("/proc/sys/fs/file-nr", "counter"),
    ("/proc/sys/fs/inode-nr", "counter"),
    ("/proc/sys/fs/inode-state", "counter"),
    ("/proc/sys/fs/aio-nr", "counter"),
    ("/proc/sys/fs/quota/*", "counter"),
    ("/proc/sys/kernel/ns_last_pid", "counter"),
    ("/proc/sys/kernel/pty/nr", "counter"),
    ("/proc/sys/kernel/random/entropy_avail", "counter"),
    ("/proc/sys/kernel/random/uuid", "new at each reading"),
];

/// What was read: the lines of each file by its path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct State {
    values: BTreeMap<String, Vec<String>>,
}

/// A value that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

impl State {
    /// Reads the output of [`SCRIPT`].
    pub(super) fn parse(text: &str) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in text.lines() {
            // A file that cannot be read has a message for a value.
            let line = line.strip_prefix("grep: ").unwrap_or(line);
            if let Some((path, value)) = line.split_once(':') {
                values.entry(path.to_owned()).or_default().push(value.to_owned());
            }
        }
        Self { values }
    }

    /// Returns only the values of some differences.
    pub(super) fn only(&self, differences: &[Difference]) -> Self {
        let is_one = |path: &String| differences.iter().any(|difference| difference.path == *path);
        let values = self.values.iter().filter(|(path, _)| is_one(path));
        Self { values: values.map(|(path, lines)| (path.clone(), lines.clone())).collect() }
    }

    /// Returns the number of files.
    pub(super) fn n_files(&self) -> usize {
        self.values.len()
    }

    /// Returns what differs in a later reading, but for what the kernel changes by itself.
    pub(super) fn differences(&self, later: &Self) -> Vec<Difference> {
        let paths: BTreeSet<&String> = self.values.keys().chain(later.values.keys()).collect();
        paths
            .into_iter()
            .filter(|path| !VOLATILE.iter().any(|(pattern, _)| matches(pattern, path)))
            .filter_map(|path| {
                let (before, after) = (self.values.get(path), later.values.get(path));
                let is_same =
                    if is_process(path) { same_process(before, after) } else { before == after };
                let text = |lines: Option<&Vec<String>>| lines.map(|lines| lines.join(" | "));
                (!is_same).then(|| Difference {
                    path: path.clone(),
                    before: text(before),
                    after: text(after),
                })
            })
            .collect()
    }
}

impl Difference {
    /// Returns which file it is.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| {
            value.as_ref().map_or_else(|| "absent".to_owned(), |value| format!("`{value}`"))
        };
        write!(f, "{}: was {}, is {}", self.path, shown(&self.before), shown(&self.after))
    }
}

fn is_process(path: &str) -> bool {
    path.strip_prefix("/proc/").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Processes come and go. Workers of the kernel change their names and pools, and the thread of an
/// interrupt follows the CPU that the interrupt happens to be delivered to, of those that it may use.
fn same_process(before: Option<&Vec<String>>, after: Option<&Vec<String>>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    let moves_by_itself = before
        .iter()
        .any(|line| line.starts_with("Name:\tkworker/") || line.starts_with("Name:\tirq/"));
    before.first() != after.first() || moves_by_itself || before == after
}

/// Says whether a path has the form of a pattern.
fn matches(pattern: &str, path: &str) -> bool {
    let (mut patterns, mut names) = (pattern.split('/'), path.split('/'));
    loop {
        match (patterns.next(), names.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if name_matches(pattern, name) => {}
            _ => return false,
        }
    }
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expect: &[&str]) {
        let differences = State::parse(before).differences(&State::parse(after));
        let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn a_value_a_file_and_a_refusal_that_changed_are_differences() {
        check(
            "/proc/sys/a:1\n/proc/sys/b:1\n/proc/sys/b:2\n/proc/sys/gone:\ngrep: /x: Permission denied",
            "/proc/sys/a:2\n/proc/sys/b:1\n/proc/sys/b:2\n/proc/sys/new:3\ngrep: /x: Permission denied",
            &[
                "/proc/sys/a: was `1`, is `2`",
                "/proc/sys/gone: was ``, is absent",
                "/proc/sys/new: was absent, is `3`",
            ],
        );
    }

    #[test]
    fn counters_are_no_differences() {
        check(
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/usage:1\n/proc/sys/fs/file-nr:1 0 2",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/usage:2\n/proc/sys/fs/file-nr:9 0 2",
            &[],
        );
        check(
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable:0",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable:1",
            &["/sys/devices/system/cpu/cpu0/cpuidle/state1/disable: was `0`, is `1`"],
        );
    }

    #[test]
    fn a_process_that_is_still_there_must_have_its_cpus() {
        let line = |id, name, cpus| {
            format!(
                "/proc/{id}/status:Name:\t{name}\n/proc/{id}/status:Cpus_allowed_list:\t{cpus}\n"
            )
        };
        let before =
            line(2, "kthreadd", "0-3") + &line(9, "sh", "0-3") + &line(5, "kworker/u8:1", "0-3");
        let after =
            line(2, "kthreadd", "0-1") + &line(10, "sh", "0-1") + &line(5, "kworker/u8:1", "0-1");
        check(
            &before,
            &after,
            &["/proc/2/status: was `Name:\tkthreadd | Cpus_allowed_list:\t0-3`, \
               is `Name:\tkthreadd | Cpus_allowed_list:\t0-1`"],
        );
    }

    #[test]
    fn a_star_stays_within_one_name() {
        for (pattern, path, expect) in [
            ("/a/b*/c", "/a/b12/c", true),
            ("/a/b*/c", "/a/b1/x/c", false),
            ("/a/*_x", "/a/y_x", true),
            ("/a/*_x*", "/a/y_xz", true),
            ("/a/b", "/a/bc", false),
            ("/a/b", "/a/b/c", false),
        ] {
            assert_eq!(matches(pattern, path), expect, "{pattern} {path}");
        }
    }
}
