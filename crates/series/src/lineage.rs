//! Entries that a branch does not have any more, and those of side branches.

use std::collections::HashSet;

use becalm_model::history::{Entry, EntryId};

/// Where the commit of an entry is, as git has the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the branch itself, or git does not say.
    OnBranch,
    /// On a branch that was merged into it.
    Merged,
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
}

impl BranchCommits<'_> {
    /// Returns the entries of the branch that are not on it, with why. Nothing if git has none of their commits: they are
    /// of another repository. Names that are no ids say nothing.
    pub fn off_branch(self, entries: &[Entry]) -> Vec<(EntryId, Place)> {
        let id = |entry: &Entry| {
            let id = entry.commit.as_ref().map(|commit| commit.id.clone())?;
            let is_id = [40, 64].contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
            is_id.then_some(id)
        };
        let known: Vec<(EntryId, String)> =
            entries.iter().filter_map(|entry| Some((entry.id, id(entry)?))).collect();
        if !known.iter().any(|(_, id)| self.all.contains(id)) {
            return Vec::new();
        }
        let place = |id: &String| {
            if self.first_parents.contains(id) {
                Place::OnBranch
            } else if self.all.contains(id) {
                Place::Merged
            } else {
                Place::Lost
            }
        };
        let all = known.into_iter().map(|(entry, id)| (entry, place(&id)));
        all.filter(|(_, place)| *place != Place::OnBranch).collect()
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
            commit: Some(Commit { id: id.to_owned(), time: None }),
            branch: "main".to_owned(),
            dirty: false,
            tags: Vec::new(),
            facts: BTreeMap::new(),
            fingerprint: String::new(),
            has_document: false,
        };
        let [on, merged, gone] = ["a", "b", "c"].map(|letter| letter.repeat(40));
        let entries = [entry(1, &on), entry(2, &merged), entry(3, &gone), entry(4, "v1.2")];
        let first_parents = HashSet::from([on.clone()]);
        let all = HashSet::from([on, merged]);
        let commits = BranchCommits { first_parents: &first_parents, all: &all };
        let off = [(EntryId(2), Place::Merged), (EntryId(3), Place::Lost)];
        assert_eq!(commits.off_branch(&entries), off);
        assert_eq!(commits.off_branch(&entries[2..]), [], "another repository");
    }
}
