//! A tuned machine, from the words before the first change to those after the last.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use becalm_machine::SysRoot;
use becalm_machine::knobs::Situation;
use becalm_machine::tune::{
    self, Applied, JournalFileError, LockError, MachineLock, NotKept, Plan, Recovered, Restored,
    TuneError, Tuning, Wait, journal,
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
    /// The exit code by what an earlier becalm left.
    leftovers: Exit,
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
                Ok(Self { tuning, leftovers: say_leftovers(&recovered, ui) })
            }
            Err(error) => Err(ended_by(interrupt, refused(error))),
        }
    }

    /// Does something with the machine. Where that fails everything is put back at once, and the error says
    /// what became of it.
    pub(crate) fn attempt<T>(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<T, CommandError>,
        ui: &Ui,
    ) -> Result<(Self, T), CommandError> {
        match work(&mut self) {
            Ok(done) => Ok((self, done)),
            Err(error) => Err(given_up(error, self.tuning.finish(), ui)),
        }
    }

    /// Makes changes and says which of them did not work. After an error what was changed before is there
    /// still: see [`Tuned::attempt`] and [`Tuned::finish`].
    pub(crate) fn apply(
        &mut self,
        changes: &[Change],
        ui: &Ui,
    ) -> Result<Vec<Applied>, CommandError> {
        let applied = self.tuning.apply(changes).map_err(CommandError::measure)?;
        say_failures(&applied, ui);
        Ok(applied)
    }

    /// Makes the changes of a plan for `situation`, likewise, and returns what was planned in the end: see
    /// [`Tuning::carry_out`].
    pub(crate) fn carry_out(
        &mut self,
        plan: Plan,
        situation: &Situation<'_>,
        ui: &Ui,
    ) -> Result<(Plan, Vec<Applied>), CommandError> {
        let done = self.tuning.carry_out(plan, situation).map_err(CommandError::measure)?;
        say_failures(&done.1, ui);
        Ok(done)
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

    /// Leaves the machine tuned, in the care of the guardian; returns which process that is, and the exit
    /// code by what an earlier becalm left.
    pub(crate) fn keep(self, ui: &Ui) -> Result<(ProcessDocument, Exit), CommandError> {
        let leftovers = self.leftovers;
        self.tuning.keep().map(|guardian| (guardian, leftovers)).map_err(
            |NotKept { why, restored }| {
                let message = format!("the guardian cannot keep the machine tuned: {why}");
                given_up(CommandError::measure(message), restored, ui)
            },
        )
    }
}

fn say_failures(applied: &[Applied], ui: &Ui) {
    for failure in failures(applied) {
        ui.warn(failure);
    }
}

