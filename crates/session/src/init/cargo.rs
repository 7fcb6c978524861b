//! Benchmarks of Cargo packages: `[[bench]]` targets and the files of `benches/`.

use toml::{Table, Value};

use super::tree::{Tree, base, join, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("Cargo.toml") {
        let Ok(manifest) = text.parse::<Table>() else {
            finds.doubts.push(format!("{path} is not valid TOML"));
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
    let mut targets: Vec<Target> = Vec::new();
    for bench in manifest.get("bench").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| bench.get(key).and_then(Value::as_str);
        let Some(target) = text("name") else { continue };
        let file = text("path")
            .map_or_else(|| file_of(tree, folder, target), |path| Some(join(folder, path)));
        let features = bench.get("required-features").and_then(Value::as_array);
        let features = features.into_iter().flatten().filter_map(Value::as_str);
        targets.push(Target {
            name: target.to_owned(),
            file,
            features: features.map(str::to_owned).collect(),
        });
    }
    if package.get("autobenches").and_then(Value::as_bool) != Some(false) {
        for (name, file) in found_by_cargo(tree, folder) {
            let is_known =
                |known: &Target| known.name == name || known.file.as_deref() == Some(&file);
            if !targets.iter().any(is_known) {
                targets.push(Target { name, file: Some(file), features: Vec::new() });
            }
        }
    }
    // In its folder cargo takes the package that is there, unless the workspace says which others. Its name alone
    // may be that of an older release too, which something that it depends on asks for.
    let has_defaults =
        manifest.get("workspace").is_some_and(|table| table.get("default-members").is_some());
    for target in targets {
        let text = target.text(tree);
        let mut comments = vec![format!("Cargo target of {path}")];
        let harness = harness(&text, manifest);
        let shown = &target.name;
        if harness.is_none() {
            finds.doubts.push(format!(
                "the harness of the bench target `{shown}` of {path} is unknown, so it is timed \
                 from outside, including the start of cargo"
            ));
            comments.push(
                "its harness is unknown: name it, or the measurement includes the start of cargo"
                    .to_owned(),
            );
        }
        let mut env = Vec::new();
        if text.contains("#![feature(") {
            comments.push(
                "it uses features of a nightly compiler, which the variable enables in any compiler"
                    .to_owned(),
            );
            env.push(("RUSTC_BOOTSTRAP", "1"));
        }
        let mut command = words(&["cargo", "bench", "--quiet"]);
        if has_defaults {
            command.extend(words(&["--package", name]));
        }
        command.extend(words(&["--bench", shown]));
        if !target.features.is_empty() {
            command.extend(["--features".to_owned(), target.features.join(",")]);
        }
        finds.benchmarks.push(Found {
            name: key(shown),
            // Else the first run would be that of the compiler.
            setup: Some(format!("{} --no-run", shell_words::join(&command))),
            command,
            harness,
            env,
            folder: folder.to_owned(),
            tag: "cargo",
            comments,
            ..Found::default()
        });
    }
}

/// A bench target of a package.
struct Target {
    name: String,
    /// Its main file, from the root of the repository.
    file: Option<String>,
    /// What it is built with beside what the package has by itself.
    features: Vec<String>,
}

impl Target {
    /// Returns the text of its main file, or, if that has its own folder, of all files in it.
    fn text(&self, tree: &Tree) -> String {
        let Some(file) = &self.file else { return String::new() };
        let text = |path: &str| tree.files.get(path).and_then(Option::as_deref).unwrap_or_default();
        if base(file) != "main.rs" {
            return text(file).to_owned();
        }
        let beside: Vec<&str> = tree.directly_in(parent(file)).map(text).collect();
        beside.join("\n")
    }
}

/// Returns the file of a target that names none.
fn file_of(tree: &Tree, folder: &str, target: &str) -> Option<String> {
    let file = join(folder, &format!("benches/{target}.rs"));
    let in_folder = join(folder, &format!("benches/{target}/main.rs"));
    [file, in_folder].into_iter().find(|path| tree.has(path))
}

/// Returns the targets that Cargo finds automatically: files of `benches/`, and folders there with
/// a `main.rs`.
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

/// Harnesses by the package that is depended on. Bencher is libtest's, taken out of the compiler.
const PACKAGES: [(&str, &str); 5] = [
    ("criterion", "criterion"),
    ("codspeed-criterion-compat", "criterion"),
    ("divan", "divan"),
    ("codspeed-divan-compat", "divan"),
    ("bencher", "libtest"),
];

/// Finds the harness from what the file uses, or else from what the package depends on.
fn harness(text: &str, manifest: &Table) -> Option<&'static str> {
    // Forks of criterion keep its name inside their own.
    const MARKS: [(&str, &str); 5] = [
        ("criterion", "criterion"),
        ("divan", "divan"),
        ("#[bench]", "libtest"),
        ("test::Bencher", "libtest"),
        ("bencher::", "libtest"),
    ];
    let by_mark = MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, harness)| *harness);
    by_mark.or_else(|| {
        let depended: Vec<(String, &str)> = dependencies(manifest)
            .filter_map(|(name, package)| {
                let (_, harness) = PACKAGES.iter().find(|(known, _)| *known == package)?;
                Some((name.replace('-', "_"), *harness))
            })
            .collect();
        let is_used = |name: &str| text.is_empty() || text.contains(&format!("{name}::"));
        let mut used = depended.iter().filter(|(name, _)| is_used(name));
        match (used.next(), used.next()) {
            (Some((_, harness)), None) => Some(*harness),
            _ => None,
        }
    })
}

