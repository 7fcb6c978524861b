//! A machine that is tuned by this process: from the lock to the last value put back.

use std::fs::File;
use std::io;
use std::process::Command;

use becalm_model::Change;
use becalm_model::wire::{Holder, ProcessDocument};

use super::guardian::{Guardian, hold_latency};
use super::lock::{LockError, MachineLock, Wait};
use super::{
    Applied, Foreign, JournalFile, JournalFileError, Left, Recovered, Saved, apply, recover,
};
use crate::SysRoot;

/// A machine that this process tunes. When it is dropped, or when this process dies, a guardian
/// puts everything back.
#[derive(Debug)]
pub struct Tuning<'a> {
    root: &'a SysRoot,
    // Fields drop in this order: the guardian acts while this process still has the lock.
    guardian: Guardian,
    journal: JournalFile,
    latency: Option<(i32, File)>,
    lock: MachineLock,
    command: String,
}

/// Why a machine cannot be tuned. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
    /// No guardian.
    #[error("cannot start the guardian: {0}; nothing was changed")]
    Guardian(io::Error),
}

impl<'a> Tuning<'a> {
    /// Takes the lock for `command`, undoes what a dead becalm left, and starts a guardian and a
    /// journal. `guardian` is a command that calls [`super::stand_guard`].
    ///
    /// Nothing is changed yet. What an earlier becalm left is returned beside.
    pub fn begin(
        root: &'a SysRoot,
        command: &str,
        guardian: Command,
        wait: Wait,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Self, Recovered), TuneError> {
        let lock = MachineLock::take(root, command, wait, stop)?;
        let recovered = recover(root, Foreign::Leave)?;
        // What could not be put back stays in the journal, and goes on to the new one.
        let leftovers: Vec<Saved> = recovered.left().iter().map(Left::saved).collect();
        // Before the journal: whatever becomes of this process or of the journal's file from here on,
        // the guardian puts things back and removes the journal.
        let guardian = Guardian::start(guardian, &lock).map_err(TuneError::Guardian)?;
        let mut journal = JournalFile::start(root, command, &leftovers)?;
        journal.guardian(guardian.process())?;
        let command = command.to_owned();
        Ok((Self { root, guardian, journal, latency: None, lock, command }, recovered))
    }

    /// Makes changes, journalled before the first.
    pub fn apply(&mut self, changes: &[Change]) -> Result<Vec<Applied>, JournalFileError> {
        apply(self.root, &mut self.journal, changes)
    }

    /// Keeps the CPUs out of idle states that take longer than `microseconds` to leave, until this
    /// process ends or the machine is restored.
    pub fn hold_latency(&mut self, microseconds: i32) -> io::Result<()> {
        self.latency = Some((microseconds, hold_latency(self.root, microseconds)?));
        Ok(())
    }

    /// Puts everything back and gives the machine free.
    ///
    /// # Errors
    ///
    /// If the journal cannot be used; the guardian then tries as well.
    pub fn finish(self) -> Result<Recovered, JournalFileError> {
        drop(self.latency);
        let recovered = recover(self.root, Foreign::Leave)?;
        self.guardian.dismiss();
        Ok(recovered)
    }

    /// Leaves the machine tuned, in the care of the guardian, and returns which process that is.
    pub fn keep(mut self) -> io::Result<ProcessDocument> {
        let process = self.guardian.process();
        let holder = Holder { process, command: format!("{}, kept by its guardian", self.command) };
        self.lock.name_holder(&holder)?;
        self.guardian.keep(self.latency.as_ref().map(|(latency, _)| *latency))?;
        Ok(process)
    }
}
