//! The machine during a session: tuned and isolated when asked for, watched always.

use std::cell::RefCell;

use becalm_machine::isolate::{self, Alone, Isolation};
use becalm_machine::knobs::{Request, Situation};
use becalm_machine::tune::{self, Applied, Effect, KnobReadings};
use becalm_machine::{Choice, Topology};
use becalm_model::conditions::Affinity;
use becalm_model::{CpuSet, KnobRecord, Moved, Target};
use becalm_runner::Interrupt;
use becalm_runner::rounds::{Isolate, Isolated};

use super::flags::MeasureFlags;
use super::setup::Machine;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::tuning::{ProfileFlag, Tuned, unmoved, wait};
use crate::ui::Ui;

/// The machine during a session. Whatever was changed is put back by [`Quiet::finish`], and by the
/// guardian if that is never reached.
#[derive(Debug)]
pub(crate) struct Quiet<'a> {
    machine: &'a Machine,
    ui: Ui,
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
    /// What somebody else had changed before isolation changed more.
    drifted: Vec<Moved>,
}

impl<'a> Quiet<'a> {
    /// Tunes the machine if the flags say so, and notes its settings. `chosen` are the CPUs that a
    /// subject of one thread would get.
    pub(crate) fn begin(
        machine: &'a Machine,
        chosen: &CpuSet,
        flags: &MeasureFlags,
        command: &str,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<Self, CommandError> {
        let cpus = match &flags.conditions.affinity {
            // A list that was given is not made smaller.
            Affinity::Cpus(cpus)
                if flags.conditions.isolate
                    && machine.topology.online.difference(cpus).is_empty() =>
            {
                return Err(CommandError::usage(format!(
                    "--isolate --affinity {cpus}: no CPU would be left to everything else"
                ))
                .hint("leave at least one out of the list"));
            }
            Affinity::Cpus(cpus) => cpus.clone(),
            Affinity::None if flags.conditions.isolate => {
                return Err(CommandError::usage(
                    "--isolate needs to know the CPUs, and --affinity none names none",
                ));
            }
            Affinity::Auto | Affinity::None => chosen.clone(),
        };
        let request = flags.conditions.tune.as_ref().map(ProfileFlag::request).transpose()?;
        let (mut tuned, mut applied) = (None, Vec::new());
        // Where nothing can be isolated nothing is needed for it; the reason is told later.
        let isolates = flags.conditions.isolate && isolate::is_possible(&machine.root).is_ok();
        if request.is_some() || isolates {
            let session =
                Tuned::begin(&machine.root, command, wait(&flags.conditions.wait), interrupt, ui)?;
            tuned = Some(session);
        }
        if let Some(request) = &request
            && let Some(session) = tuned.take()
        {
            let situation = situation(machine, &cpus, request);
            let plan = || tune::plan(&situation).map_err(CommandError::usage);
            let work = |session: &mut Tuned<'_>| session.carry_out(plan()?, &situation, ui);
            let (session, (_, made)) = session.attempt(work, ui)?;
            (tuned, applied) = (Some(session), made);
        }
        let before = readings(machine, &cpus);
        let state = State { cpus, tuned, applied, isolation: None, before, drifted: Vec::new() };
        Ok(Self {
            machine,
            ui: *ui,
            skipped: request.map(|request| request.skip).unwrap_or_default(),
            state: RefCell::new(state),
        })
    }

    /// Returns what was changed for the session, what the settings were, and what somebody else has
    /// changed since.
    pub(crate) fn record(&self) -> KnobRecord {
        let state = self.state.borrow();
        let tuned = state.applied.iter().filter(|one| is_setting(one)).filter_map(|one| {
            let to = one.change.new.clone()?;
            Some(Moved { target: one.change.target.to_string(), from: one.change.old.clone(), to })
        });
        KnobRecord {
            tuned: tuned.collect(),
            states: state.before.states(),
            drifted: [
                state.drifted.clone(),
                state.before.moved(&readings(self.machine, &state.cpus)),
            ]
            .concat(),
        }
    }

    /// Says what of the quiet could not be had, and whether it lasted until the end.
    pub(crate) fn limits(&self) -> Vec<String> {
        let unmoved = unmoved(&self.machine.root, &self.state.borrow().applied);
        unmoved.into_iter().chain(self.lost_isolation()).collect()
    }

    /// Says so if the CPUs were not the subject's own until the end.
    fn lost_isolation(&self) -> Option<String> {
        let state = self.state.borrow();
        let broken = state.isolation.as_ref()?.check(&self.machine.root).err()?;
        Some(format!("the isolation did not last until the end: {broken}"))
    }

    /// Puts the machine back.
    pub(crate) fn finish(&self, ui: &Ui) -> Result<Exit, CommandError> {
        let tuned = self.state.borrow_mut().tuned.take();
        tuned.map_or(Ok(Exit::Done), |tuned| tuned.finish(ui))
    }

    /// Takes the CPUs away from everything else, interrupts and threads of the kernel included.
    fn take_cpus(&self, isolation: Isolation) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        state.drifted = state.before.moved(&readings(self.machine, &state.cpus));
        let State { tuned, applied, .. } = &mut *state;
        let session = tuned.as_mut().expect("a plan of isolation means that it is possible");
        let root = &self.machine.root;
        let companions = isolate::companions()
            .into_iter()
            .filter(|name| !self.skipped.iter().any(|skip| skip == name))
            .map(ToOwned::to_owned)
            .collect();
        let request = Request { only: companions, ..Request::default() };
        let mut changes = Vec::new();
        // Without a name there would be no limit to what is planned.
        if !request.only.is_empty() {
            let plan = tune::plan(&situation(self.machine, &isolation.cpus, &request))
                .map_err(|error| error.to_string())?;
            changes = plan.changes;
        }
        changes.extend(isolation.changes.iter().cloned());
        let failed = |error: CommandError| error.message;
        applied.extend(session.apply(&changes, &self.ui).map_err(failed)?);
        let moved = isolation.move_stragglers(root, |more| session.apply(more, &self.ui));
        applied.extend(moved.map_err(failed)?);
        isolation.check(root).map_err(|broken| broken.to_string())?;
        state.cpus = isolation.cpus.clone();
        state.before = readings(self.machine, &state.cpus);
        state.isolation = Some(isolation);
        Ok(())
    }
}

