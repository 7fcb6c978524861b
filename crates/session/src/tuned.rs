//! A tuned machine, from before the first change to after the last.

use std::io;

use becalm_machine::SysRoot;
use becalm_machine::isolate::{Attempt, IsolateError, Taken};
use becalm_machine::knobs::Situation;
use becalm_machine::service::{NotAllowed, TimeUp};
use becalm_machine::steward::IsolationRequest;
use becalm_machine::tune::{
    Applied, Effect, JournalFileError, NotKept, Recovered, Restored, TuneError, Tuner, TuningPlan,
    TurnError, UnknownKnob, Wait,
};
use becalm_model::Change;
use becalm_model::ProcessIdentity;
use becalm_model::terms::TuneWait;
use becalm_runner::Interrupt;

use crate::error::Fault;
use crate::event::{Event, Listener};

/// Why the machine cannot be tuned, or put back.
#[derive(Debug, thiserror::Error)]
pub enum TunedError {
    /// It may not be changed. Nothing was.
    #[error("{source}")]
    Begin {
        /// Why.
        source: TuneError,
        /// The signal that ended the queue, if one did.
        signal: Option<i32>,
    },
    /// There is no such knob.
    #[error(transparent)]
    Knob(#[from] UnknownKnob),
    /// The service of the machine does not allow it.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// A change cannot be journalled, and so is not made.
    #[error(transparent)]
    Journal(JournalFileError),
    /// This process is not root.
    #[error("only root itself can make these changes, not the steward on behalf of a user")]
    NotByUs,
    /// The guardian does not take over.
    #[error("the guardian cannot keep the machine tuned: {0}")]
    NotKept(io::Error),
    /// The journal does not say what has to be put back.
    #[error(transparent)]
    NotRestored(JournalFileError),
}

impl From<TurnError> for TunedError {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Knob(error) => Self::Knob(error),
            TurnError::NotAllowed(error) => Self::NotAllowed(error),
            TurnError::Journal(error) => Self::Journal(error),
        }
    }
}

impl TunedError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Begin { signal: Some(signal), .. } => Fault::Signal(*signal),
            Self::Knob(_) => Fault::Usage,
            Self::NotRestored(_) => Fault::NotRestored,
            Self::Begin { .. }
            | Self::NotAllowed(_)
            | Self::Journal(_)
            | Self::NotByUs
            | Self::NotKept(_) => Fault::Measurement,
        }
    }
}

impl TunedError {
    /// Says whether this user may not tune the machine, and root may.
    pub(crate) fn needs_root(&self) -> bool {
        matches!(self, Self::Begin { source: TuneError::Lock(lock), .. } if lock.needs_root())
    }
}

/// The state of the machine after an error.
#[derive(Debug)]
pub enum PutBack {
    /// Nothing had been changed.
    Unchanged,
    /// What had been changed is put back.
    Everything,
    /// Not everything could be put back.
    NotEverything,
    /// The journal does not say what had to be put back.
    Unknown(Box<JournalFileError>),
}

impl PutBack {
    /// Says whether the machine is as it was.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Unchanged | Self::Everything)
    }

    fn of(restored: Result<Recovered, JournalFileError>, listener: Listener<'_>) -> Self {
        match restored {
            Ok(Recovered::Nothing) => Self::Unchanged,
            Ok(recovered) => {
                listener.hears(Event::Restored(&recovered));
                if is_restored(&recovered) { Self::Everything } else { Self::NotEverything }
            }
            Err(error) => Self::Unknown(Box::new(error)),
        }
    }
}

/// An action on the machine failed, and everything was put back at once.
#[derive(Debug)]
pub struct GivenUp<E> {
    /// What failed.
    pub error: E,
    /// What happened to the machine.
    pub machine: PutBack,
}

/// A machine that this process tunes, with a guardian beside it.
#[derive(Debug)]
pub struct Tuned<'a> {
    tuner: Tuner<'a>,
    listener: Listener<'a>,
}

impl<'a> Tuned<'a> {
    /// Prepares everything that the first change needs; also returns what an earlier becalm left
    /// behind. Nothing is changed yet.
    pub fn begin(
        root: &'a SysRoot,
        command: &str,
        wait: TuneWait,
        interrupt: &Interrupt,
        listener: Listener<'a>,
    ) -> Result<(Self, Recovered), TunedError> {
        let stop = || interrupt.signal().is_some();
        let queued = |place: &_| listener.hears(Event::Queued(place));
        let (tuner, recovered) = Tuner::begin(root, command, queue(wait), &stop, &queued)
            .map_err(|source| TunedError::Begin { source, signal: interrupt.signal() })?;
        listener.hears(Event::Leftovers(&recovered));
        Ok((Self { tuner, listener }, recovered))
    }

