//! The repository of a project: its two releases as commits with tags.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::registry::fetch;
use super::table::Project;
use crate::workspace::capture;

/// Makes the repository, unless it is there, and returns its folder.
pub(super) fn repository(project: &Project, folder: &Path) -> Result<PathBuf> {
    let place = folder.join(project.name.replace(['/', ':'], "-"));
    let repository = place.join("repository");
    if place.join("made").is_file() {
        return Ok(repository);
    }
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&repository)?;
    git(&repository, &["init", "--quiet"])?;
    for release in project.releases {
        empty(&repository)?;
        fetch(project, release, &place.join(format!("fetched-{release}")), &repository)?;
        git(&repository, &["add", "--all", "--force"])?;
        git(&repository, &["commit", "--quiet", "--message", release])?;
        git(&repository, &["tag", &tag(release)])?;
    }
    fs::write(place.join("made"), "")?;
    Ok(repository)
}

/// Returns the name of a release in the repository.
pub(super) fn tag(release: &str) -> String {
    format!("release-{release}")
}

/// Removes everything but what git keeps.
fn empty(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn git(folder: &Path, words: &[&str]) -> Result<()> {
    let who = ["-c", "user.name=xtask", "-c", "user.email=xtask@localhost"];
    capture(Command::new("git").args(who).args(words).current_dir(folder)).map(drop)
}