impl Isolate for Quiet<'_> {
    fn isolate(&self, choice: &Choice) -> Result<Isolated, String> {
        let Machine { root, topology, .. } = self.machine;
        // A partition without a journal has CPUs that the plan would find taken.
        if self.state.borrow().tuned.is_some() {
            for line in isolate::clear_leftovers(root) {
                self.ui.say(line);
            }
        }
        // Tuning may have switched second threads off since.
        let now = Topology::read(root);
        let topology = now.as_ref().unwrap_or(topology);
        let Alone { choice: alone, cpus, partition } = isolate::alone(topology, choice);
        match isolate::plan(root, topology, &cpus, partition) {
            Ok(isolation) => {
                let mut choice = alone;
                choice.limits.extend(isolation.limits.iter().cloned());
                let (group, taken) = (isolation.group.clone(), isolation.taken());
                self.take_cpus(isolation)?;
                Ok(Isolated { choice, control_group: Some(group.into()), taken: Some(taken) })
            }
            Err(reason) => {
                self.ui.warn(&reason);
                let mut choice = choice.clone();
                choice.limits.push(reason.to_string());
                Ok(Isolated { choice, control_group: None, taken: None })
            }
        }
    }
}

/// Says whether a change that was made is one of a setting of the machine. Tasks that were moved
/// aside are no settings, and the groups of an isolation are told in words.
fn is_setting(applied: &Applied) -> bool {
    let is_task =
        matches!(applied.change.target, Target::Affinity { .. } | Target::Membership { .. });
    let is_made = matches!(applied.effect, Effect::Set | Effect::Otherwise { .. });
    is_made && !is_task && applied.change.knob != isolate::KNOB
}

fn readings(machine: &Machine, cpus: &CpuSet) -> KnobReadings {
    KnobReadings::read(&situation(machine, cpus, &Request::default()))
}

fn situation<'a>(machine: &'a Machine, cpus: &CpuSet, request: &'a Request) -> Situation<'a> {
    Situation::of(&machine.root, &machine.topology, cpus.clone(), request)
}
