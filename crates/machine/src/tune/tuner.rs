//! Who changes the machine for this process: itself, where it is root, or the steward.

use std::io;

use becalm_model::ProcessIdentity;

use super::{
    Applied, JournalFileError, NotKept, Recovered, TuneError, Tuning, TuningPlan, TurnError, Wait,
    guardian_of,
};
use crate::SysRoot;
use crate::isolate::Attempt;
use crate::knobs::Situation;
use crate::steward::{IsolationRequest, Steward};

/// A machine that is tuned for this process. When it is dropped, or when this process dies, everything is put back.
#[derive(Debug)]
pub struct Tuner<'a> {
    root: &'a SysRoot,
    /// `None` where the steward has it.
    own: Option<Tuning<'a>>,
    is_over: bool,
}

impl<'a> Tuner<'a> {
    /// Takes the lock for `command`, and undoes what a dead becalm left: see [`Tuning::begin`].
    pub fn begin(
        root: &'a SysRoot,
        command: &str,
        wait: Wait,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Self, Recovered), TuneError> {
        if let Some(mut steward) = Steward::of(root) {
            let recovered = steward.begin(command, wait, stop)?;
            return Ok((Self { root, own: None, is_over: false }, recovered));
        }
        let (own, recovered) = Tuning::begin(root, command, guardian_of(root), wait, stop)?;
        Ok((Self { root, own: Some(own), is_over: false }, recovered))
    }

    fn steward(&self) -> Steward {
        Steward::of(self.root)
            .expect("who does not tune itself has a steward, for as long as it lives")
    }

    /// Makes the changes that `situation` comes to: see [`Tuning::turn`].
    pub fn turn(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        match &mut self.own {
            Some(own) => own.turn(situation),
            None => self.steward().turn(situation),
        }
    }

    /// Takes CPUs away from everything else: see [`Tuning::isolate`].
    pub fn isolate(&mut self, request: IsolationRequest) -> Result<Attempt, JournalFileError> {
        match &mut self.own {
            Some(own) => own.isolate(&request),
            None => self.steward().isolate(request),
        }
    }

    /// Keeps the CPUs out of idle states that take longer than `microseconds` to leave.
    pub fn hold_latency(&mut self, microseconds: i32) -> io::Result<()> {
        match &mut self.own {
            Some(own) => own.hold_latency(microseconds),
            None => self.steward().hold_latency(microseconds),
        }
    }

    /// Returns this process's own tuning, where no steward has it: for changes that are no matter of knobs.
    pub fn own(&mut self) -> Option<&mut Tuning<'a>> {
        self.own.as_mut()
    }

    /// Puts everything back and gives the machine free: see [`Tuning::finish`].
    pub fn finish(mut self) -> Result<Recovered, JournalFileError> {
        self.is_over = true;
        match self.own.take() {
            Some(own) => own.finish(),
            None => self.steward().finish(),
        }
    }

    /// Leaves the machine tuned, in the care of the guardian: see [`Tuning::keep`].
    pub fn keep(mut self) -> Result<ProcessIdentity, NotKept> {
        self.is_over = true;
        match self.own.take() {
            Some(own) => own.keep(),
            None => self.steward().keep(),
        }
    }
}

impl Drop for Tuner<'_> {
    fn drop(&mut self) {
        if self.own.is_none() && !self.is_over {
            // Nobody is left to be told; what stays, stays in the journal, for the next becalm.
            let _ = self.steward().finish();
        }
    }
}
