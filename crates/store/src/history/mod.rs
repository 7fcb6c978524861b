//! An open history: what it can be asked for, and what can be put into it, with statements that both databases
//! understand.

mod adding;
mod changes;
mod grouping;
mod pruning;
mod reading;
mod tokens;

use becalm_model::history::{
    Entry, EntryId, Point, Pruned, Review, Series, SeriesId, StoredChange,
};

use self::adding::KnownSeries;
use crate::database::{Database, Purpose, READABLE, check_version, migrate, within};
use crate::error::StoreError;
use crate::filter::{EntryFilter, SeriesFilter};
use crate::found::{Decided, EntryValue, Found, Group, Moment, Prune, Seen, Snapshot, Stamp};
use crate::gathered::GatheredPoints;
use crate::new_entry::{Added, NewEntry};
use crate::place::{Access, HistoryLocation};
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::token::Token;
use crate::value::Row;

/// An open history. What a method that writes has returned from is on disk; one that fails has changed nothing.
pub struct Store {
    database: Box<dyn Database>,
}

/// Opens a history. One that may be written to is brought to the version of this becalm.
pub fn open(place: &HistoryLocation, access: Access) -> Result<Store, StoreError> {
    let mut database: Box<dyn Database> = match (place, access) {
        (HistoryLocation::File(path), Access::Write) => Box::new(Sqlite::open(path)?),
        (HistoryLocation::File(path), Access::Read) => Box::new(Sqlite::open_for_reading(path)?),
        (HistoryLocation::Server { url, password }, _) => {
            Box::new(Postgres::open(url, password.as_deref(), access == Access::Write)?)
        }
    };
    let migrations = database.migrations();
    match access {
        Access::Write => migrate(&mut *database, migrations)?,
        Access::Read => check_version(&mut *database, migrations, READABLE)?,
    }
    Ok(Store { database })
}

