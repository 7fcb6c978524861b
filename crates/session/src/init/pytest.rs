//! Benchmarks of pytest-benchmark: tests with a `benchmark` fixture.

use super::tree::{Tree, base, has_ending, join, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    let mut files: Vec<&str> = tree
        .texts()
        .filter(|(path, text)| has_ending(path, "py") && uses_fixture(text))
        .map(|(path, _)| path)
        .collect();
    files.sort_unstable();
    let required = tree
        .texts()
        .find(|(path, text)| !has_ending(path, "py") && text.contains("pytest-benchmark"));
    if files.is_empty() {
        if let Some((path, _)) = required {
            finds.doubts.push(format!(
                "{path} asks for pytest-benchmark, but no test with a `benchmark` fixture was found"
            ));
        }
        return finds;
    }
    if required.is_none() {
        finds.doubts.push(
            "tests have a `benchmark` fixture, but nothing asks for pytest-benchmark: it may be another fixture"
                .to_owned(),
        );
    }
    for path in files {
        let folder = project_of(tree, path);
        let inside = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let stem = base(path).trim_end_matches(".py");
        let name = stem.trim_start_matches("test_").trim_end_matches("_test");
        finds.benchmarks.push(Found {
            name: key(name),
            command: words(&["python3", "-m", "pytest", inside]),
            harness: Some("pytest-benchmark"),
            folder: folder.to_owned(),
            setup: None,
            tag: "pytest",
            comments: vec![format!("tests with a `benchmark` fixture in {path}")],
        });
    }
    finds
}

/// Says whether some test function takes the fixture.
fn uses_fixture(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split("def test_").skip(1).any(|rest| {
        let Some((_, parameters)) = rest.split_once('(') else { return false };
        let parameters = parameters.split(')').next().unwrap_or_default();
        parameters.split(|c: char| !is_word(c)).any(|word| word == "benchmark")
    })
}

/// Returns the folder in which pytest is to be started: that of the nearest project file above.
fn project_of<'a>(tree: &Tree, path: &'a str) -> &'a str {
    let mut folder = parent(path);
    loop {
        let marks = ["pyproject.toml", "setup.cfg", "tox.ini", "setup.py"];
        if folder.is_empty() || marks.iter().any(|mark| tree.has(&join(folder, mark))) {
            return folder;
        }
        folder = parent(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn files_with_the_fixture_are_found() {
        let finds = find(&tree(&[
            ("py/pyproject.toml", "[project]\ndependencies = ['pytest-benchmark']"),
            ("py/tests/test_sort.py", "def test_sort(benchmark, data):\n  pass"),
            ("py/tests/test_other.py", "def test_x(benchmarks):\n  pass"),
        ]));
        assert_eq!(finds.benchmarks.len(), 1);
        let found = &finds.benchmarks[0];
        assert_eq!((found.name.as_str(), found.folder.as_str()), ("sort", "py"));
        assert_eq!(found.command.join(" "), "python3 -m pytest tests/test_sort.py");
        assert!(finds.doubts.is_empty());
        let asked = find(&tree(&[("requirements.txt", "pytest-benchmark==5\n")]));
        assert!(asked.benchmarks.is_empty() && asked.doubts[0].contains("requirements.txt"));
    }
}
