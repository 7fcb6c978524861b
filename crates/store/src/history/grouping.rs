//! Which facts split series, and what happens when these are others.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{all, damaged, reading};
use crate::database::{Database, list};
use crate::error::StoreError;
use crate::facts::{SPLIT, fingerprint};
use crate::hash::series_key;
use crate::packed::pack;

/// Name of the setting.
const NAME: &str = "split";

pub(super) fn split(database: &mut dyn Database) -> Result<Vec<String>, StoreError> {
    let rows =
        database.query("SELECT value FROM settings WHERE name = $1", &[NAME.to_owned().into()])?;
    let split = all(database, "settings", &rows, |row| serde_json::from_str(row.text(0)?).ok())?;
    Ok(split.into_iter().next().unwrap_or_else(|| SPLIT.map(str::to_owned).to_vec()))
}

pub(super) fn regroup(database: &mut dyn Database, wanted: &[String]) -> Result<usize, StoreError> {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut present = split(database)?;
    present.sort_unstable();
    if present == wanted {
        return Ok(0);
    }
    database.execute("DELETE FROM settings WHERE name = $1", &[NAME.to_owned().into()])?;
    database.execute(
        "INSERT INTO settings (name, value) VALUES ($1, $2)",
        &[NAME.to_owned().into(), serde_json::json!(wanted).to_string().into()],
    )?;
    // Which entries go from which fingerprint to which.
    let rows = database.query("SELECT id, fingerprint, facts FROM entries", &[])?;
    let entries = all(database, "entries", &rows, |row| {
        let facts: BTreeMap<String, String> = serde_json::from_str(row.text(2)?).ok()?;
        Some((row.int(0)?, row.text(1)?.to_owned(), fingerprint(&facts, &wanted)))
    })?;
    let mut moves: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    for (id, from, to) in entries {
        if from != to {
            moves.entry((from, to)).or_default().push(id);
        }
    }
    let moved = moves.values().map(Vec::len).sum();
    let mut touched: HashSet<i64> = HashSet::new();
    for ((from, to), entries) in &moves {
        let moved = list(entries.iter().copied());
        let among = database.numbers_of(2);
        database.execute(
            &format!("UPDATE entries SET fingerprint = $1 WHERE id IN {among}"),
            &[to.clone().into(), moved.clone()],
        )?;
        let points = reading::packed(database, entries.iter().copied())?;
        let old: HashSet<i64> =
            points.iter().flat_map(|(_, points)| points.iter().map(|point| point.series)).collect();
        let new = series_to(database, from, to, &old)?;
        for (entry, mut points) in points {
            for point in &mut points {
                point.series =
                    *new.get(&point.series).ok_or_else(|| damaged(database, "points"))?;
            }
            database.execute(
                "UPDATE points SET packed = $1 WHERE entry = $2",
                &[pack(points).into(), entry.into()],
            )?;
        }
        for (old, new) in &new {
            let among = database.numbers_of(3);
            for table in ["changes", "reviews"] {
                database.execute(
                    &format!(
                        "UPDATE {table} SET series = $1 WHERE series = $2 AND entry IN {among}"
                    ),
                    &[(*new).into(), (*old).into(), moved.clone()],
                )?;
            }
        }
        touched.extend(new.iter().flat_map(|(old, new)| [*old, *new]));
    }
    database.delete_among("detectors", "series", touched.iter().copied())?;
    drop_empty_series(database, touched)?;
    Ok(moved)
}

/// Returns, for each of these series of the fingerprint `from`, the number of the same series of the
/// fingerprint `to`, which is made if it is not there.
fn series_to(
    database: &mut dyn Database,
    from: &str,
    to: &str,
    series: &HashSet<i64>,
) -> Result<HashMap<i64, i64>, StoreError> {
    let among = database.numbers_of(2);
    let rows = database.query(
        &format!(
            "SELECT id, benchmark, metric, unit, higher, parameters, branch FROM series WHERE fingerprint = $1 \
             AND id IN {among}"
        ),
        &[from.to_owned().into(), list(series.iter().copied())],
    )?;
    let series = all(database, "series", &rows, |row| {
        let texts = [1, 2, 3, 5, 6].map(|at| row.text(at).map(str::to_owned));
        let [Some(benchmark), Some(metric), Some(unit), Some(parameters), Some(branch)] = texts
        else {
            return None;
        };
        let direction = if row.flag(4)? { "higher" } else { "lower" };
        let parts = [&benchmark, &metric, &unit, direction, &parameters, to, &branch];
        Some((row.int(0)?, series_key(&parts)))
    })?;
    let keys: Vec<&str> = series.iter().map(|(_, key)| key.as_str()).collect();
    let among = database.texts_of(1);
    let rows = database.query(
        &format!("SELECT key, id FROM series WHERE key IN {among}"),
        &[serde_json::json!(keys).to_string().into()],
    )?;
    let known = all(database, "series", &rows, |row| Some((row.text(0)?.to_owned(), row.int(1)?)))?;
    let known: HashMap<String, i64> = known.into_iter().collect();
    let mut pairs = HashMap::with_capacity(series.len());
    for (old, key) in series {
        let new = if let Some(new) = known.get(&key) {
            *new
        } else {
            let rows = database.query(
                    "INSERT INTO series (key, fingerprint, benchmark, metric, unit, higher, parameters, branch, \
                     main, exact) SELECT $1, $2, benchmark, metric, unit, higher, parameters, branch, main, exact \
                     FROM series WHERE id = $3 RETURNING id",
                    &[key.into(), to.to_owned().into(), old.into()],
                )?;
            let id = rows.first().and_then(|row| row.int(0));
            id.ok_or_else(|| damaged(database, "series"))?
        };
        pairs.insert(old, new);
    }
    Ok(pairs)
}

/// Forgets those of these series that have no points any more.
pub(super) fn drop_empty_series(
    database: &mut dyn Database,
    mut series: HashSet<i64>,
) -> Result<(), StoreError> {
    if series.is_empty() {
        return Ok(());
    }
    let rows = database.query_among(
        "SELECT id FROM entries WHERE (branch, fingerprint) IN (SELECT branch, fingerprint FROM series \
         WHERE id IN {ids})",
        series.iter().copied(),
    )?;
    let entries = all(database, "entries", &rows, |row| row.int(0))?;
    for (_, points) in reading::packed(database, entries)? {
        for point in points {
            series.remove(&point.series);
        }
    }
    database.delete_among("series", "id", series)
}
