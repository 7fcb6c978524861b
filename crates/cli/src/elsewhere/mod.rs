//! `--on HOST`: sessions and other commands on another machine.

mod command;
mod floors;
mod place;
mod printed;
mod session;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use becalm_fleet::{Connection, Frame, Host, Hosts, Outcome, Step};

pub(crate) use self::command::status;
pub(crate) use self::command::{Asked, on_host};
pub(crate) use self::floors::floors;
pub(crate) use self::place::cluster;
use self::printed::printed;
pub(crate) use self::session::conduct;
use crate::error::CommandError;
use crate::ui::Ui;
use becalm_model::{Limit, Record, SessionLimit};

/// Returns the host that the user calls by this name.
pub(crate) fn host(name: &str) -> Result<Host, CommandError> {
    Ok(hosts()?.host(name)?)
}

/// Returns the hosts of the user's file.
pub(crate) fn hosts() -> Result<Hosts, CommandError> {
    Ok(Hosts::file().map_or_else(|| Ok(Hosts::default()), |path| Hosts::read(&path))?)
}

/// Seconds by which clocks may differ before becalm says so.
const NOTABLE: i64 = 60;

/// Connects to a host, and copies becalm there where it is not there yet.
fn connect(host: &Host, ui: &Ui) -> Result<Connection, CommandError> {
    ui.progress_line(&format!("connecting to {}", host.name));
    let steps = Steps::new(&host.name, ui);
    let connected = Connection::open(host, &|step| steps.show(step));
    ui.progress_line("");
    let connection = connected?;
    if let Some(ahead) = clock_ahead(&connection) {
        let how = if ahead > 0 { "ahead of" } else { "behind" };
        ui.warn(format!(
            "the clock of {} is {} s {how} the clock here; times in the record are those of its clock",
            host.name,
            ahead.abs()
        ));
        ui.say(
            "hint: if that clock is wrong, `sudo timedatectl set-ntp true` sets it by the network",
        );
    }
    Ok(connection)
}

/// Returns by how many seconds the clock of a host is ahead of the one here, where that is notable.
fn clock_ahead(connection: &Connection) -> Option<i64> {
    Some(connection.installed().clock_ahead).filter(|ahead| ahead.abs() > NOTABLE)
}

/// Returns the current folder.
pub(crate) fn folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| {
        CommandError::measure(format!("cannot determine the current folder: {error}"))
    })
}

/// Shows what happens before the far end reports.
struct Steps<'a> {
    host: &'a str,
    ui: &'a Ui,
    drawn: RefCell<Option<Instant>>,
    is_not_root: Cell<bool>,
}

impl<'a> Steps<'a> {
    fn new(host: &'a str, ui: &'a Ui) -> Self {
        Self { host, ui, drawn: RefCell::new(None), is_not_root: Cell::new(false) }
    }

    /// Says how the user gets what was asked for, after a session that could not tune the machine.
    fn advise(&self, record: &Record) {
        let is_not_tuned =
            |limit: &Limit| matches!(limit, Limit::Session(SessionLimit::NotTuned { .. }));
        if self.is_not_root.get() && record.conditions.limits.iter().any(is_not_tuned) {
            self.ui.say(format!(
                "hint: becalm asks `sudo -n` on {0}, which refuses: allow it there, or let its administrator run `becalm \
                 machine service install`",
                self.host
            ));
        }
    }

    fn show(&self, step: Step<'_>) {
        const INTERVAL: Duration = Duration::from_millis(100);
        let (what, sent, size) = match step {
            Step::Output(bytes) => return self.ui.pass_on_errors(&printed(bytes)),
            Step::NotRoot => return self.is_not_root.set(true),
            Step::Queued { number, reason } => {
                let reason = if reason.is_empty() { "" } else { &format!(" ({reason})") };
                return self.ui.progress_line(&format!("job {number} waits in the queue{reason}"));
            }
            Step::Installing { sent, size } => ("copying becalm", sent, size),
            Step::Sending { sent, size } => ("sending files", sent, size),
        };
        let is_early = self.drawn.borrow().is_some_and(|drawn| drawn.elapsed() < INTERVAL);
        if sent < size && is_early {
            return;
        }
        self.drawn.replace(Some(Instant::now()));
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        self.ui.progress_line(&format!(
            "{what} to {}: {:.0} of {:.0} MiB",
            self.host,
            mebibytes(sent),
            mebibytes(size)
        ));
    }
}

/// What a far end has sent that is not for people at once.
#[derive(Debug, Default)]
struct Arrived {
    /// How its session ended.
    outcome: Option<Box<Outcome>>,
    /// Why it failed.
    error: Option<CommandError>,
}

impl Arrived {
    /// Shows a frame that is for people, and keeps one that says how the job ended; returns any other.
    fn take(&mut self, frame: Frame, ui: &Ui) -> Option<Frame> {
        let safe = |text: &str| printed(text.as_bytes());
        match frame {
            Frame::Say(text) => ui.say(safe(&text)),
            Frame::Warn(text) => ui.warn(safe(&text)),
            Frame::Progress(line) => ui.progress_line(&safe(&line).replace('\n', " ")),
            Frame::Session(outcome) => self.outcome = Some(outcome),
            Frame::Error { message, hints } => self.error = Some(error(&message, &hints)),
            other => return Some(other),
        }
        None
    }
}

/// Returns an error that the far end has sent.
fn error(message: &str, hints: &[String]) -> CommandError {
    CommandError {
        hints: hints.iter().map(|hint| printed(hint.as_bytes())).collect(),
        ..CommandError::measure(printed(message.as_bytes()))
    }
}
