//! The machine that a load is sent from, made ready for it.

use becalm_load::Target;
use becalm_machine::wakes_late;
use becalm_model::CpuSet;
use becalm_model::load::{GeneratorPlace, KeepAwake, Separation};
use becalm_runner::{KeptAwake, keep_awake};
use becalm_session::Machine;

use super::Asked;
use super::apart::keep_apart;
use crate::error::CommandError;

/// Puts this thread, and with it those that it will start, beside the server, and keeps both awake until what it returns is
/// dropped. From now on `asked` knows how many threads send, and whether they have CPUs of their own.
pub(super) fn prepare(
    machine: &Machine,
    target: &Target,
    chosen: Option<&CpuSet>,
    asked: &mut Asked,
) -> Result<(GeneratorPlace, KeptAwake), CommandError> {
    let place = keep_apart(target, chosen, machine)?;
    let cpus = match &place.separation {
        Separation::Apart { server_cpus, .. } => place.cpus.union(server_cpus),
        // The server may be on any.
        Separation::Shared { .. }
        | Separation::Chosen
        | Separation::Hidden
        | Separation::Refused { .. } => machine.topology.allowed.clone(),
        Separation::Elsewhere => place.cpus.clone(),
    };
    asked.own_cpus = match &place.separation {
        Separation::Apart { .. } | Separation::Elsewhere => true,
        // Others are left for the server, which the kernel moves there.
        Separation::Chosen | Separation::Shared { .. } => place.cpus != machine.topology.allowed,
        Separation::Hidden | Separation::Refused { .. } => false,
    };
    asked.settle_threads();
    let kept = keep_cpus_awake(machine, asked.scenario.keep_awake(), &cpus);
    let awake = Some(kept.cpus()).filter(|cpus| !cpus.is_empty()).cloned();
    Ok((GeneratorPlace { awake, ..place }, kept))
}

/// Keeps these CPUs awake, if that is wanted and of use here.
pub(super) fn keep_cpus_awake(machine: &Machine, wish: KeepAwake, cpus: &CpuSet) -> KeptAwake {
    keep_awake(wish, wakes_late(&machine.facts), cpus)
}
