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
            "tests have a `benchmark` fixture, but nothing depends on pytest-benchmark: it may be \
             another fixture"
                .to_owned(),
        );
    }
    for (path, text) in tree.named("conftest.py") {
        if text.contains("def benchmark(") {
            finds.doubts.push(format!(
                "{path} defines its own `benchmark` fixture, which replaces that of \
                 pytest-benchmark"
            ));
        }
    }
    for path in files {
        let folder = project_of(tree, path);
        let inside = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let stem = base(path).trim_end_matches(".py");
        let name = stem.trim_start_matches("test_").trim_end_matches("_test");
        let mut command = words(&["python3", "-m", "pytest"]);
        let mut comments = vec![format!("tests with a `benchmark` fixture in {path}")];
        if let Some(said) = hindering(tree, folder) {
            comments.push(format!(
                "addopts of {said} prevent benchmarks from running, or need other plugins"
            ));
            command.extend(words(&["-o", "addopts="]));
        }
        command.push(inside.to_owned());
        finds.benchmarks.push(Found {
            name: key(name),
            command,
            harness: Some("pytest-benchmark"),
            folder: folder.to_owned(),
            setup: None,
            tag: "pytest",
            comments,
            ..Found::default()
        });
    }
    finds
}

/// Returns the file whose `addopts` would skip the benchmarks, spread them over processes, or trace
/// them.
fn hindering<'a>(tree: &'a Tree, folder: &str) -> Option<&'a str> {
    const OPTIONS: [&str; 6] =
        ["--benchmark-skip", "--cov", "--numprocesses", "-n", "--xdoc", "--mypy"];
    let files = ["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];
    let mut texts =
        tree.texts().filter(|(path, _)| parent(path) == folder && files.contains(&base(path)));
    texts.find_map(|(path, text)| {
        let (_, rest) = text.split_once("addopts")?;
        let mut lines = rest.lines();
        let first = lines.next().unwrap_or_default();
        // What goes on is indented, or stands in the brackets of a list.
        let more = lines.take_while(|line| line.starts_with([' ', '\t', ']']));
        let options: Vec<&str> = std::iter::once(first).chain(more).collect();
        let options = options.join(" ");
        options
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '='))
            .any(|word| {
                OPTIONS
                    .iter()
                    .any(|option| word == *option || option.len() > 2 && word.starts_with(option))
            })
            .then_some(path)
    })
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
    fn options_that_hinder_are_taken_away() {
        let command = |file: &str, text: &str| {
            let test = ("t/test_a.py", "def test_a(benchmark): pass");
            find(&tree(&[(file, text), test])).benchmarks[0].command[3..].join(" ")
        };
        let plain = "t/test_a.py";
        let without = "-o addopts= t/test_a.py";
        assert_eq!(command("pytest.ini", "[pytest]\naddopts = -q --benchmark-skip\n"), without);
        assert_eq!(
            command("setup.cfg", "[tool:pytest]\naddopts =\n    -r a\n    -n auto\n"),
            without
        );
        let list = "[tool.pytest.ini_options]\naddopts = [\n  \"--cov=x\",\n]\n";
        assert_eq!(command("pyproject.toml", list), without);
        assert_eq!(command("pytest.ini", "[pytest]\naddopts = -q -rn\nx = -n\n"), plain);
    }

    #[test]
    fn a_fixture_of_the_projects_own_is_told() {
        let finds = find(&tree(&[
            ("requirements.txt", "pytest-benchmark"),
            ("t/conftest.py", "@pytest.fixture\ndef benchmark():\n    return lambda f: f()\n"),
            ("t/test_a.py", "def test_a(benchmark): pass"),
        ]));
        assert_eq!((finds.benchmarks.len(), finds.doubts.len()), (1, 1));
        assert!(finds.doubts[0].starts_with("t/conftest.py defines its own `benchmark` fixture"));
    }

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
