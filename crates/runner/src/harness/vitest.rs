//! Which vitest a command starts: version 5 writes results by another flag than those before.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::words::base_name;

/// First version whose benchmarks are in what its JSON reporter writes, and that knows no `--outputJson`.
const REPORTED_SINCE: u32 = 5;

/// Says whether the vitest of a command that starts in `folder` has its benchmarks in the JSON report; one whose
/// version cannot be told is taken for a new one.
pub(super) fn reports(command: &[String], folder: &Path) -> bool {
    // The folders above it count too, so that an empty or relative path will not do.
    let folder = std::env::current_dir().unwrap_or_default().join(folder);
    package(command, &folder)
        .and_then(|path| major(&path))
        .is_none_or(|major| major >= REPORTED_SINCE)
}

/// Finds the description of vitest: beside the program if that is named by a path, else in the folder from which
/// `npx` and its like take it, which is in the current one or above.
fn package(command: &[String], here: &Path) -> Option<PathBuf> {
    let named = command
        .iter()
        .find(|word| word.contains('/') && matches!(base_name(word), "vitest" | "vitest.mjs"));
    let program = named.and_then(|word| fs::canonicalize(here.join(word)).ok());
    let beside = program.map(|path| path.with_file_name("package.json"));
    beside.filter(|path| path.is_file()).or_else(|| {
        let above = here.ancestors().map(|folder| folder.join("node_modules/vitest/package.json"));
        above.into_iter().find(|path| path.is_file())
    })
}

fn major(package: &Path) -> Option<u32> {
    let package: Value = serde_json::from_slice(&fs::read(package).ok()?).ok()?;
    package["version"].as_str()?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_program_named_or_of_the_folder_above() {
        let root = tempfile::tempdir().unwrap();
        let put = |folder: &str, version: &str| {
            let place = root.path().join(folder).join("node_modules/vitest");
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("vitest.mjs"), "").unwrap();
            fs::write(place.join("package.json"), format!(r#"{{"version": "{version}"}}"#))
                .unwrap();
        };
        put("old", "3.2.4");
        put("new", "5.1.1");
        fs::create_dir(root.path().join("old/src")).unwrap();
        let found = |command: &str, folder: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            package(&words, &root.path().join(folder)).and_then(|path| major(&path))
        };
        assert_eq!(found("npx vitest bench", "old"), Some(3));
        assert_eq!(found("npx vitest bench", "old/src"), Some(3));
        assert_eq!(found("../new/node_modules/vitest/vitest.mjs bench", "old"), Some(5));
        assert_eq!(found("npx vitest bench", ""), None);
    }
}
