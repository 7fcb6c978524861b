//! What becalm asks git for. It runs as the user who owns the repository: git refuses root there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use becalm_runner::User;

use crate::error::CommandError;

/// The repository that becalm was started in.
#[derive(Debug)]
pub(super) struct Repository {
    user: Option<User>,
    /// The top folder of its working tree.
    top: PathBuf,
    /// Where in it becalm was started.
    inside: PathBuf,
}

/// A commit that a revision names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commit {
    /// Its full id.
    pub(super) id: String,
    /// The first line of its message.
    pub(super) title: String,
}

impl Commit {
    /// Returns the beginning of the id, as people know it.
    pub(super) fn short(&self) -> &str {
        self.id.get(..10).unwrap_or(&self.id)
    }
}

impl Repository {
    /// Finds the repository of the present folder.
    pub(super) fn here(user: Option<User>) -> Result<Self, CommandError> {
        let mut repository = Self { user, top: PathBuf::from("."), inside: PathBuf::new() };
        let top = repository.text(&["rev-parse", "--show-toplevel"]).map_err(|error| {
            CommandError::usage(format!("--rev needs a git repository: {}", error.message))
        })?;
        repository.inside = PathBuf::from(repository.text(&["rev-parse", "--show-prefix"])?);
        repository.top = PathBuf::from(top);
        Ok(repository)
    }

    /// Returns where in the working tree becalm was started.
    pub(super) fn inside(&self) -> &Path {
        &self.inside
    }

    /// Finds the commit that a revision names.
    pub(super) fn commit(&self, revision: &str) -> Result<Commit, CommandError> {
        let id = self.text(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ]);
        let id = id.map_err(|_| {
            CommandError::usage(format!(
                "--rev {revision}: there is no such revision in {}",
                self.top.display()
            ))
            .hint("a branch, a tag or a commit id is one; `.` is the working tree as it is")
        })?;
        let title = self.text(&["log", "-1", "--format=%s", &id])?;
        Ok(Commit { id, title })
    }

    /// Makes a commit of the working tree as it is, which no branch has, without changing anything; `None`
    /// if nothing is changed.
    pub(super) fn working_tree(&self) -> Result<Option<Commit>, CommandError> {
        let id = self.text(&["stash", "create", "becalm: the working tree"])?;
        let title = "the working tree".to_owned();
        Ok(Some(Commit { id, title }).filter(|commit| !commit.id.is_empty()))
    }

    /// Returns the paths of tracked files that are changed and not committed.
    pub(super) fn changed(&self) -> Result<Vec<String>, CommandError> {
        let text = self.text(&["status", "--porcelain", "--untracked-files=no"])?;
        Ok(text.lines().filter_map(|line| line.get(3..)).map(str::to_owned).collect())
    }

    /// Returns the paths of files that git does not know and does not ignore.
    pub(super) fn untracked(&self) -> Result<Vec<String>, CommandError> {
        let text = self.text(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns the paths in which two commits differ.
    pub(super) fn difference(&self, a: &Commit, b: &Commit) -> Result<Vec<String>, CommandError> {
        let text = self.text(&["diff", "--name-only", &a.id, &b.id])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Makes a working tree of a commit, with its submodules.
    pub(super) fn add_worktree(&self, place: &Path, commit: &Commit) -> Result<(), CommandError> {
        let path = place.display().to_string();
        // Forced, because the place may be known of a tree that was moved away.
        self.text(&["worktree", "add", "--force", "--detach", &path, &commit.id])?;
        if place.join(".gitmodules").exists() {
            self.text(&["-C", &path, "submodule", "update", "--init", "--recursive"])?;
        }
        Ok(())
    }

    /// Lets git forget worktrees that are gone.
    pub(super) fn prune_worktrees(&self) {
        // It does so by itself some day.
        let _ = self.text(&["worktree", "prune"]);
    }

    fn text(&self, arguments: &[&str]) -> Result<String, CommandError> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.top).args(arguments).stdin(Stdio::null());
        if let Some(user) = &self.user {
            user.runs(&mut git);
        }
        let Output { status, stdout, stderr } = git
            .output()
            .map_err(|error| CommandError::measure(format!("cannot start git: {error}")))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&stderr);
            let said = said.trim().lines().last().unwrap_or("it says nothing");
            return Err(CommandError::measure(format!("git {} failed: {said}", arguments[0])));
        }
        Ok(String::from_utf8_lossy(&stdout).trim_end().to_owned())
    }
}
