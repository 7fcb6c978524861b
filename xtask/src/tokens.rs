//! Source files as a compiler sees them: without comments, and without what stands in literals.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// A file of the workspace.
pub(crate) struct Source {
    /// Its path below the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Returns every Rust file of the repository, tests and examples too.
pub(crate) fn all() -> Vec<Source> {
    let top = root();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        collect(&top.join(folder), &mut files);
    }
    files.sort();
    let read = |path: PathBuf| Source {
        name: path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(&path).unwrap(),
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        // What builds leave lies beside the sources of the fuzzer.
        let is_built = name == "target" && folder.ends_with("fuzz");
        if path.is_dir() && !is_built {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Returns the text with spaces in place of comments and of what literals hold; lines stay where they are.
pub(crate) fn bare(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut bare = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped(&chars, at);
        if end > at {
            let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
            bare.extend(chars[at..end].iter().map(blank));
            at = end;
        } else {
            bare.push(chars[at]);
            at += 1;
        }
    }
    bare
}

/// A text that somebody may read, with the line on which it begins.
pub(crate) struct Spoken {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Literal,
    /// Lines that begin with `///` and follow each other.
    Comment,
}

/// Returns what string literals hold, joined where they are broken, and the comments that document what follows.
pub(crate) fn spoken(text: &str) -> Vec<Spoken> {
    let chars: Vec<char> = text.chars().collect();
    let mut all: Vec<Spoken> = Vec::new();
    let (mut at, mut line, mut last) = (0, 1, 0);
    while at < chars.len() {
        let end = skipped(&chars, at).max(at + 1);
        let raw: String = chars[at..end].iter().collect();
        if let Some(comment) = raw.strip_prefix("///") {
            match all.last_mut() {
                Some(before) if before.kind == Kind::Comment && last + 1 == line => {
                    before.text.push(' ');
                    before.text.push_str(comment.trim());
                }
                _ => {
                    let text = comment.trim().to_owned();
                    all.push(Spoken { line, text, kind: Kind::Comment });
                }
            }
            last = line;
        } else if raw.len() > 1 && raw.ends_with(['"', '#']) && raw.starts_with(['"', 'r']) {
            let inside = raw.trim_start_matches('r').trim_matches('#').trim_matches('"');
            let text = inside.split("\\\n").map(str::trim_start).collect::<String>();
            all.push(Spoken { line, text, kind: Kind::Literal });
        }
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    all
}

/// Returns where the comment or literal ends that starts here; the same place if none does.
fn skipped(chars: &[char], at: usize) -> usize {
    let here = &chars[at..];
    let until = |ends: &dyn Fn(usize) -> bool| {
        (at..chars.len()).find(|&index| ends(index)).unwrap_or(chars.len())
    };
    match here {
        ['/', '/', ..] => until(&|index| chars[index] == '\n'),
        ['/', '*', ..] => {
            let closed = until(&|index| index > at + 2 && chars[index - 1..=index] == ['*', '/']);
            (closed + 1).min(chars.len())
        }
        ['"', ..] => quoted(chars, at + 1, '"'),
        // A lifetime has no end.
        ['\'', '\\', ..] => quoted(chars, at + 1, '\''),
        ['\'', _, '\'', ..] => at + 3,
        ['r', '"' | '#', ..] if !follows_word(chars, at) => {
            let hashes = here[1..].iter().take_while(|c| **c == '#').count();
            if here.get(1 + hashes) != Some(&'"') {
                return at;
            }
            let closing: Vec<char> = std::iter::once('"').chain(vec!['#'; hashes]).collect();
            let from = at + 2 + hashes;
            let closed = (from..chars.len()).find(|&index| chars[index..].starts_with(&closing));
            closed.map_or(chars.len(), |index| index + closing.len())
        }
        _ => at,
    }
}

/// Letters before an `r` make it the end of a word; a `b` alone makes the literal one of bytes.
fn follows_word(chars: &[char], at: usize) -> bool {
    let is_word = |index: usize| chars[index].is_alphanumeric() || chars[index] == '_';
    match at.checked_sub(1) {
        Some(before) if chars[before] == 'b' => before > 0 && is_word(before - 1),
        Some(before) => is_word(before),
        None => false,
    }
}

fn quoted(chars: &[char], from: usize, quote: char) -> usize {
    let mut at = from;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// Returns the words of a line and the signs between them.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[test]
fn comments_and_literals_are_blank() {
    let text = "let a = \"unsafe \\\" {\"; // unsafe\nlet b = r#\"un\"safe\"#; /* unsafe\n */ b'\\'' 'x' fn f<'a>()";
    let bare = bare(text);
    assert_eq!(bare.lines().count(), text.lines().count());
    let words: Vec<&str> = bare.lines().flat_map(words).collect();
    assert_eq!(
        words,
        ["let", "a", "=", ";", "let", "b", "=", ";", "b", "fn", "f", "<", "'", "a", ">", "(", ")"]
    );
}

#[test]
fn literals_and_comments_are_joined() {
    let text = "/// One\n/// two.\nfn f() {\n    // no\n    g(\"a \\\n      b\", r#\"c \"d\"\"#);\n}\n\n/// Three.\n";
    let found: Vec<(usize, String)> =
        spoken(text).into_iter().map(|one| (one.line, one.text)).collect();
    let expected = [(1, "One two."), (5, "a b"), (6, "c \"d"), (9, "Three.")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
}
