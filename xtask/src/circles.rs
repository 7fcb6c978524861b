//! Files of a crate that import each other in a circle cannot be read, tested or moved one by one.
//!
//! An import leads to the file that has the item: what a `mod.rs` only passes on is not its own, and an item that
//! stands in a `mod.rs` itself belongs to the whole folder, so that those files are in no circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::{self, bare, words};

/// Circles that stay, by one of their files, with the reason.
const KNOWN: [(&str, &str); 5] = [
    (
        "crates/cli/src/args.rs",
        "the completions of the command line are made from it, and are themselves a command on it",
    ),
    (
        "crates/formats/src/error.rs",
        "an error names the file and the place in it, and that a file is no text is one",
    ),
    (
        "crates/runner/src/rounds/measure.rs",
        "one loop over rounds in two ways, whose turns are the same",
    ),
    (
        "crates/session/src/error.rs",
        "the one error of a session has those of its parts, which return it where they use each other",
    ),
    (
        "crates/stats/src/decide/pace.rs",
        "whether subjects differ in pace is itself an estimate, made without the pace",
    ),
];

/// Most that there may ever be.
const MOST: usize = 5;

type Path = Vec<String>;

/// The files of a crate by their modules.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Path, Module>,
}

struct Module {
    /// Below the root of the repository.
    file: String,
    /// What each name that it imports or passes on stands for.
    names: BTreeMap<String, Path>,
    /// All paths that it mentions, but for what it only passes on.
    mentions: Vec<Path>,
}

impl Crate {
    /// Returns the file that has what a path in `module` stands for.
    fn owner(&self, module: &[String], path: &[String], depth: usize) -> Option<&Path> {
        // Names that stand for each other, or for something of another crate.
        if depth == 0 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (mut here, mut rest) = match first.as_str() {
            "crate" => (Path::new(), rest),
            "self" => (module.to_vec(), rest),
            "super" => (module[..module.len().checked_sub(1)?].to_vec(), rest),
            _ if self.modules.contains_key(&joined(module, first)) => (module.to_vec(), path),
            name => {
                let stands_for = self.modules[module].names.get(name)?;
                let whole: Path = stands_for.iter().chain(rest).cloned().collect();
                return self.owner(module, &whole, depth - 1).filter(|_| stands_for != path);
            }
        };
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                here.pop()?;
            } else if self.modules.contains_key(&joined(&here, name)) {
                here.push(name.clone());
            } else if let Some(elsewhere) = self.modules.get(&here)?.names.get(name) {
                let whole: Path = elsewhere.iter().chain(after).cloned().collect();
                return self.owner(&here, &whole, depth - 1);
            } else {
                return self.modules.get_key_value(&here).map(|(module, _)| module);
            }
            rest = after;
        }
        // A module alone is a name for what comes of it elsewhere.
        None
    }

    /// Returns which files each file needs, without those that stand for a folder.
    fn needs(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut all = BTreeMap::new();
        for (path, module) in &self.modules {
            let owners = module.mentions.iter().filter_map(|mention| self.owner(path, mention, 8));
            let files = owners.map(|owner| self.modules[owner].file.as_str());
            let others = files.filter(|file| *file != module.file && !is_of_folder(file));
            if !is_of_folder(&module.file) {
                all.insert(module.file.as_str(), others.collect());
            }
        }
        all
    }
}

fn joined(module: &[String], name: &str) -> Path {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

fn is_of_folder(file: &str) -> bool {
    ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| file.ends_with(&format!("/{name}")))
}

