//! Entries of a branch that do not count: of commits that it does not have any more, of side branches, and of working trees
//! with changes that no commit has.

use std::collections::HashSet;

use becalm_model::history::{Entry, EntryId};
use becalm_store::Moment;

/// Where the commit of an entry is, as git has the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the branch itself, or git does not say.
    OnBranch,
    /// On a branch that was merged into it.
    Merged,
    /// Newer than the branch is here: it was not fetched since, or the branch was set back.
    Newer,
    /// Not on it any more: the branch was rewritten.
    Lost,
}

/// The commits of a branch: those that it went through itself, and those that it has.
#[derive(Debug, Clone, Copy)]
pub struct BranchCommits<'a> {
    /// Of a merge only the first parent.
    pub first_parents: &'a HashSet<String>,
    /// With those of merged branches.
    pub all: &'a HashSet<String>,
    /// When the last one was made, in seconds since the Unix epoch.
    pub tip: f64,
}

/// An entry, as far as it matters for whether it counts.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    entry: EntryId,
    commit: Option<&'a str>,
    /// Its place in time, in seconds since the Unix epoch.
    at: f64,
    dirty: bool,
}

impl Placed<'_> {
    /// Returns the id of its commit. Names that are no ids say nothing.
    fn id(&self) -> Option<&str> {
        let is_hex = |id: &str| id.bytes().all(|b| b.is_ascii_hexdigit());
        self.commit.filter(|id| [40, 64].contains(&id.len()) && is_hex(id))
    }

    /// Says whether git may know its commit.
    pub fn is_of_commit(&self) -> bool {
        self.id().is_some()
    }
}

impl<'a> From<&'a Entry> for Placed<'a> {
    fn from(entry: &'a Entry) -> Self {
        let commit = entry.commit.as_ref().map(|commit| commit.id.as_str());
        Self { entry: entry.id, commit, at: entry.at(), dirty: entry.dirty }
    }
}

impl<'a> From<&'a Moment> for Placed<'a> {
    fn from(moment: &'a Moment) -> Self {
        Self {
            entry: moment.entry,
            commit: moment.commit.as_deref(),
            at: moment.at,
            dirty: moment.dirty,
        }
    }
}

impl BranchCommits<'_> {
    /// Returns the entries of the branch that are not on it, with why. Nothing if git has none of their commits: they are
    /// of another repository.
    pub fn off_branch(self, entries: &[Placed<'_>]) -> Vec<(EntryId, Place)> {
        let known: Vec<(&Placed<'_>, &str)> =
            entries.iter().filter_map(|one| Some((one, one.id()?))).collect();
        if !known.iter().any(|(_, id)| self.all.contains(*id)) {
            return Vec::new();
        }
        let place = |one: &Placed<'_>, id: &str| {
            if self.first_parents.contains(id) {
                Place::OnBranch
            } else if self.all.contains(id) {
                Place::Merged
            } else if one.at > self.tip {
                Place::Newer
            } else {
                Place::Lost
            }
        };
        let all = known.into_iter().map(|(one, id)| (one.entry, place(one, id)));
        all.filter(|(_, place)| *place != Place::OnBranch).collect()
    }
}

/// What counts that usually does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counting {
    /// Entries of merged branches.
    pub side_branches: bool,
    /// Entries of a working tree with changes that no commit has.
    pub changed_trees: bool,
}

/// The entries of a branch that do not count, and how many for which reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// All of them.
    pub entries: HashSet<EntryId>,
    /// Of commits that the branch lost when it was rewritten.
    pub lost: usize,
    /// Of commits that are newer than the branch is here.
    pub newer: usize,
    /// Of branches that were merged into it.
    pub merged: usize,
    /// Of a working tree with changes, and not among the others.
    pub changed: usize,
}

impl Uncounted {
    /// Finds those among all entries of a branch, in the light of its commits if there is a repository that has it.
    pub fn among(
        entries: &[Placed<'_>],
        commits: Option<BranchCommits<'_>>,
        counting: Counting,
    ) -> Self {
        let mut off = commits.map_or(Vec::new(), |commits| commits.off_branch(entries));
        off.retain(|(_, place)| *place != Place::Merged || !counting.side_branches);
        let count = |wanted: Place| off.iter().filter(|(_, place)| *place == wanted).count();
        let mut found = Self {
            lost: count(Place::Lost),
            newer: count(Place::Newer),
            merged: count(Place::Merged),
            changed: 0,
            entries: off.into_iter().map(|(entry, _)| entry).collect(),
        };
        if !counting.changed_trees {
            for one in entries.iter().filter(|one| one.dirty) {
                found.changed += usize::from(found.entries.insert(one.entry));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use becalm_model::history::Commit;

    use super::*;

    #[test]
    fn what_a_branch_lost_or_merged_is_off_it_and_what_git_does_not_know_is_not() {
        let entry = |number: i64, id: &str| Entry {
            id: EntryId(number),
            measured: 0.0,
            commit: Some(Commit { time: Some(number as f64), ..Commit::named(id) }),
            branch: "main".to_owned(),
            dirty: false,
            tags: Vec::new(),
            facts: BTreeMap::new(),
            fingerprint: String::new(),
            has_document: false,
        };
        let [on, merged, gone, new] = ["a", "b", "c", "d"].map(|letter| letter.repeat(40));
        let mut entries =
            [entry(1, &on), entry(2, &merged), entry(3, &gone), entry(4, "v1.2"), entry(5, &new)];
        let first_parents = HashSet::from([on.clone()]);
        let all = HashSet::from([on, merged]);
        let commits = BranchCommits { first_parents: &first_parents, all: &all, tip: 4.0 };
        let off =
            [(EntryId(2), Place::Merged), (EntryId(3), Place::Lost), (EntryId(5), Place::Newer)];
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        assert_eq!(commits.off_branch(&placed), off);
        assert_eq!(commits.off_branch(&placed[2..]), [], "another repository");
        // One that is both is counted once.
        for at in [2, 3] {
            entries[at].dirty = true;
        }
        let placed: Vec<Placed<'_>> = entries.iter().map(Placed::from).collect();
        let found = Uncounted::among(&placed, Some(commits), Counting::default());
        let counts = |found: &Uncounted| [found.lost, found.newer, found.merged, found.changed];
        assert_eq!(counts(&found), [1; 4]);
        assert_eq!(found.entries, [2, 3, 4, 5].map(EntryId).into());
        let counting = Counting { side_branches: true, changed_trees: true };
        let found = Uncounted::among(&placed, Some(commits), counting);
        assert_eq!(counts(&found), [1, 1, 0, 0]);
        assert_eq!(found.entries, [3, 5].map(EntryId).into());
        let found = Uncounted::among(&placed, None, Counting::default());
        assert_eq!((found.entries.len(), found.changed), (2, 2));
    }
}
