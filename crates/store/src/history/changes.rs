//! What was found in series, what the detector left, and what people decided.

use std::collections::HashMap;

use becalm_model::history::{
    ChangeState, Decision, EntryId, FirstSeen, Review, SeriesId, StoredChange,
};

use super::{all, reading};
use crate::database::Database;
use crate::error::StoreError;
use crate::found::{Decided, DetectorState, Found, Moved, Seen};
use crate::value::{Row, Value};

pub(super) fn of(
    database: &mut dyn Database,
    series: &[SeriesId],
) -> Result<Vec<Vec<StoredChange>>, StoreError> {
    let reason = reason(database, "r.")?;
    let rows = database.query_among(
        &format!("SELECT c.series, c.entry, c.last_before, c.level_before, c.level_after, c.ratio, c.ratio_low, \
         c.ratio_high, c.confirmed, c.seen_entry, c.seen_time, r.author, r.dismissed, r.decided, {reason} \
         FROM changes c JOIN entries e ON e.id = c.entry \
         LEFT JOIN reviews r ON r.series = c.series AND r.entry = c.entry \
         WHERE c.series IN {{ids}} ORDER BY e.at_time, e.id"),
        series.iter().map(|one| one.0),
    )?;
    let mut found: HashMap<i64, Vec<StoredChange>> = HashMap::new();
    for (series, change) in all(database, "changes", &rows, change)? {
        found.entry(series).or_default().push(change);
    }
    Ok(series.iter().map(|one| found.get(&one.0).cloned().unwrap_or_default()).collect())
}

/// Returns everything that was decided in series, whether there is a change at the entry or not.
pub(super) fn reviews(
    database: &mut dyn Database,
    series: &[SeriesId],
) -> Result<Vec<Vec<(EntryId, Review)>>, StoreError> {
    let reason = reason(database, "")?;
    let rows = database.query_among(
        &format!(
            "SELECT series, entry, author, dismissed, decided, {reason} FROM reviews \
             WHERE series IN {{ids}} ORDER BY series, entry"
        ),
        series.iter().map(|one| one.0),
    )?;
    let rows = all(database, "reviews", &rows, |row| {
        Some((row.int(0)?, (EntryId(row.int(1)?), review_of(row, 2)?)))
    })?;
    let mut found: HashMap<i64, Vec<(EntryId, Review)>> = HashMap::new();
    for (series, review) in rows {
        found.entry(series).or_default().push(review);
    }
    Ok(series.iter().map(|one| found.remove(&one.0).unwrap_or_default()).collect())
}

/// Returns the column with the reason why a change was acknowledged, which tables that are only read may not have yet.
fn reason(database: &mut dyn Database, table: &str) -> Result<String, StoreError> {
    let since = 2;
    Ok(if database.version()? < since {
        "CAST(NULL AS TEXT) AS reason".to_owned()
    } else {
        format!("{table}reason")
    })
}

/// Reads a decision from four columns: author, why it was dismissed, when, and why it was acknowledged.
fn review_of(row: &Row, at: usize) -> Option<Review> {
    let (by, time) = row.text(at).zip(row.real(at + 2))?;
    let text = |at: usize| row.text(at).map(str::to_owned);
    let decision = match text(at + 1) {
        Some(reason) => Decision::Dismissed { reason },
        None => Decision::Acknowledged { reason: text(at + 3) },
    };
    Some(Review { decision, by: by.to_owned(), time })
}

fn change(row: &Row) -> Option<(i64, StoredChange)> {
    let change = StoredChange {
        entry: EntryId(row.int(1)?),
        last_before: EntryId(row.int(2)?),
        before: row.real(3)?,
        after: row.real(4)?,
        ratio: row.real(5)?,
        ratio_low: row.real(6)?,
        ratio_high: row.real(7)?,
        state: if row.flag(8)? { ChangeState::Confirmed } else { ChangeState::Pending },
        first_seen: FirstSeen { entry: EntryId(row.int(9)?), time: row.real(10)? },
        review: review_of(row, 11),
    };
    Some((row.int(0)?, change))
}

pub(super) fn detectors(
    database: &mut dyn Database,
    series: &[SeriesId],
) -> Result<Vec<Option<DetectorState>>, StoreError> {
    let rows = database.query_among(
        "SELECT series, version, state FROM detectors WHERE series IN {ids}",
        series.iter().map(|one| one.0),
    )?;
    let states = all(database, "detectors", &rows, |row| {
        let version = u32::try_from(row.int(1)?).ok()?;
        Some((row.int(0)?, DetectorState { version, bytes: row.blob(2)?.to_vec() }))
    })?;
    let mut states: HashMap<i64, DetectorState> = states.into_iter().collect();
    Ok(series.iter().map(|one| states.remove(&one.0)).collect())
}

