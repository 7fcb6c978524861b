//! How a session ended: what failed, what was kept, and what the command reports.

use std::path::{Path, PathBuf};

use becalm_fleet::{Frame, Outcome};
use becalm_model::load::Distrust;
use becalm_model::terms::Exports;
use becalm_model::{DisturbedRun, Record, RecordKind, Verdict, counted, with_causes};
use becalm_report::{limit_sentence, note_sentence, own_timing};
use becalm_runner::rounds::{RunError, ServerError, SessionError};
use becalm_session::{Request, Session, SessionLog, disturbed_runs, files};

use super::export::{check_exports, export, remember, without_those_that_stay};
use super::listener::{interrupt, with_listener};
use super::measured::Measured;
use super::traced;
use crate::elsewhere;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::records;
use crate::ui::Ui;

/// Carries out a session, here or on the host that its terms name, and writes the files that they ask for.
pub(crate) fn conduct(request: Request, ui: &Ui) -> Result<Finished, CommandError> {
    let exports = match ui.writer() {
        // The near end writes them.
        Some(_) => Exports { print: request.terms.exports.print, ..Exports::default() },
        None => request.terms.exports.clone(),
    };
    check_exports(&exports)?;
    let measured = match request.terms.elsewhere.clone().filter(|_| ui.writer().is_none()) {
        Some(place) => elsewhere::conduct(request, &place, ui)?,
        None => here(request, ui)?,
    };
    if let Some(writer) = ui.writer() {
        writer.send(&Frame::Session(Box::new(measured.outcome())));
    }
    Ok(measured.finish(&exports, ui))
}

/// Carries out a session on this machine.
fn here(request: Request, ui: &Ui) -> Result<Measured, CommandError> {
    let interrupt = interrupt()?;
    let session =
        with_listener(ui, |listener| becalm_session::conduct(request, interrupt, listener))?;
    let Session { mut record, disturbed: _, result, cleaned, left_out, log, signal, machine } =
        session;
    drop_repeated(&mut record.notes, note_sentence);
    drop_repeated(&mut record.conditions.limits, limit_sentence);
    let is_machine_changed = match machine {
        Ok(is_restored) => !is_restored,
        Err(error) => {
            ui.error(&error.into());
            true
        }
    };
    let at_fault = result.as_ref().err().and_then(at_fault).map(str::to_owned);
    let harness = own_timing(&record.conditions.harness);
    let failure = failure(result, cleaned, harness.as_deref());
    Ok(Measured { record, failure, at_fault, left_out, log, signal, is_machine_changed })
}

impl Measured {
    /// Returns it for the near end of a connection.
    fn outcome(&self) -> Outcome {
        let failure = self.failure.as_ref();
        Outcome {
            record: becalm_model::wire::unworded(&self.record),
            failure: failure.map(|error| (error.message.clone(), error.hints.clone())),
            at_fault: self.at_fault.clone(),
            left_out: self.left_out.clone(),
            signal: self.signal,
            is_machine_changed: self.is_machine_changed,
        }
    }

    /// Writes the files that are asked for.
    fn finish(self, exports: &Exports, ui: &Ui) -> Finished {
        let Self { record, failure, at_fault, left_out, log, signal, is_machine_changed } = self;
        let disturbed = disturbed_runs(&record);
        let exports = without_those_that_stay(exports, &record, ui);
        if record.runs.iter().any(|run| !run.warmup) {
            remember(&record);
        }
        let saved = export(&record, &disturbed, &exports);
        let (failure, kept) = keep(log, &record, &exports, Outcomes { failure, saved }, ui);
        Finished {
            print_json: exports.print,
            record,
            disturbed,
            failure,
            at_fault,
            left_out,
            signal,
            kept,
            is_machine_changed,
        }
    }
}

/// Drops what repeats an earlier one: a record of an earlier version has sentences alone.
fn drop_repeated<T>(all: &mut Vec<T>, sentence: impl Fn(&T) -> String) {
    let mut said: Vec<String> = Vec::new();
    all.retain(|one| {
        let sentence = sentence(one);
        let is_new = !said.contains(&sentence);
        said.push(sentence);
        is_new
    });
}

