//! Records that programs send: what is said about them in the address, how they arrive, and how they become entries.

use std::sync::Arc;
use std::time::Duration;

use becalm_model::Record;
use becalm_model::history::{COMMIT_WORDS, Commit};
use becalm_model::wire::{WEB_UPLOAD_SCHEMA, WebUploadDocument, read_document};
use becalm_report::web::WebMessage;
use becalm_series::{
    Added, Checkout, EntryPlace, EntryTerms, NewEntry, Origin, StoreError, entry_at, measurements,
    new_entry,
};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::query::value;
use crate::history::{History, now};

/// How long an answer may wait for its turn and for the database.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Letters of what is said about a commit, of a branch or a tag.
const WORD: usize = COMMIT_WORDS;

/// Tags of an entry.
const TAGS: usize = 32;

/// Bytes of a permit.
const UNIT: usize = 1 << 10;

/// Whether a record is of a working tree with changes, what it is, and whether it is kept: of each the usual word first.
pub(super) const DIRTY: [&str; 2] = ["no", "yes"];
pub(super) const ORIGIN: [&str; 2] = ["measurement", "history"];
pub(super) const RECORD: [&str; 2] = ["keep", "drop"];

/// What is said about a record beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Upload {
    commit: Option<Commit>,
    branch: Option<String>,
    dirty: bool,
    tags: Vec<String>,
    measured: Option<f64>,
    origin: Origin,
    keeps_record: bool,
}

impl Upload {
    /// Reads the part of the address after `?`.
    pub(super) fn read(query: &[(String, String)]) -> Result<Self, WebMessage> {
        let bad = |what: String| WebMessage::BadRequest(what);
        let word = |name: &str| match value(query, name) {
            Some(text) if text.chars().count() > WORD || text.chars().any(char::is_control) => {
                Err(bad(format!("`{name}` may have at most {WORD} characters, on one line")))
            }
            text => Ok(text.filter(|text| !text.is_empty()).map(str::to_owned)),
        };
        let time = |name: &str| match value(query, name).map(str::parse::<f64>) {
            None => Ok(None),
            Some(Ok(time)) if becalm_model::is_of_calendar(time) => Ok(Some(time)),
            Some(_) => Err(bad(format!("`{name}` must be in seconds since 1970"))),
        };
        let one_of = |name: &str, words: [&str; 2]| match value(query, name) {
            None => Ok(false),
            Some(text) if text == words[0] => Ok(false),
            Some(text) if text == words[1] => Ok(true),
            Some(_) => Err(bad(format!("`{name}` must be {} or {}", words[0], words[1]))),
        };
        let (commit, commit_time) = (word("commit")?, time("commit-time")?);
        let of_commit = query.iter().map(|(name, _)| name).find(|name| name.starts_with("commit-"));
        if let Some(name) = of_commit.filter(|_| commit.is_none()) {
            return Err(bad(format!("`{name}` needs `commit`")));
        }
        let (author, title) = (word("commit-author")?, word("commit-title")?);
        let tags: Vec<String> =
            query.iter().filter(|(name, _)| name == "tag").map(|(_, tag)| tag.clone()).collect();
        let is_word = |tag: &String| {
            !tag.is_empty() && tag.chars().count() <= WORD && !tag.chars().any(char::is_control)
        };
        if tags.len() > TAGS || !tags.iter().all(is_word) {
            return Err(bad(format!(
                "there may be at most {TAGS} tags of at most {WORD} characters each"
            )));
        }
        Ok(Self {
            commit: commit.map(|id| Commit { id, time: commit_time, author, title }),
            branch: word("branch")?,
            dirty: one_of("dirty", DIRTY)?,
            tags,
            measured: time("measured")?,
            origin: if one_of("origin", ORIGIN)? { Origin::History } else { Origin::Measurement },
            keeps_record: !one_of("record", RECORD)?,
        })
    }

    /// Adds the record of this text to the history; or says why not. What is there already stays as it is.
    pub(super) fn carry_out(
        &self,
        history: &History,
        text: String,
    ) -> Result<Result<WebUploadDocument, WebMessage>, StoreError> {
        let record = match read_document(&text) {
            Ok(record) => record,
            Err(error) => return Ok(Err(WebMessage::BadRequest(error.to_string()))),
        };
        let Some(entry) = self.entry(record, text) else {
            let why =
                "the record compares several commits; `becalm history add --to` sends each of them";
            return Ok(Err(WebMessage::BadRequest(why.to_owned())));
        };
        if entry.points.is_empty() {
            let why = "the record contains no value that a history can keep";
            return Ok(Err(WebMessage::BadRequest(why.to_owned())));
        }
        let (id, outcome, values) = match history.writing(|store| store.add(&entry))? {
            Added::New(id) => (id, "added", entry.points.len()),
            Added::Completed(id, values) => (id, "completed", values),
            Added::Known(id) => (id, "known", 0),
        };
        Ok(Ok(WebUploadDocument {
            schema: WEB_UPLOAD_SCHEMA.to_owned(),
            entry: id.0,
            outcome: outcome.to_owned(),
            values,
        }))
    }

