//! The terms of sessions that were saved before records had any: read from the command line that they were saved with.

use becalm_model::terms::Terms;
use becalm_model::{Record, RecordKind};
use clap::{Args as _, FromArgMatches as _};

use crate::flags::{bisect, compare, run};

/// Returns the terms of a session from the words after `becalm`; `None` if they are of another
/// command, or no longer make sense.
pub(crate) fn terms(arguments: &[String], command: &str) -> Option<Terms> {
    if !is_of(arguments, command) {
        return None;
    }
    // Said to the terminal, and nothing of the session.
    let words = arguments.iter().enumerate();
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let words: Vec<&String> = words
        .filter(|(place, word)| *place > end || *word != "--quiet")
        .map(|(_, word)| word)
        .collect();
    let matches = |line: clap::Command| line.try_get_matches_from(&words).ok();
    let mut terms = match command {
        "compare" => {
            let matches = matches(compare::Args::augment_args(clap::Command::new("compare")))?;
            compare::Args::from_arg_matches(&matches).ok()?.terms(None).ok()?
        }
        "run" => {
            let matches = matches(run::Args::augment_args(clap::Command::new("run")))?;
            run::Args::from_arg_matches(&matches).ok()?.terms(None).ok()?
        }
        "bisect" => {
            let matches = matches(bisect::Args::augment_args(clap::Command::new("bisect")))?;
            bisect::Args::from_arg_matches(&matches).ok()?.terms(None).ok()?
        }
        _ => return None,
    };
    terms.primary = becalm_session::metrics(&terms).ok()?.primary;
    Some(terms)
}

/// Says whether the words after `becalm` are of this command: words before its name belong to every
/// command.
pub(crate) fn is_of(arguments: &[String], command: &str) -> bool {
    arguments.iter().find(|word| !word.starts_with('-')).is_some_and(|word| word == command)
}

/// Completes a record that was saved before records had terms.
pub(crate) fn complete(record: &mut Record) {
    if record.terms.is_none() && record.kind == RecordKind::Comparison {
        record.terms = terms(&record.arguments, "compare");
    }
}