/// Reads what a file imports and mentions; its tests are left out.
fn module(file: &str, text: &str) -> Module {
    let code = bare(text);
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let words: Vec<&str> = words(code).collect();
    let mut module = Module { file: file.to_owned(), names: BTreeMap::new(), mentions: Vec::new() };
    let mut at = 0;
    while at < words.len() {
        if words[at] == "use" {
            let end = at + words[at..].iter().position(|word| *word == ";").unwrap_or(1);
            let mut tree = Vec::new();
            imports(&words[at + 1..end], &[], &mut tree);
            let passes_on = at > 0 && ["pub", ")"].contains(&words[at - 1]);
            for (name, path) in tree {
                if !passes_on {
                    module.mentions.push(path.clone());
                }
                module.names.insert(name, path);
            }
            at = end;
        } else {
            let mut path = vec![words[at].to_owned()];
            while words.get(at + 1..at + 3) == Some(&[":", ":"])
                && words.get(at + 3).is_some_and(|word| word.starts_with(is_letter))
            {
                path.push(words[at + 3].to_owned());
                at += 3;
            }
            if path.len() > 1 && path[0].starts_with(is_letter) {
                module.mentions.push(path);
            }
        }
        at += 1;
    }
    module
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Takes a tree of imports apart: each name, and the path that it stands for.
fn imports(tree: &[&str], above: &[String], found: &mut Vec<(String, Path)>) {
    let mut path = above.to_vec();
    let mut at = 0;
    while at < tree.len() {
        match tree[at] {
            ":" => {}
            "{" => {
                let inner = &tree[at + 1..tree.len() - 1];
                let mut depth = 0_i32;
                let parts = inner.split(|word| {
                    match *word {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    *word == "," && depth == 0
                });
                parts.filter(|part| !part.is_empty()).for_each(|part| imports(part, &path, found));
                return;
            }
            "as" => {
                found.push((tree[at + 1].to_owned(), path));
                return;
            }
            // What a whole module passes on is found by nobody here; it is bad style anyway.
            "*" => return,
            "self" if !path.is_empty() => {}
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    if let Some(name) = path.last().cloned() {
        found.push((name, path));
    }
}

/// Returns the groups of files of which each needs all others, by ways however long.
fn circles<'a>(needs: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<BTreeSet<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            for next in needs.get(file).into_iter().flatten() {
                if seen.insert(*next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> =
        needs.keys().map(|file| (*file, reached(file))).collect();
    let circle = |(file, reached): (&&'a str, &BTreeSet<&'a str>)| {
        let with: BTreeSet<&str> =
            reached.iter().copied().filter(|other| all[other].contains(file)).collect();
        (with.len() > 1).then_some(with)
    };
    all.iter().filter_map(circle).collect()
}

fn crates() -> BTreeMap<String, Crate> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for source in tokens::all() {
        let Some((name, file)) = source.name.split_once("/src/") else { continue };
        let mut path: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if path.iter().any(|part| part == "tests") {
            continue;
        }
        if is_of_folder(&source.name) {
            path.pop();
        }
        let known = crates.entry(name.to_owned()).or_default();
        known.modules.insert(path, module(&source.name, &source.text));
    }
    crates
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    let crates = crates();
    let (mut unknown, mut used) = (Vec::new(), BTreeSet::new());
    for needs in crates.values().map(Crate::needs) {
        for circle in circles(&needs) {
            match KNOWN.iter().find(|(file, _)| circle.contains(file)) {
                Some((file, _)) => {
                    used.insert(*file);
                }
                None => unknown.push(told(&circle, &needs)),
            }
        }
    }
    assert!(unknown.is_empty(), "circles of imports:\n{}", unknown.join("\n"));
    assert_eq!(used.len(), KNOWN.len(), "of the known circles are there only {used:?}");
    assert!(KNOWN.len() <= MOST);
}

fn told(circle: &BTreeSet<&str>, needs: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let line = |file: &&str| {
        let needed: Vec<&str> = needs[file].intersection(circle).copied().collect();
        format!("  {file} needs {}\n", needed.join(", "))
    };
    circle.iter().map(line).collect()
}

#[test]
fn an_import_leads_to_the_file_that_has_the_item() {
    let mut krate = Crate::default();
    for (path, text) in [
        (&[][..], "mod a; mod b; pub use a::{Item as Thing, x::Deep};"),
        (&["a"], "use crate::b::f; pub struct Item; // crate::b::Comment"),
        (&["a", "x"], "fn g() { super::super::b::f() }"),
        (&["b"], "use super::{Thing, Deep};\n#[cfg(test)]\nmod tests { use super::super::c; }"),
    ] {
        let path: Path = path.iter().map(|part| (*part).to_owned()).collect();
        let file = if path.is_empty() { "/lib.rs".to_owned() } else { path.join("/") };
        krate.modules.insert(path, module(&file, text));
    }
    let needs = krate.needs();
    assert_eq!(needs["a"], BTreeSet::from(["b"]));
    assert_eq!(needs["a/x"], BTreeSet::from(["b"]));
    assert_eq!(needs["b"], BTreeSet::from(["a", "a/x"]));
    assert_eq!(circles(&needs), BTreeSet::from([BTreeSet::from(["a", "a/x", "b"])]));
}
