//! The repository around becalm, and the entries of what was measured in it.

use becalm_model::history::{AtCommit, Commit};
use becalm_series::{Checkout, EntryTerms, NewEntry, new_entry};
use becalm_session::Repository;

use super::when::now;
use crate::error::CommandError;
use crate::records;

/// The repository around becalm, as far as there is one.
#[derive(Debug)]
pub(crate) struct Home {
    repository: Option<Repository>,
    /// The commit that is checked out, with its time, if there is any.
    head: Option<Commit>,
    /// The branch that is checked out.
    branch: Option<String>,
    /// Whether tracked files are changed.
    dirty: bool,
}

impl Home {
    /// Examines the repository of the current folder.
    pub(crate) fn look() -> Result<Self, CommandError> {
        let repository = Repository::find()?;
        let Some(git) = &repository else {
            return Ok(Self { repository: None, head: None, branch: None, dirty: false });
        };
        let head = git.committed("HEAD");
        let dirty = head.is_some() && !git.changed()?.is_empty();
        Ok(Self { head, branch: git.branch(), dirty, repository })
    }

    /// Says whether commits are checked out by their ids, so that the branch is unknown.
    pub(crate) fn is_detached(&self) -> bool {
        self.head.is_some() && self.branch.is_none()
    }

    /// Lists what git does not say here, so that the entries lack it.
    pub(crate) fn doubt(&self, terms: &EntryTerms) -> Option<String> {
        if terms.time.is_some() {
            return None;
        }
        let has_git = self.repository.is_some() || Repository::has_git();
        match &terms.commit {
            Some(name) if self.find(name).and_then(|commit| commit.time).is_none() => {
                let why =
                    if has_git { "git knows no such commit here" } else { "git cannot be started" };
                Some(format!(
                    "--commit {name}: {why}; becalm treats it as a name of your own, placed at \
                     the time of the measurement unless you set --time"
                ))
            }
            None if !has_git => Some(
                "git cannot be started, so the checked-out commit is unknown; set it with \
                 --commit, --branch and --time"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<Commit> {
        self.repository.as_ref()?.committed(name)
    }

    /// Makes the entry of a measurement. If it has no branch, it gets `branch`.
    pub(crate) fn entry(&self, one: &AtCommit, terms: &EntryTerms, branch: &str) -> NewEntry {
        let checkout = Checkout {
            head: self.head.as_ref(),
            branch: self.branch.as_deref(),
            dirty: self.dirty,
            find: &|name| self.find(name),
        };
        new_entry(one, terms, &checkout, branch, records::json(&one.record), now())
    }
}
