//! `becalm bisect`: which commit made it slower?

mod answer;
mod check;
mod known;
mod measure;
mod range;
mod search;
mod state;

use std::ffi::OsString;

use becalm_model::conditions::Pace;
use becalm_model::terms::{Exports, SubjectSource, Terms};
use becalm_model::wire::{BisectDocument, BisectState};
use becalm_session::{Recipe, Revisions, subjects};

use self::range::Range;
use self::search::Search;
use self::state::Saved;
use crate::caller;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::flags::bisect::Args;
use crate::flags::words;
use crate::measuring::{Repository, as_texts, merged, with_listener};
use crate::ui::Ui;

pub(crate) fn run(args: &Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let ends = [args.good.clone(), args.bad.clone()];
    let (mut terms, arguments, resumed, ends) = match &args.flags.resume {
        None => (args.terms(None)?, as_texts(given), None, ends),
        Some(path) => {
            let saved = Saved::read(path)?;
            let before = saved.terms()?;
            let terms = merged(&before, args.terms(Some(before.clone()))?)?;
            // Branches move, and the ends of the search stay.
            let [good, bad] = ends;
            let ends = [good.or_else(|| Some(saved.good_id())), bad.or_else(|| saved.bad_id())];
            let arguments = words::of_bisect(&terms, &ends);
            (terms, arguments, Some(saved), ends)
        }
    };
    refuse_senseless(&terms)?;
    let exports = std::mem::take(&mut terms.exports);
    if let Some(path) = &exports.json {
        files::check_writable(path)?;
    }
    let user = caller::subject_user(terms.runs.keep_root);
    let repository = Repository::here("bisect", user.clone())?;
    let [good, bad] = ends.map(|end| end.unwrap_or_else(|| "HEAD".to_owned()));
    let range = Range::between(&repository, &good, &bad)?;
    let SubjectSource::Commands { commands } = &terms.source else {
        return Err(CommandError::usage("a search needs a command"));
    };
    let words = subjects(commands, &terms.runs)?.remove(0).command;
    let saved = match resumed {
        Some(saved) => saved.go_on(&range, &words, &terms, arguments)?,
        None => Saved::begin(&repository, &range, &words, &terms, args.state.clone(), arguments)?,
    };
    let interrupt = caller::interrupt()?;
    let document = with_listener(ui, |listener| {
        let (runs, user) = (&terms.runs, user.as_ref());
        let recipe = Recipe { words: &words, runs, user, interrupt, listener };
        let revisions = Revisions::none(repository, recipe)?;
        Search::new(saved, revisions, recipe, &terms, &range, ui).run()
    })?;
    finish(&document, &exports, ui)
}

fn refuse_senseless(terms: &Terms) -> Result<(), CommandError> {
    let runs = &terms.runs;
    if runs.pace == Pace::On {
        return Err(CommandError::usage(
            "bisect cannot be had together with --pace on: it puts the rounds of several sessions together, \
             and the pace of one says nothing about another",
        ));
    }
    let senseless = if runs.in_memory {
        "--in-memory"
    } else if !runs.parameters.is_empty() {
        "a scan of parameters"
    } else if runs.trace {
        "--trace"
    } else if terms.exports.html.is_some() || terms.exports.markdown.is_some() {
        "an HTML or Markdown report"
    } else if !runs.names.is_empty() {
        "--name"
    } else {
        return Ok(());
    };
    Err(CommandError::usage(format!("bisect cannot be had together with {senseless}")))
}

/// Prints and saves the answer.
fn finish(document: &BisectDocument, exports: &Exports, ui: &Ui) -> Result<Exit, CommandError> {
    if let Some(path) = &exports.json {
        files::write_atomically(path, &state::json(document))?;
    }
    if exports.print {
        ui.print(&state::json(document))?;
    } else {
        let check = check::command(document);
        ui.print(&becalm_report::bisect_text(document, &check, ui.style()))?;
    }
    Ok(if document.state == BisectState::Found { Exit::Done } else { Exit::Inconclusive })
}
