//! Paths that documents name: what was moved is moved there, too.

use std::path::{Path, PathBuf};

use crate::workspace::root;

/// The documents that name files of the sources.
fn documents(top: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|name| top.join(name)).into();
    let docs = std::fs::read_dir(top.join("docs")).unwrap().flatten();
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
