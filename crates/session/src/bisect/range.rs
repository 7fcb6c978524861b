//! The commits between the ends.

use becalm_model::wire::CommitDocument;

use super::error::BisectError;
use crate::error::Error;
use crate::revisions::{Commit, Repository, Signed};

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
    pub(super) fn between(repository: &Repository, good: &str, bad: &str) -> Result<Self, Error> {
        let is_shallow = repository.is_shallow();
        let end = |flag, revision| {
            let commit = repository.commit(flag, revision);
            commit.map_err(|source| BisectError::End { source, is_shallow })
        };
        let (good_end, bad_end) = (end("--good", good)?, end("--bad", bad)?);
        let (good, bad) = (good.to_owned(), bad.to_owned());
        if good_end.id == bad_end.id {
            return Err(BisectError::SameCommit { good, bad }.into());
        }
        if !repository.is_ancestor(&good_end, &bad_end) {
            let base = repository.merge_base(&good_end, &bad_end);
            return Err(BisectError::NotInHistory { good, bad, base, is_shallow }.into());
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

fn document(one: &Signed) -> CommitDocument {
    CommitDocument {
        id: one.commit.id.clone(),
        title: one.commit.title.clone(),
        author: one.author.clone(),
        date: one.date.clone(),
        parents: one.parents,
    }
}
