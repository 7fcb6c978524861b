//! A repository as finders see it: names of files, and the text of those that may be useful.

use std::collections::BTreeMap;

/// Files of a repository.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every file, by its path from the root with `/` between; the text of those that are wanted.
    pub(super) files: BTreeMap<String, Option<String>>,
    /// What was not looked at, as sentences.
    pub(super) doubts: Vec<String>,
}

/// Says whether the text of a file may describe benchmarks, by its path.
pub(super) fn is_wanted(path: &str) -> bool {
    let name = base(path);
    let is_python_test = has_ending(name, "py")
        && (name.starts_with("test_") || name.ends_with("_test.py") || name.starts_with("bench"));
    matches!(
        name,
        "Cargo.toml"
            | "go.mod"
            | "package.json"
            | "CMakeLists.txt"
            | "pyproject.toml"
            | "setup.cfg"
            | "tox.ini"
            | "pytest.ini"
            | "asv.conf.json"
            | "pom.xml"
            | "pnpm-workspace.yaml"
    ) || has_ending(name, "cmake")
        || name.ends_with("_test.go")
        || name.starts_with("requirements") && has_ending(name, "txt")
        || name == "conftest.py"
        || is_python_test
        || has_ending(name, "rs") && path.split('/').any(|part| part == "benches")
        || is_script_or_test(path)
}

/// Says whether it is a file of C++ or JavaScript whose path contains a word for benchmarks or
/// tests.
fn is_script_or_test(path: &str) -> bool {
    const ENDINGS: [&str; 8] = ["cc", "cpp", "cxx", "js", "mjs", "cjs", "ts", "mts"];
    ENDINGS.iter().any(|ending| has_ending(path, ending))
        && path.split('/').any(|part| {
            let part = part.to_ascii_lowercase();
            ["bench", "perf", "test"].iter().any(|word| part.contains(word))
        })
}

impl Tree {
    /// Returns the files of this name, by path, with their text.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| base(path) == name)
    }

    /// Returns the files whose text was read.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns the paths of the files in a folder, without those in folders below it.
    pub(super) fn directly_in<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(String::as_str).filter(move |path| parent(path) == folder)
    }

    /// Says whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

/// Says whether a file has this ending; these tools use it in small letters.
pub(super) fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

/// Returns the last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of a path, empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins a folder, which may be the root, and what is in it.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    let read =
        |&(path, text): &(&str, &str)| (path.to_owned(), is_wanted(path).then(|| text.to_owned()));
    Tree { files: files.iter().map(read).collect(), doubts: Vec::new() }
}
