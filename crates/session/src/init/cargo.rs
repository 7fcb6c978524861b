//! Benchmarks of Cargo packages: `[[bench]]` targets and the files of `benches/`.

use toml::{Table, Value};

use super::tree::{Tree, base, join, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("Cargo.toml") {
        let Ok(manifest) = text.parse::<Table>() else {
            finds.doubts.push(format!("{path} is no TOML that can be read"));
            continue;
        };
        package(tree, path, &manifest, &mut finds);
    }
    finds
}

fn package(tree: &Tree, path: &str, manifest: &Table, finds: &mut Finds) {
    let Some(package) = manifest.get("package").and_then(Value::as_table) else { return };
    let Some(name) = package.get("name").and_then(Value::as_str) else { return };
    let folder = parent(path);
    let mut targets: Vec<(String, Option<String>)> = Vec::new();
    for bench in manifest.get("bench").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| bench.get(key).and_then(Value::as_str);
        let Some(target) = text("name") else { continue };
        let file = text("path")
            .map_or_else(|| file_of(tree, folder, target), |path| Some(join(folder, path)));
        targets.push((target.to_owned(), file));
    }
    if package.get("autobenches").and_then(Value::as_bool) != Some(false) {
        for (target, file) in found_by_cargo(tree, folder) {
            let is_known = |(name, known): &(String, Option<String>)| {
                *name == target || known.as_deref() == Some(&file)
            };
            if !targets.iter().any(is_known) {
                targets.push((target, Some(file)));
            }
        }
    }
    for (target, file) in targets {
        let text =
            file.as_ref().and_then(|file| tree.files.get(file)?.as_deref()).unwrap_or_default();
        let mut comments = vec![format!("Cargo target of {path}")];
        let harness = harness(text, manifest);
        if harness.is_none() {
            finds.doubts.push(format!(
                "which harness the bench target `{target}` of {path} uses is not known: it is timed from outside, \
                 with the start of cargo"
            ));
            comments.push(
                "its harness is not known: name it, or the start of cargo is measured too"
                    .to_owned(),
            );
        }
        finds.benchmarks.push(Found {
            name: key(&target),
            command: words(&["cargo", "bench", "--quiet", "--package", name, "--bench", &target]),
            harness,
            folder: folder.to_owned(),
            // Else the first run would be that of the compiler.
            setup: Some(format!(
                "cargo bench --quiet --package {name} --bench {} --no-run",
                shell_words::quote(&target)
            )),
            tag: "cargo",
            comments,
        });
    }
}

/// Returns the file of a target that names none.
fn file_of(tree: &Tree, folder: &str, target: &str) -> Option<String> {
    let file = join(folder, &format!("benches/{target}.rs"));
    let in_folder = join(folder, &format!("benches/{target}/main.rs"));
    [file, in_folder].into_iter().find(|path| tree.has(path))
}

/// Returns the targets that Cargo finds by itself: files of `benches/`, and folders there with a `main.rs`.
fn found_by_cargo(tree: &Tree, folder: &str) -> Vec<(String, String)> {
    let benches = join(folder, "benches");
    let mut found: Vec<(String, String)> = tree
        .directly_in(&benches)
        .filter_map(|path| Some((base(path).strip_suffix(".rs")?.to_owned(), path.to_owned())))
        .collect();
    for path in tree.files.keys().filter(|path| base(path) == "main.rs") {
        let inside = parent(path);
        if parent(inside) == benches {
            found.push((base(inside).to_owned(), path.clone()));
        }
    }
    found
}

/// Tells the harness by what the file uses, or, where it was not read, by what the package depends on.
fn harness(text: &str, manifest: &Table) -> Option<&'static str> {
    // Forks of criterion keep its name inside their own.
    const MARKS: [(&str, &str); 4] = [
        ("criterion", "criterion"),
        ("divan", "divan"),
        ("#[bench]", "libtest"),
        ("test::Bencher", "libtest"),
    ];
    if !text.is_empty() {
        return MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, harness)| *harness);
    }
    let depends = |name: &str| {
        ["dev-dependencies", "dependencies"]
            .iter()
            .any(|table| manifest.get(*table).and_then(|table| table.get(name)).is_some())
    };
    match (depends("criterion"), depends("divan")) {
        (true, false) => Some("criterion"),
        (false, true) => Some("divan"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[(&str, Option<&str>, &str)]) {
        let finds = find(&tree(files));
        let found: Vec<(&str, Option<&str>, &str)> = finds
            .benchmarks
            .iter()
            .map(|one| (one.name.as_str(), one.harness, one.folder.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn targets_are_found_as_cargo_finds_them() {
        let manifest = "[package]\nname = 'x'\n[[bench]]\nname = 'sort'\nharness = false\n[[bench]]\nname = 'far'\npath = 'perf/far.rs'\n[dev-dependencies]\ncriterion = '0.5'\n";
        check(
            &[
                ("Cargo.toml", manifest),
                ("benches/sort.rs", "use criterion::*;"),
                ("benches/old.rs", "#![feature(test)] #[bench] fn a() {}"),
                ("benches/big/main.rs", "fn main() { divan::main() }"),
                ("benches/big/more.rs", ""),
            ],
            &[
                ("sort", Some("criterion"), ""),
                ("far", Some("criterion"), ""),
                ("old", Some("libtest"), ""),
                ("big", Some("divan"), ""),
            ],
        );
    }

    #[test]
    fn packages_of_a_workspace_start_in_their_folders() {
        let plain = "[package]\nname = 'b'\n";
        check(
            &[
                ("Cargo.toml", "[workspace]\nmembers = ['b']"),
                ("b/Cargo.toml", plain),
                ("b/benches/x.rs", "fn main() {}"),
            ],
            &[("x", None, "b")],
        );
        check(
            &[("Cargo.toml", "[package]\nname = 'b'\nautobenches = false"), ("benches/x.rs", "")],
            &[],
        );
    }
}
