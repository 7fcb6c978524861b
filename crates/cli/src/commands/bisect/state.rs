//! The state of a search on disk: written after every step, and gone on from.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use becalm_model::history::short_commit;
use becalm_model::terms::Terms;
use becalm_model::wire::{BISECT_SCHEMA, BisectDocument, BisectState, check_readable, json_text};

use super::range::Range;
use crate::error::CommandError;
use crate::files;
use crate::measuring::Repository;
use crate::old_arguments;

/// A search and the file that it is saved in.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) document: BisectDocument,
    pub(super) path: PathBuf,
}

impl Saved {
    /// Reads a search to go on with.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let text = files::read_text(path)?;
        let refused = |why: &dyn std::fmt::Display| {
            CommandError::measure(format!("cannot read {}: {why}", path.display()))
                .hint("expected a file that `becalm bisect` wrote")
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
            return Err(refused(&format!("it has {n} commits and speaks of number {wrong}")));
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
    ) -> Result<Self, CommandError> {
        let [good, bad] = [0, range.bad()].map(|end| short_commit(&range.commits[end].id));
        let path = place.unwrap_or_else(|| {
            repository.top().join(files::FOLDER).join(format!("bisect-{good}-{bad}.json"))
        });
        if let Ok(old) = Self::read(&path)
            && old.document.state == BisectState::Running
            && !old.document.steps.is_empty()
        {
            let shown = path.display();
            return Err(CommandError::usage(format!("an unfinished search is saved in {shown}"))
                .hint(format!(
                    "`becalm bisect --resume {shown}` goes on with it; remove the file to begin anew, or choose \
                     another with --state"
                )));
        }
        if path.exists() && Self::read(&path).is_err() {
            let shown = path.display();
            return Err(CommandError::usage(format!(
                "{shown} is there, and is no saved search: it was not replaced"
            ))
            .hint("choose another file with --state, or remove this one"));
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
    pub(super) fn note(&mut self, note: String) {
        let notes = &mut self.document.notes;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns the terms that it was begun with.
    pub(super) fn terms(&self) -> Result<Terms, CommandError> {
        let saved = || old_arguments::terms(&self.document.arguments, "bisect");
        self.document.terms.clone().or_else(saved).ok_or_else(|| {
            CommandError::usage("the file to resume was not written by `becalm bisect`")
        })
    }

    /// Returns the id of the good end.
    pub(super) fn good_id(&self) -> String {
        self.document.good.id.clone()
    }

    /// Returns the id of the bad end; `None` where the file names no commit.
    pub(super) fn bad_id(&self) -> Option<String> {
        self.document.commits.last().map(|one| one.id.clone())
    }

    /// Takes up a search again, if it is still the same.
    pub(super) fn go_on(
        mut self,
        range: &Range,
        words: &[String],
        terms: &Terms,
        arguments: Vec<String>,
    ) -> Result<Self, CommandError> {
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
            return Err(CommandError::usage(format!(
                "{what} is another than that of the search in {}",
                self.path.display()
            ))
            .hint("what was measured does not belong to it; begin anew without --resume"));
        }
        self.make_records()?;
        self.document.arguments = arguments;
        self.document.confidence = terms.confidence;
        self.document.terms = Some(terms.clone());
        self.document.state = BisectState::Running;
        Ok(self)
    }

    /// Writes the state: a crash leaves this one or the one before.
    pub(super) fn write(&self) -> Result<(), CommandError> {
        Ok(files::write_atomically(&self.path, &json(&self.document))?)
    }

    fn make_records(&self) -> Result<(), CommandError> {
        let folder = self.records();
        let make = || {
            files::make_own_folder(&self.path)?;
            files::make_folder(&std::path::absolute(&folder)?)
        };
        make().map_err(|error: std::io::Error| {
            CommandError::usage(format!("cannot make {}: {error}", folder.display()))
        })
    }

    /// Returns the folder of the records of the steps.
    pub(super) fn records(&self) -> PathBuf {
        files::beside(&self.path, ".d")
    }
}

/// Returns a search as JSON text.
pub(super) fn json(document: &BisectDocument) -> String {
    json_text(document)
}
