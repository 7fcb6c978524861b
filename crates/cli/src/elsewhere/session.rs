//! A session on another machine, as if it were here.

use std::cell::RefCell;
use std::path::Path;

use becalm_fleet::{Around, Errand, FleetError, Frame, Outcome};
use becalm_model::terms::Elsewhere;
use becalm_model::{Record, SessionNote};
use becalm_session::{Event, Request, SessionLog, own_record, set_aside};

use super::floors;
use super::place::Place;
use super::{Arrived, Steps, folder, printed};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{Measured, interrupt, with_listener};
use crate::ui::Ui;

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
    let log = RefCell::new(None);
    let steps = Steps::new(host, ui);
    let hear = |frame| {
        let rest = arrived.borrow_mut().take(frame, ui);
        if let Some(Frame::Log(lines)) = rest {
            keep(&mut log.borrow_mut(), &lines, export.as_deref(), ui);
        }
    };
    let around = Around { interrupt, step: &|step| steps.show(step), hear: &hear };
    let ended = place.carry_out(errand, ui.terminal(), around);
    ui.progress_line("");
    let Arrived { outcome, error } = arrived.into_inner();
    let log: Option<SessionLog> = log.into_inner();
    let code = ended.map_err(|error| lost(error, log.as_ref(), &command))?;
    let Some(outcome) = outcome else {
        let exit = Exit::of_code(code);
        let error = error
            .unwrap_or_else(|| CommandError::measure(format!("{host} ended without a result")));
        return Err(CommandError { exit, ..error });
    };
    let measured = measured(*outcome, log, host, place.clock_ahead())?;
    steps.advise(&measured.record);
    Ok(measured)
}

/// Keeps the lines that the far end has added to its log.
fn keep(log: &mut Option<SessionLog>, lines: &str, export: Option<&Path>, ui: &Ui) {
    if let Some(log) = log {
        return log.add(lines);
    }
    // The first line says what session it is.
    let started = own_record(lines).map_err(|error| error.to_string()).and_then(|(record, _)| {
        SessionLog::start(lines, record.started_at, export).map_err(|error| error.to_string())
    });
    match started {
        Ok(started) => *log = Some(started),
        Err(error) => ui.warn(format!("cannot save the runs here: {error}")),
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
    clock_ahead: Option<i64>,
) -> Result<Measured, CommandError> {
    let Outcome { record, failure, at_fault, left_out, signal, is_machine_changed } = outcome;
    let record = record_of(&record, host, clock_ahead)?;
    floors::keep(host, &record);
    let failure = failure.map(|(message, hints)| super::error(&message, &hints));
    let left_out = left_out.iter().map(|how| printed(how.as_bytes())).collect();
    Ok(Measured { record, failure, at_fault, left_out, log, signal, is_machine_changed })
}

/// Reads the record that a far end has sent, and says in it where it was measured, and by which clock.
pub(super) fn record_of(
    sent: &str,
    host: &str,
    clock_ahead: Option<i64>,
) -> Result<Record, CommandError> {
    let (mut record, _) = own_record(sent).map_err(|error| {
        CommandError::measure(format!("cannot read what {host} has measured: {error}"))
    })?;
    let processor = record.machine.found("cpu_model").map(str::to_owned).unwrap_or_default();
    record.notes.retain(|note| !note.is_of_elsewhere());
    let note = SessionNote::Elsewhere { host: host.to_owned(), processor, clock_ahead };
    record.notes.insert(0, note.into());
    Ok(record)
}
