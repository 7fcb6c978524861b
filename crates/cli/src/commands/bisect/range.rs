//! The commits between the ends.

use becalm_model::history::short_commit;
use becalm_model::wire::CommitDocument;

use becalm_session::GitError;

use crate::error::CommandError;
use crate::measuring::{Commit, Repository, Signed};

/// The commits to search, the good end first.
#[derive(Debug)]
pub(super) struct Range {
    /// The good end and all commits after it up to the bad end.
    pub(super) commits: Vec<Commit>,
    /// The same for the state, in the same order.
    pub(super) documents: Vec<CommitDocument>,
}

impl Range {
    /// Reads the history between two revisions, by first parents.
    pub(super) fn between(
        repository: &Repository,
        good: &str,
        bad: &str,
    ) -> Result<Self, CommandError> {
        let is_shallow = repository.is_shallow();
        let cut_off = |error: GitError| {
            let error = CommandError::from(error);
            if is_shallow { error.hint(SHALLOW) } else { error }
        };
        let good_end = repository.commit("--good", good).map_err(cut_off)?;
        let bad_end = repository.commit("--bad", bad).map_err(cut_off)?;
        if good_end.id == bad_end.id {
            return Err(CommandError::usage(format!("{good} and {bad} are the same commit")));
        }
        if !repository.is_ancestor(&good_end, &bad_end) {
            let error = CommandError::usage(format!("{good} is not in the history of {bad}"));
            return Err(match repository.merge_base(&good_end, &bad_end) {
                _ if is_shallow => error.hint(SHALLOW),
                Some(base) => error.hint(format!(
                    "the newest commit in the history of both is {}; if that is good too: --good {}",
                    short_commit(&base),
                    short_commit(&base)
                )),
                None => error.hint("they have no commit in common"),
            });
        }
        let mut all = vec![repository.signed(&good_end)?];
        all.extend(repository.range(&good_end, &bad_end)?);
        let documents = all.iter().map(document).collect();
        Ok(Self { commits: all.into_iter().map(|one| one.commit).collect(), documents })
    }

    /// Returns the number of the bad end.
    pub(super) fn bad(&self) -> usize {
        self.commits.len() - 1
    }
}

/// What to do about a clone without history.
const SHALLOW: &str =
    "this clone is shallow: its older history was left out; `git fetch --unshallow` gets it";

fn document(one: &Signed) -> CommitDocument {
    CommitDocument {
        id: one.commit.id.clone(),
        title: one.commit.title.clone(),
        author: one.author.clone(),
        date: one.date.clone(),
        parents: one.parents,
    }
}
