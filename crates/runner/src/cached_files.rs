//! Whether the files of the subjects lie in memory near their CPUs.
//!
//! Page cache stays on the node of whoever read a file first (kernel documentation `admin-guide/mm/numa_memory_policy.rst`,
//! "page cache"): a subject's own policy does not move it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use becalm_kernel::cached::nodes_of_cached;
use becalm_kernel::file::O_NONBLOCK;
use becalm_model::PlacementLimit;
use becalm_model::conditions::NodeSet;

use crate::Program;

/// Most files that are looked at.
const FILES: usize = 16;

/// Pages of each file that are looked at.
const PAGES: usize = 256;

/// Returns the files that a command names: the program and its arguments, where such regular files are there.
pub(crate) fn files_of(program: &Program, folder: Option<&Path>) -> Vec<PathBuf> {
    let arguments = program.arguments().iter().skip(1);
    let arguments = arguments.map(|one| Path::new(std::ffi::OsStr::from_bytes(one.to_bytes())));
    let folder = folder.unwrap_or(Path::new("."));
    std::iter::once(program.path())
        .chain(arguments)
        .map(|path| folder.join(path))
        .filter(|path| path.is_file())
        .collect()
}

/// Says which files lie mostly in the page cache of nodes other than `near`, and on which. Those of which the
/// kernel does not say it are left out.
pub(crate) fn cached_elsewhere(
    files: &BTreeSet<PathBuf>,
    near: &NodeSet,
) -> Option<PlacementLimit> {
    let mut elsewhere = Vec::new();
    let mut nodes = BTreeSet::new();
    for path in files.iter().take(FILES) {
        // Opening a FIFO in its place would wait for somebody to write.
        let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path);
        let Ok(counts) = file.and_then(|file| nodes_of_cached(&file, PAGES)) else { continue };
        let far = far_nodes(&counts, near);
        if !far.is_empty() {
            elsewhere.push(path.display().to_string());
            nodes.extend(far);
        }
    }
    (!elsewhere.is_empty()).then(|| PlacementLimit::CachedElsewhere {
        files: elsewhere,
        nodes: nodes.into_iter().collect(),
        near: near.clone(),
    })
}

/// Returns the nodes other than `near` on which most pages of a file lie; none if most are near.
fn far_nodes(counts: &BTreeMap<u32, usize>, near: &NodeSet) -> Vec<u32> {
    let near: BTreeSet<u32> = near.iter().collect();
    let (here, there): (Vec<_>, Vec<_>) = counts.iter().partition(|(node, _)| near.contains(*node));
    let sum = |side: &[(&u32, &usize)]| side.iter().map(|(_, count)| **count).sum::<usize>();
    if sum(&there) > sum(&here) {
        there.into_iter().map(|(node, _)| *node).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_pages_decide_whether_a_file_is_elsewhere() {
        let check = |counts: &[(u32, usize)], near: &str, expected: &[u32]| {
            let counts = counts.iter().copied().collect();
            assert_eq!(far_nodes(&counts, &near.parse().unwrap()), expected, "{counts:?}");
        };
        check(&[], "0", &[]);
        check(&[(0, 9)], "0", &[]);
        check(&[(0, 9)], "1", &[0]);
        check(&[(0, 9), (1, 9)], "1", &[]);
        check(&[(0, 8), (1, 9), (2, 5)], "1", &[0, 2]);
        check(&[(0, 8), (1, 9), (2, 5)], "1-2", &[]);
    }

    #[test]
    fn a_command_names_its_program_and_those_arguments_that_are_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), "x").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let words = ["/bin/sh", "-c", "data", "folder", "none"].map(str::to_owned);
        let program = Program::resolve(&words, None, Some(folder.path())).unwrap();
        let files = files_of(&program, Some(folder.path()));
        assert_eq!(files, [PathBuf::from("/bin/sh"), folder.path().join("data")]);
    }
}
