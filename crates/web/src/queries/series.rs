//! One series with a part of its points.

use becalm_model::history::{ChangeState, Point, SeriesId};
use becalm_model::wire::{
    HistorySeriesDocument, WEB_SERIES_SCHEMA, WebLevelDocument, WebPointDocument, WebSeriesDocument,
};
use becalm_series::{Followed, Store, StoreError, state_in_history};
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
        series: HistorySeriesDocument::of(&followed.series, &followed.points),
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
        states: followed.states.iter().map(|state| state_in_history(&followed, state)).collect(),
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
    use becalm_model::history::EntryId;

    use super::*;

    #[test]
    fn an_overview_has_every_extreme() {
        let point = |at: i64| Point {
            entry: EntryId(at),
            at: 0.0,
            value: if at == 500 { 99.0 } else { 1.0 },
            error: None,
            runs: 1,
            commit: None,
        };
        let points: Vec<Point> = (0..1000).map(point).collect();
        let columns = overview(&points);
        assert_eq!(columns.len(), COLUMNS);
        assert_eq!(columns.iter().filter(|[_, high]| *high > 50.0).count(), 1);
        assert!(columns.iter().all(|[low, _]| *low < 50.0));
    }
}
