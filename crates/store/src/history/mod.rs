//! A history over either database: the statements that both understand.

mod adding;
mod changes;
mod grouping;
mod pruning;
mod reading;

use becalm_model::history::{
    Entry, EntryId, Point, Pruned, Review, Series, SeriesId, StoredChange,
};

use crate::database::{Database, Purpose, check_version, migrate, within};
use crate::error::StoreError;
use crate::filter::{EntryFilter, SeriesFilter};
use crate::new_entry::{Added, NewEntry};
use crate::store::{Found, Prune, Seen, Snapshot, Store};
use crate::value::Row;

/// An open history.
#[derive(Debug)]
pub(crate) struct History<D> {
    database: D,
}

impl<D: Database> History<D> {
    /// Takes a database that may be written to, and brings it to the version of this becalm.
    pub(crate) fn for_writing(mut database: D) -> Result<Self, StoreError> {
        let migrations = database.migrations();
        migrate(&mut database, migrations)?;
        Ok(Self { database })
    }

    /// Takes a database that is only read.
    pub(crate) fn for_reading(mut database: D) -> Result<Self, StoreError> {
        let migrations = database.migrations();
        check_version(&mut database, migrations)?;
        Ok(Self { database })
    }

    fn reading<T>(
        &mut self,
        read: impl FnOnce(&mut D) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        within(&mut self.database, Purpose::Reading, read)
    }

    fn writing<T>(
        &mut self,
        write: impl FnOnce(&mut D) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        within(&mut self.database, Purpose::Writing, write)
    }
}

impl<D: Database> Store for History<D> {
    fn add(&mut self, entry: &NewEntry) -> Result<Added, StoreError> {
        let document = adding::compressed(&entry.document);
        self.writing(|database| adding::add(database, entry, document))
    }

    fn entries(&mut self, filter: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        reading::entries(&mut self.database, filter)
    }

    fn document(&mut self, entry: EntryId) -> Result<Option<String>, StoreError> {
        reading::document(&mut self.database, entry)
    }

    fn series(&mut self, filter: &SeriesFilter) -> Result<Vec<Series>, StoreError> {
        reading::series(&mut self.database, filter)
    }

    fn points(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<Point>>, StoreError> {
        self.reading(|database| reading::points(database, series))
    }

    fn changes(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<StoredChange>>, StoreError> {
        changes::of(&mut self.database, series)
    }

    fn snapshot(&mut self, series: &[SeriesId]) -> Result<Snapshot, StoreError> {
        self.reading(|database| {
            Ok(Snapshot {
                points: reading::points(database, series)?,
                changes: changes::of(database, series)?,
                detectors: changes::detectors(database, series)?,
                seen: reading::seen(database, series)?,
            })
        })
    }

    fn put_changes(&mut self, found: &[Found], seen: &Seen) -> Result<bool, StoreError> {
        self.writing(|database| changes::put(database, found, seen))
    }

    fn review(
        &mut self,
        series: SeriesId,
        entry: EntryId,
        review: Option<&Review>,
    ) -> Result<(), StoreError> {
        self.writing(|database| changes::review(database, series, entry, review))
    }

    fn prune(&mut self, prune: &Prune) -> Result<Pruned, StoreError> {
        if prune.dry_run {
            return self.reading(|database| pruning::plan(database, prune).map(|plan| plan.pruned));
        }
        let pruned = self.writing(|database| pruning::prune(database, prune))?;
        // What was taken away is gone. Room that cannot be given back now goes with the next time.
        let _ = self.database.shrink();
        Ok(pruned)
    }

    fn split(&mut self) -> Result<Vec<String>, StoreError> {
        grouping::split(&mut self.database)
    }

    fn regroup(&mut self, split: &[String]) -> Result<usize, StoreError> {
        self.writing(|database| grouping::regroup(database, split))
    }
}

/// Makes an error of a row that becalm did not write.
fn damaged(database: &(impl Database + ?Sized), what: &str) -> StoreError {
    StoreError::Damaged {
        place: database.place().to_owned(),
        problem: format!("{what} holds something that becalm does not write"),
    }
}

/// Makes values of rows.
fn all<T>(
    database: &(impl Database + ?Sized),
    what: &str,
    rows: &[Row],
    make: impl Fn(&Row) -> Option<T>,
) -> Result<Vec<T>, StoreError> {
    rows.iter().map(make).collect::<Option<_>>().ok_or_else(|| damaged(database, what))
}