impl Store {
    fn reading<T>(
        &mut self,
        read: impl FnOnce(&mut dyn Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        within(&mut *self.database, Purpose::Reading, read)
    }

    fn writing<T>(
        &mut self,
        write: impl FnOnce(&mut dyn Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        within(&mut *self.database, Purpose::Writing, write)
    }

    /// Adds an entry with its points and its document, or says which entry already is this one.
    pub fn add(&mut self, entry: &NewEntry) -> Result<Added, StoreError> {
        let document = entry.document.as_deref().map(adding::compressed);
        let mut known = KnownSeries::default();
        self.writing(|database| adding::add(database, entry, document, &mut known))
    }

    /// Adds several entries in one transaction: all of them, or none.
    pub fn add_all(&mut self, entries: &[NewEntry]) -> Result<Vec<Added>, StoreError> {
        let documents: Vec<Option<Vec<u8>>> =
            entries.iter().map(|entry| entry.document.as_deref().map(adding::compressed)).collect();
        let mut known = KnownSeries::default();
        self.writing(|database| {
            let all = entries.iter().zip(documents);
            all.map(|(entry, document)| adding::add(database, entry, document, &mut known))
                .collect()
        })
    }

    /// Returns entries in the order of their place in time.
    pub fn entries(&mut self, filter: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        reading::entries(&mut *self.database, filter)
    }

    /// Returns the whole record of an entry, as the JSON document that was added; `None` if there is no such
    /// entry, or if its document was pruned.
    pub fn document(&mut self, entry: EntryId) -> Result<Option<String>, StoreError> {
        reading::document(&mut *self.database, entry)
    }

    /// Returns the branches that have series, each with how many entries it has, by name.
    pub fn branches(&mut self) -> Result<Vec<(String, u64)>, StoreError> {
        reading::branches(&mut *self.database)
    }

    /// Returns series in the order of benchmark, metric, parameters, branch and fingerprint.
    pub fn series(&mut self, filter: &SeriesFilter) -> Result<Vec<Series>, StoreError> {
        reading::series(&mut *self.database, filter)
    }

    /// Returns the points of series in time order, one list for each series asked for. No document is read,
    /// and the number of statements does not depend on that of the series.
    pub fn points(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<Point>>, StoreError> {
        self.reading(|database| reading::points(database, series, None))
    }

    /// Returns the points that the last so many entries of each branch and machine have of series, as
    /// [`Self::points`] does.
    pub fn last_points(
        &mut self,
        series: &[SeriesId],
        entries: usize,
    ) -> Result<Vec<Vec<Point>>, StoreError> {
        self.reading(|database| reading::points(database, series, Some(entries)))
    }

    /// Returns the values of one entry, by rising series.
    pub fn values(&mut self, entry: EntryId) -> Result<Vec<EntryValue>, StoreError> {
        let found = reading::values_of(&mut *self.database, &[entry])?;
        Ok(found.into_iter().flat_map(|(_, values)| values).collect())
    }

    /// Returns the values of several entries, by rising number of the entry and rising series. One that is not there has none.
    pub fn values_of(
        &mut self,
        entries: &[EntryId],
    ) -> Result<Vec<(EntryId, Vec<EntryValue>)>, StoreError> {
        reading::values_of(&mut *self.database, entries)
    }

    /// Returns the branches on machines that have series, and how each stands.
    pub fn groups(&mut self) -> Result<Vec<Group>, StoreError> {
        reading::groups(&mut *self.database)
    }

    /// Returns where the entries of a branch on a machine are in time, in that order, of those with numbers above `after`.
    pub fn moments(&mut self, group: &Group, after: EntryId) -> Result<Vec<Moment>, StoreError> {
        reading::moments(&mut *self.database, &group.branch, &group.fingerprint, after.0)
    }

    /// Returns how the history stands, without reading any of it.
    pub fn stamp(&mut self) -> Result<Stamp, StoreError> {
        reading::stamp(&mut *self.database)
    }

    /// Returns the changes of series in time order, one list for each series asked for.
    pub fn changes(&mut self, series: &[SeriesId]) -> Result<Vec<Vec<StoredChange>>, StoreError> {
        changes::of(&mut *self.database, series)
    }

    /// Returns points, changes and what the detector left as they are together at one moment, one of each for
    /// every series asked for.
    pub fn snapshot(&mut self, series: &[SeriesId]) -> Result<Snapshot, StoreError> {
        self.reading(|database| {
            let points = reading::points(database, series, None)?;
            snapshot(database, series, points)
        })
    }

    /// Makes a snapshot of which lists of points can be made for a few series at a time: of many series they take most
    /// memory.
    pub fn gathered_snapshot(
        &mut self,
        series: &[SeriesId],
    ) -> Result<Snapshot<GatheredPoints>, StoreError> {
        self.reading(|database| {
            let points = reading::gathered(database, series, None)?;
            snapshot(database, series, points)
        })
    }

    /// Makes a snapshot of series whose points are known already, one list for each. Whoever gives those of another moment
    /// gets findings of them, which [`Self::put_changes`] is not to be given.
    pub fn snapshot_of(
        &mut self,
        series: &[SeriesId],
        points: Vec<Vec<Point>>,
    ) -> Result<Snapshot, StoreError> {
        self.reading(|database| snapshot(database, series, points))
    }

    /// Replaces the changes and the state of the detector of each of these series, all together or none; says
    /// whether it did. It does not where entries came or went since `seen`, the moment that they were found at: what
    /// is kept would not be of the points that are there.
    /// A change at an entry where one is known keeps the stored [`StoredChange::first_seen`]; what was decided
    /// about it goes along where it [moved](Found::moved) and is not touched otherwise, and [`StoredChange::review`] is
    /// not looked at.
    pub fn put_changes(&mut self, found: &[Found], seen: &Seen) -> Result<bool, StoreError> {
        self.writing(|database| changes::put(database, found, seen))
    }

    /// Keeps what was decided about the change at `entry`, or opens it again with `None`. A decision stays
    /// also while the detector does not report the change.
    pub fn review(
        &mut self,
        series: SeriesId,
        entry: EntryId,
        review: Option<&Review>,
    ) -> Result<(), StoreError> {
        self.writing(|database| changes::review(database, series, entry, review))
    }

    /// Does what [`Self::review`] does, if what is decided about the change now was decided at the time `seen`, or
    /// nothing is and `seen` is `None`. So nobody overrules a decision that they have not seen.
    pub fn decide(
        &mut self,
        series: SeriesId,
        entry: EntryId,
        seen: Option<f64>,
        review: Option<&Review>,
    ) -> Result<Decided, StoreError> {
        self.writing(|database| changes::decide(database, series, entry, seen, review))
    }

    /// Takes documents or whole entries away, or says what would be.
    pub fn prune(&mut self, prune: &Prune) -> Result<Pruned, StoreError> {
        if prune.dry_run {
            return self.reading(|database| pruning::plan(database, prune).map(|plan| plan.pruned));
        }
        let pruned = self.writing(|database| pruning::prune(database, prune))?;
        // What was taken away is gone. Room that cannot be given back now goes with the next time.
        let _ = self.database.shrink();
        Ok(pruned)
    }

    /// Returns the tokens in the order in which they were made, with those that were revoked.
    pub fn tokens(&mut self) -> Result<Vec<Token>, StoreError> {
        tokens::tokens(&mut *self.database)
    }

    /// Keeps a new token; says whether it did. It does not if one that counts has the same name.
    pub fn add_token(&mut self, token: &Token) -> Result<bool, StoreError> {
        self.writing(|database| tokens::add(database, token))
    }

    /// Revokes the token of this name at this time, in seconds since the Unix epoch; says whether there was one that counted.
    pub fn revoke_token(&mut self, name: &str, now: f64) -> Result<bool, StoreError> {
        self.writing(|database| tokens::revoke(database, name, now))
    }

    /// Returns the names of the facts that split series.
    pub fn split(&mut self) -> Result<Vec<String>, StoreError> {
        grouping::split(&mut *self.database)
    }

    /// Groups all entries anew by these facts, and says how many changed their series. Nothing is lost: points
    /// move, and changes with what was decided about them go with the point that they are at.
    pub fn regroup(&mut self, split: &[String]) -> Result<usize, StoreError> {
        self.writing(|database| grouping::regroup(database, split))
    }
}

/// Returns what there is of series beside their points.
fn snapshot<P>(
    database: &mut dyn Database,
    series: &[SeriesId],
    points: P,
) -> Result<Snapshot<P>, StoreError> {
    Ok(Snapshot {
        points,
        changes: changes::of(database, series)?,
        detectors: changes::detectors(database, series)?,
        reviews: changes::reviews(database, series)?,
        seen: reading::seen(database, series)?,
    })
}

/// Makes an error of a row that becalm did not write.
fn damaged(database: &dyn Database, what: &str) -> StoreError {
    StoreError::Damaged {
        place: database.place().to_owned(),
        problem: format!("{what} contains something that becalm does not write"),
    }
}

/// Makes values of rows.
fn all<T>(
    database: &dyn Database,
    what: &str,
    rows: &[Row],
    make: impl Fn(&Row) -> Option<T>,
) -> Result<Vec<T>, StoreError> {
    rows.iter().map(make).collect::<Option<_>>().ok_or_else(|| damaged(database, what))
}
