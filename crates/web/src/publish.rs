//! The same pages as files.

use std::collections::BTreeSet;

use becalm_model::history::{EntryId, SeriesId};
use becalm_report::web::{
    CommitPages, Site, SitePlace, benchmarks_file, changes_file, compare_file, entries_file,
    entry_file, machines_file, series_file, suites_file, web_badge, web_benchmarks, web_changes,
    web_compare, web_entries, web_entry, web_feed, web_icon, web_machines, web_scripts, web_series,
    web_style, web_suites,
};
use becalm_series::{EntryFilter, Store, StoreError};

use crate::history::History;
use crate::queries::{self, By, CompareAsked, CompareOf, Findings};

/// How many files there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Published {
    /// Pages and what they need.
    pub files: usize,
    /// Pages of whole records among them.
    pub records: usize,
    /// Records that this becalm cannot read.
    pub unreadable: usize,
}

/// Why pages could not be made or written.
#[derive(Debug)]
pub enum PublishError<E> {
    /// The history could not be read.
    Store(StoreError),
    /// A file could not be written.
    Write(E),
}

impl<E> From<StoreError> for PublishError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// How pages are published.
#[derive(Debug)]
pub struct Publication<'a> {
    /// What they call the history.
    pub title: &'a str,
    /// The version of becalm.
    pub version: &'a str,
    /// Where commits can be looked at, if that is known.
    pub commits: Option<CommitPages>,
    /// Where the pages will be, with a slash at the end; without it the links of the feed are relative.
    pub url: Option<&'a str>,
    /// The whole records of so many entries are among them, of the last ones.
    pub records: usize,
}

/// Makes all pages of a history and writes each by its path.
pub fn publish<E>(
    history: &History,
    publication: Publication<'_>,
    mut write: impl FnMut(&str, &str) -> Result<(), E>,
) -> Result<Published, PublishError<E>> {
    let Publication { title, version, commits, url, records } = publication;
    // What cannot be written ends the reading, but is no error of the store.
    let mut failed = None;
    let mut published = Published::default();
    let mut put = |path: &str, text: &str| {
        if failed.is_none() {
            published.files += 1;
            failed = write(path, text).err();
        }
        failed.is_none()
    };
    let (mut n_records, mut unreadable) = (0, 0);
    history.reading(|store| {
        let filter = EntryFilter { limit: Some(records), ..EntryFilter::default() };
        let recent = if records == 0 { Vec::new() } else { store.entries(&filter)? };
        let mut kept = BTreeSet::new();
        for entry in recent.iter().filter(|entry| entry.has_document) {
            let Some(document) = store.document(entry.id)? else { continue };
            match (history.record_page)(&document) {
                Ok(page) => {
                    kept.insert(entry.id.0);
                    n_records += 1;
                    if !put(&format!("record/{}.html", entry.id), &page) {
                        return Ok(());
                    }
                }
                Err(_) => unreadable += 1,
            }
        }
        let place = SitePlace::Files { records: kept };
        let (title, version) = (title.to_owned(), version.to_owned());
        let site = Site { title, version, place, commits };
        pages(history, store, &site, url.unwrap_or_default(), &mut put)
    })?;
    match failed {
        Some(error) => Err(PublishError::Write(error)),
        None => Ok(Published { records: n_records, unreadable, ..published }),
    }
}

/// Makes all pages but those of records, until one cannot be written.
fn pages(
    history: &History,
    store: &mut Store,
    site: &Site,
    url: &str,
    put: &mut impl FnMut(&str, &str) -> bool,
) -> Result<(), StoreError> {
    for state in ["open", "acknowledged", "dismissed", "all"] {
        for page in 1.. {
            let Some(document) = queries::changes(history, store, state, None, page)? else {
                break;
            };
            if !put(&changes_file(state, page), &web_changes(&document, site)) {
                return Ok(());
            }
        }
    }
    let mut series: BTreeSet<SeriesId> = BTreeSet::new();
    for page in 1.. {
        let Some(document) = queries::benchmarks(history, store, "", false, page)? else { break };
        series.extend(document.benchmarks.iter().map(|one| SeriesId(one.series.series)));
        if !put(&benchmarks_file(page), &web_benchmarks(&document, site)) {
            return Ok(());
        }
    }
    // Of what somebody could compare there, the newest two commits.
    for page in 1.. {
        let (of, sides, show, search) = (CompareOf::Commits, ["", ""], "all", "");
        let asked = CompareAsked { of, sides, show, search, page };
        let Some(document) = queries::compare(history, store, &asked)? else { break };
        series.extend(document.comparisons.iter().map(|one| SeriesId(one.after.series)));
        if !put(&compare_file(page), &web_compare(&document, site)) {
            return Ok(());
        }
    }
    for page in 1.. {
        let Some(document) = queries::machines(history, store, page)? else { break };
        if !put(&machines_file(page), &web_machines(&document, site)) {
            return Ok(());
        }
    }
    for page in 1.. {
        let Some(document) = queries::suites(history, store, [None; 2], page)? else { break };
        if !put(&suites_file(page), &web_suites(&document, site)) {
            return Ok(());
        }
    }
    let mut entries: Vec<EntryId> = Vec::new();
    for page in 1.. {
        let Some(document) = queries::entries(history, store, page)? else { break };
        entries.extend(document.entries.iter().map(|one| EntryId(one.entry)));
        if !put(&entries_file(page), &web_entries(&document, site)) {
            return Ok(());
        }
    }
    for id in entries {
        for page in 1.. {
            let Some(document) = queries::entry(store, id, page)? else { break };
            // Series beside main metrics have pages, too, where an entry leads to them.
            series.extend(document.values.iter().map(|value| SeriesId(value.series)));
            if !put(&entry_file(id.0, page), &web_entry(&document, site)) {
                return Ok(());
            }
        }
    }
    for id in series {
        for page in 1.. {
            let Some(document) = queries::series(history, store, id, By::Order, page)? else {
                break;
            };
            if !put(&series_file(id.0, page), &web_series(&document, site)) {
                return Ok(());
            }
        }
    }
    let feed = web_feed(&queries::feed(history, store)?, site, url);
    let badge = web_badge(Findings::of(history, store)?.counts(None));
    let assets = [
        ("style.css", web_style()),
        ("icon.svg", web_icon()),
        ("feed.atom", feed),
        ("badge.svg", badge),
    ];
    for (path, text) in assets {
        if !put(path, &text) {
            return Ok(());
        }
    }
    for (path, text) in web_scripts() {
        if !put(&path, text) {
            return Ok(());
        }
    }
    Ok(())
}
