//! The machine in the state that a configuration asks for, for as long as one run lasts.
//!
//! Every change goes through [`becalm_machine::tune`]: journalled before it is made, put back afterwards, and by
//! the guardian if this process dies. Each run has a session of its own, so that configurations can take turns.

use std::path::PathBuf;

use becalm_machine::isolate::{self, Alone, IsolateError, Isolation, Taken};
use becalm_machine::knobs::{NoteKind, Situation, Smt, TuningRequest};
use becalm_machine::steward::IsolationRequest;
use becalm_machine::tune::{
    self, Applied, JournalFileError, Recovered, TuneError, Tuner, TuningPlan, TurnError, Wait,
};
use becalm_machine::{Choice, ChoiceFacts, SysRoot, Topology, Width, choose, may_change};
use becalm_model::{Change, CpuSet, Target, counted};

use super::condition::Condition;

/// Whether the machine may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Yes.
    Granted,
    /// Becalm was asked to leave it alone.
    NotWanted,
    /// This process is not root.
    NotRoot,
}

impl Permission {
    /// Returns what this process may do, by its effective user.
    pub fn of_this_process(root: &SysRoot) -> Self {
        if may_change(root) { Self::Granted } else { Self::NotRoot }
    }
}

/// How the machine is changed.
pub struct Machine<'a> {
    /// The machine.
    pub root: &'a SysRoot,
    /// Its CPUs.
    pub topology: &'a Topology,
    /// Whether it may be changed.
    pub permission: Permission,
    /// How long to queue for the right to change it.
    pub wait: Wait,
    /// Says whether the user wants to stop.
    pub stop: &'a dyn Fn() -> bool,
}

/// Why the machine could not be brought into a state, or not be left again.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// It cannot be tuned at all now.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
    /// Settings cannot be changed.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// Something was not put back.
    #[error("{} of the machine could not be put back", counted(.0.left().len(), "setting"))]
    NotRestored(Recovered),
}

/// A machine in another state. To be left by [`Entered::leave`]; when dropped, the guardian puts it back.
#[derive(Debug)]
pub(super) struct Entered<'a> {
    tuner: Option<Tuner<'a>>,
    isolation: Option<Isolation>,
    /// CPUs of the subject, by the CPUs that there are now.
    pub(super) choice: Choice,
    /// CPUs that the subject may use at all now.
    pub(super) allowed: CpuSet,
}

/// What came of trying to enter a state.
pub(super) type Entering<'a> = Result<Result<Entered<'a>, String>, MachineError>;

impl<'a> Machine<'a> {
    /// Returns why a condition cannot be had here; `None` if it can, or if it is so already.
    pub(super) fn obstacle(&self, condition: Condition, choice: &Choice) -> Option<String> {
        if !condition.is_of_the_machine() {
            return None;
        }
        let missing = match condition {
            Condition::Isolated => {
                let alone = isolate::alone(self.topology, choice);
                self.isolation(self.topology, &alone).err()
            }
            _ => self.missing_knob(condition, choice),
        };
        missing.or_else(|| self.forbidden(condition, choice))
    }

    /// Returns why becalm may not do what the machine could.
    fn forbidden(&self, condition: Condition, choice: &Choice) -> Option<String> {
        let is_so_already = condition != Condition::Isolated
            && self.plan(&[condition], &choice.subject).changes.iter().all(|one| one.new.is_none());
        if is_so_already {
            return None;
        }
        match self.permission {
            Permission::Granted => None,
            Permission::NotRoot => Some("needs root".to_owned()),
            Permission::NotWanted => {
                Some("it changes the machine, which --no-tune forbids".to_owned())
            }
        }
    }

    /// Returns why the decisive knob of a condition does nothing here.
    fn missing_knob(&self, condition: Condition, choice: &Choice) -> Option<String> {
        let decisive = condition.knobs().first()?;
        let plan = self.plan(&[condition], &choice.subject);
        if plan.changes.iter().any(|change| change.new.is_some() && change.knob == *decisive) {
            return None;
        }
        let notes = plan.notes.into_iter().filter(|note| note.knob == *decisive);
        let mut reasons: Vec<String> = notes
            .filter(|note| note.kind != NoteKind::AlreadyQuiet)
            .map(|note| note.text)
            .collect();
        reasons.dedup();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Brings the machine into the state that some conditions ask for; an inner error says why the kernel did
    /// not do it, and the machine is as before. `choice` are the CPUs that a subject of this width would get.
    pub(super) fn enter(
        &self,
        conditions: &[Condition],
        width: Width,
        choice: &Choice,
    ) -> Entering<'a> {
        let wanted: Vec<Condition> =
            conditions.iter().copied().filter(|one| one.is_of_the_machine()).collect();
        let (choice, allowed) = (choice.clone(), self.topology.allowed.clone());
        let mut entered = Entered { tuner: None, isolation: None, choice, allowed };
        if wanted.is_empty() {
            return Ok(Ok(entered));
        }
        let (tuner, recovered) =
            Tuner::begin(self.root, "becalm noise reproduce", self.wait, self.stop, &|_| {})?;
        if !recovered.left().is_empty() {
            return Err(MachineError::NotRestored(recovered));
        }
        entered.tuner = Some(tuner);
        match self.change(&mut entered, &wanted, width) {
            Ok(Ok(())) => Ok(Ok(entered)),
            Ok(Err(why)) => {
                entered.leave()?;
                Ok(Err(why))
            }
            Err(error) => {
                entered.leave()?;
                Err(error)
            }
        }
    }