pub(super) fn put(
    database: &mut dyn Database,
    found: &[Found],
    seen: &Seen,
) -> Result<bool, StoreError> {
    let series: Vec<SeriesId> = found.iter().map(|one| one.series).collect();
    let present = reading::seen(database, &series)?;
    let is_there = |one| present.0.get(one).is_some_and(|entries| seen.0.get(one) == Some(entries));
    if !series.iter().all(is_there) {
        return Ok(false);
    }
    let known = of(database, &series)?;
    for table in ["changes", "detectors"] {
        database.delete_among(table, "series", series.iter().map(|one| one.0))?;
    }
    for (one, known) in found.iter().zip(known) {
        for change in &one.changes {
            let before = known.iter().find(|known| known.entry == change.entry);
            let first_seen = before.map_or(change.first_seen, |known| known.first_seen);
            insert(database, one.series, change, first_seen)?;
        }
        for Moved { from, to } in &one.moved {
            // Where somebody decided about that entry already, that stays.
            database.execute(
                "UPDATE reviews SET entry = $1 WHERE series = $2 AND entry = $3 AND NOT EXISTS \
                 (SELECT 1 FROM reviews there WHERE there.series = $2 AND there.entry = $1)",
                &[to.0.into(), one.series.0.into(), from.0.into()],
            )?;
        }
        if let Some(state) = &one.detector {
            let version = i64::from(state.version);
            database.execute(
                "INSERT INTO detectors (series, version, state) VALUES ($1, $2, $3)",
                &[one.series.0.into(), version.into(), state.bytes.clone().into()],
            )?;
        }
    }
    Ok(true)
}

fn insert(
    database: &mut dyn Database,
    series: SeriesId,
    change: &StoredChange,
    first_seen: FirstSeen,
) -> Result<(), StoreError> {
    database.execute(
        "INSERT INTO changes (series, entry, last_before, level_before, level_after, ratio, ratio_low, ratio_high, \
         confirmed, seen_entry, seen_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        &[
            series.0.into(),
            change.entry.0.into(),
            change.last_before.0.into(),
            change.before.into(),
            change.after.into(),
            change.ratio.into(),
            change.ratio_low.into(),
            change.ratio_high.into(),
            (change.state == ChangeState::Confirmed).into(),
            first_seen.entry.0.into(),
            first_seen.time.into(),
        ],
    )?;
    Ok(())
}

pub(super) fn review(
    database: &mut dyn Database,
    series: SeriesId,
    entry: EntryId,
    review: Option<&Review>,
) -> Result<(), StoreError> {
    let place: [Value; 2] = [series.0.into(), entry.0.into()];
    let of_entry = reading::packed(database, [entry.0])?;
    if !of_entry.iter().any(|(_, points)| points.iter().any(|point| point.series == series.0)) {
        return Err(StoreError::Missing {
            place: database.place().to_owned(),
            what: format!("value of entry {entry} in series {}", series.0),
        });
    }
    database.execute("DELETE FROM reviews WHERE series = $1 AND entry = $2", &place)?;
    let Some(review) = review else { return Ok(()) };
    let (dismissed, reason) = match &review.decision {
        Decision::Acknowledged { reason } => (None, reason.clone()),
        Decision::Dismissed { reason } => (Some(reason.clone()), None),
    };
    database.execute(
        "INSERT INTO reviews (series, entry, dismissed, author, decided, reason) VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            series.0.into(),
            entry.0.into(),
            dismissed.into(),
            review.by.clone().into(),
            review.time.into(),
            reason.into(),
        ],
    )?;
    Ok(())
}

pub(super) fn decide(
    database: &mut dyn Database,
    series: SeriesId,
    entry: EntryId,
    seen: Option<f64>,
    decision: Option<&Review>,
) -> Result<Decided, StoreError> {
    let reason = reason(database, "")?;
    let rows = database.query(
        &format!(
            "SELECT author, dismissed, decided, {reason} FROM reviews \
             WHERE series = $1 AND entry = $2"
        ),
        &[series.0.into(), entry.0.into()],
    )?;
    let present = rows.first().and_then(|row| review_of(row, 0));
    // To the last bit, as it was read.
    if present.as_ref().map(|one| one.time.to_bits()) != seen.map(f64::to_bits) {
        return Ok(Decided::Meanwhile(present));
    }
    review(database, series, entry, decision)?;
    Ok(Decided::Kept)
}
