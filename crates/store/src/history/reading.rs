//! Entries, documents, series and points.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use becalm_model::history::{Commit, Entry, EntryId, Point, Series, SeriesId, SeriesKey};
use becalm_model::{Direction, Unit};

use super::{all, damaged};
use crate::database::{Database, list};
use crate::error::StoreError;
use crate::filter::{EntryFilter, SeriesFilter};
use crate::found::{EntryValue, Group, Moment, Seen, Stamp};
use crate::gathered::GatheredPoints;
use crate::packed::{PackedPoint, unpack};
use crate::value::{Row, Value};

const ENTRY: &str = "SELECT id, measured, commit_id, commit_time, branch, dirty, tags, facts, fingerprint, \
                     EXISTS (SELECT 1 FROM documents WHERE documents.entry = entries.id) AS kept";

/// The first version of the tables in which entries have an author and a title.
const WITH_AUTHORS: i64 = 4;

pub(super) fn entries(
    database: &mut dyn Database,
    filter: &EntryFilter,
) -> Result<Vec<Entry>, StoreError> {
    let mut conditions: Vec<String> = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    if !filter.ids.is_empty() {
        values.push(list(filter.ids.iter().map(|id| id.0)));
        conditions.push(format!("id IN {}", database.numbers_of(values.len())));
    }
    if let Some(branch) = &filter.branch {
        values.push(branch.clone().into());
        conditions.push(format!("branch = ${}", values.len()));
    }
    if let Some(fingerprint) = &filter.fingerprint {
        values.push(fingerprint.clone().into());
        conditions.push(format!("fingerprint = ${}", values.len()));
    }
    if let Some(commit) = &filter.commit {
        let length = i64::try_from(commit.chars().count()).unwrap_or(i64::MAX);
        values.push(commit.clone().into());
        // The length is a number of ours; a parameter would need a cast that differs.
        conditions.push(format!("substr(commit_id, 1, {length}) = ${}", values.len()));
    }
    if let Some(since) = filter.since {
        values.push(since.into());
        conditions.push(format!("at_time >= ${}", values.len()));
    }
    if let Some(content) = &filter.content {
        values.push(content.clone().into());
        conditions.push(format!("content = ${}", values.len()));
    }
    // Tables that are only read may be older.
    let has_authors = database.version()? >= WITH_AUTHORS;
    let authors = if has_authors { "author, title" } else { "NULL, NULL" };
    let mut statement = format!("{ENTRY}, {authors} FROM entries");
    if !conditions.is_empty() {
        statement = format!("{statement} WHERE {}", conditions.join(" AND "));
    }
    statement.push_str(" ORDER BY at_time DESC, id DESC");
    let limit = filter.limit.unwrap_or(usize::MAX);
    // A tag is looked for among those that were read: databases differ in how they read JSON.
    if filter.tag.is_none() && (filter.limit.is_some() || filter.skip > 0) {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        statement = format!("{statement} LIMIT {most} OFFSET {}", filter.skip);
    }
    let rows = database.query(&statement, &values)?;
    let mut entries = all(database, "entries", &rows, entry)?;
    if let Some(tag) = &filter.tag {
        entries.retain(|entry| entry.tags.contains(tag));
        entries = entries.into_iter().skip(filter.skip).take(limit).collect();
    }
    entries.reverse();
    Ok(entries)
}

fn entry(row: &Row) -> Option<Entry> {
    let words = |column| row.text(column).map(str::to_owned);
    let commit =
        words(2).map(|id| Commit { id, time: row.real(3), author: words(10), title: words(11) });
    Some(Entry {
        id: EntryId(row.int(0)?),
        measured: row.real(1)?,
        commit,
        branch: row.text(4)?.to_owned(),
        dirty: row.flag(5)?,
        tags: serde_json::from_str(row.text(6)?).ok()?,
        facts: serde_json::from_str(row.text(7)?).ok()?,
        fingerprint: row.text(8)?.to_owned(),
        has_document: row.flag(9)?,
    })
}

pub(super) fn branches(database: &mut dyn Database) -> Result<Vec<(String, u64)>, StoreError> {
    let rows = database.query(
        "SELECT branch, count(*) AS entries FROM entries WHERE branch IN (SELECT branch FROM series) \
         GROUP BY branch ORDER BY branch",
        &[],
    )?;
    all(database, "entries", &rows, |row| {
        Some((row.text(0)?.to_owned(), u64::try_from(row.int(1)?).ok()?))
    })
}

