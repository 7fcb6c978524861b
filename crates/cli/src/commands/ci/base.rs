//! The commit that a head is compared with.

use becalm_forge::Surroundings;
use becalm_session::Repository;

use crate::error::CommandError;

/// Branches that a change usually targets.
const DEFAULT_BRANCHES: [&str; 5] =
    ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// Finds the base of `head`, from what the service says.
///
/// A job for a pull request usually checks out the result of merging it; the first parent of that
/// is exactly what the request changes. Otherwise the base is the last commit that both have in
/// common.
pub(super) fn find_base(
    repository: &Repository,
    head: &str,
    around: &Surroundings,
) -> Result<String, CommandError> {
    let parents = repository.parents(head)?;
    if let ([first, second], Some(commit)) = (&parents[..], &around.commit)
        && second == commit
    {
        return present(repository, first);
    }
    // A forced push leaves what was there before in no branch, and so in no clone.
    let is_there = |id: &&String| repository.committed(id).is_some() || repository.is_shallow();
    if let Some(told) = around.base.as_ref().or(around.before.as_ref().filter(is_there)) {
        let told = present(repository, told)?;
        return repository.common(&told, head).ok_or_else(|| {
            shallow(repository, format!("{told} and {head} have no commit in common in this clone"))
        });
    }
    let found = DEFAULT_BRANCHES.into_iter().find_map(|branch| {
        repository.committed(branch)?;
        repository.common(branch, head)
    });
    let is_head = repository.committed(head).map(|commit| commit.id);
    match (found, &parents[..]) {
        (Some(found), _) if Some(&found) != is_head.as_ref() => Ok(found),
        // On the branch itself: the commit before.
        (_, [first, ..]) => present(repository, first),
        (_, []) => Err(shallow(
            repository,
            format!("{head} has no parent in this clone to compare it with"),
        )),
    }
}

/// Checks that a commit is there.
fn present(repository: &Repository, id: &str) -> Result<String, CommandError> {
    match repository.committed(id) {
        Some(commit) => Ok(commit.id),
        None => Err(shallow(repository, format!("the base {id} is not in this clone"))),
    }
}

fn shallow(repository: &Repository, message: String) -> CommandError {
    let told = CommandError::measure(message);
    if repository.is_shallow() {
        told.hint(
            "the clone is shallow: give actions/checkout `with: {fetch-depth: 0}`, or the GitLab job `variables: \
             {GIT_DEPTH: 0}`; `git fetch --unshallow` does the same",
        )
    } else {
        told.hint("fetch it, or give another commit with --base")
    }
}
