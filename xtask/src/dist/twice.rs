//! The same release once more, in another folder: every file has to have the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::arch::Arch;
use crate::workspace::{capture, cargo, root, run};

/// Checks the commit out beside the first build, makes the release there, and compares both.
pub(super) fn again(archs: &[Arch], target: &Path) -> Result<()> {
    let place = target.join("once-more");
    println!("once more, in {}", place.display());
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(root());
        git
    };
    if place.exists() {
        // Its builds are kept: cargo knows what has changed since.
        let commit = capture(&mut git(&["rev-parse", "HEAD"]))?;
        let mut checkout = Command::new("git");
        run(checkout.current_dir(&place).args(["checkout", "--quiet", "--detach", commit.trim()]))?;
    } else {
        let _ = git(&["worktree", "prune"]).status();
        run(git(&["worktree", "add", "--quiet", "--detach"]).arg(&place).arg("HEAD"))?;
    }
    let names: Vec<&str> = archs.iter().map(|arch| arch.processor()).collect();
    let mut second = cargo(&["xtask", "dist", "--arch", &names.join(",")]);
    second.current_dir(&place);
    // What the first one was started with is about its own folder.
    for name in ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR"] {
        second.env_remove(name);
    }
    run(&mut second)?;
    let differing = differing(&target.join("release"), &place.join("target/dist/release"))?;
    ensure!(differing.is_empty(), "these differ between two builds: {}", differing.join(", "));
    println!("both builds are the same");
    Ok(())
}

/// Returns the names of files that two folders do not have with the same content.
fn differing(one: &Path, other: &Path) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    for folder in [one, other] {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            names.insert(entry?.file_name().to_string_lossy().into_owned());
        }
    }
    let content = |folder: &Path, name: &String| fs::read(folder.join(name)).ok();
    let is_other = |name: &String| content(one, name) != content(other, name);
    Ok(names.into_iter().filter(is_other).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_missing_are_named() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for (folder, name, text) in [
            (&one, "a", "1"),
            (&other, "a", "1"),
            (&one, "b", "1"),
            (&other, "b", "2"),
            (&one, "c", ""),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(differing(one.path(), other.path()).unwrap(), ["b", "c"]);
        assert_eq!(differing(other.path(), one.path()).unwrap(), ["b", "c"]);
        assert!(differing(one.path(), &one.path().join("nowhere")).is_err());
    }
}
