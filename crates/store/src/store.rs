//! What a history can be asked for, and what can be put into it.

use std::collections::HashMap;

use becalm_model::history::{
    Entry, EntryId, Point, Pruned, Review, Series, SeriesId, StoredChange,
};

use crate::error::StoreError;
use crate::filter::{EntryFilter, SeriesFilter};
use crate::new_entry::{Added, NewEntry};

/// A history. What a method that writes has returned from is on disk; one that fails has changed nothing.
pub trait Store: Send {
    /// Adds an entry with its points and its document, or says which entry already is this one.
    fn add(&mut self, entry: &NewEntry) -> Result<Added, StoreError>;

    /// Returns entries in the order of their place in time.
    fn entries(&mut self, filter: &EntryFilter) -> Result<Vec<Entry>, StoreError>;

    /// Returns the whole record of an entry, as the JSON document that was added; `None` if there is no such
    /// entry, or if its document was pruned.
    fn document(&mut self, entry: EntryId) -> Result<Option<String>, StoreError>;

    /// Returns series in the order of benchmark, metric, parameters, branch and fingerprint.
    fn series(&mut self, filter: &SeriesFilter) -> Result<Vec<Series>, StoreError>;

    /// Returns the points of series in time order, one list for each series asked for. No document is read,
    /// and the number of statements does not depend on that of the series.
    fn points(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<Point>>, StoreError>;

    /// Returns the changes of series in time order, one list for each series asked for.
    fn changes(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<StoredChange>>, StoreError>;

    /// Returns points, changes and what the detector left as they are together at one moment, one of each for
    /// every series asked for.
    fn snapshot(&mut self, series: &[SeriesId]) -> Result<Snapshot, StoreError>;

    /// Replaces the changes and the state of the detector of each of these series, all together or none; says
    /// whether it did. It does not where entries came or went since `seen`, the moment that they were found at: what
    /// is kept would not be of the points that are there.
    /// A change at an entry where one is known keeps the stored [`StoredChange::first_seen`]; what was decided
    /// about it goes along where it [moved](Found::moved) and is not touched otherwise, and [`StoredChange::review`] is
    /// not looked at.
    fn put_changes(&mut self, found: &[Found], seen: &Seen) -> Result<bool, StoreError>;

    /// Keeps what was decided about the change at `entry`, or opens it again with `None`. A decision stays
    /// also while the detector does not report the change.
    fn review(
        &mut self,
        series: SeriesId,
        entry: EntryId,
        review: Option<&Review>,
    ) -> Result<(), StoreError>;

    /// Takes documents or whole entries away, or says what would be.
    fn prune(&mut self, prune: &Prune) -> Result<Pruned, StoreError>;

    /// Returns the names of the facts that split series.
    fn split(&mut self) -> Result<Vec<String>, StoreError>;

    /// Groups all entries anew by these facts, and says how many changed their series. Nothing is lost: points
    /// move, and changes with what was decided about them go with the point that they are at.
    fn regroup(&mut self, split: &[String]) -> Result<usize, StoreError>;
}

/// What there is of series at one moment, one of each for every series.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Their points in time order.
    pub points: Vec<Vec<Point>>,
    /// Their changes in time order.
    pub changes: Vec<Vec<StoredChange>>,
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
