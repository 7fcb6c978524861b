//! `cgroup.subtree_control`, which is read as words and written as differences.

use std::collections::BTreeSet;
use std::io;

use crate::SysRoot;

/// Says whether a file is one of these.
pub(super) fn is_one(path: &str) -> bool {
    path.ends_with("/cgroup.subtree_control")
}

/// Makes the file read as `wanted`: controllers, in any order.
pub(super) fn write(root: &SysRoot, path: &str, wanted: &str) -> io::Result<()> {
    let now = root.read(path).value().unwrap_or_default();
    let difference = difference(&now, wanted);
    if difference.is_empty() { Ok(()) } else { root.write(path, &difference) }
}

/// Returns what turns one list of controllers into the other: `+cpuset -io`.
fn difference(now: &str, wanted: &str) -> String {
    let set = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    let (now, wanted) = (set(now), set(wanted));
    let more = wanted.difference(&now).map(|word| format!("+{word}"));
    let less = now.difference(&wanted).map(|word| format!("-{word}"));
    more.chain(less).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_written_as_differences() {
        let check = |now, wanted, expected| assert_eq!(difference(now, wanted), expected);
        check("cpu memory", "memory cpu cpuset", "+cpuset");
        check("cpuset cpu memory", "cpu memory", "-cpuset");
        check("cpu", "cpuset", "+cpuset -cpu");
        check("cpu", "cpu", "");
        check("", "", "");
    }
}
