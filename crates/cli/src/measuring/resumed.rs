//! `--resume`: the saved session, and the terms by which it continues.

use std::path::{Path, PathBuf};

use becalm_machine::acts_for_caller;
use becalm_model::terms::{RunTerms, Terms, merge};
use becalm_model::{Record, RecordKind};
use becalm_session::{Error, PARTIAL, ResumeError, files, resume};

use crate::error::CommandError;
use crate::flags::conditions::ConditionFlags;
use crate::flags::{ExportFlags, MeasureFlags, words};
use crate::old_arguments;
use crate::records;
use crate::ui::Ui;

/// A session to continue.
#[derive(Debug)]
pub(crate) struct Resumed {
    /// What it has.
    pub(crate) record: Record,
    /// Its terms, with the place where it will be saved again.
    terms: Terms,
    /// Where it was read from.
    pub(crate) path: PathBuf,
}

impl Resumed {
    /// Reads it; it must be a session of `command`.
    pub(crate) fn read(path: &Path, command: &str) -> Result<Self, CommandError> {
        let mut record = read(path)?;
        let mut terms = match record.terms.take() {
            Some(terms) if is_of(&record, command) => terms,
            Some(_) => return Err(not_of(command)),
            // Saved before records had terms.
            None => {
                old_arguments::terms(&record.arguments, command).ok_or_else(|| not_of(command))?
            }
        };
        record.terms = Some(terms.clone());
        terms.exports = resume::exports(path, &terms.exports);
        // What is printed is asked for each time.
        terms.exports.print = false;
        Ok(Self { record, terms, path: path.to_owned() })
    }

    /// Says which reports are written again because the session was started with them.
    fn say_what_is_written_again(&self, given: &ExportFlags, ui: &Ui) {
        let saved = &self.terms.exports;
        let reports = [
            (&saved.html, &given.report.export_html),
            (&saved.markdown, &given.report.export_markdown),
        ];
        for (saved, given) in reports {
            if let (Some(path), None) = (saved, given) {
                ui.say(format!(
                    "{} is written again, because the session was started with it",
                    path.display()
                ));
            }
        }
    }
}

/// Returns the terms of a session with the command line that makes it: as given, or with those of
/// the session that it continues.
pub(crate) fn begun(
    command: &str,
    flags: &MeasureFlags,
    given: &[String],
    terms: impl Fn(Option<Terms>) -> Result<Terms, CommandError>,
    ui: &Ui,
) -> Result<(Terms, Vec<String>, Option<Resumed>), CommandError> {
    let Some(path) = &flags.resume else { return Ok((terms(None)?, given.to_vec(), None)) };
    let resumed = Resumed::read(path, command)?;
    if acts_for_caller() {
        refuse_borrowing(&resumed.terms.runs, &flags.conditions)?;
    }
    let terms = merged(&resumed.terms, terms(Some(resumed.terms.clone()))?)?;
    resumed.say_what_is_written_again(&flags.exports, ui);
    let arguments = words::of(command, &terms);
    Ok((terms, arguments, Some(resumed)))
}

/// Fails if a saved session asks for something that needs root: anybody may have written the file.
/// The user has to ask for it again.
fn refuse_borrowing(saved: &RunTerms, given: &ConditionFlags) -> Result<(), CommandError> {
    let asks = [
        ("--tune", saved.tune.is_some() && given.tune.is_none()),
        ("--isolate", saved.isolate && !given.isolate),
        ("--scheduler", saved.scheduler.is_some() && given.scheduler.is_none()),
        ("--nice", saved.nice.is_some() && given.nice.is_none()),
    ];
    let missing: Vec<&str> =
        asks.iter().filter(|(_, is_missing)| *is_missing).map(|(flag, _)| *flag).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let flags = missing.join(", ");
    Err(CommandError::usage(format!("the saved session was made with {flags}, which needs root"))
        .hint(format!(
            "when called through sudo, becalm takes that only from the command line: add {flags}"
        )))
}

/// Returns the terms `now`, by which a session of the terms `before` continues.
pub(crate) fn merged(before: &Terms, now: Terms) -> Result<Terms, CommandError> {
    Ok(merge(before, now).map_err(|error| Error::from(ResumeError::from(error)))?)
}

fn is_of(record: &Record, command: &str) -> bool {
    let kind = match command {
        "compare" => RecordKind::Comparison,
        _ => RecordKind::Run,
    };
    record.kind == kind && old_arguments::is_of(&record.arguments, command)
}

fn not_of(command: &str) -> CommandError {
    CommandError::usage(format!("the file to resume was not written by `becalm {command}`"))
}

fn read(path: &Path) -> Result<Record, CommandError> {
    let log = files::beside(path, PARTIAL);
    let read = records::read_as_it_is(path).map(|(mut record, is_log)| {
        if is_log {
            // A log says what was before anything was learnt of the subjects.
            record.conditions.affinity = None;
            record.conditions.scheduler = None;
            record.conditions.limits.clear();
        }
        record
    });
    if let Ok(record) = &read
        && record.is_of_one_program()
    {
        return Err(records::nothing_in(path).hint("start a new session, without --resume"));
    }
    read.map_err(|error| {
        if path.exists() || !log.exists() {
            return error;
        }
        // Killed before it could save anything else.
        let log = log.display();
        error.hint(format!("the log of a session that was killed exists: --resume {log}"))
    })
}
