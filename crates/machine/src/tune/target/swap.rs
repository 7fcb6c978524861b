//! Swap areas: files and disks to which the kernel moves memory.
//!
//! <https://man7.org/linux/man-pages/man2/swapon.2.html>

use std::io;

use becalm_kernel::memory::{swap_off, swap_on};

use crate::{Reading, SysRoot};

/// Value of an area that is not used; one that is has its priority.
pub(crate) const OFF: &str = "off";

const SWAPS: &str = "/proc/swaps";

/// A swap area that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Area {
    /// The file or disk.
    pub(crate) path: String,
    /// How much is swapped out, in KiB.
    pub(crate) used: u64,
    /// Its priority; negative where the kernel has chosen it.
    pub(crate) priority: i32,
}

/// Returns the areas that are used. A table of which one line cannot be understood counts as unreadable.
pub(crate) fn areas(root: &SysRoot) -> Reading<Vec<Area>> {
    let text = match root.read(SWAPS) {
        Reading::Value(text) => text,
        other => return other.map(|_| Vec::new()),
    };
    let lines = text.lines().skip(1).filter(|line| !line.ends_with(OFF));
    match lines.map(area).collect() {
        Some(areas) => Reading::Value(areas),
        None => Reading::Unreadable { reason: "it is not a table of swap areas".to_owned() },
    }
}

/// Reads a line: name, type, size, used, priority.
fn area(line: &str) -> Option<Area> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, _, _, used, priority] = words[..] else { return None };
    Some(Area { path: unescaped(name), used: used.parse().ok()?, priority: priority.parse().ok()? })
}

/// The kernel writes white space and backslashes in a name as three octal digits.
fn unescaped(name: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(name.to_owned(), |name, (digits, letter)| name.replace(digits, letter))
}

/// Returns the priority of an area, or that it is off.
pub(super) fn read(root: &SysRoot, path: &str) -> Reading {
    areas(root).map(|areas| {
        let area = areas.iter().find(|area| area.path == path);
        area.map_or(OFF.to_owned(), |area| area.priority.to_string())
    })
}

/// Switches an area off, or on with its priority. The kernel chooses one that is negative again as it did before.
pub(super) fn write(root: &SysRoot, path: &str, value: &str) -> io::Result<()> {
    let priority = (value != OFF).then(|| value.parse::<i32>()).transpose();
    let priority = priority.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    if !root.is_live() {
        return write_table(root, path, value);
    }
    match priority {
        None => swap_off(path),
        Some(priority) => swap_on(path, u16::try_from(priority).ok()),
    }
}

/// A folder that stands for a machine has only the table: there an area that is off keeps its line, with that word in
/// place of its priority.
fn write_table(root: &SysRoot, path: &str, value: &str) -> io::Result<()> {
    let text = root.read(SWAPS).value().unwrap_or_default();
    let lines = text.lines().map(|line| {
        let is_it = line.split_whitespace().next().is_some_and(|name| unescaped(name) == path);
        match line.rsplit_once(char::is_whitespace) {
            Some((before, word)) if is_it => {
                let gap = &line[before.len()..line.len() - word.len()];
                format!("{before}{gap}{value}\n")
            }
            _ => format!("{line}\n"),
        }
    });
    root.write(SWAPS, &lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn an_area_goes_off_and_comes_back_with_its_priority() {
        let table =
            "Filename Type Size Used Priority\n/dev/vda2 partition 9 0 -2\n/a\\040b file 9 3 5\n";
        let tree = FakeTree::new().file(SWAPS, table);
        let root = SysRoot::new(tree.path());
        let shown = |path: &str| read(&root, path).value().unwrap();
        assert_eq!([shown("/dev/vda2"), shown("/a b"), shown("/c")], ["-2", "5", "off"]);
        write(&root, "/a b", OFF).unwrap();
        assert_eq!([shown("/dev/vda2"), shown("/a b")], ["-2", "off"]);
        write(&root, "/a b", "5").unwrap();
        assert_eq!(std::fs::read_to_string(tree.path().join("proc/swaps")).unwrap(), table);
        let broken = root.clone();
        let _tree = tree.file(SWAPS, "Filename\n/dev/vda2 partition\n");
        assert!(matches!(read(&broken, "/dev/vda2"), Reading::Unreadable { .. }));
        assert!(write(&broken, "/dev/vda2", "high").is_err());
    }
}
