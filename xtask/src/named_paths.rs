//! Paths that documents name: what was moved is moved there, too.

use std::path::{Path, PathBuf};

use crate::workspace::root;

/// The documents that name files of the sources.
fn documents(top: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|name| top.join(name)).into();
    let folders = ["docs", "docs/methodology"].map(|name| top.join(name));
    let docs = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    all.extend(docs.map(|entry| entry.path()).filter(is_text));
    all
}

/// Returns the paths that stand in backticks and begin as those of crates do.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let in_backticks = text.split('`').skip(1).step_by(2);
    in_backticks.filter(|one| {
        (one.starts_with("crates/") || one.starts_with("xtask/"))
            && !one.contains(['*', ' ', '<', '{'])
    })
}

#[test]
fn every_path_that_a_document_names_is_there() {
    let top = root();
    let mut gone = Vec::new();
    for document in documents(&top) {
        let text = std::fs::read_to_string(&document).unwrap();
        for path in named(&text).filter(|path| !top.join(path).exists()) {
            gone.push(format!("{}: {path}", document.display()));
        }
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// Returns the documents that a source names, such as `docs/NAME.md`.
fn documents_named(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("docs/").map(|(at, _)| &text[at..]);
    starts.filter_map(|rest| {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/-_.".contains(letter);
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.');
        name.rsplit_once('.').is_some_and(|(_, ending)| ending == "md").then_some(name)
    })
}

#[test]
fn every_document_that_a_source_names_is_there() {
    let top = root();
    let mut gone = Vec::new();
    // The chores have made-up documents in their tests.
    for source in crate::tokens::all().iter().filter(|one| one.name.starts_with("crates/")) {
        // So have tests of the crates; ours are in capitals or appendices.
        let ours = documents_named(&source.text).filter(|name| {
            name.starts_with("docs/methodology/") || name.chars().any(char::is_uppercase)
        });
        let missing = ours.filter(|name| !top.join(name).exists());
        gone.extend(missing.map(|name| format!("{}: {name}", source.name)));
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// Returns the examples that a source lets cargo build or run, where it names them itself.
fn named_examples(source: &str) -> impl Iterator<Item = &str> {
    let after = source.split("\"--example\", \"").skip(1);
    after.filter_map(|text| text.split('"').next())
}

#[test]
fn every_example_that_xtask_runs_is_there() {
    let sources = crate::tokens::all();
    let is_there = |example: &str| {
        let path = format!("/examples/{example}.rs");
        sources.iter().any(|source| source.name.ends_with(&path))
    };
    let of_xtask = sources.iter().filter(|source| source.name.starts_with("xtask/src/"));
    let named: Vec<&str> = of_xtask
        .filter(|source| !source.name.ends_with("named_paths.rs"))
        .flat_map(|source| named_examples(&source.text))
        .collect();
    assert!(named.contains(&"man"), "{named:?}");
    let gone: Vec<&&str> = named.iter().filter(|example| !is_there(example)).collect();
    assert!(gone.is_empty(), "examples that are gone: {gone:?}");
}
