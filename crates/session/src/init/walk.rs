//! Reading a repository, as far as it describes benchmarks.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::tree::{Tree, is_wanted, join};

/// Folders that contain what was built or fetched, or is not the project's own.
const SKIPPED: [&str; 12] = [
    "target",
    "node_modules",
    "vendor",
    "third_party",
    "build",
    "dist",
    "out",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
    "testdata",
];

/// How deep folders are searched.
const DEEPEST: usize = 8;

/// Most files that are read: anything larger is a collection of repositories, or not one at all.
const MOST_FILES: usize = 50_000;

/// Most that is read of one file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The folder of a repository cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", folder.display())]
pub struct WalkError {
    /// The folder.
    folder: PathBuf,
    /// Why.
    source: std::io::Error,
}

/// Reads the files below `root` that tell of benchmarks.
pub fn walk(root: &Path) -> Result<Tree, WalkError> {
    let mut tree = Tree::default();
    // The folders near the root first: what is cut off is what lies deep.
    let mut folders = VecDeque::from([(String::new(), 0)]);
    let mut is_deep = false;
    while let Some((folder, depth)) = folders.pop_front() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(source) if folder.is_empty() => {
                return Err(WalkError { folder: root.to_owned(), source });
            }
            Err(error) => {
                tree.doubts.push(format!("{folder} could not be read: {error}"));
                continue;
            }
        };
        for entry in entries.flatten() {
            // A name that is no text names nothing that is known; a link may lead in a circle.
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let path = join(&folder, &name);
            if kind.is_dir() {
                if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
                    continue;
                }
                is_deep |= depth >= DEEPEST;
                if depth < DEEPEST {
                    folders.push_back((path, depth + 1));
                }
            } else if kind.is_file() {
                if tree.files.len() == MOST_FILES {
                    tree.doubts.push(format!("only the first {MOST_FILES} files were examined"));
                    return Ok(tree);
                }
                let text = if is_wanted(&path) { read(&entry.path()) } else { None };
                tree.files.insert(path, text);
            }
        }
    }
    if is_deep {
        tree.doubts.push(format!("folders more than {DEEPEST} deep were not examined"));
    }
    Ok(tree)
}

fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
