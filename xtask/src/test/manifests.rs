//! All versions stand in the root manifest, so that no two crates want different ones.

use std::fs;

use crate::workspace::root;

#[test]
fn all_versions_stand_in_the_root_manifest() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let manifests = crates.chain([root().join("xtask")]).map(|folder| folder.join("Cargo.toml"));
    let mut wrong = Vec::new();
    for file in manifests.filter(|file| file.is_file()) {
        let text = fs::read_to_string(&file).unwrap();
        wrong.extend(strays(&text).map(|line| format!("{}: {line}", file.display())));
    }
    assert!(wrong.is_empty(), "write `NAME.workspace = true`:\n  {}", wrong.join("\n  "));
}

/// The dependencies of a manifest that it gives a version or a path itself.
fn strays(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_among_dependencies = false;
    manifest.lines().filter(move |line| {
        if line.starts_with('[') {
            is_among_dependencies = line.ends_with("dependencies]");
            return false;
        }
        let is_entry = line.contains('=') && !line.starts_with('#');
        is_among_dependencies && is_entry && !line.replace(' ', "").contains("workspace=true")
    })
}

#[test]
fn versions_and_paths_are_found_where_they_should_not_be() {
    let manifest = "[package]\nversion = \"1\"\n[dependencies]\n# csv = \"1\"\na.workspace = true\n\
                    b = { workspace = true, features = [\"x\"] }\nc = \"1\"\n[dev-dependencies]\n\
                    d = { path = \"../d\" }\n[lints]\nworkspace = true\n";
    assert_eq!(strays(manifest).collect::<Vec<_>>(), ["c = \"1\"", "d = { path = \"../d\" }"]);
}
