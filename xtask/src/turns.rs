//! Turns of phrase that a reader has to read twice: documents do without them.
//!
//! Each has a plain form, which stands beside it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// What documents may not say, and what they say instead.
const TURNS: [(&str, &str); 20] = [
    ("is told", "reports, says"),
    ("are told", "reports, says"),
    ("and told", "and reported"),
    ("that can be had", "that exist, available"),
    ("what is left is", "what remains is"),
    ("tells that", "says that"),
    ("feels", "is sensitive to"),
    ("is felt by", "is sensitive to"),
    ("lets itself be", "can be"),
    ("lets itself", "can"),
    ("whoever died", "even after a crash"),
    ("whoever is", "the process that is, anyone who is"),
    ("as seldom as", "as reliable as"),
    ("of its own accord", "by itself"),
    ("talk to standard error", "messages go to standard error"),
    ("is no file to", "not supported here"),
    ("is not ours to", "is not visible"),
    ("gone on with", "continued"),
    ("told apart", "separated, detectable"),
    ("the machine at hand", "your machine"),
];

/// The documents that people write: help texts become `COMMANDS.md`, and old entries of `CHANGELOG.md` stay.
fn documents(top: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| top.join(name)).into();
    for folder in ["docs", "docs/methodology"] {
        let files = fs::read_dir(top.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        all.extend(files.filter(|file| file.extension().is_some_and(|ending| ending == "md")));
    }
    all.retain(|file| !file.ends_with("COMMANDS.md"));
    all
}

/// Returns the turns in a text, each with its line; one may go over the end of a line.
fn found(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let lower = text.to_lowercase().replace('\n', " ");
    let mut all = Vec::new();
    for (turn, plain) in TURNS {
        for (at, _) in lower.match_indices(turn) {
            let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            let after = lower[at + turn.len()..].chars().next();
            if !is_word(lower[..at].chars().next_back()) && !is_word(after) {
                all.push((lower_line(text, at), turn, plain));
            }
        }
    }
    all
}

/// Returns the line of a place, from 1.
fn lower_line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().fold(1, |line, byte| line + usize::from(*byte == b'\n'))
}

#[test]
fn documents_have_no_turn_that_is_read_twice() {
    let top = root();
    let mut wrong = Vec::new();
    for document in documents(&top) {
        let text = fs::read_to_string(&document).unwrap();
        let name = document.strip_prefix(&top).unwrap().display();
        for (line, turn, plain) in found(&text) {
            wrong.push(format!("{name}:{line}: `{turn}`; plainly: {plain}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_turn_is_found_over_the_end_of_a_line_and_not_within_words() {
    assert_eq!(found("a\nThis is\ntold.").first().map(|one| (one.0, one.1)), Some((2, "is told")));
    assert!(found("this tolds, retold").is_empty());
}
