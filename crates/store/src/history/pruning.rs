//! Taking away what is old: first the documents, and entries only when asked for.

use std::collections::{HashMap, HashSet};

use becalm_model::history::Pruned;

use super::{all, grouping, reading};
use crate::database::Database;
use crate::error::StoreError;
use crate::found::Prune;

/// What is to be taken away.
#[derive(Debug, Default)]
pub(super) struct Doomed {
    /// Entries with everything of theirs.
    entries: Vec<i64>,
    /// Entries whose document goes, and whose points stay.
    documents: Vec<i64>,
    pub(super) pruned: Pruned,
}

/// What the reader has to know about an entry.
#[derive(Debug, Clone)]
struct Known {
    id: i64,
    measured: f64,
    group: (String, String),
    /// Bytes of its document, if it is still there.
    size: Option<i64>,
}

pub(super) fn plan(database: &mut dyn Database, prune: &Prune) -> Result<Doomed, StoreError> {
    let rows = database.query(
        "SELECT e.id, e.measured, e.branch, e.fingerprint, d.size FROM entries e \
         LEFT JOIN documents d ON d.entry = e.id ORDER BY e.at_time, e.id",
        &[],
    )?;
    let known = all(database, "entries", &rows, |row| {
        Some(Known {
            id: row.int(0)?,
            measured: row.real(1)?,
            group: (row.text(2)?.to_owned(), row.text(3)?.to_owned()),
            size: row.int(4),
        })
    })?;
    // What is at a change, or right before one, is what people will want to look into.
    let rows = database.query(
        "SELECT c.entry, c.last_before FROM changes c LEFT JOIN reviews r ON r.series = c.series \
         AND r.entry = c.entry WHERE r.dismissed IS NULL",
        &[],
    )?;
    let at_changes = all(database, "changes", &rows, |row| Some([row.int(0)?, row.int(1)?]))?;
    let mut plan = chosen(&known, &at_changes.into_iter().flatten().collect(), prune);
    for wanted in &prune.entries {
        if !known.iter().any(|one| one.id == wanted.0) {
            return Err(StoreError::Missing {
                place: database.place().to_owned(),
                what: format!("entry {wanted}"),
            });
        }
    }
    let entries = || plan.entries.iter().copied();
    let rows = database.query_among("SELECT count FROM points WHERE entry IN {ids}", entries())?;
    let counts = all(database, "points", &rows, |row| usize::try_from(row.int(0)?).ok())?;
    plan.pruned.values = counts.iter().sum();
    let rows = database.query_among("SELECT entry FROM reviews WHERE entry IN {ids}", entries())?;
    plan.pruned.decisions = rows.len();
    Ok(plan)
}

/// Chooses what goes, of entries in the order of time.
fn chosen(known: &[Known], at_changes: &HashSet<i64>, prune: &Prune) -> Doomed {
    let pruned = Pruned { dry_run: prune.dry_run, ..Pruned::default() };
    let mut plan = Doomed { pruned, ..Doomed::default() };
    let mut behind: HashMap<&(String, String), usize> = HashMap::new();
    for one in known.iter().rev() {
        let is_old = prune.entries_before.is_some_and(|time| one.measured < time);
        if is_old || prune.entries.iter().any(|id| id.0 == one.id) {
            plan.entries.push(one.id);
            plan.pruned.entries += 1;
            plan.pruned.records += usize::from(one.size.is_some());
            plan.pruned.bytes += u64::try_from(one.size.unwrap_or(0)).unwrap_or(0);
            continue;
        }
        let behind = behind.entry(&one.group).or_default();
        let is_beyond = prune.documents_kept.is_some_and(|kept| *behind >= kept);
        *behind += 1;
        let is_old = prune.documents_before.is_some_and(|time| one.measured < time);
        let Some(size) = one.size.filter(|_| is_beyond || is_old) else { continue };
        if at_changes.contains(&one.id) {
            plan.pruned.records_kept += 1;
        } else {
            plan.documents.push(one.id);
            plan.pruned.records += 1;
            plan.pruned.bytes += u64::try_from(size).unwrap_or(0);
        }
    }
    plan
}

pub(super) fn prune(database: &mut dyn Database, prune: &Prune) -> Result<Pruned, StoreError> {
    let plan = plan(database, prune)?;
    let touched: HashSet<i64> = reading::packed(database, plan.entries.iter().copied())?
        .iter()
        .flat_map(|(_, points)| points.iter().map(|point| point.series))
        .collect();
    database.delete_among("detectors", "series", touched.iter().copied())?;
    // Documents, points, changes and decisions go with their entries.
    database.delete_among("entries", "id", plan.entries)?;
    database.delete_among("documents", "entry", plan.documents)?;
    grouping::drop_empty_series(database, touched)?;
    Ok(plan.pruned)
}
