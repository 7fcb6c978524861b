//! Which commit made a program slower? A search for it, saved after every step.
//!
//! [`Bisection::begin`] reads the history between the ends and starts to save;
//! [`Bisection::search`] builds commits in worktrees and has them measured against the good end,
//! until one of them is the first of the new level.

mod answer;
mod error;
mod known;
mod range;
mod search;
mod state;
mod step;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use becalm_model::conditions::Pace;
use becalm_model::terms::{Exports, SubjectSource, Terms};
use becalm_model::wire::BisectDocument;
use becalm_runner::Interrupt;

pub use self::error::BisectError;
pub use self::state::SavedSearch;
pub use self::step::Measured;
use crate::conduct::Request;
use crate::error::Error;
use crate::event::Listener;
use crate::revisions::{Recipe, Repository, Revisions};
use crate::subjects::subjects;
use range::Range;
use search::Search;

/// What is searched for, and how.
#[derive(Debug)]
pub struct BisectRequest {
    /// The good end and the bad one.
    pub ends: [String; 2],
    /// The terms; their limits are those of the whole search.
    pub terms: Terms,
    /// The command line, for the state.
    pub arguments: Vec<String>,
    /// The search to continue.
    pub resumed: Option<SavedSearch>,
    /// Where a new one is saved, if not in the folder of becalm in the repository.
    pub place: Option<PathBuf>,
}

/// A search that can continue.
#[derive(Debug)]
pub struct Bisection {
    saved: SavedSearch,
    repository: Repository,
    range: Range,
    words: Vec<String>,
    terms: Terms,
}

impl Bisection {
    /// Begins a search, or continues one, if it is still the same. Nothing is built yet.
    pub fn begin(request: BisectRequest) -> Result<Self, Error> {
        let BisectRequest { ends: [good, bad], mut terms, arguments, resumed, place } = request;
        refuse_senseless(&terms)?;
        terms.exports = Exports::default();
        let repository = Repository::here("bisect")?;
        let range = Range::between(&repository, &good, &bad)?;
        let SubjectSource::Commands { commands } = &terms.source else {
            return Err(BisectError::NoCommand.into());
        };
        let words = subjects(commands, &terms.runs)?.remove(0).command;
        let saved = match resumed {
            Some(saved) => saved.go_on(&range, &words, &terms, arguments)?,
            None => SavedSearch::begin(&repository, &range, &words, &terms, place, arguments)?,
        };
        Ok(Self { saved, repository, range, words, terms })
    }

    /// Returns where it is saved.
    pub fn place(&self) -> &Path {
        &self.saved.path
    }

    /// Searches to the end; returns the state with the answer. Each step is a session, which `measure` carries out.
    pub fn search<E: From<Error>>(
        self,
        interrupt: &Interrupt,
        listener: Listener<'_>,
        measure: &dyn Fn(Request) -> Result<Measured, E>,
    ) -> Result<BisectDocument, E> {
        let Self { saved, repository, range, words, terms } = self;
        let (words, runs) = (&words[..], &terms.runs);
        let recipe = Recipe { words, runs, interrupt, listener };
        let revisions = Revisions::none(repository, recipe).map_err(Error::from)?;
        let (terms, range, built) = (&terms, &range, BTreeMap::new());
        Search { saved, revisions, recipe, terms, range, measure, built, started: Instant::now() }
            .run()
    }
}

fn refuse_senseless(terms: &Terms) -> Result<(), BisectError> {
    let runs = &terms.runs;
    let senseless = [
        (
            runs.pace == Pace::On,
            "--pace on: a search combines the rounds of several sessions, and the pace in one \
             says nothing about another",
        ),
        (runs.in_memory, "--in-memory"),
        (!runs.parameters.is_empty(), "a scan of parameters"),
        (runs.trace, "--trace"),
        (
            terms.exports.html.is_some() || terms.exports.markdown.is_some(),
            "an HTML or Markdown report",
        ),
        (!runs.names.is_empty(), "--name"),
    ];
    let first = senseless.into_iter().find(|(is_asked_for, _)| *is_asked_for);
    first.map_or(Ok(()), |(_, what)| Err(BisectError::Senseless(what)))
}