/// Returns an error because of which everything was to be put back, with what came of that.
fn given_up(
    error: CommandError,
    restored: Result<Recovered, JournalFileError>,
    ui: &Ui,
) -> CommandError {
    match restored {
        Ok(Recovered::Nothing) => error.hint("nothing that becalm has changed is left"),
        Ok(recovered) => match report(&recovered, ui) {
            Exit::Done => error.hint("what was changed before is put back"),
            exit => CommandError { exit, ..error }.hint("not everything could be put back"),
        },
        Err(failure) => {
            let CommandError { exit, message, hints } = unrestored(&failure);
            hints.into_iter().fold(CommandError { exit, ..error }.hint(message), CommandError::hint)
        }
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
    let stale = say_stale_journal(recovered, ui);
    let left = recovered.left();
    if left.is_empty() {
        return stale;
    }
    ui.error(&CommandError {
        exit: Exit::NotRestored,
        message: format!("{} could not be put back", count(left.len(), "setting")),
        hints: left_lines(left),
    });
    ui.say("They stay in the journal; `becalm restore` tries again.");
    Exit::NotRestored
}

/// Says so if the journal could not be told what was put back.
fn say_stale_journal(recovered: &Recovered, ui: &Ui) -> Exit {
    let Recovered::Restored(Restored { stale_journal: Some(why), .. }) = recovered else {
        return Exit::Done;
    };
    ui.error(&CommandError {
        exit: Exit::NotRestored,
        message: format!("the journal still tells of what is put back, and cannot be written: {why}"),
        hints: vec![
            "the next becalm would put the same settings back again, whoever has set them since: remove the \
             journal before that"
                .to_owned(),
        ],
    });
    Exit::NotRestored
}

/// Says what became of what an earlier becalm left, and returns the exit code that this alone would have.
fn say_leftovers(recovered: &Recovered, ui: &Ui) -> Exit {
    match recovered {
        Recovered::Nothing => return Exit::Done,
        Recovered::OtherBoot { .. } | Recovered::SetAside { .. } => {}
        Recovered::Restored(_) if recovered.left().is_empty() => {
            ui.warn("an earlier becalm died before it had put the machine back; done now");
        }
        Recovered::Restored(_) => {
            ui.warn("an earlier becalm died before it had put the machine back; done now, as far as possible");
        }
    }
    report(recovered, ui)
}

/// Puts back what a becalm left that died together with its guardian, and returns the exit code that this
/// alone would have. For the start of every command: without root, or while another becalm is at work, it
/// only says what it sees.
pub(crate) fn put_back_leftovers(root: &SysRoot, ui: &Ui) -> Exit {
    if !journal::exists(root) || tune::is_held(root) {
        return Exit::Done;
    }
    let no_stop = || false;
    match MachineLock::take(root, "putting back what a dead becalm left", Wait::No, &no_stop) {
        Ok(_lock) => match tune::recover(root, tune::Foreign::Leave) {
            Ok(recovered) => say_leftovers(&recovered, ui),
            Err(error) => {
                ui.warn(error);
                Exit::NotRestored
            }
        },
        // Somebody else was quicker.
        Err(LockError::Held(_)) => Exit::Done,
        // A restart has reset what it tells of.
        Err(LockError::Make { .. }) if journal::is_older_than_boot(root) => Exit::Done,
        Err(error @ LockError::Make { .. }) if !error.needs_root() => {
            ui.warn(format!("this machine may still be tuned by a becalm that died: {error}"));
            Exit::Done
        }
        Err(LockError::Make { .. }) => {
            ui.warn(
                "this machine may still be tuned by a becalm that died; `sudo becalm restore` puts it back",
            );
            Exit::Done
        }
    }
}

/// Returns how a command ended that began with `leftovers`: what could not be put back then, nor since, is
/// worse than anything that came afterwards.
pub(crate) fn with_leftovers(root: &SysRoot, leftovers: Exit, ended: Exit) -> Exit {
    if leftovers == Exit::NotRestored && journal::exists(root) { leftovers } else { ended }
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
        TuneError::Lock(ref lock) if lock.needs_root() => CommandError::measure(error)
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

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_machine::tune::{JournalFile, apply};
    use becalm_testkit::FakeTree;

    const FILE: &str = "/sys/k";

    /// A machine that a becalm has left tuned that is dead, and whose setting cannot be put back.
    fn spoiled() -> FakeTree {
        let tree = FakeTree::new().file("/proc/sys/kernel/random/boot_id", "b\n").file(FILE, "1\n");
        let root = SysRoot::new(tree.path());
        let mut journal = JournalFile::start(&root, "a test", &[]).unwrap();
        apply(&root, &mut journal, &[Change::file("k", FILE, "1", "0", "why")]).unwrap();
        tree.unreadable(FILE)
    }

    #[test]
    fn what_an_earlier_becalm_left_is_the_exit_code_until_it_is_put_back() {
        let tree = spoiled();
        let root = SysRoot::new(tree.path());
        let leftovers = put_back_leftovers(&root, &Ui::new(true));
        assert_eq!(leftovers, Exit::NotRestored);
        assert_eq!(with_leftovers(&root, leftovers, Exit::Done), Exit::NotRestored);
        assert_eq!(with_leftovers(&root, Exit::Done, Exit::No), Exit::No);
        // The command itself has put it back when it ended.
        let tree = tree.without(FILE).file(FILE, "0\n");
        tune::recover(&root, tune::Foreign::Leave).unwrap();
        assert_eq!(with_leftovers(&root, leftovers, Exit::Done), Exit::Done);
        assert_eq!(put_back_leftovers(&root, &Ui::new(true)), Exit::Done);
        drop(tree);
    }

    #[test]
    fn an_error_says_what_became_of_the_machine() {
        let check = |restored: Result<Recovered, JournalFileError>, exit: Exit, hint: &str| {
            let error = given_up(CommandError::measure("it failed"), restored, &Ui::new(true));
            assert_eq!((error.exit, error.message.as_str()), (exit, "it failed"));
            assert!(error.hints[0].contains(hint), "{:?}", error.hints);
        };
        check(Ok(Recovered::Nothing), Exit::CouldNotMeasure, "nothing that becalm has changed");
        let all = Recovered::Restored(tune::Restored::default());
        check(Ok(all), Exit::CouldNotMeasure, "what was changed before is put back");
        let tree = spoiled();
        let root = SysRoot::new(tree.path());
        let some = tune::recover(&root, tune::Foreign::Leave);
        check(some, Exit::NotRestored, "not everything could be put back");
        let tree = tree.file("/var/lib/becalm/journal", "rubbish\n");
        let none = tune::recover(&root, tune::Foreign::Leave);
        check(none, Exit::NotRestored, "the machine may still be tuned");
        drop(tree);
    }
}
