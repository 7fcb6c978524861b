//! `becalm bisect`: which commit made it slower?

mod check;

use std::path::Path;

use becalm_model::terms::Exports;
use becalm_model::wire::{BisectDocument, BisectState, json_text};
use becalm_report::WORDS;
use becalm_session::bisect::{BisectRequest, Bisection, Measured, SavedSearch};
use becalm_session::{Request, files};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::bisect::Args;
use crate::flags::words;
use crate::measuring::{conduct, interrupt, merged, with_listener};
use crate::old_arguments;
use crate::ui::Ui;

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let request = request(args, given)?;
    let exports = request.terms.exports.clone();
    if let Some(path) = &exports.json {
        files::check_writable(path)?;
    }
    let search = Bisection::begin(request)?;
    let place = search.place().to_owned();
    let interrupt = interrupt()?;
    let document = with_listener(ui, |listener| {
        search.search(interrupt, listener, &|request| measure(request, ui))
    });
    finish(&document.map_err(|error| with_resume(error, &place))?, &exports, ui)
}

fn request(args: &Args, given: &[String]) -> Result<BisectRequest, CommandError> {
    let head = || "HEAD".to_owned();
    let [good, bad] = [args.good.clone(), args.bad.clone()];
    let (terms, arguments, resumed, ends) = match &args.flags.resume {
        None => {
            let ends = [good, bad].map(|end| end.unwrap_or_else(head));
            (args.terms(None)?, given.to_vec(), None, ends)
        }
        Some(path) => {
            let saved = SavedSearch::read(path)?;
            let document = &saved.document;
            let old = || old_arguments::terms(&document.arguments, "bisect");
            let before = document.terms.clone().or_else(old).ok_or_else(|| {
                CommandError::usage("the file to resume was not written by `becalm bisect`")
            })?;
            let terms = merged(&before, args.terms(Some(before.clone()))?)?;
            // Branches move, and the ends of the search stay.
            let last = document.commits.last().map(|one| one.id.clone());
            let good = good.unwrap_or_else(|| document.good.id.clone());
            let ends = [good, bad.or(last).unwrap_or_else(head)];
            (terms.clone(), words::of_bisect(&terms, &ends), Some(saved), ends)
        }
    };
    Ok(BisectRequest { ends, terms, arguments, resumed, place: args.state.clone() })
}

/// Measures a step, and saves its whole record at the place that its terms name.
fn measure(request: Request, ui: &Ui) -> Result<Measured, CommandError> {
    let name = request.subjects[1].name.clone();
    let finished = conduct(request, &ui.hushed())?.once_only();
    let record = Box::new(finished.record.clone());
    if let Some(signal) = finished.signal {
        return Ok(Measured::Until(signal, record));
    }
    let is_of_commit = finished.at_fault.as_ref() == Some(&name);
    match finished.end(ui) {
        Err(error) if is_of_commit && error.exit == Exit::CouldNotMeasure => {
            Ok(Measured::Unusable(error.message))
        }
        Err(error) => Err(error),
        // A machine that could not be put back ends the search.
        Ok(Exit::NotRestored) => {
            Err(CommandError::not_restored("a setting of the machine could not be put back"))
        }
        Ok(_) => Ok(Measured::Whole(record)),
    }
}

/// Says how to continue an interrupted search.
fn with_resume(error: CommandError, place: &Path) -> CommandError {
    let place = place.display().to_string();
    let resume =
        format!("`becalm bisect --resume {}` continues the search", shell_words::quote(&place));
    match error.exit {
        Exit::Signal(_) => error.hint(resume),
        Exit::CouldNotMeasure => error.hint(format!(
            "every earlier step is saved; when you have fixed the problem, {resume}"
        )),
        _ => error,
    }
}

/// Prints and saves the answer.
fn finish(document: &BisectDocument, exports: &Exports, ui: &Ui) -> Result<Exit, CommandError> {
    let document = &document.with_words(&WORDS);
    if let Some(path) = &exports.json {
        files::write_atomically(path, &json_text(document))?;
    }
    ui.print_either(exports.print, document, |style| {
        becalm_report::bisect_text(document, &check::command(document), style)
    })?;
    Ok(if document.state == BisectState::Found { Exit::Done } else { Exit::Inconclusive })
}