/// A session that ended, well or not.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Whether the record is printed as JSON.
    print_json: bool,
    /// Everything that was measured.
    pub(crate) record: Record,
    /// Which runs were disturbed.
    pub(crate) disturbed: Vec<DisturbedRun>,
    /// What ended it early, after saving the finished rounds.
    pub(crate) failure: Option<CommandError>,
    /// The name of the subject whose program caused that, if one did.
    pub(crate) at_fault: Option<String>,
    /// Failures of subjects without which the session continued.
    left_out: Vec<String>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// The file that an unfinished session can be continued from.
    kept: Option<PathBuf>,
    /// Whether a setting of the machine could not be put back; this was reported when it happened.
    is_machine_changed: bool,
}

/// Most failures that are reported one by one.
const MOST_TOLD: usize = 10;

/// Results of the parts of a session that can fail one by one.
#[derive(Debug)]
struct Outcomes {
    /// What ended the runs early.
    failure: Option<CommandError>,
    saved: Result<(), CommandError>,
}

impl Finished {
    /// Prints the result and says how the command ended.
    pub(crate) fn report(
        self,
        text: impl Fn(&Record, &[DisturbedRun]) -> String,
        ui: &Ui,
    ) -> Result<Exit, CommandError> {
        let measured = self.record.runs.iter().any(|run| !run.warmup);
        let printed = if self.print_json {
            ui.print(&records::json(&self.record))
        } else if measured {
            ui.print(&text(&self.record, &self.disturbed))
                .and_then(|()| ui.print(&traced::text(&self.record, ui)))
        } else {
            Ok(())
        };
        match (printed, self.end(ui)) {
            (Ok(()), ended) => ended,
            (Err(error), Ok(exit @ Exit::NotRestored)) => Err(CommandError { exit, ..error }),
            (Err(error), Ok(_)) => Err(error),
            (Err(error), Err(failed)) => Err(failed.hint(format!("also: {}", error.message))),
        }
    }

    /// Returns it as the end of a command that cannot continue an unfinished session, and so does
    /// not offer it.
    #[must_use]
    pub(crate) fn once_only(self) -> Self {
        Self { kept: None, ..self }
    }

    /// Says which benchmarks failed, while the others were measured.
    fn without_some(&self, ui: &Ui) -> CommandError {
        for how in self.left_out.iter().take(MOST_TOLD) {
            ui.warn(how);
        }
        // Many that fail alike, as where nothing was built, are no page.
        if let Some(more) = self.left_out.len().checked_sub(MOST_TOLD).filter(|&more| more > 0) {
            ui.warn(format!("and {more} more, listed among the notes"));
        }
        let all = self.record.subjects.len();
        let failed = self.left_out.len();
        CommandError::measure(format!("{failed} of {} failed", counted(all, "benchmark")))
    }

    /// Says how the command ended, with everything printed already.
    pub(crate) fn end(self, ui: &Ui) -> Result<Exit, CommandError> {
        if let Some(mut error) = self.failure {
            if self.is_machine_changed {
                error.exit = Exit::NotRestored;
            } else if let Some(signal) = self.signal {
                error.exit = Exit::Signal(signal);
            }
            return Err(error);
        }
        if self.is_machine_changed {
            return Ok(Exit::NotRestored);
        }
        if let Some(signal) = self.signal {
            match self.kept {
                None => ui.say(format!("stopped by signal {signal}")),
                Some(kept) => {
                    let command = match self.record.kind {
                        RecordKind::Comparison => "compare",
                        RecordKind::Run | RecordKind::Import => "run",
                    };
                    let file = shell_words::quote(&kept.to_string_lossy()).into_owned();
                    ui.say(format!(
                        "stopped by signal {signal}; `becalm {command} --resume {file}` continues"
                    ));
                }
            }
            return Ok(Exit::Signal(signal));
        }
        if !self.left_out.is_empty() {
            return Err(self.without_some(ui));
        }
        let is_asked = self.record.kind == RecordKind::Comparison && !self.record.aa;
        let mut deciding = self.record.comparisons.iter().filter(|one| one.primary).peekable();
        // Where nothing could be compared, nothing was decided.
        let undecided =
            deciding.peek().is_none() || deciding.any(|one| one.verdict == Verdict::Inconclusive);
        Ok(if is_asked && undecided { Exit::Inconclusive } else { Exit::Done })
    }
}

