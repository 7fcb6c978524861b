//! Which criterion a command starts: up to version 0.3 it takes whole seconds alone.

use std::fs;
use std::path::Path;

/// First minor version of 0 that takes fractions of seconds.
const FRACTIONS_SINCE: u32 = 4;

/// Says whether the criterion of a package in `folder` takes times of whole seconds only; one whose version cannot
/// be told is taken for a new one.
pub(super) fn takes_whole_seconds(folder: &Path) -> bool {
    // The folders above it count too, so that an empty or relative path will not do.
    let folder = std::env::current_dir().unwrap_or_default().join(folder);
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).ok();
    // The package's own manifest may be there without any lock, which is written in its workspace.
    let locked = folder.ancestors().find_map(|folder| locked(&read(folder, "Cargo.lock")?));
    let minor = locked.or_else(|| asked(&read(&folder, "Cargo.toml")?));
    minor.is_some_and(|minor| minor < FRACTIONS_SINCE)
}

/// Returns the minor version of the criterion 0 that a lock file has.
fn locked(text: &str) -> Option<u32> {
    let (_, after) = text.split_once("name = \"criterion\"")?;
    minor(after.trim_start().strip_prefix("version = ")?)
}

/// Returns the minor version of the criterion 0 that a manifest asks for.
fn asked(text: &str) -> Option<u32> {
    let mut is_table = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_table = line.ends_with("dependencies.criterion]");
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = match (key.trim(), is_table) {
            ("version", true) => value,
            ("criterion", false) => value.split_once("version").map_or(value, |(_, rest)| rest),
            _ => continue,
        };
        return minor(value.trim_start_matches([' ', '=', '{']));
    }
    None
}

/// Reads the minor version of a text like `"^0.3.5"`.
fn minor(quoted: &str) -> Option<u32> {
    let version = quoted.trim_start_matches(['"', '\'', '^', '~', '=', ' ']);
    let minor = version.strip_prefix("0.")?;
    let end = minor.find(|c: char| !c.is_ascii_digit()).unwrap_or(minor.len());
    minor[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_lock_or_of_the_manifest() {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().join("a/b");
        fs::create_dir_all(&package).unwrap();
        let manifest = |text: &str| {
            fs::write(package.join("Cargo.toml"), text).unwrap();
            takes_whole_seconds(&package)
        };
        assert!(manifest("[dev-dependencies]\ncriterion = \"0.3\"\n"));
        assert!(manifest(
            "[dev-dependencies]\ncriterion = { version = '^0.3.5', default-features = false }"
        ));
        assert!(manifest(
            "[dependencies.x]\nversion = '0.9'\n[dev-dependencies.criterion]\nversion = \"0.3.5\""
        ));
        assert!(!manifest("[dev-dependencies.criterion]\nversion = \"0.5\""));
        assert!(!manifest("[dev-dependencies]\ncriterion = \"1\""));
        assert!(!manifest("[dev-dependencies]\ncriterion = { workspace = true }"));
        let lock = "[[package]]\nname = \"criterion\"\nversion = \"0.3.6\"\n";
        fs::write(root.path().join("Cargo.lock"), lock).unwrap();
        assert!(takes_whole_seconds(&package));
    }
}
