//! The machine during a session: tuned and isolated on request, always watched.

use std::cell::RefCell;
use std::time::Duration;

use becalm_machine::isolate::{self, Alone, IsolateError, Isolation, Partition, Taken};
use becalm_machine::knobs::{Situation, TuningRequest};
use becalm_machine::service::TimeUp;
use becalm_machine::steward::IsolationRequest;
use becalm_machine::tune::{self, Applied, Effect, KnobReadings};
use becalm_machine::{Choice, Topology};
use becalm_model::conditions::Affinity;
use becalm_model::terms::RunTerms;
use becalm_model::{CpuSet, KnobRecord, Limit, Moved, PlacementLimit, SessionLimit, Target};
use becalm_runner::Interrupt;
use becalm_runner::rounds::{Isolate, Isolated};

use crate::error::Fault;
use crate::event::{Event, Listener};
use crate::profile::{ProfileError, profile};
use crate::setup::Machine;
use crate::tuned::{GivenUp, PutBack, Tuned, TunedError};
use crate::unmoved::unmoved;

/// Why the machine cannot be made quiet.
#[derive(Debug, thiserror::Error)]
pub enum QuietError {
    /// Everything else needs a CPU, too.
    #[error("--isolate --affinity {0}: no CPU would be left for everything else")]
    NoCpuLeft(CpuSet),
    /// Isolation is of CPUs.
    #[error("--isolate needs CPUs, but --affinity none chooses none")]
    NoCpus,
    /// There is no such profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The machine cannot be tuned.
    #[error(transparent)]
    Tuned(#[from] TunedError),
    /// Tuning failed half-way.
    #[error("{error}")]
    GivenUp {
        /// Why.
        error: TunedError,
        /// What state the machine is in.
        machine: PutBack,
    },
}

impl QuietError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoCpuLeft(_) | Self::NoCpus | Self::Profile(_) => Fault::Usage,
            Self::Tuned(error) => error.fault(),
            Self::GivenUp { error, machine } if machine.is_complete() => error.fault(),
            Self::GivenUp { .. } => Fault::NotRestored,
        }
    }
}

/// The machine during a session. Whatever was changed is put back by [`Quiet::finish`], and by the
/// guardian if that is never reached.
#[derive(Debug)]
pub(crate) struct Quiet<'a> {
    machine: &'a Machine,
    listener: Listener<'a>,
    /// For how long the machine had been suspended before.
    suspended: Duration,
    /// Why the machine is not tuned although the terms say so.
    refused: Option<SessionLimit>,
    /// What tuning must leave alone.
    skipped: Vec<String>,
    // The CPUs of a subject are known only after the warm-up.
    state: RefCell<State<'a>>,
}

#[derive(Debug)]
struct State<'a> {
    cpus: CpuSet,
    tuned: Option<Tuned<'a>>,
    applied: Vec<Applied>,
    isolation: Option<Isolation>,
    before: KnobReadings,
    /// What others had changed before isolation changed more.
    drifted: Vec<Moved>,
}

