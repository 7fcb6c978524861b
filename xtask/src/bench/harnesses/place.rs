//! Where the projects are built: copies outside the sources, one for each variant.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::workspace::{root, run};

/// The folders of one project.
#[derive(Debug)]
pub(super) struct Place {
    source: PathBuf,
    target: PathBuf,
    shared: PathBuf,
}

impl Place {
    /// Names the folders of a project.
    pub(super) fn new(name: &str, folder: &std::path::Path) -> Self {
        Self {
            source: root().join("xtask/harnesses").join(name),
            target: folder.join(name),
            shared: folder.join("installed"),
        }
    }

    /// Returns the path of a file of the bench itself.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// Returns a folder for what several projects use, such as packages of an interpreter.
    pub(super) fn shared(&self, name: &str) -> PathBuf {
        self.shared.join(name)
    }

    /// Returns a command that starts in the folder of the project.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.target).stdin(Stdio::null());
        command
    }

    /// Runs a command, given as words, in a folder of the project.
    pub(super) fn run(&self, folder: &str, words: &[&str]) -> Result<()> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.target.join(folder)).stdin(Stdio::null());
        run(command.stdout(Stdio::null()))
    }

    /// Copies the sources into the folder of each variant: `a`, its copy `a2`, and the slower `b`. In `file` of
    /// the slower one `from` is replaced by `to`.
    pub(super) fn variants(&self, file: &str, from: &str, to: &str) -> Result<()> {
        for variant in ["a", "a2", "b"] {
            self.copy(variant)?;
        }
        let path = self.target.join("b").join(file);
        let text = fs::read_to_string(&path)?;
        anyhow::ensure!(text.contains(from), "{} has no {from}", path.display());
        fs::write(&path, text.replace(from, to))?;
        Ok(())
    }

    /// Copies the sources into one folder; what was built there before stays.
    pub(super) fn copy(&self, variant: &str) -> Result<()> {
        copy(&self.source, &self.target.join(variant))
    }

    /// Copies a program that was built, so that the copy is the same byte for byte.
    pub(super) fn copy_file(&self, from: &Path, to: &str) -> Result<()> {
        let to = self.target.join(to);
        fs::copy(from, &to).map(drop).with_context(|| format!("cannot copy {}", from.display()))
    }

    /// Returns the path of what lies in the folder of the project.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        // What somebody built by hand among the sources is no part of them.
        if ["target", "node_modules", "__pycache__"].iter().any(|built| name == *built) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to.join(name))?;
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
