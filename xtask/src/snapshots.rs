//! Every snapshot belongs to a test that is still where the snapshot says.
//!
//! `insta` finds a snapshot beside the file of its test, by the name of the module. When the file moves and the snapshot
//! stays behind, the test has none: it fails, or, where it is skipped, would fail elsewhere.

use std::fs;
use std::path::Path;

use crate::workspace::{capture, root};

#[test]
fn every_snapshot_lies_beside_the_file_of_its_test() {
    let mut git = std::process::Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.snap"]);
    let list = capture(git.current_dir(root())).unwrap();
    let astray: Vec<String> =
        list.lines().filter_map(|snapshot| fault(&root(), snapshot)).collect();
    assert!(astray.is_empty(), "snapshots astray:\n  {}", astray.join("\n  "));
}

/// Returns what is wrong with a snapshot.
fn fault(root: &Path, snapshot: &str) -> Option<String> {
    // Git lists what was moved but not yet staged at its old place too.
    let text = fs::read_to_string(root.join(snapshot)).ok()?;
    let head = text.split("\n---\n").next().unwrap_or_default();
    let Some(source) = head.lines().find_map(|line| line.strip_prefix("source: ")) else {
        return Some(format!("{snapshot} does not say which test it is for"));
    };
    if !root.join(source).is_file() {
        return Some(format!("{snapshot} is for {source}, which is not there"));
    }
    let beside = Path::new(source).parent().map(|folder| folder.join("snapshots"));
    if Path::new(snapshot).parent() != beside.as_deref() {
        return Some(format!("{snapshot} is for {source}, and does not lie beside it"));
    }
    None
}

#[test]
fn snapshots_astray_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("tests/snapshots")).unwrap();
    fs::write(root.join("tests/a.rs"), "").unwrap();
    for (name, source, right) in [
        ("tests/snapshots/a__works.snap", "tests/a.rs", true),
        ("tests/snapshots/b__works.snap", "tests/b.rs", false),
        ("tests/a__works.snap", "tests/a.rs", false),
    ] {
        fs::write(root.join(name), format!("---\nsource: {source}\nexpression: x\n---\n1\n"))
            .unwrap();
        assert_eq!(fault(root, name).is_none(), right, "{name}");
    }
    fs::write(root.join("tests/snapshots/a__works.snap"), "---\nexpression: x\n---\n").unwrap();
    assert!(fault(root, "tests/snapshots/a__works.snap").is_some());
}
