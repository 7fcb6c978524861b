//! Pages and documents of what is in a history.

use becalm_model::history::EntryId;
use becalm_model::wire::json_text;
use becalm_report::web::{
    Site, WebMessage, web_badge, web_benchmarks, web_changes, web_compare, web_entries, web_entry,
    web_feed, web_machines, web_series, web_suites,
};
use becalm_series::{Store, StoreError};

use super::answer::{Answer, Kind};
use super::counters::Counted;
use super::openapi::refuse_unknown;
use super::routes::{Refused, Service};
use super::target::{Form, Target};
use super::wanted::{Wanted, Wished};
use crate::history::History;
use crate::queries::{self, CompareAsked, Findings};

impl Service {
    /// Makes an answer of what is in the history.
    pub(super) fn look_up(
        &self,
        history: &History,
        target: Target,
        form: Form,
        wanted: &Wanted,
        site: &Site,
    ) -> Result<Answer, Refused> {
        if form == Form::Json {
            refuse_unknown("get", target.name(), &wanted.query)?;
        }
        let page = wanted.page()?;
        let by = wanted.by()?;
        let state = wanted.state()?;
        let compared = wanted.compared()?;
        let all = wanted.all()?;
        let wish = wanted.wish(form)?;
        // What is wrong with a request is found before the database is asked.
        history
            .reading(|store| {
                Ok(match target {
                    Target::Changes => {
                        let branch = wanted.words("branch");
                        let found =
                            queries::changes(history, store, state, branch.as_deref(), page)?;
                        shown(found, &wish, |document| web_changes(document, site))
                    }
                    Target::Series(id) => {
                        let found = queries::series(history, store, id, by, page)?;
                        shown(found, &wish, |document| web_series(document, site))
                            .map(Answer::with_scripts)
                    }
                    Target::Benchmarks => {
                        let search = wanted.words("search").unwrap_or_default();
                        let found = queries::benchmarks(history, store, &search, all, page)?;
                        shown(found, &wish, |document| web_benchmarks(document, site))
                    }
                    Target::Entries => {
                        shown(queries::entries(history, store, page)?, &wish, |document| {
                            web_entries(document, site)
                        })
                    }
                    Target::Entry(id) => {
                        shown(queries::entry(store, id, page)?, &wish, |document| {
                            web_entry(document, site)
                        })
                    }
                    Target::Record(id) => record(history, store, id, form)?,
                    Target::Compare => {
                        let [before, after, search] = ["before", "after", "search"]
                            .map(|name| wanted.words(name).unwrap_or_default());
                        let (of, show) = compared;
                        let sides = [before.as_str(), after.as_str()];
                        let asked = CompareAsked { of, sides, show, search: &search, page };
                        shown(queries::compare(history, store, &asked)?, &wish, |document| {
                            web_compare(document, site)
                        })
                    }
                    Target::Machines => {
                        shown(queries::machines(history, store, page)?, &wish, |document| {
                            web_machines(document, site)
                        })
                    }
                    Target::Suites => {
                        let named = ["branch", "machine"].map(|name| wanted.words(name));
                        let named = named.each_ref().map(Option::as_deref);
                        shown(queries::suites(history, store, named, page)?, &wish, |document| {
                            web_suites(document, site)
                        })
                    }
                    Target::Feed => {
                        let changes = queries::feed(history, store)?;
                        Ok(Answer::ok(Kind::Feed, web_feed(&changes, site, &wanted.base)))
                    }
                    Target::Badge => {
                        let branch = wanted.words("branch");
                        let found = Findings::of(history, store)?;
                        if branch.as_deref().is_some_and(|branch| !found.has_branch(branch)) {
                            Err(WebMessage::NotFound)
                        } else {
                            let counts = found.counts(branch.as_deref());
                            Ok(Answer::ok(Kind::Badge, web_badge(counts)))
                        }
                    }
                    Target::Metrics => {
                        let standing = Some(&queries::standing(history, store)?);
                        let only = Counted { project: 0, name: None, standing };
                        Ok(Answer::ok(Kind::Text, self.counters.text(&[only])))
                    }
                    Target::Health => {
                        store.stamp()?;
                        Ok(Answer::ok(Kind::Text, "ok\n".to_owned()))
                    }
                    // Answered above.
                    Target::Projects
                    | Target::Script(_)
                    | Target::Icon
                    | Target::OpenApi
                    | Target::Schema(_)
                    | Target::Decision(_)
                    | Target::Upload => Err(WebMessage::Failed),
                })
            })?
            .map_err(Refused::from)
    }
}

/// Shows a document as it is wanted; `None` is not found.
pub(super) fn shown<T: serde::Serialize>(
    found: Option<T>,
    form: &Wished,
    page: impl Fn(&T) -> String,
) -> Result<Answer, WebMessage> {
    let document = found.ok_or(WebMessage::NotFound)?;
    Ok(match form {
        Wished::Page => Answer::ok(Kind::Page, page(&document)),
        Wished::Document => Answer::ok(Kind::Json, json_text(&document)),
        Wished::Fields(fields) => {
            let value = serde_json::to_value(&document).map_err(|_| WebMessage::Failed)?;
            Answer::ok(Kind::Json, json_text(&fields.of(value)?))
        }
    })
}

/// Shows the whole record of an entry: the report of a saved file, or the document itself.
fn record(
    history: &History,
    store: &mut Store,
    id: EntryId,
    form: Form,
) -> Result<Result<Answer, WebMessage>, StoreError> {
    let Some(document) = store.document(id)? else {
        let is_there = !store.values(id)?.is_empty();
        return Ok(Err(if is_there { WebMessage::Pruned } else { WebMessage::NotFound }));
    };
    Ok(match form {
        Form::Json => Ok(Answer::ok(Kind::Json, document)),
        Form::Page => (history.record_page)(&document)
            .map(|page| Answer::ok(Kind::Record, page))
            .map_err(WebMessage::Unreadable),
    })
}
