//! Points of a branch on a machine that count: from memory, or else from the history.

use std::sync::Arc;

use becalm_model::history::{EntryId, Point, SeriesId};
use becalm_series::{Group, Store, StoreError};

use super::TOGETHER;
use crate::history::{History, locked};
use crate::kept::{LeftOut, Line, OfGroup, visit_points};

/// Returns the points of series of one branch and machine: from memory, or else from the history.
pub(super) fn points_of(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
    ids: &[SeriesId],
    last: Option<usize>,
) -> Result<Vec<Vec<Point>>, StoreError> {
    if let Some(kept) = kept(history, store, group, left_out)? {
        return Ok(kept.points(ids, last));
    }
    let mut all = match last {
        None => store.points(ids)?,
        Some(last) => store.last_points(ids, last)?,
    };
    for points in &mut all {
        points.retain(|point| !left_out.contains(&point.entry));
    }
    Ok(all)
}

/// Returns the points of a branch and machine that are in memory. Whoever looks at them holds nobody up.
fn kept(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
) -> Result<Option<Arc<OfGroup>>, StoreError> {
    locked(&history.kept).of(store, group, left_out)
}

/// Shows the points of series of one branch and machine: from memory, or else from the history.
pub(super) fn visit(
    history: &History,
    store: &mut Store,
    group: &Group,
    left_out: &LeftOut,
    ids: &[SeriesId],
    see: &mut dyn FnMut(SeriesId, Line<'_>),
) -> Result<(), StoreError> {
    if let Some(kept) = kept(history, store, group, left_out)? {
        kept.visit(ids, see);
        return Ok(());
    }
    let mut moments = store.moments(group, EntryId(0))?;
    moments.retain(|moment| !left_out.contains(&moment.entry));
    for together in ids.chunks(TOGETHER) {
        visit_points(&moments, together, &store.points(together)?, see);
    }
    Ok(())
}