    /// Does something with the machine. If that fails, everything is put back at once.
    pub fn attempt<T, E>(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<(Self, T), GivenUp<E>> {
        match work(&mut self) {
            Ok(done) => Ok((self, done)),
            Err(error) => {
                let machine = PutBack::of(self.tuner.finish(), self.listener);
                Err(GivenUp { error, machine })
            }
        }
    }

    /// Makes changes that are not made by knobs, if this process itself may. After an error,
    /// earlier changes are still in place: see [`Tuned::attempt`] and [`Tuned::finish`].
    pub fn apply(&mut self, changes: &[Change]) -> Result<Vec<Applied>, TunedError> {
        let own = self.tuner.own().ok_or(TunedError::NotByUs)?;
        let applied = own.apply(changes).map_err(TunedError::Journal)?;
        self.listener.hears(Event::Changed(&applied));
        Ok(applied)
    }

    /// Makes the changes for `situation`, in the same way, and returns the final plan: see
    /// [`becalm_machine::tune::Tuning::turn`].
    pub fn carry_out(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TunedError> {
        let done = self.tuner.turn(situation)?;
        self.listener.hears(Event::Changed(&done.1));
        Ok(done)
    }

    /// Takes CPUs away from everything else, in the same way.
    pub fn isolate(
        &mut self,
        request: IsolationRequest,
    ) -> Result<Result<Taken, IsolateError>, TunedError> {
        let Attempt { cleared, taken } =
            self.tuner.isolate(request).map_err(TunedError::Journal)?;
        for line in &cleared {
            self.listener.hears(Event::GroupRemoved(line));
        }
        if let Ok(taken) = &taken {
            self.listener.hears(Event::Changed(&taken.applied));
        }
        Ok(taken)
    }

    /// Keeps the CPUs out of idle states that take longer than `microseconds` to leave.
    pub fn hold_latency(&mut self, microseconds: i32) {
        if let Err(error) = self.tuner.hold_latency(microseconds) {
            self.listener.hears(Event::LatencyNotHeld(&error));
        }
    }

    /// Says so if the service of the machine has put it back already.
    pub fn time_up(&self) -> Option<TimeUp> {
        self.tuner.time_up()
    }

    /// Puts everything back; says whether that was possible.
    pub fn finish(self) -> Result<bool, TunedError> {
        if let Some(time_up) = self.time_up() {
            self.listener.hears(Event::TimeUp(time_up));
        }
        let recovered = self.tuner.finish().map_err(TunedError::NotRestored)?;
        self.listener.hears(Event::Restored(&recovered));
        Ok(is_restored(&recovered))
    }

    /// Leaves the machine tuned, in the care of the guardian; returns which process that is.
    pub fn keep(self) -> Result<ProcessIdentity, GivenUp<TunedError>> {
        let Self { tuner, listener } = self;
        tuner.keep().map_err(|NotKept { why, restored }| GivenUp {
            error: TunedError::NotKept(why),
            machine: PutBack::of(restored, listener),
        })
    }
}

/// Says whether everything is as it was, and known to be.
pub fn is_restored(recovered: &Recovered) -> bool {
    let is_stale =
        matches!(recovered, Recovered::Restored(Restored { stale_journal: Some(_), .. }));
    !is_stale && recovered.left().is_empty() && !matches!(recovered, Recovered::SetAside { .. })
}

/// Returns one line for each change that did not have the requested effect.
pub fn failures(applied: &[Applied]) -> Vec<String> {
    applied.iter().filter_map(failure).collect()
}

fn failure(applied: &Applied) -> Option<String> {
    let Change { knob, target, new, .. } = &applied.change;
    let new = shown(new.as_deref().unwrap_or_default());
    let what = match &applied.effect {
        _ if !applied.is_failure() => return None,
        Effect::Refused { reason, .. } => format!("the kernel refused {new}: {reason}"),
        Effect::Ignored => format!("the kernel accepted {new} but kept the old value"),
        Effect::Otherwise { now } => {
            format!("set to {new}, which the kernel changed to {}", shown(now))
        }
        Effect::Set | Effect::Guarded => return None,
    };
    Some(format!("{knob}: {target}: {what}"))
}

/// Empty values are hard to see, and some files hold several lines.
pub fn shown(value: &str) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value.replace('\n', " ") }
}

/// Returns the queue that is asked for.
pub fn queue(wait: TuneWait) -> Wait {
    match wait {
        TuneWait::No => Wait::No,
        TuneWait::For(time) => Wait::For(time),
        TuneWait::Forever => Wait::Forever,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_machine::tune::{self, JournalFile, apply};
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
    fn an_error_says_what_became_of_the_machine() {
        let listener = Listener::new(&|_| {});
        let put_back = |restored| PutBack::of(restored, listener);
        assert!(matches!(put_back(Ok(Recovered::Nothing)), PutBack::Unchanged));
        let all = Recovered::Restored(tune::Restored::default());
        assert!(matches!(put_back(Ok(all)), PutBack::Everything));
        let tree = spoiled();
        let root = SysRoot::new(tree.path());
        let some = put_back(tune::recover(&root, tune::Foreign::Leave));
        assert!(matches!(some, PutBack::NotEverything) && !some.is_complete());
        let tree = tree.file("/var/lib/becalm/journal", "rubbish\n");
        let none = put_back(tune::recover(&root, tune::Foreign::Leave));
        assert!(!none.is_complete(), "the machine may still be tuned: {none:?}");
        drop(tree);
    }
}
