//! The history that pages are of: its connections, and what was found in it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use becalm_series::{
    Access, BranchCommits, ChangeTerms, Counting, HistoryLocation, Placed, Store, StoreError,
    Uncounted, open,
};

use crate::kept::Kept;
use crate::queries::{Findings, KnownSides};

/// Makes the page of a whole record of its document, or says why it cannot.
pub type RecordPage = fn(&str) -> Result<String, String>;

/// The commits of a branch.
#[derive(Debug, Default)]
pub struct Commits {
    /// Those that the branch went through itself: of a merge only the first parent.
    pub first_parents: HashSet<String>,
    /// With those of merged branches.
    pub all: HashSet<String>,
    /// When the last one was made, in seconds since the Unix epoch.
    pub tip: f64,
}

/// Returns the commits of a branch as they are now; `None` if there is no repository that has it.
pub type CommitsOf = Box<dyn Fn(&str) -> Option<Commits> + Send + Sync>;

/// Connections that are kept for the next request, by all histories of a server together.
const IDLE: usize = 8;

/// Commands of changes that are remembered.
const COMMANDS: usize = 10_000;

/// A command that was measured, and the flags of becalm that measure it in the same way.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) command: Vec<String>,
    pub(crate) flags: Vec<String>,
}

/// A history, for pages of it.
pub struct History {
    place: HistoryLocation,
    pub(crate) terms: ChangeTerms,
    pub(crate) record_page: RecordPage,
    commits: CommitsOf,
    /// Whether what is found is saved.
    pub(crate) saves: bool,
    idle: Mutex<Vec<Store>>,
    most_idle: usize,
    /// What was found when the history was last looked at.
    pub(crate) findings: Mutex<Option<Arc<Findings>>>,
    /// Points that were read.
    pub(crate) kept: Mutex<Kept>,
    /// The sides of the last comparison.
    pub(crate) sides: Mutex<Option<Arc<KnownSides>>>,
    /// What was measured at changes, by the change's id: the record of an entry does not change.
    pub(crate) commands: Mutex<HashMap<String, Option<Measured>>>,
}

impl History {
    /// Makes pages of the history at a place, whose changes are found by these rules. Entries that are not of these commits
    /// of their branch do not count, and those of working trees with changes neither.
    pub fn new(
        place: HistoryLocation,
        terms: ChangeTerms,
        record_page: RecordPage,
        commits: CommitsOf,
    ) -> Self {
        Self {
            place,
            terms,
            record_page,
            commits,
            saves: true,
            idle: Mutex::default(),
            most_idle: IDLE,
            findings: Mutex::default(),
            kept: Mutex::default(),
            sides: Mutex::default(),
            commands: Mutex::default(),
        }
    }

    /// Shows what is found and does not save it: for a clone that cannot know which entries count.
    #[must_use]
    pub fn without_saving(self) -> Self {
        Self { saves: false, ..self }
    }

    /// Takes no more memory and connections than one of so many histories in a server may.
    pub(crate) fn share(&mut self, of: usize) {
        self.most_idle = IDLE.div_ceil(of.max(1));
        locked(&self.kept).share(of);
    }

    /// Returns which of all entries of a branch do not count.
    pub(crate) fn uncounted(&self, branch: &str, entries: &[Placed<'_>]) -> Uncounted {
        let commits = (self.commits)(branch);
        let commits = commits.as_ref().map(|Commits { first_parents, all, tip }| BranchCommits {
            first_parents,
            all,
            tip: *tip,
        });
        Uncounted::among(entries, commits, Counting::default())
    }

    /// Does something with a connection that only reads. One that failed is not used again.
    pub(crate) fn reading<T>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = locked(&self.idle).pop();
        let mut store = match kept {
            Some(store) => store,
            None => open(&self.place, Access::Read)?,
        };
        let done = work(&mut store)?;
        // A file is opened anew each time, so that one that was replaced is noticed.
        if matches!(self.place, HistoryLocation::Server { .. }) {
            let mut idle = locked(&self.idle);
            if idle.len() < self.most_idle {
                idle.push(store);
            }
        }
        Ok(done)
    }

    /// Does something with a connection that may write, to a history that is there.
    pub(crate) fn writing<T>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Who writes makes what is not there, and brings what is old to the present version.
        open(&self.place, Access::Read)?;
        work(&mut open(&self.place, Access::Write)?)
    }

    /// Forgets commands, if there are very many.
    pub(crate) fn limit_commands(commands: &mut HashMap<String, Option<Measured>>) {
        if commands.len() > COMMANDS {
            commands.clear();
        }
    }
}

/// Locks what one thread uses at a time, also after another one failed while it did.
pub(crate) fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the present time, in seconds since the Unix epoch.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
