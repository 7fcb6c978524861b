//! The machine during a session: tuned when asked for, watched always.

use becalm_machine::knobs::{Request, Situation};
use becalm_machine::tune::{self, Applied, KnobReadings};
use becalm_machine::{SysRoot, Topology};
use becalm_model::{CpuSet, KnobRecord, Moved};
use becalm_runner::Interrupt;

use super::flags::{Affinity, MeasureFlags};
use super::setup::Machine;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::tuning::{Tuned, wait};
use crate::ui::Ui;

/// The machine during a session. Whatever was changed is put back by [`Quiet::finish`], and by the
/// guardian if that is never reached.
#[derive(Debug)]
pub(crate) struct Quiet<'a> {
    machine: &'a Machine,
    cpus: CpuSet,
    tuned: Option<Tuned<'a>>,
    applied: Vec<Applied>,
    before: KnobReadings,
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
        let cpus = match &flags.affinity {
            Affinity::Cpus(cpus) => cpus.clone(),
            Affinity::Auto | Affinity::None => chosen.clone(),
        };
        let (mut tuned, mut applied) = (None, Vec::new());
        if let Some(profile) = &flags.tune {
            let request = profile.request()?;
            let mut session =
                Tuned::begin(&machine.root, command, wait(&flags.wait), interrupt, ui)?;
            let plan =
                tune::plan(&situation(machine, &cpus, &request)).map_err(CommandError::usage)?;
            applied = session.apply(&plan.changes, ui)?;
            tuned = Some(session);
        }
        let before = readings(machine, &cpus);
        Ok(Self { machine, cpus, tuned, applied, before })
    }

    /// Returns what was changed for the session, what the settings were, and what somebody else has
    /// changed since.
    pub(crate) fn record(&self) -> KnobRecord {
        let tuned = self.applied.iter().filter(|one| !one.is_failure()).filter_map(|one| {
            let to = one.change.new.clone()?;
            Some(Moved { target: one.change.target.to_string(), from: one.change.old.clone(), to })
        });
        KnobRecord {
            tuned: tuned.collect(),
            states: self.before.states(),
            drifted: self.before.moved(&readings(self.machine, &self.cpus)),
        }
    }

    /// Puts the machine back.
    pub(crate) fn finish(self, ui: &Ui) -> Result<Exit, CommandError> {
        self.tuned.map_or(Ok(Exit::Done), |tuned| tuned.finish(ui))
    }
}

fn readings(machine: &Machine, cpus: &CpuSet) -> KnobReadings {
    KnobReadings::read(&situation(machine, cpus, &Request::default()))
}

fn situation<'a>(machine: &'a Machine, cpus: &CpuSet, request: &'a Request) -> Situation<'a> {
    let (root, topology): (&SysRoot, &Topology) = (&machine.root, &machine.topology);
    let others = topology.online.difference(cpus);
    let housekeeping = if others.is_empty() { topology.online.clone() } else { others };
    Situation { root, topology, cpus: cpus.clone(), housekeeping, request }
}
