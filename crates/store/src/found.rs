//! What a history says of its series, what was found in them, and what is to be taken away.

use std::collections::HashMap;
use std::sync::Arc;

use becalm_model::history::{EntryId, Point, Review, SeriesId, StoredChange};

/// What there is of series at one moment, one of each for every series.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot<P = Vec<Vec<Point>>> {
    /// Their points in time order.
    pub points: P,
    /// Their changes in time order.
    pub changes: Vec<Vec<StoredChange>>,
    /// Everything that was decided about them, by entry, whether there is a change at it or not.
    pub reviews: Vec<Vec<(EntryId, Review)>>,
    /// What the detector left. It is forgotten as soon as a point comes anywhere but at the end of the series, or
    /// is taken away; where there is one, only points at the end are new to it.
    pub detectors: Vec<Option<DetectorState>>,
    /// Which entries there were.
    pub seen: Seen,
}

/// Which entries there were of the branch and machine of each series: how many, the last number, and the sum of the
/// numbers. No number is given twice, so that entries that came or went show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(pub(crate) HashMap<SeriesId, [i64; 3]>);

/// How a history stood at one moment: equal stamps, equal answers. Who keeps an answer asks whether it still holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    /// How many entries there are.
    pub entries: usize,
    /// Last number and sum of the numbers of entries and of series, none of which is given twice.
    pub(crate) numbers: [i64; 4],
    /// Of decisions: how many, the last one's time, and the sum of their times.
    pub(crate) decisions: (i64, f64, f64),
}

impl Stamp {
    /// Says whether both have the same entries and series, whatever was decided about changes.
    pub fn has_points_of(&self, other: &Self) -> bool {
        (self.entries, self.numbers) == (other.entries, other.numbers)
    }
}

/// A branch on a machine, which together have series of their own, and how it stands: equal groups have equal points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// Of its entries: how many, the last number, and the sum of the numbers.
    pub(crate) entries: [i64; 3],
    /// The same of its series.
    pub(crate) series: [i64; 3],
}

impl Group {
    /// Says whether it has what it had at an earlier moment, with the same series, and beside that these entries alone.
    pub fn only_grew_since(&self, before: &Self, by: &[Moment]) -> bool {
        let [n, _, total] = before.entries;
        let came: i64 = by.iter().map(|moment| moment.entry.0).sum();
        let grown = [n + i64::try_from(by.len()).unwrap_or(i64::MAX), total + came];
        self.series == before.series && [self.entries[0], self.entries[2]] == grown
    }

    /// Says whether these are all of its entries.
    pub fn has_entries(&self, all: &[Moment]) -> bool {
        let n = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let total: i64 = all.iter().map(|moment| moment.entry.0).sum();
        [self.entries[0], self.entries[2]] == [n, total]
    }

    /// Returns the number of its last entry.
    pub fn last(&self) -> EntryId {
        EntryId(self.entries[1])
    }
}

/// Where an entry is in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The entry.
    pub entry: EntryId,
    /// Its place in time, in seconds since the Unix epoch.
    pub at: f64,
    /// Its commit, where that is known.
    pub commit: Option<Arc<str>>,
    /// Whether it was measured in a working tree with changes that no commit has.
    pub dirty: bool,
}

/// One value of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryValue {
    /// The series that it belongs to.
    pub series: SeriesId,
    /// The median over the runs of the entry, in the unit of the metric.
    pub value: f64,
    /// Its standard error, in the unit of the metric; `None` with a single run.
    pub error: Option<f64>,
    /// Over how many runs.
    pub runs: u32,
}

/// What became of a decision that was made in the light of another one.
#[derive(Debug, Clone, PartialEq)]
pub enum Decided {
    /// It is kept.
    Kept,
    /// Nothing was changed, because the change is not as it was seen: this is decided about it now.
    Meanwhile(Option<Review>),
}

/// What a detector wants to find again about a series; the store does not look into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectorState {
    /// Version of the detector that left it.
    pub version: u32,
    /// Whatever it is.
    pub bytes: Vec<u8>,
}

/// What was found in one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The series.
    pub series: SeriesId,
    /// All its changes.
    pub changes: Vec<StoredChange>,
    /// Those that were known at another entry, with what was decided about them.
    pub moved: Vec<Moved>,
    /// What the detector wants to find again.
    pub detector: Option<DetectorState>,
}

/// A change that is found at another entry than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Where it was known.
    pub from: EntryId,
    /// Where it is now.
    pub to: EntryId,
}

/// What to take away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prune {
    /// Take away documents of entries that were measured before this time, in seconds since the Unix epoch.
    pub documents_before: Option<f64>,
    /// Keep the documents of only so many entries, those last in time, for each branch and fingerprint.
    pub documents_kept: Option<usize>,
    /// Take away entries that were measured before this time, with their points.
    pub entries_before: Option<f64>,
    /// Take away these entries, with their points.
    pub entries: Vec<EntryId>,
    /// Only count.
    pub dry_run: bool,
}
