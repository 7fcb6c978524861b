//! The points of many entries as their rows have them, from which the lists of series are made.
//!
//! A history of 28,000 series and hundreds of entries has millions of points. As lists they take six times the memory
//! of the rows, so that whoever looks at one series after another makes lists of a few hundred at a time. Rows of which
//! each has the same series, as those of a suite have, are read like columns of a table.

use std::sync::Arc;

use becalm_model::history::{EntryId, Point, SeriesId};

use crate::packed::Columns;

/// The points of series, entry by entry, in time order.
#[derive(Debug)]
pub struct GatheredPoints {
    rows: Vec<GatheredRow>,
    /// Which series a row has, by rising number.
    layouts: Vec<Vec<i64>>,
}

#[derive(Debug)]
struct GatheredRow {
    entry: EntryId,
    at: f64,
    commit: Option<Arc<str>>,
    /// Which of the layouts it has.
    layout: usize,
    columns: Columns,
}

impl GatheredPoints {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), layouts: Vec::new() }
    }

    /// Adds the row of the next entry in time; `None` where the bytes are nothing that becalm writes.
    pub(crate) fn push(
        &mut self,
        entry: EntryId,
        at: f64,
        commit: Option<&str>,
        packed: Vec<u8>,
    ) -> Option<()> {
        let columns = Columns::of(packed)?;
        let same = self.rows.last().filter(|last| last.columns.has_series_of(&columns));
        let layout = if let Some(last) = same {
            last.layout
        } else {
            self.layouts.push(columns.series()?);
            self.layouts.len() - 1
        };
        let commit = commit.map(Arc::from);
        self.rows.push(GatheredRow { entry, at, commit, layout, columns });
        Some(())
    }

    /// Returns the points of these series in time order, one list for each.
    pub fn of(&self, series: &[SeriesId]) -> Vec<Vec<Point>> {
        let places: Vec<Places> = self.layouts.iter().map(|ids| Places::of(ids, series)).collect();
        // Lists that are made in several threads do not count the users of one text.
        let commits: Vec<Option<Arc<str>>> =
            self.rows.iter().map(|row| row.commit.as_deref().map(Arc::from)).collect();
        let list = |one: usize| {
            let place_in = |row: &GatheredRow| places[row.layout].0[one];
            let count = self.rows.iter().filter(|row| place_in(row).is_some()).count();
            let mut points = Vec::with_capacity(count);
            for (row, commit) in self.rows.iter().zip(&commits) {
                let Some(place) = place_in(row) else { continue };
                let (value, error, runs) = row.columns.at(place);
                let GatheredRow { entry, at, .. } = *row;
                points.push(Point { entry, at, value, error, runs, commit: commit.clone() });
            }
            points
        };
        (0..series.len()).map(list).collect()
    }
}

/// Where each of some series is in a row, if it is there.
struct Places(Vec<Option<usize>>);

impl Places {
    fn of(ids: &[i64], series: &[SeriesId]) -> Self {
        let mut next = 0;
        let place = |one: &SeriesId| {
            // Neighbours often have neighbouring numbers.
            let place = if ids.get(next) == Some(&one.0) {
                next
            } else {
                ids.binary_search(&one.0).ok()?
            };
            next = place + 1;
            Some(place)
        };
        Self(series.iter().map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::{PackedPoint, pack};

    fn point(series: i64, value: f64, error: Option<f64>) -> PackedPoint {
        PackedPoint { series, value, error, runs: if series == 7 { 300 } else { 3 } }
    }

    #[test]
    fn lists_have_the_points_of_their_series_in_the_order_of_the_rows() {
        let mut all = GatheredPoints::new();
        let layouts = [&[3, 5, 7][..], &[3, 5, 7], &[5, 900], &[], &[3, 5, 7]];
        for (row, ids) in (0..).zip(layouts) {
            let points = ids.iter().map(|id| {
                let value = f64::from(row) + 0.001 * *id as f64;
                point(*id, value, (*id != 5).then_some(2.0 * value))
            });
            let commit = (row != 2).then(|| format!("c{row}"));
            let packed = pack(points.collect());
            all.push(EntryId(row.into()), f64::from(row), commit.as_deref(), packed).unwrap();
        }
        assert_eq!(all.layouts.len(), 4);
        let lists = all.of(&[7, 3, 5, 6, 900, 3].map(SeriesId));
        let entries: Vec<Vec<i64>> =
            lists.iter().map(|list| list.iter().map(|point| point.entry.0).collect()).collect();
        assert_eq!(
            entries,
            [vec![0, 1, 4], vec![0, 1, 4], vec![0, 1, 2, 4], vec![], vec![2], vec![0, 1, 4]]
        );
        assert_eq!(lists[1], lists[5]);
        let last = &lists[0][2];
        assert_eq!((last.at, last.value, last.runs), (4.0, 4.007, 300));
        assert_eq!((last.error, last.commit.as_deref()), (Some(2.0 * last.value), Some("c4")));
        assert_eq!((lists[2][2].error, lists[2][2].commit.as_deref()), (None, None));
        assert_eq!(lists[4][0].error, Some(2.0 * lists[4][0].value));
    }
}