/// Returns what a package depends on: the name that it uses, and the package behind it.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &str)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let of_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(of_targets)
        .flat_map(|table| ["dev-dependencies", "dependencies"].map(|key| table.get(key)))
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
        .map(|(name, says)| {
            (name.as_str(), says.get("package").and_then(Value::as_str).unwrap_or(name))
        })
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
    fn a_harness_is_known_by_any_name_that_the_package_gives_it() {
        let with = |dependencies: &str| format!("[package]\nname = 'x'\n{dependencies}");
        let check = |dependencies: &str, bench: &str, expected: Option<&str>| {
            let manifest = with(dependencies);
            super::tests::check(
                &[("Cargo.toml", &manifest), ("benches/a.rs", bench)],
                &[("a", expected, "")],
            );
        };
        let renamed = "[dev-dependencies]\ncrit = { package = 'criterion', version = '0.5' }";
        check(renamed, "crit::main!(a);", Some("criterion"));
        check(renamed, "fn main() {}", None);
        let for_unix = "[target.'cfg(unix)'.dev-dependencies.d]\npackage = 'divan'\nversion = '*'";
        check(for_unix, "fn main() { d::main() }", Some("divan"));
        check("", "use bencher::Bencher;", Some("libtest"));
    }

    #[test]
    fn a_command_is_understood_by_cargo_whatever_the_package_is() {
        let bench = "[[bench]]\nname = 'a b'\nrequired-features = ['x', 'y']";
        let command = |more: &str| {
            let manifest = format!("[package]\nname = 'p'\nautobenches = false\n{more}\n{bench}");
            let files =
                [("Cargo.toml", manifest.as_str()), ("benches/a b.rs", "#![feature(test)]")];
            let found = find(&tree(&files)).benchmarks.remove(0);
            (found.setup.unwrap(), found.env)
        };
        let plain = "cargo bench --quiet --bench 'a b' --features x,y --no-run".to_owned();
        assert_eq!(command(""), (plain, vec![("RUSTC_BOOTSTRAP", "1")]));
        let workspace = "[workspace]\ndefault-members = ['q']";
        assert!(command(workspace).0.starts_with("cargo bench --quiet --package p --bench"));
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
