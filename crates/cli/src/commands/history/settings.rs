//! `[history]` and `[changes]` of `becalm.toml`.

use becalm_model::wire::SuiteChanges;
use becalm_series::{ANNOTATE, ChangeTerms, HistoryLocation, check_false_alarms};
use becalm_session::Repository;
use becalm_session::suite::SuiteFile;

use crate::error::CommandError;

/// What holds for the history of a repository.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where it is, if the file says so.
    pub(crate) store: Option<HistoryLocation>,
    /// The main branch, to which results belong that have none: what the file says, else what git
    /// says, else `main`.
    pub(crate) branch: String,
    /// Whether the file says so.
    pub(crate) is_branch_named: bool,
    /// Whether neither says so, and the clone of another repository has no other branch.
    pub(crate) is_only_branch: bool,
    /// Facts that split series, if the file says so; otherwise those by which the history is
    /// already grouped.
    pub(crate) split: Option<Vec<String>>,
    /// Facts whose change is reported.
    pub(crate) annotate: Vec<String>,
    /// The rules by which a change of level is a change.
    pub(crate) changes: SuiteChanges,
}

impl Settings {
    /// Returns the rules for a change of level, if no flag sets them.
    pub(crate) fn change_terms(&self) -> ChangeTerms {
        ChangeTerms { configured: self.changes.clone(), ..ChangeTerms::default() }
    }

    /// Reads them from the nearest `becalm.toml`, if there is one.
    pub(crate) fn read() -> Result<Self, CommandError> {
        let file = SuiteFile::read_if_there()?;
        let history = file.as_ref().map(|file| file.document.history.clone()).unwrap_or_default();
        let changes = file.as_ref().map(|file| file.document.changes.clone()).unwrap_or_default();
        if let (Some(file), Some(share)) = (&file, changes.false_alarms) {
            check_false_alarms(share.0).map_err(|range| {
                let given = share.0 * 100.0;
                file.error_at(
                    &["changes", "false-alarms"],
                    format!("false-alarms is {given}%, and {range}"),
                )
            })?;
        }
        let folder = file.map(|file| file.folder()).unwrap_or_default();
        let store = history.store.map(|text| match HistoryLocation::parse(&text) {
            HistoryLocation::File(path) => HistoryLocation::File(folder.join(path)),
            server @ HistoryLocation::Server { .. } => server,
        });
        let annotate = history.annotate.unwrap_or_else(|| ANNOTATE.map(str::to_owned).to_vec());
        let is_branch_named = history.branch.is_some();
        let of_git = || Repository::find().ok().flatten()?.main_branch();
        let of_git = if is_branch_named { None } else { of_git() };
        let is_only_branch = of_git.as_ref().is_some_and(|main| main.is_only_one);
        let branch = history.branch.or(of_git.map(|main| main.name));
        let branch = branch.unwrap_or_else(|| "main".to_owned());
        Ok(Self {
            store,
            branch,
            is_branch_named,
            is_only_branch,
            split: history.split,
            annotate,
            changes,
        })
    }
}
