//! Benchmarks of Go packages: functions `BenchmarkX` of test files.

use std::collections::BTreeMap;

use becalm_model::counted;

use super::tree::{Tree, base, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut packages: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, text) in tree.texts().filter(|(path, _)| base(path).ends_with("_test.go")) {
        let functions = text.lines().filter(|line| line.starts_with("func Benchmark")).count();
        if functions > 0 {
            *packages.entry(parent(path)).or_default() += functions;
        }
    }
    let mut finds = Finds::default();
    for (package, functions) in packages {
        let Some(module) = module_of(tree, package) else {
            finds.doubts.push(format!(
                "{} has Go benchmarks, but no go.mod is above it, so `go test` may not find it",
                if package.is_empty() { "the root" } else { package }
            ));
            continue;
        };
        let inside = package.strip_prefix(module).unwrap_or(package).trim_start_matches('/');
        let shown = format!("./{inside}");
        let name = if package.is_empty() { "go" } else { package };
        let functions = counted(functions, "function");
        finds.benchmarks.push(Found {
            name: key(name),
            command: words(&["go", "test", &shown]),
            harness: Some("go"),
            folder: module.to_owned(),
            // Fills the cache of builds, so that the first run is not that of the compiler.
            setup: Some(format!("go test -run '^$' {}", shell_words::quote(&shown))),
            tag: "go",
            comments: vec![format!("Go package with {functions} named Benchmark...")],
            ..Found::default()
        });
    }
    finds
}

/// Returns the folder of the module that a package belongs to.
fn module_of<'a>(tree: &Tree, package: &'a str) -> Option<&'a str> {
    let mut folder = package;
    loop {
        if tree.has(&super::tree::join(folder, "go.mod")) {
            return Some(folder);
        }
        if folder.is_empty() {
            return None;
        }
        folder = parent(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn each_package_with_benchmarks_is_one() {
        let bench =
            "package x\nfunc BenchmarkSort(b *testing.B) {}\nfunc BenchmarkMap(b *testing.B) {}\n";
        let finds = find(&tree(&[
            ("go.mod", "module x"),
            ("x_test.go", bench),
            ("a/b_test.go", bench),
            ("a/none_test.go", "func TestX() {} // func BenchmarkNo"),
            ("sub/go.mod", ""),
            ("sub/deep/c_test.go", bench),
        ]));
        let found: Vec<(String, String, &str)> = finds
            .benchmarks
            .iter()
            .map(|f| (f.name.clone(), f.command.join(" "), f.folder.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("go".to_owned(), "go test ./".to_owned(), ""),
                ("a".to_owned(), "go test ./a".to_owned(), ""),
                ("sub-deep".to_owned(), "go test ./deep".to_owned(), "sub"),
            ]
        );
        assert!(find(&tree(&[("x_test.go", bench)])).doubts[0].contains("no go.mod"));
    }
}
