//! What `becalm init` finds in a repository, and the suite that it makes of it.
//!
//! `walk` is the thin edge that reads files; `tree` holds what was read. Each finder looks only at
//! that and returns benchmarks and doubts; `write` makes the text.

mod asv;
mod cargo;
mod cmake;
mod go;
mod maven;
mod npm;
mod pytest;
mod tree;
mod walk;
mod write;

pub use tree::Tree;
pub use walk::{WalkError, walk};
pub use write::suite_toml;

/// A benchmark that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Its name, which need not be unique yet.
    pub name: String,
    /// What to run.
    pub command: Vec<String>,
    /// The harness, if one is known.
    pub harness: Option<&'static str>,
    /// Which of its benchmarks, if not all.
    pub filter: Option<&'static str>,
    /// Variables that it needs.
    pub env: Vec<(&'static str, &'static str)>,
    /// Where it starts, from the root of the repository; empty for that itself.
    pub folder: String,
    /// What has to be done once before it, by `sh -c`.
    pub setup: Option<String>,
    /// Words by which it can be chosen.
    pub tag: &'static str,
    /// Where it was found, and what the reader has to know about it.
    pub comments: Vec<String>,
}

/// The result of a finder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Finds {
    /// Benchmarks.
    pub benchmarks: Vec<Found>,
    /// What it could not determine, as sentences.
    pub doubts: Vec<String>,
}

/// Looks for benchmarks of every kind that is known.
pub fn find(tree: &Tree) -> Finds {
    let finders: [fn(&Tree) -> Finds; 7] =
        [cargo::find, go::find, pytest::find, asv::find, cmake::find, maven::find, npm::find];
    let mut all = Finds::default();
    for finder in finders {
        let Finds { benchmarks, doubts } = finder(tree);
        all.benchmarks.extend(benchmarks);
        all.doubts.extend(doubts);
    }
    all.doubts.extend(tree.doubts.iter().cloned());
    unique(&mut all.benchmarks);
    all
}

/// Gives each benchmark a unique name: with its kind if two have the same, then with a number.
fn unique(benchmarks: &mut [Found]) {
    for index in 0..benchmarks.len() {
        let base = benchmarks[index].name.clone();
        let is_taken = |benchmarks: &[Found], name: &str| {
            benchmarks[..index].iter().any(|other| other.name == name)
        };
        let mut name = base.clone();
        if is_taken(benchmarks, &name) {
            name = format!("{base}-{}", benchmarks[index].tag);
        }
        let with_kind = name.clone();
        let mut number = 2;
        while is_taken(benchmarks, &name) {
            name = format!("{with_kind}-{number}");
            number += 1;
        }
        benchmarks[index].name = name;
    }
}

/// Makes a name that TOML takes as a key without quotes.
fn key(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "benchmark".to_owned() } else { name }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
