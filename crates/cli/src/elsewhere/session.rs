//! A session on another machine, as if it were here.

use std::cell::RefCell;
use std::path::Path;

use becalm_fleet::{Around, Errand, FleetError, Frame, Outcome};
use becalm_model::terms::Elsewhere;
use becalm_model::{Record, SessionNote};
use becalm_session::{Event, Request, SessionLog, own_record, set_aside};

use super::floors;
use super::place::Place;
use super::{Steps, folder, printed, shown};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{Measured, interrupt, with_listener};
use crate::ui::Ui;

/// What has arrived of a session.
#[derive(Debug, Default)]
struct Arrived {
    log: Option<SessionLog>,
    outcome: Option<Box<Outcome>>,
    error: Option<CommandError>,
}

/// Carries out the session of a request on the host that its terms name.
pub(crate) fn conduct(
    request: Request,
    elsewhere: &Elsewhere,
    ui: &Ui,
) -> Result<Measured, CommandError> {
    let interrupt = interrupt()?;
    let host = elsewhere.host.as_str();
    let export = request.terms.exports.json.clone();
    let command = request.command.clone();
    let aside = set_aside(export.as_deref(), request.resumed_from.as_deref());
    if let Ok(Some(aside)) = &aside {
        with_listener(ui, |listener| listener.hears(Event::LogSetAside(aside)));
    }
    Errand::check(&request).map_err(FleetError::from)?;
    let place = Place::open(host, ui)?;
    ui.progress_line("reading the files to send");
    let errand = Errand::pack(request, &folder()?)?;
    let arrived = RefCell::new(Arrived::default());
    let steps = Steps::new(host, ui);
    let hear = |frame| arrived.borrow_mut().take(frame, export.as_deref(), ui);
    let around = Around { interrupt, step: &|step| steps.show(step), hear: &hear };
    let ended = place.session(errand, ui.terminal(), around);
    ui.progress_line("");
    let Arrived { log, outcome, error } = arrived.into_inner();
    let code = ended.map_err(|error| lost(error, log.as_ref(), &command))?;
    let Some(outcome) = outcome else {
        let exit = Exit::of_code(code);
        let error = error
            .unwrap_or_else(|| CommandError::measure(format!("{host} ended without a result")));
        return Err(CommandError { exit, ..error });
    };
    let measured = measured(*outcome, log, host)?;
    steps.advise(&measured.record);
    Ok(measured)
}

impl Arrived {
    fn take(&mut self, frame: Frame, export: Option<&Path>, ui: &Ui) {
        match shown(frame, ui) {
            Some(Frame::Log(lines)) => self.add_to_log(&lines, export, ui),
            Some(Frame::Session(outcome)) => self.outcome = Some(outcome),
            Some(Frame::Error { message, hints }) => {
                self.error = Some(super::error(&message, &hints));
            }
            _ => {}
        }
    }

    /// Keeps the lines that the far end has added to its log.
    fn add_to_log(&mut self, lines: &str, export: Option<&Path>, ui: &Ui) {
        if let Some(log) = &mut self.log {
            return log.add(lines);
        }
        // The first line says what session it is.
        let log = own_record(lines).map_err(|error| error.to_string()).and_then(|(record, _)| {
            SessionLog::start(lines, record.started_at, export).map_err(|e| e.to_string())
        });
        match log {
            Ok(log) => self.log = Some(log),
            Err(error) => ui.warn(format!("the runs are not kept here: {error}")),
        }
    }
}

/// Says how a session goes on whose connection was lost.
fn lost(error: FleetError, log: Option<&SessionLog>, command: &str) -> CommandError {
    let is_lost = matches!(error, FleetError::Lost { .. } | FleetError::JobLost { .. });
    let error = CommandError::from(error);
    let Some(log) = log.filter(|_| is_lost) else { return error };
    let path = log.path().display().to_string();
    let command = command.split(' ').next().unwrap_or_default();
    error.hint(format!(
        "`becalm {command} --resume {}` continues, with the rounds that have arrived and those that the host has finished \
         since",
        shell_words::quote(&path)
    ))
}

/// Returns what was measured there.
fn measured(
    outcome: Outcome,
    log: Option<SessionLog>,
    host: &str,
) -> Result<Measured, CommandError> {
    let Outcome { record, failure, at_fault, left_out, signal, is_machine_changed } = outcome;
    let (mut record, _) = own_record(&record).map_err(|error| {
        CommandError::measure(format!("what {host} has measured cannot be read: {error}"))
    })?;
    note_host(&mut record, host);
    floors::keep(host, &record);
    let failure = failure.map(|(message, hints)| super::error(&message, &hints));
    let left_out = left_out.iter().map(|how| printed(how.as_bytes())).collect();
    Ok(Measured { record, failure, at_fault, left_out, log, signal, is_machine_changed })
}

/// Says in the record where it was measured.
pub(super) fn note_host(record: &mut Record, host: &str) {
    let processor = record.machine.found("cpu_model").map(str::to_owned).unwrap_or_default();
    record.notes.retain(|note| !note.is_of_elsewhere());
    record.notes.insert(0, SessionNote::Elsewhere { host: host.to_owned(), processor }.into());
}
