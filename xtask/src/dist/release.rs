//! Which release it is: its version, and the commit that gives everything its time.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use crate::workspace::{capture, metadata, root};

/// A release.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) version: String,
    /// The commit's time in seconds since 1970, which every file gets.
    pub(super) time: u64,
    /// The same as `2026-01-31`.
    pub(super) date: String,
    /// The same as mails have it.
    pub(super) mail_date: String,
    /// Whether the working tree has changes that are in no commit.
    pub(super) is_changed: bool,
}

impl Release {
    /// Reads the version of the manifest and the commit that is checked out.
    pub(super) fn here() -> Result<Self> {
        let metadata = metadata()?;
        let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
        let becalm = packages.iter().find(|package| package["name"] == "becalm");
        let version = becalm.and_then(|package| package["version"].as_str());
        let time = committed(&["--format=%ct"])?;
        Ok(Self {
            version: version.context("becalm has no version")?.to_owned(),
            time: time.parse().with_context(|| format!("`{time}` is not a time"))?,
            date: committed(&["--format=%cd", "--date=format-local:%Y-%m-%d"])?,
            mail_date: committed(&["--format=%cd", "--date=rfc-local"])?,
            is_changed: !git(&["status", "--porcelain"])?.is_empty(),
        })
    }
}

fn committed(arguments: &[&str]) -> Result<String> {
    git(&[&["log", "-1"], arguments].concat())
}

fn git(arguments: &[&str]) -> Result<String> {
    // `local` is UTC for everybody.
    let mut git = Command::new("git");
    let text = capture(git.args(arguments).current_dir(root()).env("TZ", "UTC"))?;
    Ok(text.trim().to_owned())
}

/// Returns bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the lines that `sha256sum --check` reads, in order of the names.
pub(super) fn checksums(files: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<(&str, String)> =
        files.iter().map(|(name, bytes)| (name.as_str(), hex(&Sha256::digest(bytes)))).collect();
    lines.sort();
    let lines: Vec<String> =
        lines.into_iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum_in_order_of_names() {
        let files = [("b".to_owned(), b"x\n".to_vec()), ("a".to_owned(), Vec::new())];
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let x = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac";
        assert_eq!(checksums(&files), format!("{empty}  a\n{x}  b\n"));
    }
}
