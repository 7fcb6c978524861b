//! Which harness a command is, by its words and by what its program holds.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memmem;

use super::table::{Harness, harness};
use super::words::{base_name, is, script};

/// How much of a program is looked through.
const LOOKED_THROUGH: u64 = 256 << 20;

/// What a program of a harness holds, by which it is known. The order matters where one could hold two.
const MARKS: &[(&[u8], &str)] = &[
    (b"benchmark_out_format", "google-benchmark"),
    // Linked dynamically, as distributions have it, the flags are in the library.
    (b"libbenchmark.so", "google-benchmark"),
    (b"CRITERION_HOME", "criterion"),
    (b"DIVAN_MAX_TIME", "divan"),
    (b"test.benchtime", "go"),
    (b"benchmark-warmup-time", "catch2"),
    (b" ns/iter (+/- ", "libtest"),
];

/// What a script holds by whose words alone nothing is known, because they only name its interpreter.
const SCRIPT_MARKS: &[(&[u8], &str)] = &[
    (b"pyperf", "pyperf"),
    (b"google_benchmark", "google-benchmark"),
    (b"tinybench", "tinybench"),
];

/// Finds out which harness a command is that starts in `folder`; `None` for one that looks like none.
pub fn detect(command: &[String], program: &Path, folder: &Path) -> Option<&'static Harness> {
    by_words(command, folder).or_else(|| by_content(program)).and_then(harness)
}

fn by_words(command: &[String], folder: &Path) -> Option<&'static str> {
    let has = |word: &str| command.iter().any(|one| base_name(one) == word);
    let first = base_name(command.first()?);
    if has("asv") {
        Some("asv")
    } else if first == "hyperfine" {
        Some("hyperfine")
    } else if is(command, 0, "go") && is(command, 1, "test") {
        Some("go")
    } else if has("vitest") || has("vitest.mjs") {
        Some("vitest")
    } else if has("pytest") || first == "py.test" {
        Some("pytest-benchmark")
    } else if has("pyperf") {
        Some("pyperf")
    } else if let Some(script) = script(command) {
        let bytes = read(&folder.join(&command[script - 1]))?;
        SCRIPT_MARKS.iter().find(|(mark, _)| holds(&bytes, mark)).map(|(_, name)| *name)
    } else if first == "java" && has("org.openjdk.jmh.Main") {
        Some("jmh")
    } else if first == "java" && command.iter().any(|word| word == "-jar") {
        // The names of the files inside a jar stand in it as they are.
        let jar = command.iter().find(|word| ends_with(word, ".jar"))?;
        holds(&read(&folder.join(jar))?, b"META-INF/BenchmarkList").then_some("jmh")
    } else {
        None
    }
}

/// Says how a name ends, as the interpreters look at it.
fn ends_with(name: &str, ending: &str) -> bool {
    name.len() > ending.len() && name.as_bytes().ends_with(ending.as_bytes())
}

fn by_content(program: &Path) -> Option<&'static str> {
    let bytes = read(program)?;
    MARKS.iter().find(|(mark, _)| holds(&bytes, mark)).map(|(_, name)| *name)
}

fn holds(bytes: &[u8], mark: &[u8]) -> bool {
    memmem::find(bytes, mark).is_some()
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LOOKED_THROUGH).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, content: &str, expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program.py");
        std::fs::write(&path, content).unwrap();
        let name = path.to_str().unwrap();
        let words: Vec<String> =
            command.split(' ').map(|word| word.replace("{program}", name)).collect();
        let found = detect(&words, &path, Path::new(""));
        assert_eq!(found.map(|one| one.name), expected, "{command}");
    }

    #[test]
    fn a_script_is_looked_for_where_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bench.py"), "import pyperf").unwrap();
        let words = ["python3", "bench.py"].map(str::to_owned);
        let found = |at: &Path| detect(&words, Path::new("python3"), at).map(|one| one.name);
        assert_eq!((found(folder.path()), found(Path::new("/no/such"))), (Some("pyperf"), None));
    }

    #[test]
    fn a_harness_is_known_by_its_words_or_by_its_program() {
        check("{program} --x", "..--benchmark_out_format..", Some("google-benchmark"));
        check("{program}", "NEEDED libbenchmark.so.1", Some("google-benchmark"));
        check("{program}", "CRITERION_HOME", Some("criterion"));
        check("go test ./sort", "", Some("go"));
        check("npx vitest bench", "", Some("vitest"));
        check("python3 -m pytest x", "", Some("pytest-benchmark"));
        check("python3 {program}", "import pyperf", Some("pyperf"));
        check("python3 {program}", "import google_benchmark", Some("google-benchmark"));
        check("python3 {program}", "import time", None);
        check("node --expose-gc {program}", "from 'tinybench'", Some("tinybench"));
        check("node /x/node_modules/vitest/vitest.mjs bench", "", Some("vitest"));
        check("{program}", "just a program", None);
    }
}
