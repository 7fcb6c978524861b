//! A tuned machine, from the words before the first change to those after the last.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use becalm_machine::SysRoot;
use becalm_machine::tune::{
    self, Applied, LockError, MachineLock, Recovered, TuneError, Tuning, Wait, journal,
};
use becalm_model::Change;
use becalm_model::wire::ProcessDocument;
use becalm_runner::Interrupt;

use super::text::{failures, left_lines, recovered_lines};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::{Ui, count};

/// A machine that this process tunes, with a guardian beside it.
#[derive(Debug)]
pub(crate) struct Tuned<'a> {
    tuning: Tuning<'a>,
}

impl<'a> Tuned<'a> {
    /// Prepares everything that the first change needs. Nothing is changed yet.
    pub(crate) fn begin(
        root: &'a SysRoot,
        command: &str,
        wait: Wait,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<Self, CommandError> {
        let stop = || interrupt.signal().is_some();
        let guardian = guardian(root);
        match Tuning::begin(root, command, guardian, wait, &stop) {
            Ok((tuning, recovered)) => {
                say_leftovers(&recovered, ui);
                Ok(Self { tuning })
            }
            Err(error) => Err(ended_by(interrupt, refused(error))),
        }
    }

    /// Makes changes and says which of them did not work.
    pub(crate) fn apply(
        &mut self,
        changes: &[Change],
        ui: &Ui,
    ) -> Result<Vec<Applied>, CommandError> {
        let applied = self.tuning.apply(changes).map_err(|error| {
            CommandError::measure(error).hint("what was changed before is put back")
        })?;
        for failure in failures(&applied) {
            ui.warn(failure);
        }
        Ok(applied)
    }

    /// Keeps the CPUs out of idle states that take longer than `microseconds` to leave.
    pub(crate) fn hold_latency(&mut self, microseconds: i32, ui: &Ui) {
        if let Err(error) = self.tuning.hold_latency(microseconds) {
            ui.warn(format!("cstates: /dev/cpu_dma_latency cannot be held: {error}"));
        }
    }

    /// Puts everything back; says what, and returns the exit code that this alone would have.
    pub(crate) fn finish(self, ui: &Ui) -> Result<Exit, CommandError> {
        let recovered = self.tuning.finish().map_err(|error| unrestored(&error))?;
        Ok(report(&recovered, ui))
    }

    /// Leaves the machine tuned, in the care of the guardian.
    pub(crate) fn keep(self) -> Result<ProcessDocument, CommandError> {
        self.tuning.keep().map_err(|error| {
            CommandError::measure(format!("the guardian cannot keep the machine tuned: {error}"))
                .hint("everything is put back")
        })
    }
}

/// Says what restoring did; what is left goes with the commands that put it back by hand.
pub(crate) fn report(recovered: &Recovered, ui: &Ui) -> Exit {
    for line in recovered_lines(recovered) {
        ui.say(line);
    }
    say_left(recovered, ui)
}

fn say_left(recovered: &Recovered, ui: &Ui) -> Exit {
    if let Recovered::SetAside { why, .. } = recovered {
        ui.error(&CommandError {
            exit: Exit::NotRestored,
            message: format!("nothing could be put back, because the journal cannot be used: {why}"),
            hints: vec![
                "the machine may still be tuned, unless it was restarted since: a restart resets every \
                 setting"
                    .to_owned(),
            ],
        });
        return Exit::NotRestored;
    }
    let left = recovered.left();
    if left.is_empty() {
        return Exit::Done;
    }
    ui.error(&CommandError {
        exit: Exit::NotRestored,
        message: format!("{} could not be put back", count(left.len(), "setting")),
        hints: left_lines(left),
    });
    ui.say("They stay in the journal; `becalm restore` tries again.");
    Exit::NotRestored
}

fn say_leftovers(recovered: &Recovered, ui: &Ui) {
    match recovered {
        Recovered::Nothing => {}
        Recovered::OtherBoot { .. } => {
            for line in recovered_lines(recovered) {
                ui.say(line);
            }
        }
        Recovered::SetAside { .. } => {
            report(recovered, ui);
        }
        Recovered::Restored(_) => {
            ui.warn("an earlier becalm died before it had put the machine back; done now");
            for line in recovered_lines(recovered) {
                ui.say(line);
            }
            say_left(recovered, ui);
        }
    }
}

/// Puts back what a becalm left that died together with its guardian. For the start of every
/// command: without root, or while another becalm is at work, it only says what it sees.
pub(crate) fn put_back_leftovers(root: &SysRoot, ui: &Ui) {
    if !journal::exists(root) || tune::holder(root).is_some() {
        return;
    }
    let no_stop = || false;
    match MachineLock::take(root, "putting back what a dead becalm left", Wait::No, &no_stop) {
        Ok(_lock) => match tune::recover(root, tune::Foreign::Leave) {
            Ok(recovered) => say_leftovers(&recovered, ui),
            Err(error) => ui.warn(error),
        },
        // Somebody else was quicker.
        Err(LockError::Held(_)) => {}
        Err(LockError::Make { .. }) => ui.warn(
            "this machine may still be tuned by a becalm that died; `sudo becalm restore` puts it back",
        ),
    }
}

/// The command line of a guardian: this very program.
pub(crate) fn guardian(root: &SysRoot) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("becalm").arg("guardian");
    if !root.is_live() {
        command.arg("--root").arg(root.path());
    }
    command
}

/// What ended the queue is what ended the command.
pub(crate) fn ended_by(interrupt: &Interrupt, error: CommandError) -> CommandError {
    match interrupt.signal() {
        Some(signal) => CommandError { exit: Exit::Signal(signal), ..error },
        None => error,
    }
}

/// Says why the machine cannot be tuned, and what to do.
pub(crate) fn refused(error: TuneError) -> CommandError {
    match error {
        TuneError::Lock(LockError::Held(_)) => CommandError::measure(error)
            .hint("`--wait` queues until it is done; `becalm restore` ends what a guardian keeps"),
        TuneError::Lock(LockError::Make { .. }) => CommandError::measure(error)
            .hint("run it with sudo; a command to be measured still runs as you"),
        other => CommandError::measure(other),
    }
}

/// Says that the journal cannot tell whether everything is as it was.
pub(crate) fn unrestored(error: &tune::JournalFileError) -> CommandError {
    CommandError {
        exit: Exit::NotRestored,
        message: error.to_string(),
        hints: vec!["`becalm restore` tries again; a restart resets every setting".to_owned()],
    }
}