    /// Makes an entry. Where nothing is said about its place, the record says itself which commit it is of; `None` if these
    /// are several.
    fn entry(&self, record: Record, text: String) -> Option<NewEntry> {
        let document = self.keeps_record.then_some(text);
        if self.commit.is_none() && self.measured.is_none() {
            let [one] = &measurements(record, None)[..] else { return None };
            let (branch, tags) = (self.branch.clone(), self.tags.clone());
            let terms = EntryTerms { branch, tags, ..EntryTerms::default() };
            // What is checked out where the server runs says nothing.
            let nowhere =
                Checkout { head: None, branch: None, dirty: false, find: &|_: &str| None };
            let mut entry = new_entry(one, &terms, &nowhere, "", document, now());
            entry.dirty |= self.dirty;
            return Some(entry);
        }
        let began = Some(record.started_at).filter(|time| *time > 0.0);
        let of_commit = self.commit.as_ref().and_then(|commit| commit.time);
        let place = EntryPlace {
            origin: self.origin,
            measured: self.measured.or(began).or(of_commit).unwrap_or_else(now),
            commit: self.commit.clone(),
            branch: self.branch.clone().unwrap_or_default(),
            dirty: self.dirty,
            tags: self.tags.clone(),
        };
        Some(entry_at(&record, place, document))
    }
}

/// Where records are while they arrive: so many bytes at most, whoever sends how many at once.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// Bytes of one record.
    largest: usize,
    /// How long nothing may come.
    patience: Duration,
    room: Arc<Semaphore>,
}

/// A record that has arrived, and its room, which it gives back.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) text: String,
    _room: OwnedSemaphorePermit,
}

impl Arrivals {
    /// Takes records of so many bytes, of which two of the largest have room at the same time.
    pub(super) fn new(largest: usize, patience: Duration) -> Self {
        Self { largest, patience, room: Arc::new(Semaphore::new(2 * units(largest))) }
    }

    /// Waits for a record. Where it does not say its length, it needs as much room as the largest.
    pub(super) async fn take(&self, mut body: Incoming) -> Result<Arrived, WebMessage> {
        let hint = body.size_hint();
        if hint.lower() > self.largest as u64 {
            return Err(WebMessage::TooLarge);
        }
        let said = hint.exact().and_then(|bytes| usize::try_from(bytes).ok());
        let needed = u32::try_from(units(said.unwrap_or(self.largest))).unwrap_or(u32::MAX);
        let room = timeout(PATIENCE, Arc::clone(&self.room).acquire_many_owned(needed)).await;
        let Ok(Ok(room)) = room else { return Err(WebMessage::Busy) };
        let mut bytes = Vec::with_capacity(said.unwrap_or(0));
        loop {
            let frame = match timeout(self.patience, body.frame()).await {
                Err(_) => return Err(WebMessage::TooSlow),
                Ok(None) => break,
                Ok(Some(Err(_))) => {
                    return Err(WebMessage::BadRequest("the record did not arrive".to_owned()));
                }
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > self.largest {
                return Err(WebMessage::TooLarge);
            }
            bytes.extend_from_slice(&data);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Arrived { text, _room: room }),
            Err(_) => Err(WebMessage::BadRequest("a record must be JSON in UTF-8".to_owned())),
        }
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Upload, WebMessage> {
        Upload::read(&super::super::query::pairs(query))
    }

    #[test]
    fn what_is_said_about_a_record_is_in_the_address() {
        let upload =
            read("commit=abc&commit-time=5.5&commit-author=Ada&commit-title=Hash+faster&branch=main&dirty=yes&tag=a&tag=b+c&record=drop")
                .unwrap();
        let commit = Commit {
            id: "abc".to_owned(),
            time: Some(5.5),
            author: Some("Ada".to_owned()),
            title: Some("Hash faster".to_owned()),
        };
        assert_eq!(upload.commit, Some(commit));
        assert_eq!(
            (upload.branch.as_deref(), upload.dirty, upload.keeps_record),
            (Some("main"), true, false)
        );
        assert_eq!(upload.tags, ["a", "b c"]);
        let nothing = read("").unwrap();
        assert_eq!((nothing.commit, nothing.branch, nothing.keeps_record), (None, None, true));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let long = format!("branch={}", "x".repeat(201));
        let many = "tag=a&".repeat(33);
        for query in [
            "commit-time=5",
            "commit=a&commit-time=x",
            "commit=a&commit-time=NaN",
            "measured=1e99",
            "dirty=1",
            "branch=a%0Ab",
            "tag=",
            "origin=x",
            "record=no",
            &long,
            &many,
        ] {
            assert!(matches!(read(query), Err(WebMessage::BadRequest(_))), "{query}");
        }
    }
}