pub(super) fn document(
    database: &mut dyn Database,
    entry: EntryId,
) -> Result<Option<String>, StoreError> {
    let rows =
        database.query("SELECT document FROM documents WHERE entry = $1", &[entry.0.into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let mut text = String::new();
    let read =
        row.blob(0).map(|bytes| flate2::read::ZlibDecoder::new(bytes).read_to_string(&mut text));
    match read {
        Some(Ok(_)) => Ok(Some(text)),
        _ => Err(damaged(database, &format!("the document of entry {entry}"))),
    }
}

pub(super) fn series(
    database: &mut dyn Database,
    filter: &SeriesFilter,
) -> Result<Vec<Series>, StoreError> {
    let (condition, values) = match &filter.branch {
        _ if !filter.ids.is_empty() => (
            format!(" WHERE id IN {}", database.numbers_of(1)),
            vec![list(filter.ids.iter().map(|id| id.0))],
        ),
        Some(branch) => (" WHERE branch = $1".to_owned(), vec![branch.clone().into()]),
        None => (String::new(), Vec::new()),
    };
    let rows = database.query(
        &format!(
            "SELECT id, benchmark, metric, unit, higher, parameters, fingerprint, branch, main, exact \
             FROM series{condition}"
        ),
        &values,
    )?;
    let mut series = all(database, "series", &rows, one_series)?;
    series.retain(|one| filter.takes(one));
    // Databases differ in how they compare texts.
    series.sort_by(|a, b| {
        fn key(one: &Series) -> (&str, &str, &[(String, String)], &str, &str, SeriesId) {
            let SeriesKey { benchmark, metric, parameters, branch, fingerprint, .. } = &one.key;
            (benchmark, metric, parameters, branch, fingerprint, one.id)
        }
        key(a).cmp(&key(b))
    });
    Ok(series)
}

fn one_series(row: &Row) -> Option<Series> {
    let parameters: BTreeMap<String, String> = serde_json::from_str(row.text(5)?).ok()?;
    Some(Series {
        id: SeriesId(row.int(0)?),
        key: SeriesKey {
            benchmark: row.text(1)?.to_owned(),
            metric: row.text(2)?.to_owned(),
            unit: Unit::from_name(row.text(3)?),
            direction: if row.flag(4)? { Direction::Higher } else { Direction::Lower },
            parameters: parameters.into_iter().collect(),
            fingerprint: row.text(6)?.to_owned(),
            branch: row.text(7)?.to_owned(),
        },
        main: row.flag(8)?,
        exact: row.flag(9)?,
    })
}

/// Returns the points of series, of all entries or of the last so many of each branch and machine.
pub(super) fn points(
    database: &mut dyn Database,
    series: &[SeriesId],
    last: Option<usize>,
) -> Result<Vec<Vec<Point>>, StoreError> {
    Ok(gathered(database, series, last)?.of(series))
}

/// Returns the rows that have them.
pub(super) fn gathered(
    database: &mut dyn Database,
    series: &[SeriesId],
    last: Option<usize>,
) -> Result<GatheredPoints, StoreError> {
    // All entries of the branches and machines of these series: others have no points of them.
    let among =
        "(branch, fingerprint) IN (SELECT branch, fingerprint FROM series WHERE id IN {ids})";
    let entries = match last {
        None => format!("(SELECT id, at_time, commit_id FROM entries WHERE {among})"),
        Some(last) => format!(
            "(SELECT id, at_time, commit_id FROM (SELECT id, at_time, commit_id, row_number() OVER \
             (PARTITION BY branch, fingerprint ORDER BY at_time DESC, id DESC) AS place FROM entries \
             WHERE {among}) placed WHERE place <= {last})"
        ),
    };
    let rows = database.query_among(
        &format!(
            "SELECT e.id, e.at_time, e.commit_id, p.packed FROM {entries} e \
             JOIN points p ON p.entry = e.id ORDER BY e.at_time, e.id"
        ),
        series.iter().map(|one| one.0),
    )?;
    let mut gathered = GatheredPoints::new();
    for mut row in rows {
        let mut push = || {
            let packed = row.take_blob(3)?;
            gathered.push(EntryId(row.int(0)?), row.real(1)?, row.text(2), packed)
        };
        push().ok_or_else(|| damaged(database, "points"))?;
    }
    Ok(gathered)
}

/// Returns which entries there are of the branch and machine of each of these series.
pub(super) fn seen(database: &mut dyn Database, series: &[SeriesId]) -> Result<Seen, StoreError> {
    // PostgreSQL's sum of large numbers would be a decimal one.
    let rows = database.query_among(
        "SELECT s.id, g.entries, g.last, g.total FROM series s JOIN (SELECT branch, fingerprint, \
         count(*) AS entries, max(id) AS last, CAST(sum(id) AS BIGINT) AS total FROM entries \
         GROUP BY branch, fingerprint) g ON g.branch = s.branch AND g.fingerprint = s.fingerprint \
         WHERE s.id IN {ids}",
        series.iter().map(|one| one.0),
    )?;
    let seen = all(database, "entries", &rows, |row| {
        Some((SeriesId(row.int(0)?), [row.int(1)?, row.int(2)?, row.int(3)?]))
    })?;
    Ok(Seen(seen.into_iter().collect()))
}

/// Returns the branches and machines that have series, and how each stands.
pub(super) fn groups(database: &mut dyn Database) -> Result<Vec<Group>, StoreError> {
    let stamp = |table: &str| {
        format!(
            "(SELECT branch, fingerprint, count(*) AS n, max(id) AS last, CAST(sum(id) AS BIGINT) AS total \
             FROM {table} GROUP BY branch, fingerprint)"
        )
    };
    let rows = database.query(
        &format!(
            "SELECT e.branch, e.fingerprint, e.n, e.last, e.total, s.n, s.last, s.total FROM {} e JOIN {} s \
             ON s.branch = e.branch AND s.fingerprint = e.fingerprint ORDER BY e.branch, e.fingerprint",
            stamp("entries"),
            stamp("series")
        ),
        &[],
    )?;
    all(database, "entries", &rows, |row| {
        Some(Group {
            branch: row.text(0)?.to_owned(),
            fingerprint: row.text(1)?.to_owned(),
            entries: [row.int(2)?, row.int(3)?, row.int(4)?],
            series: [row.int(5)?, row.int(6)?, row.int(7)?],
        })
    })
}

/// Returns where the entries of a branch and machine are in time, of those that came after the one numbered `after`.
pub(super) fn moments(
    database: &mut dyn Database,
    branch: &str,
    fingerprint: &str,
    after: i64,
) -> Result<Vec<Moment>, StoreError> {
    let rows = database.query(
        "SELECT id, at_time, commit_id, dirty FROM entries WHERE branch = $1 AND fingerprint = $2 AND id > $3 \
         ORDER BY at_time, id",
        &[branch.to_owned().into(), fingerprint.to_owned().into(), after.into()],
    )?;
    all(database, "entries", &rows, |row| {
        let (entry, at) = (EntryId(row.int(0)?), row.real(1)?);
        Some(Moment { entry, at, commit: row.text(2).map(Arc::from), dirty: row.flag(3)? })
    })
}

/// Returns the values of entries, by rising number of the entry and rising series.
pub(super) fn values_of(
    database: &mut dyn Database,
    entries: &[EntryId],
) -> Result<Vec<(EntryId, Vec<EntryValue>)>, StoreError> {
    let mut found = packed(database, entries.iter().map(|entry| entry.0))?;
    found.sort_unstable_by_key(|(entry, _)| *entry);
    let of_entry = |(entry, points): (i64, Vec<PackedPoint>)| {
        (EntryId(entry), points.into_iter().map(entry_value).collect())
    };
    Ok(found.into_iter().map(of_entry).collect())
}

fn entry_value(point: PackedPoint) -> EntryValue {
    let PackedPoint { series, value, error, runs } = point;
    EntryValue { series: SeriesId(series), value, error, runs }
}

/// Returns the points of these entries, one list for each.
pub(super) fn packed(
    database: &mut dyn Database,
    entries: impl IntoIterator<Item = i64>,
) -> Result<Vec<(i64, Vec<PackedPoint>)>, StoreError> {
    let statement = "SELECT entry, packed FROM points WHERE entry IN {ids}";
    let rows = database.query_among(statement, entries)?;
    all(database, "points", &rows, |row| Some((row.int(0)?, unpack(row.blob(1)?)?)))
}

/// Returns how the history stands.
pub(super) fn stamp(database: &mut dyn Database) -> Result<Stamp, StoreError> {
    let rows = database.query(
        "SELECT e.n, e.last, e.total, s.last, s.total, r.n, r.last, r.total FROM \
         (SELECT count(*) AS n, coalesce(max(id), 0) AS last, \
         CAST(coalesce(sum(id), 0) AS BIGINT) AS total FROM entries) e, \
         (SELECT coalesce(max(id), 0) AS last, CAST(coalesce(sum(id), 0) AS BIGINT) AS total FROM series) s, \
         (SELECT count(*) AS n, coalesce(max(decided), 0.0) AS last, coalesce(sum(decided), 0.0) AS total \
         FROM reviews) r",
        &[],
    )?;
    let stamps = all(database, "entries", &rows, |row| {
        Some(Stamp {
            entries: usize::try_from(row.int(0)?).ok()?,
            numbers: [row.int(1)?, row.int(2)?, row.int(3)?, row.int(4)?],
            decisions: (row.int(5)?, row.real(6)?, row.real(7)?),
        })
    })?;
    stamps.into_iter().next().ok_or_else(|| damaged(database, "entries"))
}
