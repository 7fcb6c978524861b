//! Takes out of texts what tells whose machine it is.

use std::path::{Path, PathBuf};

use crate::sysroot::SysRoot;

/// How boot parameters start whose values are about CPUs, memory and time. Others may hold disks,
/// addresses and even passwords, so their values stay.
const PUBLIC_PARAMETERS: [&str; 44] = [
    "acpi",
    "amd_",
    "cgroup",
    "clocksource",
    "cpufreq",
    "cpuidle",
    "default_hugepagesz",
    "gather_data_sampling",
    "hugepages",
    "idle",
    "intel_",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "kpti",
    "kvm",
    "l1tf",
    "lockdown",
    "maxcpus",
    "mce",
    "mds",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nosmt",
    "nospec",
    "nr_cpus",
    "numa",
    "pcie_aspm",
    "possible_cpus",
    "preempt",
    "processor",
    "psi",
    "pti",
    "rcu",
    "retbleed",
    "skew_tick",
    "smt",
    "spec",
    "systemd.unified_cgroup_hierarchy",
    "transparent_hugepage",
    "tsc",
    "watchdog",
    "workqueue",
];

/// Lines of `/proc/cpuinfo` that name one machine.
const PRIVATE_KEYS: [&str; 2] = ["serial", "identification"];

/// A shorter name is too likely to be a part of another word.
const SHORTEST_NAME: usize = 3;

/// Knows which words must not appear.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    names: Vec<(String, &'static str)>,
}

impl Redactor {
    /// Makes a redactor for a machine, whose host name it reads, and for the given names of users.
    pub fn new(root: &SysRoot, users: &[String]) -> Self {
        let mut names = Vec::new();
        let host = root.read("/proc/sys/kernel/hostname").value().unwrap_or_default();
        let short = host.split('.').next().unwrap_or_default().to_owned();
        for name in [host, short] {
            names.push((name, "HOST"));
        }
        names.extend(users.iter().map(|user| (user.clone(), "USER")));
        // Words that every system has are no secret, and hide a lot when they are replaced.
        names.retain(|(name, _)| {
            name.len() >= SHORTEST_NAME && !["root", "localhost", "cpu"].contains(&name.as_str())
        });
        Self { names }
    }

    /// Returns the content of a file as it may leave the machine, with the lines that `keeps` keeps.
    pub(super) fn content(
        &self,
        path: &Path,
        bytes: &[u8],
        keeps: impl Fn(&str) -> bool,
    ) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            // Compressed kernel options and strings of a device tree.
            return bytes.to_vec();
        };
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n').filter(|line| keeps(line.trim_end())) {
            match path.to_str() {
                Some("/proc/cmdline") => out.push_str(&self.text(&parameters(line))),
                Some("/proc/cpuinfo") if is_private(line) => {}
                Some("/proc/version" | "/proc/sys/kernel/version") => {
                    out.push_str(&self.text(&builder(line)));
                }
                _ => out.push_str(&self.text(line)),
            }
        }
        out.into_bytes()
    }

    /// Returns a path as it may leave the machine: names of control groups can hold UUIDs.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        PathBuf::from(self.text(&path.to_string_lossy()))
    }

    /// Replaces names, UUIDs and hardware addresses.
    pub fn text(&self, text: &str) -> String {
        let mut text = identifiers(text);
        for (name, instead) in &self.names {
            text = replace_word(&text, name, instead);
        }
        text
    }
}

fn is_private(line: &str) -> bool {
    let key = line.split(':').next().unwrap_or_default().trim().to_lowercase();
    PRIVATE_KEYS.iter().any(|private| key.contains(private))
}

/// Hides the values of boot parameters that are about something else, and what follows `--`, which
/// is for the first program.
fn parameters(line: &str) -> String {
    let hidden = |word: &str| match word.split_once('=') {
        Some((key, _)) if !PUBLIC_PARAMETERS.iter().any(|public| key.starts_with(public)) => {
            format!("{key}=REDACTED")
        }
        _ => word.to_owned(),
    };
    let words = line.split_whitespace().take_while(|word| *word != "--");
    let end = if line.ends_with('\n') { "\n" } else { "" };
    words.map(hidden).collect::<Vec<_>>().join(" ") + end
}

/// Hides who built the kernel, and where: `(user@host)`.
fn builder(line: &str) -> String {
    let words = line.split_inclusive(' ').map(|word| {
        let is_builder = word.starts_with('(') && word.contains('@');
        if is_builder { "(BUILDER) " } else { word }
    });
    words.collect()
}

