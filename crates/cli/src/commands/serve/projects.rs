//! Which histories one server shows, and the tokens that count in each.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use becalm_report::printable;
use becalm_series::{Access, HistoryLocation, StoreError, Token, open};
use becalm_session::Repository;
use becalm_web::{History, ProjectName, ProjectNameError, Projects};

use super::super::history::{Settings, StoreFlags, commits, place_of, record_page};
use crate::error::CommandError;
use crate::ui::Ui;

/// How long the databases of several projects are waited for before the others are shown.
const ANSWERING: Duration = Duration::from_secs(12);

/// Returns the only history, and its tokens.
pub(super) fn only(
    flags: &StoreFlags,
    settings: &Settings,
) -> Result<(Projects, Vec<Token>), CommandError> {
    // Whatever is wrong with it is said here and not on a page.
    let tokens = flags.open_for_reading(settings)?.tokens()?;
    let place = flags.place(settings)?;
    let history = History::new(place, settings.change_terms(), record_page, commits()?);
    let is_shallow = Repository::find()?.is_some_and(|repository| repository.is_shallow());
    let history = if is_shallow { history.without_saving() } else { history };
    Ok((history.into(), tokens))
}

/// Returns several projects, and all of their tokens. Where the history of one cannot be read now, the others are shown.
pub(super) fn several(
    projects: &[String],
    flags: &StoreFlags,
    settings: &Settings,
    ui: &Ui,
) -> Result<(Projects, Vec<Token>), CommandError> {
    if flags.is_named() {
        return Err(CommandError::usage("--store and --project cannot be combined")
            .hint("name each history with --project NAME=PLACE"));
    }
    let mut named: Vec<(ProjectName, HistoryLocation)> = Vec::new();
    for text in projects {
        let (name, place) = project(text)?;
        if named.iter().any(|(other, _)| *other == name) {
            return Err(CommandError::usage(format!("--project {name}: the name is given twice")));
        }
        named.push((name, place));
    }
    let found = tokens_of(named.iter().map(|(_, place)| place.clone()).collect());
    let mut all = Vec::new();
    let mut histories = Vec::new();
    for ((name, place), found) in named.into_iter().zip(found) {
        let tokens = match found {
            Some(Ok(tokens)) => Ok(tokens),
            Some(Err(error @ StoreError::HistoryLocation { .. })) => {
                return Err(CommandError::usage(format!("--project {name}: {error}")));
            }
            Some(Err(error)) => Err(error.to_string()),
            None => Err("its database does not answer".to_owned()),
        };
        let warn = |why: &String| {
            ui.warn(format!("project {name}: {why}; its pages say so until it can be read"));
        };
        let tokens = tokens.inspect_err(warn).ok();
        all.extend(tokens.iter().flatten().cloned());
        // The repository around becalm is of one project at most.
        let commits = Box::new(|_: &str| None);
        histories.push((
            name,
            History::new(place, settings.change_terms(), record_page, commits),
            tokens,
        ));
    }
    Ok((Projects::named(histories), all))
}

/// Reads the tokens of all of these histories at the same time; `None` where a database says nothing.
fn tokens_of(places: Vec<HistoryLocation>) -> Vec<Option<Result<Vec<Token>, StoreError>>> {
    let mut found: Vec<_> = places.iter().map(|_| None).collect();
    let (send, receive) = mpsc::channel();
    for (at, place) in places.into_iter().enumerate() {
        let send = send.clone();
        std::thread::spawn(move || {
            let tokens = open(&place, Access::Read).and_then(|mut store| store.tokens());
            // Nobody waits any more.
            let _ = send.send((at, tokens));
        });
    }
    drop(send);
    let began = Instant::now();
    while let Ok((at, tokens)) = receive.recv_timeout(ANSWERING.saturating_sub(began.elapsed())) {
        found[at] = Some(tokens);
    }
    found
}

/// Reads `NAME=PLACE`. What is said of a wrong one does not repeat the place, which may have a password.
fn project(text: &str) -> Result<(ProjectName, HistoryLocation), CommandError> {
    let parts = text.split_once('=').filter(|(name, place)| {
        // Where the name was forgotten, this is a part of a place.
        !place.is_empty() && !name.contains(['/', ':', '@'])
    });
    let Some((name, place)) = parts else {
        return Err(CommandError::usage("--project must have the form NAME=PLACE"));
    };
    let wrong = |why: String| CommandError::usage(format!("--project {}: {why}", printable(name)));
    match name.parse() {
        Ok(name) => Ok((name, place_of(place))),
        Err(ProjectNameError::Unusual { most }) => Err(wrong(format!(
            "a name has up to {most} letters, digits, `-`, `_` or `.`, and begins with a letter or digit"
        ))),
        Err(ProjectNameError::Reserved) => {
            Err(wrong("addresses of the server begin with this name: choose another".to_owned()))
        }
    }
}
