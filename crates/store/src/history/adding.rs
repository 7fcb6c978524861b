//! A new entry: its row, its document, its series where they are new, and its points.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;

use becalm_model::Direction;
use becalm_model::history::EntryId;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::{damaged, grouping, reading};
use crate::database::{Database, list};
use crate::error::StoreError;
use crate::facts::fingerprint;
use crate::hash::series_key;
use crate::new_entry::{Added, NewEntry, NewPoint, Origin};
use crate::packed::{PackedPoint, pack};
use crate::value::Value;

/// Compresses a document.
pub(super) fn compressed(document: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(document.as_bytes()).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

pub(super) fn add(
    database: &mut dyn Database,
    entry: &NewEntry,
    document: Option<Vec<u8>>,
    known: &mut KnownSeries,
) -> Result<Added, StoreError> {
    if let Some(name) = entry.name_with_nul() {
        return Err(StoreError::Nul { name: name.to_owned() });
    }
    let there = database
        .query("SELECT id FROM entries WHERE content = $1", &[entry.content.clone().into()])?;
    if let Some(id) = there.first().and_then(|row| row.int(0)) {
        return Ok(Added::Known(EntryId(id)));
    }
    let split = grouping::split(database)?;
    let fingerprint = fingerprint(&entry.facts, &split);
    let at = entry.commit.as_ref().and_then(|commit| commit.time).unwrap_or(entry.measured);
    let series = series(database, entry, &fingerprint, known)?;
    let there = match entry.origin {
        Origin::Measurement => AtItsPlace::default(),
        Origin::History => at_its_place(database, entry, &fingerprint, at)?,
    };
    let mut is_completed = false;
    let mut points: Vec<PackedPoint> = Vec::with_capacity(entry.points.len());
    let mut used = HashSet::new();
    for (point, series) in entry.points.iter().zip(&series) {
        if there.values.contains(&(*series, point.value.to_bits())) {
            is_completed = true;
            continue;
        }
        // Of two values of one series the first counts, which no caller should give.
        if used.insert(*series) {
            let (value, error) = (point.value, point.error);
            points.push(PackedPoint { series: *series, value, error, runs: point.runs });
        }
    }
    if let Some(id) = there.first.filter(|_| points.is_empty()) {
        return Ok(Added::Known(id));
    }
    let mut tags = entry.tags.clone();
    tags.sort_unstable();
    tags.dedup();
    let json = |value: serde_json::Value| Value::Text(value.to_string());
    let rows = database.query(
        "INSERT INTO entries (content, measured, at_time, commit_id, commit_time, branch, dirty, tags, facts, \
         fingerprint, author, title) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id",
        &[
            entry.content.clone().into(),
            entry.measured.into(),
            at.into(),
            entry.commit.as_ref().map(|commit| commit.id.clone()).into(),
            entry.commit.as_ref().and_then(|commit| commit.time).into(),
            entry.branch.clone().into(),
            entry.dirty.into(),
            json(tags.into()),
            json(serde_json::json!(entry.facts)),
            fingerprint.clone().into(),
            entry.commit.as_ref().and_then(|commit| commit.author.clone()).into(),
            entry.commit.as_ref().and_then(|commit| commit.title.clone()).into(),
        ],
    )?;
    let id = rows.first().and_then(|row| row.int(0)).ok_or_else(|| damaged(database, "entries"))?;
    if let Some(document) = document {
        let size = i64::try_from(document.len()).expect("memory is smaller");
        database.execute(
            "INSERT INTO documents (entry, size, document) VALUES ($1, $2, $3)",
            &[id.into(), size.into(), document.into()],
        )?;
    }
    let values = points.len();
    let count = i64::try_from(points.len()).expect("memory is smaller");
    database.execute(
        "INSERT INTO points (entry, count, packed) VALUES ($1, $2, $3)",
        &[id.into(), count.into(), pack(points).into()],
    )?;
    // Somewhere in the past: whether every series has later points is not worth finding out.
    let among = database.numbers_of(4);
    database.execute(
        &format!(
            "DELETE FROM detectors WHERE EXISTS (SELECT 1 FROM entries WHERE branch = $1 AND fingerprint = $2 \
             AND at_time > $3) AND series IN {among}"
        ),
        &[entry.branch.clone().into(), fingerprint.clone().into(), at.into(), list(used)],
    )?;
    let id = EntryId(id);
    Ok(if is_completed { Added::Completed(id, values) } else { Added::New(id) })
}

/// What there is of the same commit, branch and machine at the same time, and was measured at the same time: who measures
/// a commit again may well get the same value, and that is a value more.
#[derive(Debug, Default)]
struct AtItsPlace {
    /// The first of the entries.
    first: Option<EntryId>,
    /// The values of all of them, as bits behind the number of their series.
    values: HashSet<(i64, u64)>,
}

fn at_its_place(
    database: &mut dyn Database,
    entry: &NewEntry,
    fingerprint: &str,
    at: f64,
) -> Result<AtItsPlace, StoreError> {
    let commit = entry.commit.as_ref().map(|commit| commit.id.clone()).unwrap_or_default();
    let rows = database.query(
        "SELECT id FROM entries WHERE branch = $1 AND fingerprint = $2 AND at_time = $3 \
         AND coalesce(commit_id, '') = $4 AND measured = $5 ORDER BY id",
        &[
            entry.branch.clone().into(),
            fingerprint.to_owned().into(),
            at.into(),
            commit.into(),
            entry.measured.into(),
        ],
    )?;
    let ids = super::all(database, "entries", &rows, |row| row.int(0))?;
    let first = ids.first().copied().map(EntryId);
    let packed = reading::packed(database, ids)?;
    let points = packed.into_iter().flat_map(|(_, points)| points);
    let values = points.map(|point| (point.series, point.value.to_bits())).collect();
    Ok(AtItsPlace { first, values })
}

/// Series that were looked up in one transaction, by all that makes them. The entries of a file have mostly the same
/// ones, and looking thousands of them up takes longer than all else. Outside of a transaction others may change them.
#[derive(Debug, Default)]
pub(super) struct KnownSeries(HashMap<Vec<u8>, KnownOne>);

#[derive(Debug, Clone, Copy)]
struct KnownOne {
    id: i64,
    main: bool,
    exact: bool,
}

/// Writes all that makes the series of a point into `name`.
fn put_name(name: &mut Vec<u8>, point: &NewPoint, fingerprint: &str, branch: &str) {
    name.clear();
    let mut put = |text: &str| {
        // With its length, so that no two lists of texts are the same.
        name.extend(text.len().to_le_bytes());
        name.extend(text.as_bytes());
    };
    let NewPoint { benchmark, metric, unit, direction, parameters, .. } = point;
    for text in [benchmark, metric, unit.name(), direction.name(), fingerprint, branch] {
        put(text);
    }
    match &parameters[..] {
        [] => {}
        [(parameter, value)] => {
            put(parameter);
            put(value);
        }
        several => {
            let sorted: BTreeMap<_, _> =
                several.iter().map(|(name, value)| (name, value)).collect();
            for (parameter, value) in sorted {
                put(parameter);
                put(value);
            }
        }
    }
}

/// Returns the number of the series of each point, and makes those that are not there yet.
fn series(
    database: &mut dyn Database,
    entry: &NewEntry,
    fingerprint: &str,
    known: &mut KnownSeries,
) -> Result<Vec<i64>, StoreError> {
    let mut name = Vec::new();
    let mut new: Vec<(Vec<u8>, &NewPoint)> = Vec::new();
    for point in &entry.points {
        put_name(&mut name, point, fingerprint, &entry.branch);
        if !known.0.contains_key(&name) {
            new.push((name.clone(), point));
        }
    }
    if !new.is_empty() {
        look_up(database, entry, fingerprint, new, known)?;
    }
    let mut ids = Vec::with_capacity(entry.points.len());
    for point in &entry.points {
        put_name(&mut name, point, fingerprint, &entry.branch);
        let one = known.0.get_mut(&name).expect("it was looked up");
        if (one.main, one.exact) != (point.main, point.exact) {
            database.execute(
                "UPDATE series SET main = $1, exact = $2 WHERE id = $3",
                &[point.main.into(), point.exact.into(), one.id.into()],
            )?;
            (one.main, one.exact) = (point.main, point.exact);
        }
        ids.push(one.id);
    }
    Ok(ids)
}

/// Looks the series of points up, each with all that makes it, and makes those that are not there yet.
fn look_up(
    database: &mut dyn Database,
    entry: &NewEntry,
    fingerprint: &str,
    new: Vec<(Vec<u8>, &NewPoint)>,
    known: &mut KnownSeries,
) -> Result<(), StoreError> {
    let keys: Vec<(String, String)> = new
        .iter()
        .map(|(_, point)| {
            let parameters = parameters(point);
            let key = series_key(&[
                &point.benchmark,
                &point.metric,
                &point.unit.to_string(),
                point.direction.name(),
                &parameters,
                fingerprint,
                &entry.branch,
            ]);
            (key, parameters)
        })
        .collect();
    let among = database.texts_of(1);
    let texts: Vec<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
    let rows = database.query(
        &format!("SELECT key, id, main, exact FROM series WHERE key IN {among}"),
        &[serde_json::json!(texts).to_string().into()],
    )?;
    let there = super::all(database, "series", &rows, |row| {
        let one = KnownOne { id: row.int(1)?, main: row.flag(2)?, exact: row.flag(3)? };
        Some((row.text(0)?.to_owned(), one))
    })?;
    let mut there: HashMap<String, KnownOne> = there.into_iter().collect();
    for ((name, point), (key, parameters)) in new.into_iter().zip(keys) {
        let one = if let Some(one) = there.get(&key) {
            *one
        } else {
            let rows = database.query(
                "INSERT INTO series (key, benchmark, metric, unit, higher, parameters, fingerprint, branch, \
                 main, exact) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
                &[
                    key.clone().into(),
                    point.benchmark.clone().into(),
                    point.metric.clone().into(),
                    point.unit.to_string().into(),
                    (point.direction == Direction::Higher).into(),
                    parameters.into(),
                    fingerprint.to_owned().into(),
                    entry.branch.clone().into(),
                    point.main.into(),
                    point.exact.into(),
                ],
            )?;
            let id = rows.first().and_then(|row| row.int(0));
            let id = id.ok_or_else(|| damaged(database, "series"))?;
            let one = KnownOne { id, main: point.main, exact: point.exact };
            there.insert(key, one);
            one
        };
        known.0.insert(name, one);
    }
    Ok(())
}

/// Returns parameters as they are kept: a JSON object, whose names are sorted.
fn parameters(point: &NewPoint) -> String {
    let sorted: BTreeMap<_, _> = point.parameters.iter().cloned().collect();
    serde_json::json!(sorted).to_string()
}
