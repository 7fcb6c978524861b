//! How a history stands, in a few numbers.

use becalm_model::wire::WebProjectStanding;
use becalm_series::{EntryFilter, Store, StoreError};

use super::Findings;
use super::findings::state;
use crate::history::History;

/// Returns how a history stands.
pub(crate) fn standing(
    history: &History,
    store: &mut Store,
) -> Result<WebProjectStanding, StoreError> {
    let found = Findings::of(history, store)?;
    let open = || found.changes.iter().filter(|change| state(change) == "open");
    let last = EntryFilter { limit: Some(1), ..EntryFilter::default() };
    Ok(WebProjectStanding {
        entries: found.stamp.entries,
        series: found.watched().count(),
        counts: found.counts(None),
        open_improvements: open()
            .filter(|one| one.change.state == "confirmed" && one.change.kind == "improvement")
            .count(),
        open_pending: open().filter(|one| one.change.state == "pending").count(),
        last: store.entries(&last)?.pop().map(|entry| entry.measured),
    })
}