impl<'a> Quiet<'a> {
    /// Tunes the machine if the terms say so, and notes its settings. `chosen` are the CPUs that a
    /// subject of one thread would get.
    pub(crate) fn begin(
        machine: &'a Machine,
        chosen: &CpuSet,
        runs: &RunTerms,
        command: &str,
        interrupt: &Interrupt,
        listener: Listener<'a>,
    ) -> Result<Self, QuietError> {
        let cpus = match &runs.affinity {
            // A list that was given is not made smaller.
            Affinity::Cpus(cpus)
                if runs.isolate && machine.topology.online.difference(cpus).is_empty() =>
            {
                return Err(QuietError::NoCpuLeft(cpus.clone()));
            }
            Affinity::Cpus(cpus) => cpus.clone(),
            Affinity::None if runs.isolate => return Err(QuietError::NoCpus),
            Affinity::Auto | Affinity::None => chosen.clone(),
        };
        let request = runs.tune.as_ref().map(profile).transpose()?;
        let (mut tuned, mut applied, mut refused) = (None, Vec::new(), None);
        // Where nothing can be isolated nothing is needed for it; the reason is told later.
        let isolates = runs.isolate && isolate::is_possible(&machine.root).is_ok();
        if request.is_some() || isolates {
            match Tuned::begin(&machine.root, command, runs.wait, interrupt, listener) {
                Ok((session, _)) => tuned = Some(session),
                Err(error) if error.needs_root() => {
                    let limit = SessionLimit::NotTuned { error: error.to_string() };
                    listener.hears(Event::NotTuned(&limit));
                    refused = Some(limit);
                }
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(request) = &request
            && let Some(session) = tuned.take()
        {
            let situation = situation(machine, &cpus, request);
            let (session, (_, made)) = session
                .attempt(|session| session.carry_out(&situation))
                .map_err(|GivenUp { error, machine }| QuietError::GivenUp { error, machine })?;
            (tuned, applied) = (Some(session), made);
        }
        let before = readings(machine, &cpus);
        let state = State { cpus, tuned, applied, isolation: None, before, drifted: Vec::new() };
        Ok(Self {
            machine,
            listener,
            suspended: becalm_machine::suspended(),
            refused,
            skipped: request.map(|request| request.skip).unwrap_or_default(),
            state: RefCell::new(state),
        })
    }

    /// Returns what was changed for the session, what the settings were, and what others have
    /// changed since.
    pub(crate) fn record(&self) -> KnobRecord {
        let state = self.state.borrow();
        let tuned = state.applied.iter().filter(|one| is_setting(one)).filter_map(|one| {
            let to = one.change.new.clone()?;
            Some(Moved { target: one.change.target.to_string(), from: one.change.old.clone(), to })
        });
        let drifted = || state.before.moved(&readings(self.machine, &state.cpus));
        KnobRecord {
            tuned: tuned.collect(),
            states: state.before.states(),
            // What the service has put back nobody else has changed.
            drifted: match state.tuned.as_ref().and_then(Tuned::time_up) {
                Some(_) => state.drifted.clone(),
                None => [state.drifted.clone(), drifted()].concat(),
            },
        }
    }

    /// Says what could not be made quiet, and whether the quiet lasted until the end.
    pub(crate) fn limits(&self) -> Vec<Limit> {
        let unmoved = unmoved(&self.machine.root, &self.state.borrow().applied);
        let slept = slept(self.suspended, becalm_machine::suspended()).map(Limit::from);
        let placed = unmoved.into_iter().chain(self.lost_isolation()).map(Limit::from);
        let time_up = self.state.borrow().tuned.as_ref().and_then(Tuned::time_up);
        let put_back =
            time_up.map(|TimeUp { seconds }| SessionLimit::PutBackEarly { seconds }.into());
        let refused = self.refused.clone().map(Limit::from);
        placed.chain(slept).chain(put_back).chain(refused).collect()
    }

    /// Says so if the CPUs were not the subject's own until the end.
    fn lost_isolation(&self) -> Option<PlacementLimit> {
        let state = self.state.borrow();
        let broken = state.isolation.as_ref()?.check(&self.machine.root).err()?;
        Some(PlacementLimit::IsolationLost { error: broken.to_string() })
    }

    /// Says whether another becalm tunes the machine now.
    pub(crate) fn is_tuned_by_another(&self) -> bool {
        self.state.borrow().tuned.is_none() && tune::is_held(&self.machine.root)
    }

    /// Puts the machine back; says whether that was possible.
    pub(crate) fn finish(&self) -> Result<bool, TunedError> {
        let tuned = self.state.borrow_mut().tuned.take();
        tuned.map_or(Ok(true), Tuned::finish)
    }

    /// Takes CPUs away from everything else, interrupts and threads of the kernel included.
    fn take_cpus(
        &self,
        cpus: CpuSet,
        partition: Partition,
    ) -> Result<Result<Isolation, IsolateError>, String> {
        let mut state = self.state.borrow_mut();
        let drifted = state.before.moved(&readings(self.machine, &state.cpus));
        let Some(session) = &mut state.tuned else {
            let why = isolate::is_possible(&self.machine.root).err();
            return Ok(Err(why.expect("what is possible has a session to do it")));
        };
        let request = IsolationRequest { cpus, partition, without: self.skipped.clone() };
        let Taken { isolation, applied } =
            match session.isolate(request).map_err(|error| error.to_string())? {
                Ok(taken) => taken,
                Err(refused) => return Ok(Err(refused)),
            };
        state.drifted = drifted;
        state.applied.extend(applied);
        isolation.check(&self.machine.root).map_err(|broken| broken.to_string())?;
        state.cpus = isolation.cpus.clone();
        state.before = readings(self.machine, &state.cpus);
        state.isolation = Some(isolation.clone());
        Ok(Ok(isolation))
    }
}

impl Isolate for Quiet<'_> {
    fn isolate(&self, choice: &Choice) -> Result<Isolated, String> {
        let Machine { root, topology, .. } = self.machine;
        // Tuning may have switched second threads off since.
        let now = Topology::read(root);
        let topology = now.as_ref().unwrap_or(topology);
        let Alone { choice: alone, cpus, partition } = isolate::alone(topology, choice);
        match self.take_cpus(cpus, partition)? {
            Ok(isolation) => {
                let mut choice = alone;
                choice.limits.extend(isolation.limits.iter().cloned());
                let taken = Some(isolation.taken());
                Ok(Isolated { choice, control_group: Some(isolation.group.into()), taken })
            }
            Err(reason) => {
                let error = reason.to_string();
                self.listener.hears(Event::NotIsolated(&error));
                let mut choice = choice.clone();
                choice.limits.push(PlacementLimit::NotIsolated { error }.into());
                Ok(Isolated { choice, control_group: None, taken: None })
            }
        }
    }
}

/// Says so if the machine was suspended between two moments, from the time it had been suspended
/// before each.
fn slept(before: Duration, after: Duration) -> Option<SessionLimit> {
    // The clocks that it is the difference of are not read at the same instant.
    const NOTICED: Duration = Duration::from_secs(1);
    let slept = after.saturating_sub(before);
    let seconds = slept.as_secs();
    (slept >= NOTICED).then_some(SessionLimit::Suspended { seconds })
}

/// Says whether a change that was made is a change of a setting. Tasks that were moved aside are
/// not settings, and the groups of an isolation are reported as text.
fn is_setting(applied: &Applied) -> bool {
    let is_task = matches!(applied.change.target, Target::Affinity(_) | Target::Membership { .. });
    let is_made = matches!(applied.effect, Effect::Set | Effect::Otherwise { .. });
    is_made && !is_task && applied.change.knob != isolate::KNOB
}

fn readings(machine: &Machine, cpus: &CpuSet) -> KnobReadings {
    KnobReadings::read(&situation(machine, cpus, &TuningRequest::default()))
}

fn situation<'a>(machine: &'a Machine, cpus: &CpuSet, request: &'a TuningRequest) -> Situation<'a> {
    Situation::of(&machine.root, &machine.topology, cpus.clone(), request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_says_so() {
        let seconds = Duration::from_secs;
        assert_eq!(slept(seconds(7), seconds(7)), None);
        assert_eq!(slept(seconds(7), seconds(7) + Duration::from_millis(3)), None);
        assert_eq!(slept(seconds(7), seconds(49)), Some(SessionLimit::Suspended { seconds: 42 }));
        assert_eq!(slept(seconds(7), seconds(0)), None);
    }
}
