//! Benchmarks of `CMake` projects: executables whose name or libraries say so.

mod calls;
mod conditions;

use std::collections::BTreeSet;

use self::calls::{Call, Definitions};
use super::tree::{Tree, base, has_ending, join, parent};
use super::{Finds, Found, key};

pub(super) fn find(tree: &Tree) -> Finds {
    let lists: Vec<(&str, &str)> = tree
        .texts()
        .filter(|(path, _)| base(path) == "CMakeLists.txt" || has_ending(path, "cmake"))
        .collect();
    let mut definitions = Definitions::default();
    for (_, text) in &lists {
        definitions.learn(text);
    }
    let files: Vec<File> = lists
        .iter()
        .map(|(path, text)| File { folder: parent(path), path, calls: definitions.follow(text) })
        .collect();
    let mut finds = Finds::default();
    for file in &files {
        for at in 0..file.calls.len() {
            if file.calls[at].name == "add_executable" {
                add(tree, &files, file, at, &mut finds);
            }
        }
    }
    finds
}

/// A file of `CMake`, and what it calls.
struct File<'a> {
    folder: &'a str,
    path: &'a str,
    calls: Vec<Call>,
}

impl File<'_> {
    fn calls<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| call.name == name)
    }
}

/// Adds the executable of a call, if it is a benchmark.
fn add(tree: &Tree, files: &[File<'_>], file: &File<'_>, at: usize, finds: &mut Finds) {
    let call = &file.calls[at];
    let folder = conditions::folder_of(files, file);
    let Some(target) = call.words.first() else { return };
    if call.words.iter().any(|word| matches!(word.as_str(), "ALIAS" | "IMPORTED")) {
        return;
    }
    let says_so = target.to_lowercase().contains("bench");
    let harness = harness(target, files.iter().flat_map(|file| &file.calls));
    let mut filter = None;
    if harness == Some("catch2") {
        // Most programs of Catch2 are tests alone.
        let sources = sources(tree, folder, &call.words[1..]);
        if !says_so && !holds_benchmarks(&sources) {
            return;
        }
        filter = tag(&sources);
    }
    if harness.is_none() && !says_so {
        return;
    }
    if target.contains('$') {
        finds.doubts.push(format!(
            "{} has a target {target}, whose name only CMake knows; add it by hand",
            file.path
        ));
        return;
    }
    let top = top_of(files, folder);
    let inside = folder.strip_prefix(top).unwrap_or(folder).trim_start_matches('/');
    let place = output_folder(files, top).unwrap_or_else(|| inside.to_owned());
    if harness.is_none() {
        finds.doubts.push(format!(
            "the harness of the CMake target `{target}` is unknown, so it is timed from outside"
        ));
    }
    let mut comments = vec![format!("target of {}", file.path)];
    if filter.is_some() {
        comments.push("the filter excludes its tests".to_owned());
    }
    let options: Vec<String> = options(files, top, &conditions::needed(files, file, at))
        .iter()
        .map(|name| format!(" -D{name}=ON"))
        .collect();
    finds.benchmarks.push(Found {
        name: key(target),
        command: vec![format!("./build/{}", join(&place, target))],
        harness,
        filter,
        folder: top.to_owned(),
        setup: Some(format!(
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release{} && cmake --build build --target {}",
            options.concat(),
            shell_words::quote(target)
        )),
        tag: "cmake",
        comments,
        ..Found::default()
    });
}

/// Returns the folder that is given to `CMake`: the topmost one that adds those below it.
fn top_of<'a>(files: &[File<'a>], folder: &'a str) -> &'a str {
    let list = |folder: &str| {
        files.iter().find(|file| file.folder == folder && base(file.path) == "CMakeLists.txt")
    };
    let mut top = folder;
    let mut above = folder;
    while !above.is_empty() {
        above = parent(above);
        let Some(file) = list(above) else { continue };
        let inside = top.strip_prefix(above).unwrap_or(top).trim_start_matches('/');
        let adds = file.calls("add_subdirectory").any(|call| {
            let name = call.words.first().map_or("", String::as_str);
            let name =
                name.trim_start_matches("${CMAKE_CURRENT_SOURCE_DIR}/").trim_start_matches("./");
            name.trim_end_matches('/') == inside
        });
        let is_whole = list(top).is_some_and(|file| file.calls("project").next().is_some());
        // Who adds folders in a way that cannot be followed still has those that are no projects themselves.
        if adds || !is_whole {
            top = above;
        }
    }
    top
}

