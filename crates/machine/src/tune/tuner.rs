//! Who changes the machine for this process: itself, where it is root, the steward, or the service of the machine.

use std::io;

use becalm_model::ProcessIdentity;

use super::{
    Applied, JournalFileError, NotKept, Recovered, TuneError, Tuning, TuningPlan, TurnError, Wait,
    guardian_of,
};
use crate::SysRoot;
use crate::isolate::Attempt;
use crate::knobs::Situation;
use crate::service::{Hired, Queued, TimeUp};
use crate::steward::{IsolationRequest, Steward};

/// A machine that is tuned for this process. When it is dropped, or when this process dies, everything is put back.
#[derive(Debug)]
pub struct Tuner<'a> {
    root: &'a SysRoot,
    /// `None` once it is over.
    by: Option<By<'a>>,
}

/// Who does it.
#[derive(Debug)]
enum By<'a> {
    Itself(Tuning<'a>),
    Steward,
    Service(Hired),
}

impl<'a> Tuner<'a> {
    /// Takes the lock for `command`, and undoes what a dead becalm left: see [`Tuning::begin`]. Where the service of the
    /// machine has a queue, `queued` hears each change of the place in it.
    pub fn begin(
        root: &'a SysRoot,
        command: &str,
        wait: Wait,
        stop: &dyn Fn() -> bool,
        queued: &dyn Fn(&Queued),
    ) -> Result<(Self, Recovered), TuneError> {
        let (by, recovered) = if let Some(mut steward) = Steward::of(root) {
            (By::Steward, steward.begin(command, wait, stop)?)
        } else if let Some(hired) = Hired::begin(root, command, wait, stop, queued) {
            let (hired, recovered) = hired?;
            (By::Service(hired), recovered)
        } else {
            let (own, recovered) = Tuning::begin(root, command, guardian_of(root), wait, stop)?;
            (By::Itself(own), recovered)
        };
        Ok((Self { root, by: Some(by) }, recovered))
    }

    fn by(&mut self) -> &mut By<'a> {
        self.by.as_mut().expect("only what ends it takes it")
    }

    /// Makes the changes that `situation` comes to: see [`Tuning::turn`].
    pub fn turn(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        let root = self.root;
        match self.by() {
            By::Itself(own) => own.turn(situation),
            By::Steward => steward(root).turn(situation),
            By::Service(hired) => hired.turn(situation),
        }
    }

    /// Takes CPUs away from everything else: see [`Tuning::isolate`].
    pub fn isolate(&mut self, request: IsolationRequest) -> Result<Attempt, JournalFileError> {
        let root = self.root;
        match self.by() {
            By::Itself(own) => own.isolate(&request),
            By::Steward => steward(root).isolate(request),
            By::Service(hired) => hired.isolate(request),
        }
    }

    /// Keeps the CPUs out of idle states that take longer than `microseconds` to leave.
    pub fn hold_latency(&mut self, microseconds: i32) -> io::Result<()> {
        let root = self.root;
        match self.by() {
            By::Itself(own) => own.hold_latency(microseconds),
            By::Steward => steward(root).hold_latency(microseconds),
            By::Service(hired) => hired.hold_latency(microseconds),
        }
    }

    /// Returns this process's own tuning, where nobody else has it: for changes that are no matter of knobs.
    pub fn own(&mut self) -> Option<&mut Tuning<'a>> {
        match self.by() {
            By::Itself(own) => Some(own),
            By::Steward | By::Service(_) => None,
        }
    }

    /// Says so if the service has put the machine back already.
    pub fn time_up(&self) -> Option<TimeUp> {
        match &self.by {
            Some(By::Service(hired)) => hired.time_up(),
            _ => None,
        }
    }

    /// Puts everything back and gives the machine free: see [`Tuning::finish`].
    pub fn finish(mut self) -> Result<Recovered, JournalFileError> {
        match self.by.take() {
            Some(By::Itself(own)) => own.finish(),
            Some(By::Steward) => steward(self.root).finish(),
            Some(By::Service(hired)) => hired.finish(),
            None => Ok(Recovered::Nothing),
        }
    }

    /// Leaves the machine tuned, in the care of the guardian: see [`Tuning::keep`].
    pub fn keep(mut self) -> Result<ProcessIdentity, NotKept> {
        match self.by.take() {
            Some(By::Itself(own)) => own.keep(),
            Some(By::Steward) => steward(self.root).keep(),
            Some(By::Service(hired)) => hired.keep(),
            None => Err(NotKept {
                why: io::ErrorKind::NotFound.into(),
                restored: Ok(Recovered::Nothing),
            }),
        }
    }
}

fn steward(root: &SysRoot) -> Steward {
    Steward::of(root).expect("a steward that has begun is there as long as this process")
}

impl Drop for Tuner<'_> {
    fn drop(&mut self) {
        if let Some(By::Steward) = self.by {
            // Nobody is left to be told; what stays, stays in the journal, for the next becalm.
            let _ = steward(self.root).finish();
        }
    }
}
