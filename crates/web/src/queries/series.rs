//! One series with a part of its points.

use std::collections::HashMap;

use becalm_model::history::{ChangeState, Entry, EntryId, Point, Series, SeriesId};
use becalm_model::wire::{
    HistorySeriesDocument, WEB_SERIES_SCHEMA, WebElsewhereDocument, WebLevelDocument,
    WebPointDocument, WebSeriesDocument, WebWholeDocument,
};
use becalm_series::{
    EntryFilter, Followed, Store, StoreError, spread_in_history, state_in_history, state_word,
};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::median_interval::median_interval;

use super::changes::complete;
use super::findings::of;
use super::{Findings, part};
use crate::history::History;

/// Points of a page: each is a link with its words, and a row of a table.
const EACH: usize = 150;

/// Columns of the overview.
const COLUMNS: usize = 240;

/// Columns of the whole series, where it has more than twice as many points: more would make a page too large.
const WHOLE: usize = 350;

/// Series of other machines and branches that are listed.
const OTHERS: usize = 100;

/// Entries of a branch on a machine among which its last value is looked for: a benchmark that is in none of them is gone
/// there.
const RECENT: usize = 100;

/// Entries that do not count of which values are shown.
const UNCOUNTED: usize = 50;

const CONFIDENCE: f64 = 0.95;

/// What the picture has from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Order,
    Time,
}

/// Returns a page of a series; the first one has the newest points. `None` if there is no such series or page.
pub(crate) fn series(
    history: &History,
    store: &mut Store,
    id: SeriesId,
    by: By,
    page: usize,
) -> Result<Option<WebSeriesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let Some(series) = found.one(id) else { return Ok(None) };
    let Some(followed) = found.follow(history, store, series)? else { return Ok(None) };
    let n = followed.points.len();
    let Some((part, from_newest)) = part(n, EACH, page) else { return Ok(None) };
    let shown = n - from_newest.end..n - from_newest.start;
    let mut changes = of(&followed);
    complete(history, store, &found, &mut changes)?;
    let points = followed.points[shown.clone()].iter().zip(shown.clone());
    Ok(Some(WebSeriesDocument {
        schema: WEB_SERIES_SCHEMA.to_owned(),
        series: HistorySeriesDocument {
            state: followed.current_state().map(|state| state_word(state.kind).to_owned()),
            ..HistorySeriesDocument::of(&followed.series, &followed.points)
        },
        machine: found.machine(&followed.series.key.fingerprint),
        by: match by {
            By::Order => "order",
            By::Time => "time",
        }
        .to_owned(),
        part,
        points: points.map(|(point, index)| point_document(point, index)).collect(),
        levels: levels(&followed),
        changes,
        spreads: followed.spreads.iter().map(|one| spread_in_history(&followed, one)).collect(),
        elsewhere: elsewhere(&found, history, store, id)?,
        states: followed.states.iter().map(|state| state_in_history(&followed, state)).collect(),
        whole: whole(&followed.points),
        uncounted: uncounted(&found, store, series)?,
        overview: if part.pages > 1 { overview(&followed.points) } else { Vec::new() },
    }))
}

fn point_document(point: &Point, index: usize) -> WebPointDocument {
    WebPointDocument {
        index,
        entry: point.entry.0,
        time: point.at,
        commit: point.commit.as_deref().map(str::to_owned),
        value: point.value,
        error: point.error,
        runs: point.runs,
    }
}

