//! The commit that a head is compared with.

use crate::error::CommandError;
use crate::measuring::Repository;

/// Branches that a change is usually meant for.
const DEFAULT_BRANCHES: [&str; 5] =
    ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// Finds the base of `head`. `told` is what the service says it is, and `commit` the head of the request.
///
/// A job for a pull request has usually checked out what merging it would give: its first parent is then what the
/// request alone differs from. Else it is the last commit that both have in common.
pub(crate) fn find_base(
    repository: &Repository,
    head: &str,
    told: Option<&str>,
    commit: Option<&str>,
) -> Result<String, CommandError> {
    let parents = repository.parents(head)?;
    if let ([first, second], Some(commit)) = (&parents[..], commit)
        && second == commit
    {
        return present(repository, first);
    }
    if let Some(told) = told {
        let told = present(repository, told)?;
        return repository.common(&told, head).ok_or_else(|| {
            shallow(repository, format!("{told} and {head} have no commit in common here"))
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
        (_, []) => {
            Err(shallow(repository, format!("{head} has no parent here to be compared with")))
        }
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
        told.hint("fetch it, or name another with --base")
    }
}