/// Returns the folder of the build in which a project puts its programs, if it says so.
fn output_folder(files: &[File<'_>], top: &str) -> Option<String> {
    let sets =
        files.iter().filter(|file| is_of(files, file, top)).flat_map(|file| file.calls("set"));
    let value = sets
        .filter(|call| {
            call.words.first().is_some_and(|name| name == "CMAKE_RUNTIME_OUTPUT_DIRECTORY")
        })
        .find_map(|call| call.words.get(1))?;
    let builds = ["${CMAKE_BINARY_DIR}", "${PROJECT_BINARY_DIR}", "${CMAKE_CURRENT_BINARY_DIR}"];
    let place = builds.iter().find_map(|build| value.strip_prefix(build))?;
    (!place.contains('$')).then(|| place.trim_start_matches('/').to_owned())
}

/// Returns the switches of a project by which its benchmarks are built: those that are called after them, and those
/// that the target needs.
fn options(files: &[File<'_>], top: &str, needed: &[&str]) -> BTreeSet<String> {
    let is_switch =
        |call: &&Call| matches!(call.name.as_str(), "option" | "cmake_dependent_option");
    let calls = files.iter().filter(|file| is_of(files, file, top)).flat_map(|file| &file.calls);
    let names = calls.filter(is_switch).filter_map(|call| call.words.first());
    let plain = |name: &&String| {
        // What says how to install or to check them only costs time.
        let is_of_benchmarks = name.contains("BENCH") && !name.starts_with("BENCHMARK_");
        (is_of_benchmarks || needed.contains(&name.as_str()))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    names.filter(plain).cloned().collect()
}

/// Says whether a file belongs to the project of this folder, and not to another one below it.
fn is_of(files: &[File<'_>], file: &File<'_>, top: &str) -> bool {
    top_of(files, file.folder) == top
}

/// Returns the sources of a target that were read.
fn sources<'a>(tree: &'a Tree, folder: &str, words: &[String]) -> Vec<&'a str> {
    let here = "${CMAKE_CURRENT_SOURCE_DIR}/";
    words
        .iter()
        .map(|word| word.strip_prefix(here).unwrap_or(word).trim_start_matches("./"))
        .filter_map(|word| tree.files.get(&join(folder, word))?.as_deref())
        .collect()
}

/// Says whether sources hold benchmarks of Catch2.
fn holds_benchmarks(sources: &[&str]) -> bool {
    let marks = ["BENCHMARK(", "BENCHMARK_ADVANCED("];
    sources.iter().any(|text| marks.iter().any(|mark| text.contains(mark)))
}

/// Returns the tag of Catch2 that separates benchmarks from the tests beside them.
fn tag(sources: &[&str]) -> Option<&'static str> {
    let tags = ["[!benchmark]", "[benchmark]", "[bench]"];
    tags.into_iter().find(|tag| sources.iter().any(|text| text.contains(tag)))
}

/// Finds the harness of a target from the libraries that it is linked with.
fn harness<'a>(target: &str, calls: impl Iterator<Item = &'a Call>) -> Option<&'static str> {
    let of_target = calls.filter(|call| {
        call.name == "target_link_libraries"
            && call.words.first().is_some_and(|word| word == target)
    });
    of_target.flat_map(|call| &call.words[1..]).find_map(|word| library(word))
}

fn library(word: &str) -> Option<&'static str> {
    match word {
        "benchmark::benchmark" | "benchmark::benchmark_main" | "benchmark" | "benchmark_main" => {
            Some("google-benchmark")
        }
        "Catch2::Catch2" | "Catch2::Catch2WithMain" | "Catch2" | "Catch2WithMain" => Some("catch2"),
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
                ("perf", Some("google-benchmark"), "./build/perf"),
                ("sort_bench", None, "./build/sort_bench"),
            ]
        );
        assert_eq!(finds.benchmarks[0].folder, "cpp");
        assert_eq!(finds.doubts.len(), 1);
        let odd = find(&tree(&[("CMakeLists.txt", "add_executable(${n}_bench x)(((")]));
        assert!(odd.benchmarks.is_empty() && odd.doubts[0].contains("by hand"));
    }

    #[test]
    fn the_project_is_configured_with_its_benchmarks_and_built_from_its_top() {
        let finds = find(&tree(&[
            (
                "CMakeLists.txt",
                "project(x)\noption(X_BUILD_BENCHMARKS \"\" OFF)\noption(X_TESTS \"\" ON)\nif(X_BUILD_BENCHMARKS)\n\
                 add_subdirectory(bench)\nendif()",
            ),
            (
                "bench/CMakeLists.txt",
                "macro(one name)\nadd_executable(${name} ${name}.cc)\ntarget_link_libraries(${name} x benchmark::benchmark_main)\n\
                 endmacro()\none(sort)",
            ),
            (
                "tools/CMakeLists.txt",
                "project(t)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_executable(t_bench t.c)",
            ),
        ]));
        let found: Vec<(&str, &str, &str)> = finds
            .benchmarks
            .iter()
            .map(|f| (f.folder.as_str(), f.command[0].as_str(), f.setup.as_deref().unwrap()))
            .collect();
        let configure = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release";
        assert_eq!(
            found,
            [
                (
                    "",
                    "./build/bench/sort",
                    format!(
                        "{configure} -DX_BUILD_BENCHMARKS=ON && cmake --build build --target sort"
                    )
                    .as_str()
                ),
                (
                    "tools",
                    "./build/bin/t_bench",
                    format!("{configure} && cmake --build build --target t_bench").as_str()
                ),
            ]
        );
    }

    #[test]
    fn a_target_of_an_included_file_is_built_where_that_is_asked_for() {
        let finds = find(&tree(&[
            ("lib/CMakeLists.txt", "project(x)\ninclude(cmake/bench.cmake)"),
            ("lib/cmake/bench.cmake", "add_executable(x_bench src/x.cc)"),
        ]));
        let found = &finds.benchmarks[0];
        assert_eq!((found.folder.as_str(), found.command[0].as_str()), ("lib", "./build/x_bench"));
    }

    #[test]
    fn programs_of_catch2_count_if_they_hold_benchmarks() {
        let lists = "add_executable(tests test.cpp)\ntarget_link_libraries(tests Catch2::Catch2)\n\
                     add_executable(speed test_speed.cpp)\ntarget_link_libraries(speed PRIVATE Catch2::Catch2WithMain)";
        let finds = find(&tree(&[
            ("CMakeLists.txt", lists),
            ("test.cpp", "TEST_CASE(\"a\") {}"),
            ("test_speed.cpp", "TEST_CASE(\"a\", \"[!benchmark]\") { BENCHMARK(\"x\") {} }"),
        ]));
        let found: Vec<(&str, Option<&str>, Option<&str>)> =
            finds.benchmarks.iter().map(|f| (f.name.as_str(), f.harness, f.filter)).collect();
        assert_eq!(found, [("speed", Some("catch2"), Some("[!benchmark]"))]);
    }
}
