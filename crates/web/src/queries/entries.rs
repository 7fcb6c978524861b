//! Entries of a history.

use becalm_model::history::{EntryId, SeriesId};
use becalm_model::wire::{
    HistoryEntryDocument, WEB_ENTRIES_SCHEMA, WEB_ENTRY_SCHEMA, WebEntriesDocument,
    WebEntryDocument, WebEntryValueDocument,
};
use becalm_series::{EntryFilter, EntryValue, SeriesFilter, Store, StoreError};

use super::{Findings, part};
use crate::history::History;

/// Entries of a page.
const EACH: usize = 50;

/// Values of an entry on a page.
const VALUES: usize = 100;

/// Returns a page of the entries, the newest first; `None` if there is no such page.
pub(crate) fn entries(
    history: &History,
    store: &mut Store,
    page: usize,
) -> Result<Option<WebEntriesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let Some((part, range)) = part(store.stamp()?.entries, EACH, page) else { return Ok(None) };
    let filter = EntryFilter { skip: range.start, limit: Some(EACH), ..EntryFilter::default() };
    let entries = store.entries(&filter)?;
    Ok(Some(WebEntriesDocument {
        schema: WEB_ENTRIES_SCHEMA.to_owned(),
        part,
        entries: entries.iter().rev().map(HistoryEntryDocument::of).collect(),
        uncounted: entries
            .iter()
            .filter(|entry| found.left_out.contains(&entry.id))
            .map(|entry| entry.id.0)
            .collect(),
    }))
}

/// Returns an entry with a page of its values; `None` if there is no such entry or page.
pub(crate) fn entry(
    store: &mut Store,
    id: EntryId,
    page: usize,
) -> Result<Option<WebEntryDocument>, StoreError> {
    let filter = EntryFilter { ids: vec![id], ..EntryFilter::default() };
    let Some(entry) = store.entries(&filter)?.pop() else { return Ok(None) };
    let values = store.values(id)?;
    let Some((part, range)) = part(values.len(), VALUES, page) else { return Ok(None) };
    let ids: Vec<SeriesId> = values.iter().map(|value| value.series).collect();
    // In the order of names.
    let mut series = if ids.is_empty() {
        Vec::new()
    } else {
        store.series(&SeriesFilter { ids, ..SeriesFilter::default() })?
    };
    let range = range.start.min(series.len())..range.end.min(series.len());
    let shown = series.drain(range).filter_map(|one| {
        let at = values.binary_search_by_key(&one.id, |value| value.series).ok()?;
        let EntryValue { value, error, runs, .. } = values[at];
        Some(WebEntryValueDocument {
            series: one.id.0,
            unit: one.key.unit.to_string(),
            benchmark: one.key.benchmark,
            parameters: one.key.parameters.into_iter().collect(),
            metric: one.key.metric,
            value,
            error,
            runs,
        })
    });
    Ok(Some(WebEntryDocument {
        schema: WEB_ENTRY_SCHEMA.to_owned(),
        entry: HistoryEntryDocument::of(&entry),
        split: store.split()?,
        part,
        values: shown.collect(),
    }))
}
