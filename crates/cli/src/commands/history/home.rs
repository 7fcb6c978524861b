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

impl CountedFlags {
    /// All that can be asked for.
    pub(crate) const EACH: [Self; 4] = [
        Self { side_branches: false, changed_trees: false },
        Self { side_branches: true, changed_trees: false },
        Self { side_branches: false, changed_trees: true },
        Self { side_branches: true, changed_trees: true },
    ];

    /// Says whether other entries count than usually.
    fn any(&self) -> bool {
        self.side_branches || self.changed_trees
    }
}

/// The entries of branches that do not count.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) entries: HashSet<EntryId>,
    /// What the reader has to know of them.
    pub(crate) notes: Vec<Note>,
    /// Whether others count than for everybody else, because of a flag or because the clone lacks commits. What is found
    /// then is shown and not kept.
    pub(crate) is_view: bool,
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
        let filter = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
        let entries = store.entries(&filter)?;
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        Ok(branch_commits(&lineage).off_branch(&placed))
    }

    /// Returns the entries of a branch that do not count.
    pub(crate) fn left_out(
        &self,
        store: &mut Store,
        branch: &str,
        counted: &CountedFlags,
    ) -> Result<LeftOut, CommandError> {
        let filter = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
        let entries = store.entries(&filter)?;
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        let lineage = self.repository.as_ref().and_then(|git| git.lineage(branch));
        let is_shallow = lineage.is_none()
            && placed.iter().any(Placed::is_of_commit)
            && self.repository.as_ref().is_some_and(Repository::is_shallow);
        let commits = lineage.as_ref().map(branch_commits);
        let &CountedFlags { side_branches, changed_trees } = counted;
        let counting = Counting { side_branches, changed_trees };
        let Uncounted { entries, lost, newer, merged, changed } =
            Uncounted::among(&placed, commits, counting);
        let branch = branch.to_owned();
        let shallow = is_shallow.then(|| GateNote::ShallowClone { branch: branch.clone() });
        let off = GateNote::OffBranch { branch, lost, newer, merged, changed };
        let off = Some(off).filter(|_| !entries.is_empty());
        let notes = shallow.into_iter().chain(off).map(Note::from).collect();
        Ok(LeftOut { entries, notes, is_view: is_shallow || newer > 0 || counted.any() })
    }

    /// Returns the rules for changes of these series, without the entries that usually do not count; and whether what is
    /// found by them may be kept.
    pub(crate) fn change_terms(
        &self,
        store: &mut Store,
        series: &[Series],
        settings: &Settings,
    ) -> Result<(ChangeTerms, bool), CommandError> {
        let LeftOut { entries: left_out, is_view, .. } =
            self.left_out_of(store, series, &CountedFlags::default())?;
        Ok((ChangeTerms { left_out, ..settings.change_terms() }, !is_view))
    }

    /// Returns the entries that do not count for all branches of these series.
    pub(crate) fn left_out_of(
        &self,
        store: &mut Store,
        series: &[Series],
        counted: &CountedFlags,
    ) -> Result<LeftOut, CommandError> {
        let branches: BTreeSet<&str> = series.iter().map(|one| one.key.branch.as_str()).collect();
        let mut all = LeftOut::default();
        for branch in branches {
            let LeftOut { entries, notes, is_view } = self.left_out(store, branch, counted)?;
            all.entries.extend(entries);
            all.notes.extend(notes);
            all.is_view |= is_view;
        }
        Ok(all)
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

fn branch_commits(lineage: &Lineage) -> BranchCommits<'_> {
    let Lineage { first_parents, all, tip } = lineage;
    BranchCommits { first_parents, all, tip: *tip }
}
