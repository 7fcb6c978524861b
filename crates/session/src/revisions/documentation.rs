//! Files of a repository that no program is made of.

use std::path::Path;

/// Says whether a file is one that no program is made of: a text for people, at the top of the repository or in
/// its folder for documentation. Texts elsewhere may be what a benchmark reads.
pub fn is_documentation(path: &str) -> bool {
    let path = Path::new(path);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_text = ["md", "rst", "adoc", "txt"].contains(&ending);
    let is_known = (ending.is_empty() || is_text)
        && [
            "README",
            "CHANGELOG",
            "CHANGES",
            "CONTRIBUTING",
            "AUTHORS",
            "LICENSE",
            "COPYING",
            "NEWS",
            "SECURITY",
        ]
        .contains(&name);
    let is_markup = ["md", "rst", "adoc"].contains(&ending);
    let is_there = path.starts_with("docs") || path.starts_with("doc");
    is_known && path.components().count() == 1
        || is_markup && (is_there || path.components().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_what_no_program_is_made_of() {
        for path in
            ["README", "README.md", "LICENSE-MIT.md", "docs/a/b.md", "doc/x.rst", "CHANGES.txt"]
        {
            assert!(is_documentation(path), "{path}");
        }
        for path in [
            "src/README.md",
            "fixtures/a.md",
            "requirements.txt",
            "CMakeLists.txt",
            "docs/conf.py",
            "a.rs",
            "README.rs",
        ] {
            assert!(!is_documentation(path), "{path}");
        }
    }
}
