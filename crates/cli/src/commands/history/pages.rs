//! What the pages of a history need, served or published.

use becalm_model::wire::read_document;
use becalm_session::{Lineage, Repository, disturbed_runs};
use becalm_web::{CommitPages, Commits, CommitsOf};

use crate::error::CommandError;
use crate::measuring::with_traced_notes;

/// Makes the report of a record that a history has kept, as `--export-html` does.
pub(crate) fn record_page(document: &str) -> Result<String, String> {
    let record = read_document(document).map_err(|error| error.to_string())?;
    let disturbed = disturbed_runs(&record);
    Ok(becalm_report::html(&with_traced_notes(&record), &disturbed))
}

/// Returns what pages call the history: as asked, or like the folder of the repository.
pub(crate) fn title(asked: Option<&str>) -> Result<String, CommandError> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let repository = Repository::find()?;
    let name = repository.as_ref().and_then(|one| one.top().file_name());
    Ok(name.map_or("history".to_owned(), |name| name.to_string_lossy().into_owned()))
}

/// Returns where commits can be looked at: as asked, or where git fetches the repository from.
pub(crate) fn commit_pages(
    asked: Option<&CommitPages>,
) -> Result<Option<CommitPages>, CommandError> {
    if asked.is_some_and(CommitPages::needs_project) {
        return Err(CommandError::usage("--commit-url: {project} needs `becalm serve --project`")
            .hint("write the name of the project itself"));
    }
    if asked.is_some() {
        return Ok(asked.cloned());
    }
    let remote = Repository::find()?.and_then(|repository| repository.origin());
    Ok(remote.and_then(|remote| CommitPages::of_remote(&remote)))
}

/// Returns what finds the commits of branches, in the repository around becalm: entries that are not of these do not count,
/// as in `becalm changes`.
pub(crate) fn commits() -> Result<CommitsOf, CommandError> {
    let repository = Repository::find()?;
    Ok(Box::new(move |branch| {
        let Lineage { first_parents, all, tip } = repository.as_ref()?.lineage(branch)?;
        Some(Commits { first_parents, all, tip })
    }))
}
