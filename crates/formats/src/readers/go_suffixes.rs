//! The endings of names of Go's benchmarks, which may be GOMAXPROCS or not.

use std::collections::BTreeSet;

/// Which endings of names are GOMAXPROCS.
pub(super) struct Suffixes {
    /// Values of GOMAXPROCS that are known.
    procs: BTreeSet<String>,
    /// Whether the same benchmark was made with several, so that names have to keep it.
    tell_apart: bool,
}

impl Suffixes {
    /// Finds out by all names of a file.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.collect();
        // A Go function has no `-` in its name, so behind one it is GOMAXPROCS.
        let functions = names.iter().filter(|name| !name.contains('/'));
        let mut procs: BTreeSet<String> =
            functions.clone().filter_map(|name| split(name)).map(|(_, n)| n.to_owned()).collect();
        if functions.count() == 0 {
            let splits: Vec<(&str, &str)> = names.iter().filter_map(|name| split(name)).collect();
            let different: BTreeSet<&str> = splits.iter().map(|(_, procs)| *procs).collect();
            let is_one = splits.len() == names.len() && different.len() == 1;
            for (base, suffix) in splits {
                // With `-cpu 1,2` every benchmark is there without the suffix too.
                if is_one || names.contains(base) {
                    procs.insert(suffix.to_owned());
                }
            }
        }
        let mut bases = BTreeSet::new();
        let tell_apart = !names.iter().all(|name| match split(name) {
            Some((base, suffix)) if procs.contains(suffix) => bases.insert(base),
            _ => bases.insert(name),
        });
        Self { procs, tell_apart }
    }

    /// Returns GOMAXPROCS if it is one number.
    pub(super) fn only(&self) -> Option<&str> {
        let mut procs = self.procs.iter();
        let first = procs.next()?;
        (procs.next().is_none() && !self.tell_apart).then_some(first)
    }

    /// Returns the name without GOMAXPROCS, unless that tells benchmarks apart.
    pub(super) fn name<'a>(&self, name: &'a str) -> &'a str {
        match split(name) {
            Some((base, suffix)) if !self.tell_apart && self.procs.contains(suffix) => base,
            _ => name,
        }
    }
}

fn split(name: &str) -> Option<(&str, &str)> {
    let (base, suffix) = name.rsplit_once('-')?;
    (suffix.bytes().all(|byte| byte.is_ascii_digit()) && !suffix.is_empty() && !base.is_empty())
        .then_some((base, suffix))
}
