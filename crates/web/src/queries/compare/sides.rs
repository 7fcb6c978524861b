//! The sides of a comparison: of each series, the values that count, as one.

use std::collections::HashMap;

use becalm_model::history::{EntryId, SeriesId};
use becalm_model::wire::WebSideDocument;
use becalm_series::{Store, StoreError};
use becalm_stats::center::median_of;

use super::super::Findings;
use super::Of;
use crate::history::History;
use crate::kept::Line;

/// Entries of a branch or machine that count, at most.
const LAST: usize = 10;

/// Letters of the beginning of the id of a commit.
const SHORTEST: usize = 6;

/// One side of one series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// Where the series is among all.
    pub(super) place: usize,
    pub(super) entry: EntryId,
    at: f64,
    pub(super) entries: usize,
    pub(super) value: f64,
    /// Standard error within the entry, relative to the value, and its runs; if it is one entry that has one.
    pub(super) error: Option<(f64, u32)>,
}

/// What both sides of a comparison have in common: what they measure, and the first group with the same branch or machine.
pub(super) type Key = (u32, usize);

/// Collects the sides of all series that are watched.
pub(super) fn sides(
    history: &History,
    store: &mut Store,
    found: &Findings,
    of: Of,
    wanted: [&str; 2],
) -> Result<[HashMap<Key, Side>; 2], StoreError> {
    let mut sides = [HashMap::new(), HashMap::new()];
    if wanted.contains(&"") && of != Of::Branches {
        return Ok(sides);
    }
    let mut levels: HashMap<SeriesId, usize> = HashMap::new();
    for change in found.changes.iter().filter(|change| change.change.state == "confirmed") {
        let Some(place) = &change.change.history else { continue };
        let first = levels.entry(SeriesId(place.series)).or_default();
        *first = (*first).max(change.change.index);
    }
    for (at, group) in found.groups.iter().enumerate() {
        let is_here = |wanted: &str| match of {
            Of::Commits => true,
            Of::Branches => group.branch == wanted,
            Of::Machines => group.fingerprint == wanted,
        };
        if !wanted.into_iter().any(is_here) {
            continue;
        }
        let common = found.groups.iter().position(|other| match of {
            Of::Machines => other.branch == group.branch,
            Of::Commits | Of::Branches => other.fingerprint == group.fingerprint,
        });
        let mut of_commits: Option<[Vec<usize>; 2]> = None;
        found.visit(history, store, at, &mut |place, line| {
            for (index, side) in sides.iter_mut().enumerate() {
                if !is_here(wanted[index]) {
                    continue;
                }
                let new = if of == Of::Commits {
                    let both =
                        of_commits.get_or_insert_with(|| wanted.map(|one| places_of(line, one)));
                    Side::of(place, line, both[index].iter().filter_map(|place| line.at(*place)))
                } else {
                    let n = line.values.len();
                    let level = levels.get(&found.series[place].id).copied().unwrap_or(0);
                    Side::of(place, line, level.max(n.saturating_sub(LAST)).min(n)..n)
                };
                let Some(new) = new else { continue };
                let key = (found.alike[place], common.unwrap_or(at));
                // A commit can be on several branches: what was measured last counts.
                if side.get(&key).is_none_or(|known: &Side| known.at < new.at) {
                    side.insert(key, new);
                }
            }
        })?;
    }
    Ok(sides)
}

/// Says whether somebody who names a commit so means the one with this id: by all of it, or by its beginning.
pub(super) fn is_named(id: &str, commit: &str) -> bool {
    id == commit || (commit.len() >= SHORTEST && id.starts_with(commit))
}

/// Returns the places of the entries of a commit, named by its id or the beginning of it.
fn places_of(line: Line<'_>, commit: &str) -> Vec<usize> {
    let is_it =
        |at: &usize| line.moments[*at].commit.as_deref().is_some_and(|id| is_named(id, commit));
    (0..line.moments.len()).filter(is_it).collect()
}

impl Side {
    fn of(place: usize, line: Line<'_>, places: impl Iterator<Item = usize>) -> Option<Self> {
        let (mut values, mut last) = (Vec::new(), 0);
        for at in places {
            values.push(line.values[at]);
            last = at;
        }
        let error = match values[..] {
            [] => return None,
            [value] => Some((line.errors[last] / value, line.runs[last]))
                .filter(|(error, runs)| error.is_finite() && *runs > 1),
            _ => None,
        };
        let moment = &line.moments[line.places[last] as usize];
        let entries = values.len();
        let value = median_of(&mut values);
        Some(Self { place, entry: moment.entry, at: moment.at, entries, value, error })
    }

    pub(super) fn document(&self, found: &Findings) -> WebSideDocument {
        let series = &found.series[self.place];
        WebSideDocument {
            series: series.id.0,
            entry: self.entry.0,
            branch: series.key.branch.clone(),
            fingerprint: series.key.fingerprint.clone(),
            entries: self.entries,
            value: self.value,
        }
    }

    /// Returns the variance of its median, in those of one value.
    pub(super) fn share(&self) -> f64 {
        let n = self.entries as f64;
        // From three on, that of a median of normal values.
        if self.entries < 3 { 1.0 / n } else { std::f64::consts::FRAC_PI_2 / n }
    }
}
