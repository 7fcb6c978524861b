//! Counts `unsafe` over every source file: it is in `crates/kernel` and nowhere else, and each has its reason.

use std::collections::BTreeMap;
use std::fs;

use crate::tokens::{self, bare, words};
use crate::workspace::root;

/// The one place.
const KERNEL: &str = "crates/kernel/";

/// What is unsafe, and on which line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Block,
    Function,
    Implementation,
    Other,
}

fn found(text: &str) -> Vec<(Kind, usize)> {
    // Nearly all files: nothing is to be looked at more closely.
    if !text.contains("unsafe") {
        return Vec::new();
    }
    let code = bare(text);
    let numbered = code.lines().enumerate();
    let all: Vec<(usize, &str)> =
        numbered.flat_map(|(line, text)| words(text).map(move |word| (line, word))).collect();
    let kind = |next: Option<&(usize, &str)>| match next.map(|(_, word)| *word) {
        Some("{") => Kind::Block,
        Some("fn" | "extern") => Kind::Function,
        Some("impl") => Kind::Implementation,
        _ => Kind::Other,
    };
    let here = all.iter().enumerate().filter(|(_, (_, word))| *word == "unsafe");
    here.map(|(index, (line, _))| (kind(all.get(index + 1)), *line)).collect()
}

/// Returns the lines, counted from 1, of unsafe code between which and the one before no comment says why it is sound.
fn unexplained(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    let mut missing = Vec::new();
    for (_, line) in found(text) {
        if !lines[from..=line]
            .iter()
            .any(|line| line.contains("// SAFETY: ") || line.contains(". SAFETY: "))
        {
            missing.push(line + 1);
        }
        from = line + 1;
    }
    missing
}

#[test]
fn unsafe_code_is_in_the_kernel_crate_and_each_says_why_it_is_sound() {
    let (mut wrong, mut counts) = (Vec::new(), BTreeMap::new());
    for file in tokens::all() {
        let found = found(&file.text);
        if !found.is_empty() && !file.name.starts_with(KERNEL) {
            wrong.push(format!("{} has unsafe code", file.name));
        }
        for line in unexplained(&file.text) {
            wrong.push(format!("{}:{line} does not say why it is sound (SAFETY)", file.name));
        }
        for (kind, _) in found {
            *counts.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(wrong.is_empty(), "unsafe code:\n  {}", wrong.join("\n  "));
    println!("unsafe code of the workspace: {counts:?}");
    // Callers of the crate need no knowledge of their own to be sound.
    assert_eq!(counts.get(&Kind::Function), None, "unsafe functions");
    assert_eq!(counts.get(&Kind::Implementation), Some(&1), "the buffer of a trace is Send");
    assert_eq!(counts.get(&Kind::Other), None);
}

#[test]
fn libc_is_a_dependency_of_the_kernel_crate_alone() {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let users = folders.chain([root().join("xtask")]).filter(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        manifest.lines().any(|line| line.starts_with("libc"))
    });
    let names: Vec<_> = users.map(|folder| folder.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["kernel"]);
}

#[test]
fn what_is_unsafe_is_counted_and_has_to_be_explained() {
    let text = "// SAFETY: a\nlet a = unsafe { f() };\nlet b = unsafe {\n// unsafe\n};\n\
                unsafe impl Send for A {}\n// SAFETY: b\nunsafe fn g() {}\n\"unsafe\"";
    let kinds: Vec<Kind> = found(text).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::Block, Kind::Block, Kind::Implementation, Kind::Function]);
    assert_eq!(unexplained(text), [3, 6]);
}