    fn change(
        &self,
        entered: &mut Entered<'a>,
        conditions: &[Condition],
        width: Width,
    ) -> Result<Result<(), String>, MachineError> {
        let Some(tuner) = &mut entered.tuner else {
            return Ok(Ok(()));
        };
        if let Some(request) = request(conditions) {
            let situation = self.situation(&entered.choice.subject, &request);
            if let Some(refused) = refused(&tuner.turn(&situation)?.1) {
                return Ok(Err(refused));
            }
        }
        // Second threads that were switched off have taken their CPUs with them.
        let now = if conditions.contains(&Condition::SmtOff) {
            Topology::read(self.root).ok()
        } else {
            None
        };
        if let Some(now) = &now {
            entered.choice = choose(now, &ChoiceFacts::read(self.root), width);
            entered.allowed = now.allowed.clone();
        }
        if !conditions.contains(&Condition::Isolated) {
            return Ok(Ok(()));
        }
        let topology = now.as_ref().unwrap_or(self.topology);
        let alone = isolate::alone(topology, &entered.choice);
        let (cpus, partition) = (alone.cpus.clone(), alone.partition);
        let wanted = IsolationRequest { cpus, partition, without: Vec::new() };
        let Taken { isolation, applied } = match tuner.isolate(wanted)?.taken {
            Ok(taken) => taken,
            Err(error) => return Ok(Err(said(&error))),
        };
        if let Some(refused) = refused(&applied) {
            return Ok(Err(refused));
        }
        if let Err(broken) = isolation.check(self.root) {
            return Ok(Err(broken.to_string()));
        }
        entered.choice = alone.choice;
        entered.isolation = Some(isolation);
        Ok(Ok(()))
    }

    fn isolation(&self, topology: &Topology, alone: &Alone) -> Result<Isolation, String> {
        isolate::plan(self.root, topology, &alone.cpus, alone.partition)
            .map_err(|error| said(&error))
    }

    fn plan(&self, conditions: &[Condition], cpus: &CpuSet) -> TuningPlan {
        let Some(request) = request(conditions) else { return TuningPlan::default() };
        tune::plan(&self.situation(cpus, &request))
            .expect("conditions name existing knobs, as a test checks")
    }

    fn situation<'b>(&'b self, cpus: &CpuSet, request: &'b TuningRequest) -> Situation<'b> {
        Situation::of(self.root, self.topology, cpus.clone(), request)
    }
}

/// Returns what some conditions ask of the knobs, if anything.
fn request(conditions: &[Condition]) -> Option<TuningRequest> {
    let only: Vec<String> =
        conditions.iter().flat_map(|one| one.knobs()).map(ToString::to_string).collect();
    let smt = if conditions.contains(&Condition::SmtOff) { Smt::Off } else { Smt::Idle };
    // Without a name there would be no limit to what is planned.
    (!only.is_empty()).then(|| TuningRequest { only, smt, ..TuningRequest::default() })
}

/// Returns why CPUs are not isolated, without what a session does instead.
fn said(error: &IsolateError) -> String {
    let text = error.to_string();
    text.strip_suffix("; the subject is only pinned").unwrap_or(&text).to_owned()
}

/// Returns what the kernel did not do of what was decisive. Tasks that could not be moved (most have ended
/// meanwhile) and interrupts that stay disturb, but change nothing of what a row says; whether an isolation
/// holds is asked afterwards.
fn refused(applied: &[Applied]) -> Option<String> {
    let is_task =
        |change: &Change| matches!(change.target, Target::Affinity(_) | Target::Membership { .. });
    let companions = isolate::companions();
    let is_companion = |change: &Change| companions.contains(&change.knob.as_str());
    let one = applied
        .iter()
        .find(|one| one.is_failure() && !is_task(&one.change) && !is_companion(&one.change))?;
    let wanted = one.change.new.as_deref().unwrap_or_default();
    let answer = match &one.effect {
        tune::Effect::Refused { reason, .. } => format!("refused: {reason}"),
        tune::Effect::Otherwise { now } => format!("changed it to {now}"),
        _ => "kept the old value".to_owned(),
    };
    Some(format!("{} set to {wanted}: the kernel {answer}", one.change.target))
}

impl Entered<'_> {
    /// Returns the control group that a subject has to enter.
    pub(super) fn group(&self) -> Option<PathBuf> {
        self.isolation.as_ref().map(|isolation| PathBuf::from(&isolation.group))
    }

    /// Puts everything back.
    pub(super) fn leave(self) -> Result<(), MachineError> {
        let Some(tuner) = self.tuner else {
            return Ok(());
        };
        let recovered = tuner.finish()?;
        if recovered.left().is_empty() { Ok(()) } else { Err(MachineError::NotRestored(recovered)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_user_decides() {
        let permission = |users: &str| {
            let tree = becalm_testkit::FakeTree::new().file("/proc/self/status", users);
            Permission::of_this_process(&SysRoot::new(tree.path()))
        };
        assert_eq!(permission("Name:\tbecalm\nUid:\t1000\t0\t0\t0\n"), Permission::Granted);
        assert_eq!(permission("Uid:\t0\t1000\t0\t0\n"), Permission::NotRoot);
        assert_eq!(permission(""), Permission::NotRoot);
    }

    #[test]
    fn conditions_name_knobs_that_there_are() {
        let known = tune::names();
        for condition in [Condition::Governor, Condition::NoTurbo, Condition::SmtOff] {
            assert!(condition.knobs().iter().all(|name| known.contains(name)), "{condition:?}");
        }
    }
}