/// Returns what failed, and the file that an unfinished session can be continued from. The log is removed
/// where it holds no more than the record that was saved.
fn keep(
    log: Option<SessionLog>,
    record: &Record,
    exports: &Exports,
    outcomes: Outcomes,
    ui: &Ui,
) -> (Option<CommandError>, Option<PathBuf>) {
    let unfinished = record.interrupted.is_some();
    let path = log.as_ref().map(|log| log.path().to_owned());
    let kept = match &exports.json {
        Some(path) if outcomes.saved.is_ok() && !files::is_special(path) => Some(path.clone()),
        _ => path,
    };
    let log_error = log.as_ref().and_then(SessionLog::error).map(CommandError::from);
    let log_error = match log_error {
        // Nobody needs it any more.
        Some(error) if !unfinished && outcomes.saved.is_ok() => {
            ui.warn(error.message);
            None
        }
        other => other,
    };
    let has_rounds = record.runs.iter().any(|run| !run.warmup);
    let kept_rounds = kept.as_deref().filter(|_| has_rounds);
    let failure = all_failures(outcomes, log_error, kept_rounds);
    if let Some(log) = log
        && exports.json.is_some()
        && failure.is_none()
        && !unfinished
    {
        log.remove();
    }
    (failure, kept.filter(|_| unfinished))
}

/// Returns what failed, the first failure first, and where the rounds before it are `kept`.
fn all_failures(
    outcomes: Outcomes,
    log_error: Option<CommandError>,
    kept: Option<&Path>,
) -> Option<CommandError> {
    let log_is_whole = log_error.is_none();
    let mut errors = outcomes.failure.into_iter().chain(outcomes.saved.err()).chain(log_error);
    let mut first = errors.next()?;
    for more in errors {
        first = first.hint(format!("also: {}", more.message));
    }
    if let Some(kept) = kept.filter(|_| log_is_whole) {
        first =
            first.hint(format!("every round that finished before that is in {}", kept.display()));
    }
    Some(first)
}

/// Returns what ended the runs early.
fn failure(
    result: Result<(), SessionError<RunError>>,
    cleaned: Result<(), RunError>,
    harness: Option<&str>,
) -> Option<CommandError> {
    let error = match (result, cleaned) {
        (Err(error), _) => error,
        (Ok(()), Err(error)) => return Some(CommandError::measure(with_causes(&error))),
        (Ok(()), Ok(())) => return None,
    };
    let failed = CommandError::measure(error.in_full());
    if let SessionError::Run(error) = &error {
        return Some(match server_hint(error) {
            Some(hint) => failed.hint(hint),
            None => failed,
        });
    }
    Some(failed.hint(match harness {
        None => {
            "its runs are not used; -i accepts failing runs, --output inherit shows all its output"
                .to_owned()
        }
        Some(told) => {
            format!("to see its output, run it without becalm, with the same additions: {told}")
        }
    }))
}

/// Returns what to do about a server that cannot be loaded.
fn server_hint(error: &RunError) -> Option<&'static str> {
    let source = match error {
        RunError::Said { error, .. } => return server_hint(error),
        RunError::Server { source, .. } => source,
        _ => return None,
    };
    match &**source {
        ServerError::EndedBefore { outcome } if outcome.is_success() => {
            Some("a server has to stay in the foreground, as in nginx -g 'daemon off;'")
        }
        ServerError::NotReady { .. } => Some(
            "--ready names another URL, a port, or a part of a line that shows that it is ready",
        ),
        ServerError::Taken { .. } => {
            Some("stop what is there, or write {port} into --url and the command, for a free port")
        }
        source if source.is_of_silence() => {
            Some("the server answers hardly anything at this rate: ask for a lower one")
        }
        ServerError::NotBelieved { reason, .. } => Some(match reason {
            Distrust::LateGenerator { .. } | Distrust::BusyPacer { .. } => {
                "stop other programs, or ask for a lower rate"
            }
            Distrust::PoolTooSmall { .. } | Distrust::Unsent { .. } => {
                "set connections=5000 in --load, or ask for a lower rate"
            }
            Distrust::Exhausted { .. } => {
                "open fewer connections (new-connections=false in --load, a server that keeps them open), ask for a \
                 lower rate, or raise `ulimit -n`"
            }
            Distrust::SlowConnecting { .. } => "load for longer, or ask for a lower rate",
        }),
        _ => None,
    }
}

/// Returns the name of the subject whose program ended a session.
fn at_fault(error: &SessionError<RunError>) -> Option<&str> {
    match error {
        SessionError::Run(error) => error.at_fault(),
        SessionError::Failed { subject, .. } => Some(subject),
    }
}