/// Returns the levels between confirmed changes: what is pending has none of its own yet.
fn levels(followed: &Followed) -> Vec<WebLevelDocument> {
    let confirmed =
        followed.changes.iter().filter(|(_, stored)| stored.state == ChangeState::Confirmed);
    let starts: Vec<usize> =
        std::iter::once(0).chain(confirmed.map(|(change, _)| change.index)).collect();
    let ends = starts.iter().skip(1).copied().chain([followed.points.len()]);
    let level = |(first, end): (usize, usize)| {
        let values = followed.points.get(first..end)?.iter().map(|point| point.value).collect();
        let sample = Sample::new(values).ok()?;
        let interval = median_interval(&sample, CONFIDENCE);
        Some(WebLevelDocument {
            first,
            last: end - 1,
            level: median(&sample),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    };
    starts.iter().copied().zip(ends).filter_map(level).collect()
}

/// Returns all points, or the smallest and the largest of columns.
fn whole(points: &[Point]) -> WebWholeDocument {
    let mut whole = WebWholeDocument::default();
    let mut take = |index: usize| {
        whole.index.push(index);
        whole.entry.push(points[index].entry.0);
        whole.time.push(points[index].at);
        whole.value.push(points[index].value);
    };
    if points.len() <= 2 * WHOLE {
        (0..points.len()).for_each(take);
        return whole;
    }
    for column in 0..WHOLE {
        let place = |column: usize| column * points.len() / WHOLE;
        let indices = || place(column)..place(column + 1);
        let by_value = |a: &usize, b: &usize| points[*a].value.total_cmp(&points[*b].value);
        let ends = [indices().min_by(by_value), indices().max_by(by_value)];
        let [Some(low), Some(high)] = ends else { continue };
        take(low.min(high));
        if low != high {
            take(low.max(high));
        }
    }
    whole
}

/// Returns which recent series of other machines and branches have the benchmark and the metric of a series, the newest
/// first.
fn elsewhere(
    found: &Findings,
    history: &History,
    store: &mut Store,
    id: SeriesId,
) -> Result<Vec<WebElsewhereDocument>, StoreError> {
    let others: Vec<&Series> = found.like(id).collect();
    let ids: Vec<SeriesId> = others.iter().map(|one| one.id).collect();
    let points = found.points(history, store, &ids, Some(RECENT))?;
    let document = |(one, points): (&Series, Vec<Point>)| {
        let last = points.last()?;
        Some(WebElsewhereDocument {
            series: one.id.0,
            branch: one.key.branch.clone(),
            fingerprint: one.key.fingerprint.clone(),
            machine: found.machine(&one.key.fingerprint),
            value: last.value,
            last: last.at,
        })
    };
    let mut all: Vec<_> = others.into_iter().zip(points).filter_map(document).collect();
    all.sort_by(|a, b| b.last.total_cmp(&a.last));
    all.truncate(OTHERS);
    Ok(all)
}

/// Returns the newest values of a series that do not count.
fn uncounted(
    found: &Findings,
    store: &mut Store,
    series: &Series,
) -> Result<Vec<WebPointDocument>, StoreError> {
    let Some(of_branch) = found.uncounted.get(&series.key.branch) else { return Ok(Vec::new()) };
    let mut ids: Vec<EntryId> = of_branch.entries.iter().copied().collect();
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(id.0));
    ids.truncate(UNCOUNTED);
    let entries = store.entries(&EntryFilter { ids: ids.clone(), ..EntryFilter::default() })?;
    let entries: HashMap<EntryId, Entry> = entries.into_iter().map(|one| (one.id, one)).collect();
    let mut points = Vec::new();
    for (id, values) in store.values_of(&ids)? {
        let value = values.iter().find(|value| value.series == series.id);
        let Some((value, entry)) = value.zip(entries.get(&id)) else { continue };
        points.push(WebPointDocument {
            index: 0,
            entry: id.0,
            time: entry.at(),
            commit: entry.commit.as_ref().map(|commit| commit.id.clone()),
            value: value.value,
            error: value.error,
            runs: value.runs,
        });
    }
    Ok(points)
}

/// Returns smallest and largest value of columns with equally many points.
fn overview(points: &[Point]) -> Vec<[f64; 2]> {
    let columns = COLUMNS.min(points.len());
    let place = |column: usize| column * points.len() / columns;
    let column = |column: usize| {
        let values = points[place(column)..place(column + 1)].iter().map(|point| point.value);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [value.min(low), value.max(high)]
        })
    };
    (0..columns).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: i64) -> Vec<Point> {
        let point = |at: i64| Point {
            entry: EntryId(at),
            at: 0.0,
            value: if at == 500 { 99.0 } else { 1.0 },
            error: None,
            runs: 1,
            commit: None,
        };
        (0..n).map(point).collect()
    }

    #[test]
    fn a_whole_series_has_every_extreme_and_all_points_if_there_is_room() {
        let all = whole(&points(700));
        assert!(all.index.iter().copied().eq(0..700));
        let columns = whole(&points(30_000));
        assert!(columns.index.len() <= 700 && columns.index.is_sorted());
        assert!(columns.index.contains(&500) && columns.value.len() == columns.index.len());
    }

    #[test]
    fn an_overview_has_every_extreme() {
        let points = points(1000);
        let columns = overview(&points);
        assert_eq!(columns.len(), COLUMNS);
        assert_eq!(columns.iter().filter(|[_, high]| *high > 50.0).count(), 1);
        assert!(columns.iter().all(|[low, _]| *low < 50.0));
    }
}
