//! The state of a search on disk: written after every step, and continued from.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use becalm_model::BisectNote;
use becalm_model::history::short_commit;
use becalm_model::terms::Terms;
use becalm_model::wire::{
    BISECT_SCHEMA, BisectDocument, BisectState, Worded, Words, check_readable, json_text,
};

use super::error::BisectError;
use super::range::Range;
use crate::error::Error;
use crate::files::{self, FileError};
use crate::revisions::Repository;

/// A search and the file that it is saved in.
#[derive(Debug)]
pub struct SavedSearch {
    /// What it has.
    pub document: BisectDocument,
    /// Where it is saved.
    pub path: PathBuf,
}

impl SavedSearch {
    /// Reads a search to continue.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = files::read_text(path)?;
        let refused = |why: &dyn std::fmt::Display| BisectError::NoSearch {
            path: path.to_owned(),
            why: why.to_string(),
        };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| refused(&error))?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or_default();
        check_readable(schema, &[BISECT_SCHEMA]).map_err(|error| refused(&error))?;
        let document: BisectDocument =
            serde_json::from_value(value).map_err(|error| refused(&error))?;
        let n = document.commits.len();
        let numbers = (document.steps.iter().map(|one| one.commit))
            .chain(document.built.iter().map(|one| one.commit))
            .chain(document.skipped.iter().map(|one| one.commit));
        if let Some(wrong) = numbers.clone().find(|&number| number > n) {
            let why = format!(
                "it has {} but refers to number {wrong}",
                becalm_model::counted(n, "commit")
            );
            return Err(refused(&why).into());
        }
        Ok(Self { document, path: path.to_owned() })
    }

    /// Begins a search. An unfinished one that is saved at the same place is not replaced.
    pub(super) fn begin(
        repository: &Repository,
        range: &Range,
        words: &[String],
        terms: &Terms,
        place: Option<PathBuf>,
        arguments: Vec<String>,
    ) -> Result<Self, Error> {
        let [good, bad] = [0, range.bad()].map(|end| short_commit(&range.commits[end].id));
        let path = place.unwrap_or_else(|| {
            repository.top().join(files::FOLDER).join(format!("bisect-{good}-{bad}.json"))
        });
        if let Ok(old) = Self::read(&path)
            && old.document.state == BisectState::Running
            && !old.document.steps.is_empty()
        {
            return Err(BisectError::Unfinished(path).into());
        }
        if path.exists() && Self::read(&path).is_err() {
            return Err(BisectError::Occupied(path).into());
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut documents = range.documents.clone();
        let good = documents.remove(0);
        let document = BisectDocument {
            schema: BISECT_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments,
            started_at: now.as_secs_f64(),
            command: words.to_vec(),
            terms: Some(terms.clone()),
            build: terms.runs.build.clone(),
            confidence: terms.confidence,
            good,
            commits: documents,
            metric: None,
            unit: None,
            exact: None,
            verdict: None,
            state: BisectState::Running,
            built: Vec::new(),
            skipped: Vec::new(),
            steps: Vec::new(),
            candidates: Vec::new(),
            found: None,
            notes: Vec::new(),
        };
        let saved = Self { document, path };
        saved.make_records()?;
        saved.write()?;
        Ok(saved)
    }

    /// Adds what the reader has to know, once.
    pub(super) fn note(&mut self, note: BisectNote) {
        let note = note.into();
        if self.document.notes().all(|known| *known != note) {
            self.document.notes.push(Worded::of(&note, Words::NONE.note));
        }
    }

    /// Continues a search, if it is still the same.
    pub(super) fn go_on(
        mut self,
        range: &Range,
        words: &[String],
        terms: &Terms,
        arguments: Vec<String>,
    ) -> Result<Self, Error> {
        let saved = &self.document;
        let differs = if saved.command != words {
            Some("the command")
        } else if saved.build != terms.runs.build {
            Some("the build command")
        } else if saved.good.id != range.commits[0].id {
            Some("the good end")
        } else if saved.commits.last().map(|one| &one.id) != range.commits.last().map(|one| &one.id)
        {
            Some("the bad end")
        } else if saved.commits != range.documents[1..] {
            Some("the history between the ends")
        } else {
            None
        };
        if let Some(what) = differs {
            return Err(BisectError::Another { what, path: self.path }.into());
        }
        self.make_records()?;
        self.document.arguments = arguments;
        self.document.confidence = terms.confidence;
        self.document.terms = Some(terms.clone());
        self.document.state = BisectState::Running;
        Ok(self)
    }

    /// Writes the state: a crash leaves this one or the one before.
    pub(super) fn write(&self) -> Result<(), FileError> {
        files::write_atomically(&self.path, &json_text(&self.document))
    }

    fn make_records(&self) -> Result<(), BisectError> {
        let folder = self.records();
        let make = || {
            files::make_own_folder(&self.path)?;
            files::make_folder(&std::path::absolute(&folder)?)
        };
        make().map_err(|source| BisectError::Folder { path: folder, source })
    }

    /// Returns the folder of the records of the steps.
    pub(super) fn records(&self) -> PathBuf {
        files::beside(&self.path, ".d")
    }
}
