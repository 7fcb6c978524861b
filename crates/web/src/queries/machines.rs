//! Machines: what is known of them, their noise over time, and what measures on them.

use std::collections::BTreeMap;

use becalm_model::history::Entry;
use becalm_model::wire::{
    WEB_MACHINES_SCHEMA, WebMachineBranchDocument, WebMachineDocument, WebMachinesDocument,
    WebTurnDocument,
};
use becalm_series::{ANNOTATE, EntryFilter, Store, StoreError, fact};

use super::{Findings, part};
use crate::history::History;

/// Machines of a page.
const EACH: usize = 10;

/// Entries of a machine whose facts are compared: those of a branch on it are in the order of time.
const ENTRIES: usize = 40;

/// Turns of facts that are shown of each.
const TURNS: usize = 20;

/// Returns a page of the machines, those first that measured last; `None` if there is no such page.
pub(crate) fn machines(
    history: &History,
    store: &mut Store,
    page: usize,
) -> Result<Option<WebMachinesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let mut of_machine: BTreeMap<&str, WebMachineDocument> = BTreeMap::new();
    for (group, outline) in found.groups.iter().zip(&found.outlines) {
        let machine = of_machine.entry(&group.fingerprint).or_default();
        // Noise is of the branch with the most entries.
        let most = machine.branches.iter().map(|branch| branch.entries).max().unwrap_or(0);
        if outline.entries > most || machine.noise.is_empty() {
            machine.noise.clone_from(&outline.noise);
        }
        machine.branches.push(WebMachineBranchDocument {
            branch: group.branch.clone(),
            entries: outline.entries,
            series: outline.series,
            first: outline.first,
            last: outline.last,
        });
    }
    let mut machines: Vec<WebMachineDocument> = of_machine
        .into_iter()
        .map(|(fingerprint, machine)| WebMachineDocument {
            fingerprint: fingerprint.to_owned(),
            facts: found.machine(fingerprint),
            ..machine
        })
        .collect();
    let last = |machine: &WebMachineDocument| {
        machine.branches.iter().map(|branch| branch.last).fold(f64::NEG_INFINITY, f64::max)
    };
    machines.sort_by(|a, b| {
        last(b).total_cmp(&last(a)).then_with(|| a.fingerprint.cmp(&b.fingerprint))
    });
    let Some((part, range)) = part(machines.len(), EACH, page) else { return Ok(None) };
    let mut shown: Vec<WebMachineDocument> = machines.drain(range).collect();
    for machine in &mut shown {
        let filter = EntryFilter {
            fingerprint: Some(machine.fingerprint.clone()),
            limit: Some(ENTRIES),
            ..EntryFilter::default()
        };
        let entries = store.entries(&filter)?;
        machine.of_entries = entries.len();
        machine.turns = turns(&entries);
        machine.branches.sort_by(|a, b| b.last.total_cmp(&a.last));
    }
    Ok(Some(WebMachinesDocument { schema: WEB_MACHINES_SCHEMA.to_owned(), part, machines: shown }))
}

/// Returns the facts of entries, by rising time, that are not what they were: the newest first.
fn turns(entries: &[Entry]) -> Vec<WebTurnDocument> {
    let mut turns = Vec::new();
    for two in entries.windows(2).rev() {
        let [before, after] = [&two[0], &two[1]];
        for name in ANNOTATE {
            let [old, new] =
                [before, after].map(|entry| fact(&entry.facts, name).unwrap_or_default());
            if old != new && turns.len() < TURNS {
                turns.push(WebTurnDocument {
                    entry: after.id.0,
                    time: after.at(),
                    fact: name.to_owned(),
                    before: old,
                    after: new,
                });
            }
        }
    }
    turns
}
