//! What is put into a history.

use std::collections::BTreeMap;

use becalm_model::history::{Commit, EntryId};
use becalm_model::{Direction, Unit};

/// Where a new entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A measurement, of which all was known when it was saved.
    Measurement,
    /// What a file of many commits holds of one of them. It may have been added before, with fewer values.
    History,
}

/// A measurement that is not in the history yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// Where it comes from.
    pub origin: Origin,
    /// What makes it the same measurement as one that is there already; see [`crate::content`].
    pub content: String,
    /// When the measuring began, in seconds since the Unix epoch.
    pub measured: f64,
    /// The commit, where it is known.
    pub commit: Option<Commit>,
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Whether the working tree had changes that no commit has.
    pub dirty: bool,
    /// Words that the user gave it.
    pub tags: Vec<String>,
    /// What the record says of the machine and of its settings.
    pub facts: BTreeMap<String, String>,
    /// The whole record, as JSON; `None` if only its values are kept.
    pub document: Option<String>,
    /// One for each series.
    pub points: Vec<NewPoint>,
}

impl NewEntry {
    /// Returns a name with a NUL character, which PostgreSQL cannot keep; other texts are kept as JSON, which has none.
    pub(crate) fn name_with_nul(&self) -> Option<&str> {
        let of_commit = self.commit.iter().flat_map(|commit| {
            [Some(&commit.id), commit.author.as_ref(), commit.title.as_ref()]
                .into_iter()
                .flatten()
                .map(String::as_str)
        });
        let of_points = self
            .points
            .iter()
            .flat_map(|one| [one.benchmark.as_str(), one.metric.as_str(), one.unit.name()]);
        let mut all = of_commit.chain([self.branch.as_str()]).chain(of_points);
        all.find(|name| name.contains('\0'))
    }
}

/// One value of a new entry, with all that makes its series beside branch and fingerprint.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPoint {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Parameters of the benchmark.
    pub parameters: Vec<(String, String)>,
    /// Whether it is what the benchmark is about.
    pub main: bool,
    /// Whether repeated runs of the same program give exactly the same value.
    pub exact: bool,
    /// The median over the runs.
    pub value: f64,
    /// Its standard error; `None` with a single run.
    pub error: Option<f64>,
    /// How many runs.
    pub runs: u32,
}

/// What happened to a new entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is in the history under this number.
    New(EntryId),
    /// It is in the history under this number with this many values, those that were not there at
    /// its place in time.
    Completed(EntryId, usize),
    /// It was there already, under this number, and nothing was changed.
    Known(EntryId),
}
