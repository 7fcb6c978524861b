//! The series of a history with their last values, a page of them at a time.

use std::collections::HashMap;

use becalm_model::history::{Point, Series, SeriesId};
use becalm_model::wire::{
    ChangePointDocument, HistorySeriesDocument, WEB_BENCHMARKS_SCHEMA, WebBenchmarkDocument,
    WebBenchmarksDocument,
};
use becalm_series::{Store, StoreError};

use super::findings::state;
use super::search::Search;
use super::{Findings, part};
use crate::history::History;

/// Series of a page.
const EACH: usize = 50;

/// Values of a series that are shown.
const VALUES: usize = 60;

/// Returns a page of the series that have all words of `search`; those beside main metrics too, if `all` are asked for.
/// `None` if there is no such page.
pub(crate) fn benchmarks(
    history: &History,
    store: &mut Store,
    search: &str,
    all: bool,
    page: usize,
) -> Result<Option<WebBenchmarksDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let words = Search::of(search);
    let fits = |one: &&Series| (all || one.main) && words.fits(one, &found, &one.key.fingerprint);
    let fitting: Vec<&Series> = found.series.iter().filter(fits).collect();
    let Some((part, range)) = part(fitting.len(), EACH, page) else { return Ok(None) };
    let shown = &fitting[range];
    let ids: Vec<SeriesId> = shown.iter().map(|one| one.id).collect();
    let points = last_points(&found, history, store, &ids)?;
    let mut last: HashMap<i64, &ChangePointDocument> = HashMap::new();
    for change in found.changes.iter().filter(|change| state(change) != "dismissed") {
        let Some(place) = &change.change.history else { continue };
        let newest = last.entry(place.series).or_insert(&change.change);
        if newest.index < change.change.index {
            *newest = &change.change;
        }
    }
    let benchmarks = shown.iter().zip(&points).map(|(series, points)| WebBenchmarkDocument {
        series: HistorySeriesDocument {
            state: found.state_of(series.id),
            ..HistorySeriesDocument::of(series, points)
        },
        machine: found.machine(&series.key.fingerprint),
        trend: points.iter().map(|point| point.value).collect(),
        last_change: last.get(&series.id.0).map(|change| (*change).clone()),
    });
    Ok(Some(WebBenchmarksDocument {
        schema: WEB_BENCHMARKS_SCHEMA.to_owned(),
        search: search.to_owned(),
        all,
        part,
        of_entries: VALUES,
        benchmarks: benchmarks.collect(),
    }))
}

/// Returns the last [`VALUES`] points of series.
fn last_points(
    found: &Findings,
    history: &History,
    store: &mut Store,
    ids: &[SeriesId],
) -> Result<Vec<Vec<Point>>, StoreError> {
    let mut points = found.points(history, store, ids, Some(VALUES))?;
    // Where not every entry has a value, those of as many entries are too few.
    let few: Vec<usize> = (0..ids.len()).filter(|at| points[*at].len() < VALUES).collect();
    if !few.is_empty() {
        let ids: Vec<SeriesId> = few.iter().map(|at| ids[*at]).collect();
        for (at, mut all) in few.into_iter().zip(found.points(history, store, &ids, None)?) {
            all.drain(..all.len().saturating_sub(VALUES));
            points[at] = all;
        }
    }
    Ok(points)
}
