//! The changes of a history, as the front page and the feed show them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use becalm_model::history::{EntryId, Series};
use becalm_model::wire::{
    WEB_CHANGES_SCHEMA, WebChangeDocument, WebChangesDocument, read_document,
};
use becalm_series::{EntryFilter, Store, StoreError, command_of, flags_of};

use super::findings::{is_of, state};
use super::{Findings, part};
use crate::history::{History, Measured, locked};

/// Changes of a page.
const EACH: usize = 20;

/// Changes of the feed.
const IN_FEED: usize = 50;

/// Returns a page of the changes of this state (`open`, `acknowledged`, `dismissed` or `all`), of a branch or of all;
/// `None` if there is no such page.
pub(crate) fn changes(
    history: &History,
    store: &mut Store,
    wanted: &str,
    branch: Option<&str>,
    page: usize,
) -> Result<Option<WebChangesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let of_state: Vec<&WebChangeDocument> = found
        .changes
        .iter()
        .map(Arc::as_ref)
        .filter(|change| is_of(change, branch) && (wanted == "all" || state(change) == wanted))
        .collect();
    let Some((part, range)) = part(of_state.len(), EACH, page) else { return Ok(None) };
    let branches: BTreeSet<&str> = found.watched().map(|one| one.key.branch.as_str()).collect();
    let mut changes: Vec<WebChangeDocument> =
        of_state[range].iter().map(|one| (*one).clone()).collect();
    complete(history, store, &found, &mut changes)?;
    let is_of = |one: &Series| branch.is_none_or(|branch| one.key.branch == branch);
    let watched = found.watched().filter(|one| is_of(one)).count();
    let all = found.series.iter().filter(|one| is_of(one)).count();
    Ok(Some(WebChangesDocument {
        schema: WEB_CHANGES_SCHEMA.to_owned(),
        state: wanted.to_owned(),
        branch: branch.map(str::to_owned),
        branches: branches.into_iter().map(str::to_owned).collect(),
        part,
        counts: found.counts(branch),
        series: watched,
        unwatched: all - watched,
        entries: found.stamp.entries,
        changes,
        states: found.states_of(branch),
        uncounted: found.uncounted_of(branch),
    }))
}

/// Returns the newest confirmed changes that nobody dismissed.
pub(crate) fn feed(
    history: &History,
    store: &mut Store,
) -> Result<Vec<WebChangeDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let is_news = |change: &&WebChangeDocument| {
        change.change.state == "confirmed" && state(change) != "dismissed"
    };
    let mut changes: Vec<WebChangeDocument> =
        found.changes.iter().map(Arc::as_ref).filter(is_news).cloned().collect();
    changes.sort_by(|a, b| b.seen.total_cmp(&a.seen));
    changes.truncate(IN_FEED);
    name_commits(store, &mut changes)?;
    Ok(changes)
}

/// Adds to changes what the first commit of the new level did, and who wrote it.
fn name_commits(store: &mut Store, changes: &mut [WebChangeDocument]) -> Result<(), StoreError> {
    let first = |change: &WebChangeDocument| {
        change.change.history.as_ref().map(|place| EntryId(place.entry))
    };
    let filter =
        EntryFilter { ids: changes.iter().filter_map(first).collect(), ..EntryFilter::default() };
    let entries = if filter.ids.is_empty() { Vec::new() } else { store.entries(&filter)? };
    for entry in entries {
        let Some(commit) = entry.commit else { continue };
        for change in changes.iter_mut().filter(|change| first(change) == Some(entry.id)) {
            change.author.clone_from(&commit.author);
            change.title.clone_from(&commit.title);
        }
    }
    Ok(())
}

fn put(change: &mut WebChangeDocument, measured: Option<Measured>) {
    let Some(Measured { command, flags }) = measured else { return };
    (change.command, change.flags) = (Some(command), flags);
}

/// Adds to changes what is known of their machines and commits, and the commands that were measured.
pub(super) fn complete(
    history: &History,
    store: &mut Store,
    found: &Findings,
    changes: &mut [WebChangeDocument],
) -> Result<(), StoreError> {
    let mut wanted: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (index, change) in changes.iter_mut().enumerate() {
        let Some(place) = &change.change.history else { continue };
        change.machine = found.machine(&place.fingerprint);
        match locked(&history.commands).get(&place.id) {
            Some(known) => put(change, known.clone()),
            None => wanted.entry(place.entry).or_default().push(index),
        }
    }
    name_commits(store, changes)?;
    for (entry, indices) in wanted {
        let document = store.document(EntryId(entry))?;
        let record = document.and_then(|text| read_document(&text).ok());
        let mut commands = locked(&history.commands);
        History::limit_commands(&mut commands);
        for index in indices {
            let Some(place) = &changes[index].change.history else { continue };
            let parameters: Vec<_> = place.parameters.clone().into_iter().collect();
            let measured = record.as_ref().and_then(|record| {
                let command = command_of(record, &place.benchmark, &parameters)?;
                Some(Measured { command, flags: flags_of(record, &place.metric) })
            });
            commands.insert(place.id.clone(), measured.clone());
            put(&mut changes[index], measured);
        }
    }
    Ok(())
}
