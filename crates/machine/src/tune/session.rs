//! A machine that is tuned by this process: from the lock to the last value put back.

use std::fs::File;
use std::io;
use std::process::Command;

use becalm_kernel::signal;
use becalm_model::Change;
use becalm_model::ProcessIdentity;
use becalm_model::wire::Holder;
use serde::{Deserialize, Serialize};

use super::guardian::{Guardian, hold_latency};
use super::lock::{LockError, MachineLock, Wait};
use super::plan::{UnknownKnob, plan, plan_the_rest};
use super::{
    Applied, Foreign, JournalFile, JournalFileError, Left, Recovered, Saved, TuningPlan, apply,
    recover,
};
use crate::SysRoot;
use crate::isolate::{self, Attempt};
use crate::knobs::Situation;
use crate::service::{NotAllowed, ServiceRefusal};
use crate::steward::{IsolationRequest, StewardLost};

/// A machine that this process tunes. When it is dropped, or when this process dies, a guardian
/// puts everything back; if the guardian died before, this process does when it is dropped.
#[derive(Debug)]
pub struct Tuning<'a> {
    root: &'a SysRoot,
    // Fields drop in this order: whoever acts does so while this process still has the lock.
    guardian: Guardian,
    journal: JournalFile,
    latency: Option<(i32, File)>,
    lock: MachineLock,
    command: String,
}

/// Why a machine cannot be tuned. Nothing was changed then.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum TuneError {
    /// The lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
    /// No guardian.
    #[error("cannot start the guardian: {0}; nothing was changed")]
    Guardian(#[serde(with = "crate::steward::failure")] io::Error),
    /// Nobody who may do it.
    #[error(transparent)]
    Steward(#[from] StewardLost),
    /// The service of this machine does not want to.
    #[error(transparent)]
    Service(#[from] ServiceRefusal),
}

/// Why settings are not changed as they were asked for.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum TurnError {
    /// A knob is asked for that there is not. Nothing was changed.
    #[error(transparent)]
    Knob(#[from] UnknownKnob),
    /// The service of this machine does not allow it. Nothing was changed.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
}

/// Why the machine is not left to the guardian, and what happened to the machine instead.
#[derive(Debug, Serialize, Deserialize)]
pub struct NotKept {
    /// Why.
    #[serde(with = "crate::steward::failure")]
    pub why: io::Error,
    /// What putting everything back led to.
    pub restored: Result<Recovered, JournalFileError>,
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
        // Whoever is ended by the system in the middle of a journal leaves the machine tuned.
        signal::outlive_file_size_limit();
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

    /// Plans what `situation` comes to and makes the changes: see [`Tuning::carry_out`].
    pub fn turn(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        Ok(self.carry_out(plan(situation)?, situation)?)
    }

    /// Makes the changes of a plan for `situation`, and returns what was planned and made in the end.
    ///
    /// Programs are stopped first, and everything else is planned anew when they have: what they had set
    /// themselves they take back as they stop, and what they find when they are started again has to be
    /// what they left.
    pub fn carry_out(
        &mut self,
        plan: TuningPlan,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), JournalFileError> {
        let stopping = plan.stopping();
        if stopping.changes.is_empty() {
            let applied = self.apply(&plan.changes)?;
            return Ok((plan, applied));
        }
        let mut applied = self.apply(&stopping.changes)?;
        let rest =
            plan_the_rest(situation).expect("its knobs were found when it was first planned");
        applied.extend(self.apply(&rest.changes)?);
        Ok((stopping.followed_by(rest), applied))
    }

    /// Takes CPUs away from everything else, interrupts and threads of the kernel included.
    pub fn isolate(&mut self, request: &IsolationRequest) -> Result<Attempt, JournalFileError> {
        let root = self.root;
        isolate::attempt(root, request, |more| self.apply(more))
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
    /// If the journal cannot be read, neither by the guardian nor by this process.
    pub fn finish(mut self) -> Result<Recovered, JournalFileError> {
        self.latency = None;
        match recover(self.root, Foreign::Leave) {
            Ok(recovered) => {
                self.guardian.dismiss();
                Ok(recovered)
            }
            Err(_) => self.leave_to_guardian(),
        }
    }

    /// Leaves the machine tuned, in the care of the guardian, and returns which process that is.
    ///
    /// # Errors
    ///
    /// If the guardian is no more, or cannot do what it has to. The machine is put back then.
    pub fn keep(mut self) -> Result<ProcessIdentity, NotKept> {
        self.hand_over().map_err(|why| NotKept { why, restored: self.leave_to_guardian() })
    }

    fn hand_over(&mut self) -> io::Result<ProcessIdentity> {
        let process = self.guardian.process();
        let holder = Holder { process, command: format!("{}, kept by its guardian", self.command) };
        self.lock.name_holder(&holder)?;
        self.guardian.keep(self.latency.as_ref().map(|(latency, _)| *latency))?;
        Ok(process)
    }

    /// Lets the guardian put everything back, and then does what it has not done: somebody may have killed
    /// it, and what it could not put back is tried once more.
    fn leave_to_guardian(&mut self) -> Result<Recovered, JournalFileError> {
        self.latency = None;
        self.guardian.wait_for_end();
        recover(self.root, Foreign::Leave)
    }
}

impl Drop for Tuning<'_> {
    fn drop(&mut self) {
        if self.guardian.is_on_duty() {
            // Nobody is left to be told; what is left stays in the journal, for the next becalm.
            let _ = self.leave_to_guardian();
        }
    }
}
