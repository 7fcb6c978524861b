//! The licences of everything that is linked in: most ask for nothing but that their text goes along.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::parts::Part;
use super::sbom::Other;

/// How files with the text of a licence begin.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Returns one text for all: which parts there are, and the texts, each once with what it is for. `others` come with
/// the file that has their text.
pub(super) fn text(parts: &[Part], others: &[(Other, Option<&Path>)]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for part in parts.iter().filter(|part| !part.is_ours) {
        let licence = part.licence.as_deref().unwrap_or("see below");
        let _ = writeln!(list, "  {} {}: {licence}", part.name, part.version);
        for text in in_folder(&part.folder)? {
            texts.entry(text).or_default().push(format!("{} {}", part.name, part.version));
        }
    }
    for (other, file) in others {
        let _ = writeln!(list, "  {} {}: {}", other.name, other.version, other.licence);
        if let Some(file) = file {
            let text = read(file)?;
            texts.entry(text).or_default().push(format!("{} {}", other.name, other.version));
        }
    }
    ensure!(!texts.is_empty(), "no licence was found");
    let mut page = format!("becalm contains the following.\n\n{list}");
    for (text, of) in texts {
        let _ = write!(page, "\n{}\n{}\n\n{text}\n", "-".repeat(72), of.join(", "));
    }
    Ok(page)
}

/// Returns the texts of licences in a folder, in order of the files' names.
fn in_folder(folder: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            files.push(path);
        }
    }
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Result<String> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.replace("\r\n", "\n").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(folder: &Path, name: &str) -> Part {
        Part {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some("MIT".to_owned()),
            folder: folder.join(name),
            is_ours: false,
            uses: Vec::new(),
        }
    }

    #[test]
    fn a_text_that_several_parts_have_stands_once_with_all_of_them() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("a", "Do as you like.\r\n"), ("b", "Do as you like.\n"), ("c", "Ask.\n")]
        {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("License-MIT"), text).unwrap();
            fs::write(folder.path().join(name).join("README"), "never").unwrap();
        }
        let parts = ["a", "b", "c"].map(|name| part(folder.path(), name));
        let sqlite = Other { name: "SQLite", version: "3".to_owned(), licence: "blessing" };
        let text = text(&parts, &[(sqlite, None)]).unwrap();
        assert_eq!(text.matches("Do as you like.").count(), 1);
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nDo as") && text.contains("\nc 1.0.0\n\nAsk."));
        assert!(text.contains("  SQLite 3: blessing\n") && !text.contains("never"), "{text}");
    }

    #[test]
    fn nothing_at_all_is_an_error() {
        assert!(text(&[], &[]).is_err());
    }
}