/// Replaces UUIDs, hardware addresses, and the interface names that are made from them.
fn identifiers(text: &str) -> String {
    const UUID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    // Control groups of pods write them with underscores too.
    const UNDERSCORED: &str = "xxxxxxxx_xxxx_xxxx_xxxx_xxxxxxxxxxxx";
    const ADDRESS: &str = "xx:xx:xx:xx:xx:xx";
    const INTERFACE: &str = "enxxxxxxxxxxxxx";
    if !text.bytes().any(|byte| b"-:_x".contains(&byte)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let starts_word = !before.is_some_and(|c: char| c.is_ascii_hexdigit());
        let starts_name = !before.is_some_and(|c: char| c.is_ascii_alphanumeric());
        let (replaced, length) = if matches(rest, UUID) {
            ("UUID", UUID.len())
        } else if matches(rest, UNDERSCORED) {
            ("UUID", UNDERSCORED.len())
        } else if starts_word && matches(rest, ADDRESS) {
            ("ADDRESS", ADDRESS.len())
        } else if starts_name && rest.starts_with("enx") && matches(&rest[3..], &INTERFACE[3..]) {
            ("enxADDRESS", INTERFACE.len())
        } else {
            ("", c.len_utf8())
        };
        if replaced.is_empty() {
            out.push(c);
        } else {
            out.push_str(replaced);
        }
        before = rest[..length].chars().last();
        rest = &rest[length..];
    }
    out
}

/// Says whether `text` starts like `pattern`, in which `x` stands for a hexadecimal digit.
fn matches(text: &str, pattern: &str) -> bool {
    let text = text.as_bytes();
    text.len() >= pattern.len()
        && pattern.bytes().zip(text).all(|(wanted, &byte)| match wanted {
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
}

/// Replaces a name where it stands as a word.
fn replace_word(text: &str, name: &str, instead: &str) -> String {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let previous = before.chars().last().or_else(|| out.chars().last());
        out.push_str(before);
        let stands_alone = !is_part(previous) && !is_part(after.chars().next());
        out.push_str(if stands_alone { instead } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;
    use proptest::prelude::*;

    fn redactor() -> Redactor {
        let tree = FakeTree::new().file("/proc/sys/kernel/hostname", "mars.example.org\n");
        Redactor::new(&SysRoot::new(tree.path()), &["ada".into(), "root".into()])
    }

    #[track_caller]
    fn check(path: &str, text: &str, expected: &str) {
        let content = redactor().content(Path::new(path), text.as_bytes(), |_| true);
        assert_eq!(String::from_utf8(content).unwrap(), expected);
    }

    #[test]
    fn names_go_where_they_are_words() {
        check("/x", "mars:/home/ada marsh adapter root\n", "HOST:/home/USER marsh adapter root\n");
    }

    #[test]
    fn identifiers_go() {
        check("/x", "pod1b4e28ba-2fa1-11d2-883f-0016d3cca427.slice\n", "podUUID.slice\n");
        check("/x", "pod1b4e28ba_2fa1_11d2_883f_0016d3cca427\n", "podUUID\n");
        check("/x", "at 00:16:d3:cc:a4:27, enx0016d3cca427-rx\n", "at ADDRESS, enxADDRESS-rx\n");
        check("/x", "00:16:d3 no address, 0-3,8 a list\n", "00:16:d3 no address, 0-3,8 a list\n");
    }

    #[test]
    fn the_boot_line_keeps_what_is_about_cpus() {
        check(
            "/proc/cmdline",
            "BOOT_IMAGE=/vmlinuz root=UUID=12 isolcpus=2-3 nohz_full=2-3 quiet my.key=s -- --in it\n",
            "BOOT_IMAGE=REDACTED root=REDACTED isolcpus=2-3 nohz_full=2-3 quiet my.key=REDACTED\n",
        );
    }

    #[test]
    fn serial_numbers_and_builders_go() {
        check(
            "/proc/cpuinfo",
            "processor : 0\nSerial\t\t: 00e1\nmodel : 3\n",
            "processor : 0\nmodel : 3\n",
        );
        check(
            "/proc/version",
            "Linux version 6.1 (ada@mars) (gcc 12)\n",
            "Linux version 6.1 (BUILDER) (gcc 12)\n",
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,80}") {
            let _ = redactor().content(Path::new("/proc/cmdline"), text.as_bytes(), |_| true);
            let _ = redactor().text(&text);
        }
    }
}
