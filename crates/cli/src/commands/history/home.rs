//! The repository around becalm, and the entries of what was measured in it.

use std::collections::{BTreeSet, HashSet};

use becalm_model::history::{AtCommit, Commit, EntryId, Series};
use becalm_model::{GateNote, Note};
use becalm_series::{
    BranchCommits, ChangeTerms, Checkout, Counting, EntryFilter, EntryTerms, NewEntry, Place,
    Placed, Store, Uncounted, new_entry,
};
use becalm_session::{Lineage, Repository};

use super::settings::Settings;
use super::when::now;
use crate::error::CommandError;
use crate::records;

/// Whether whole records are kept beside their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Records {
    /// They are
    #[value(name = "keep")]
    Kept,
    /// They are not: entries have values, commit and facts alone
    #[value(name = "drop")]
    Dropped,
}

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

/// Which entries of a branch count that usually do not, as flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct CountedFlags {
    /// Include entries of merged branches; by default, a merge counts by its first parent
    #[arg(long)]
    side_branches: bool,
    /// Include entries of a working tree with changes that no commit has
    #[arg(long)]
    changed_trees: bool,
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

    /// Returns the entries of a branch whose commits are not on it, as git has it.
    pub(crate) fn off_branch(
        &self,
        store: &mut Store,
        branch: &str,
    ) -> Result<Vec<(EntryId, Place)>, CommandError> {
        let Some(lineage) = self.repository.as_ref().and_then(|git| git.lineage(branch)) else {
            return Ok(Vec::new());
        };
        let Lineage { first_parents, all } = &lineage;
        let filter = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
        let entries = store.entries(&filter)?;
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        Ok(BranchCommits { first_parents, all }.off_branch(&placed))
    }

    /// Returns the entries of a branch that do not count, and the note about them.
    pub(crate) fn left_out(
        &self,
        store: &mut Store,
        branch: &str,
        counted: &CountedFlags,
    ) -> Result<(HashSet<EntryId>, Option<Note>), CommandError> {
        let filter = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
        let entries = store.entries(&filter)?;
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        let lineage = self.repository.as_ref().and_then(|git| git.lineage(branch));
        let commits = lineage
            .as_ref()
            .map(|Lineage { first_parents, all }| BranchCommits { first_parents, all });
        let &CountedFlags { side_branches, changed_trees } = counted;
        let counting = Counting { side_branches, changed_trees };
        let Uncounted { entries, lost, merged, changed } =
            Uncounted::among(&placed, commits, counting);
        let branch = branch.to_owned();
        let note = GateNote::OffBranch { branch, lost, merged, changed }.into();
        let note = Some(note).filter(|_| !entries.is_empty());
        Ok((entries, note))
    }

    /// Returns the rules for changes of these series, without the entries that usually do not count.
    pub(crate) fn change_terms(
        &self,
        store: &mut Store,
        series: &[Series],
        settings: &Settings,
    ) -> Result<ChangeTerms, CommandError> {
        let (left_out, _) = self.left_out_of(store, series, &CountedFlags::default())?;
        Ok(ChangeTerms { left_out, ..settings.change_terms() })
    }

    /// Returns the entries that do not count for all branches of these series, and the notes about them.
    pub(crate) fn left_out_of(
        &self,
        store: &mut Store,
        series: &[Series],
        counted: &CountedFlags,
    ) -> Result<(HashSet<EntryId>, Vec<Note>), CommandError> {
        let branches: BTreeSet<&str> = series.iter().map(|one| one.key.branch.as_str()).collect();
        let (mut left_out, mut notes) = (HashSet::new(), Vec::new());
        for branch in branches {
            let (more, note) = self.left_out(store, branch, counted)?;
            left_out.extend(more);
            notes.extend(note);
        }
        Ok((left_out, notes))
    }

    fn find(&self, name: &str) -> Option<Commit> {
        self.repository.as_ref()?.committed(name)
    }

    /// Makes the entry of a measurement with its record. If it has no branch, it gets `branch`.
    pub(crate) fn entry(&self, one: &AtCommit, terms: &EntryTerms, branch: &str) -> NewEntry {
        self.entry_with(one, terms, branch, Records::Kept)
    }

    /// The same, and says whether the record is kept beside the values.
    pub(crate) fn entry_with(
        &self,
        one: &AtCommit,
        terms: &EntryTerms,
        branch: &str,
        records: Records,
    ) -> NewEntry {
        let checkout = Checkout {
            head: self.head.as_ref(),
            branch: self.branch.as_deref(),
            dirty: self.dirty,
            find: &|name| self.find(name),
        };
        let document = (records == Records::Kept).then(|| records::json(&one.record));
        new_entry(one, terms, &checkout, branch, document, now())
    }
}
