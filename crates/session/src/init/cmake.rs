//! Benchmarks of `CMake` projects: executables whose name or libraries say so.

use super::tree::{Tree, base, has_ending, parent};
use super::{Finds, Found, key};

pub(super) fn find(tree: &Tree) -> Finds {
    let lists: Vec<(&str, &str)> = tree
        .texts()
        .filter(|(path, _)| base(path) == "CMakeLists.txt" || has_ending(path, "cmake"))
        .collect();
    let mut finds = Finds::default();
    let calls: Vec<(&str, Vec<Call>)> =
        lists.iter().map(|(path, text)| (*path, calls(text))).collect();
    for (path, of_file) in &calls {
        for call in of_file.iter().filter(|call| call.name == "add_executable") {
            let Some(target) = call.words.first() else { continue };
            let harness = harness(target, calls.iter().flat_map(|(_, calls)| calls));
            if harness.is_none() && !target.to_lowercase().contains("bench") {
                continue;
            }
            if target.contains('$') {
                finds.doubts.push(format!(
                    "{path} has a target {target}, whose name only CMake knows; add it by hand"
                ));
                continue;
            }
            let program = super::tree::join(parent(path), target);
            if harness.is_none() {
                finds.doubts.push(format!(
                    "the harness of the CMake target `{target}` is not known: it is timed from outside"
                ));
            }
            finds.benchmarks.push(Found {
                name: key(target),
                command: vec![format!("./build/{program}")],
                harness,
                folder: String::new(),
                setup: Some(format!(
                    "cmake --build build --target {}",
                    shell_words::quote(target)
                )),
                tag: "cmake",
                comments: vec![
                    format!("target of {path}"),
                    "it is taken from a folder `build`: cmake -S . -B build -DCMAKE_BUILD_TYPE=Release".to_owned(),
                ],
            });
        }
    }
    finds
}

/// A call of a `CMake` command.
struct Call {
    name: String,
    words: Vec<String>,
}

/// Reads the calls of a `CMake` file, comments left out; what it computes is not followed.
fn calls(text: &str) -> Vec<Call> {
    let code: String = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut calls = Vec::new();
    let mut rest = code.as_str();
    while let Some(open) = rest.find('(') {
        let before = rest[..open].trim_end();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = before.trim_end_matches(is_of_name).len();
        let inside = &rest[open + 1..];
        let close = inside.find(')').unwrap_or(inside.len());
        let words =
            inside[..close].split_whitespace().map(|word| word.trim_matches('"').to_owned());
        calls.push(Call { name: before[start..].to_lowercase(), words: words.collect() });
        rest = &inside[close..];
    }
    calls
}

/// Tells the harness of a target by the libraries that it is linked with.
fn harness<'a>(target: &str, mut calls: impl Iterator<Item = &'a Call>) -> Option<&'static str> {
    let linked = calls.find(|call| {
        call.name == "target_link_libraries"
            && call.words.first().is_some_and(|word| word == target)
            && call.words[1..].iter().any(|word| library(word).is_some())
    })?;
    linked.words[1..].iter().find_map(|word| library(word))
}

fn library(word: &str) -> Option<&'static str> {
    match word {
        "benchmark::benchmark" | "benchmark::benchmark_main" | "benchmark" | "benchmark_main" => {
            Some("google-benchmark")
        }
        "nanobench" | "nanobench::nanobench" => Some("nanobench"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn letters_of_any_alphabet_before_a_call_do_no_harm() {
        let text = "\u{feff}cmake_minimum_required(VERSION 3)\nmessage(\"Länge (mm) größe(cm)\")\n\
                    add_executable(sort_bench sort.cc)\n";
        let finds = find(&tree(&[("CMakeLists.txt", text)]));
        assert_eq!(finds.benchmarks[0].name, "sort_bench");
    }

    #[test]
    fn targets_are_told_by_their_names_and_libraries() {
        let text = "find_package(benchmark REQUIRED)\nadd_executable(perf main.cc) # add_executable(no_bench x)\n\
                    target_link_libraries(perf PRIVATE benchmark::benchmark)\nADD_EXECUTABLE( sort_bench\n  sort.cc )\n\
                    add_executable(app app.cc)\n";
        let finds = find(&tree(&[("cpp/CMakeLists.txt", text)]));
        let found: Vec<(&str, Option<&str>, &str)> = finds
            .benchmarks
            .iter()
            .map(|one| (one.name.as_str(), one.harness, one.command[0].as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("perf", Some("google-benchmark"), "./build/cpp/perf"),
                ("sort_bench", None, "./build/cpp/sort_bench"),
            ]
        );
        assert_eq!(finds.doubts.len(), 1);
        let odd = find(&tree(&[("CMakeLists.txt", "add_executable(${n}_bench x)(((")]));
        assert!(odd.benchmarks.is_empty() && odd.doubts[0].contains("by hand"));
    }
}
