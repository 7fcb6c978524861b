//! Which CPUs the tasks of a workload run on. A pure function.

use becalm_machine::{Topology, TopologyError};
use becalm_model::{CpuId, CpuSet};

use crate::workloads::Shape;

/// Threads per CPU of a crew, if nobody says.
const CREW_PER_CPU: usize = 2;

/// Returns the threads of a crew on so many CPUs.
pub(crate) fn crew_on(cpus: usize) -> usize {
    (CREW_PER_CPU * cpus).max(1)
}

/// Where the threads of a workload run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Places {
    /// A task for each entry, on that CPU; `None` leaves it to the scheduler.
    Each(Vec<Option<CpuId>>),
    /// So many threads that work together, all of them on these CPUs; `None` leaves them where they may run.
    Together {
        /// How many, at least one.
        threads: usize,
        /// Where.
        cpus: Option<CpuSet>,
    },
}

/// Why the tasks cannot be placed as asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Nothing is known about the CPUs.
    #[error("cannot determine the CPUs of this machine: {0}")]
    Unknown(#[from] TopologyError),
    /// A CPU was named that cannot be used.
    #[error("cannot run on {wanted}: this process may use {allowed}")]
    NotAllowed {
        /// What was asked for.
        wanted: CpuSet,
        /// What there is.
        allowed: CpuSet,
    },
    /// No core has two threads.
    #[error(
        "no core here runs two threads at once: SMT is off, absent, or hidden by the hypervisor (CPUs {0})"
    )]
    NoSiblings(CpuSet),
    /// More tasks than places.
    #[error("{tasks} tasks do not fit on {places} {what}")]
    TooMany {
        /// What was asked for.
        tasks: usize,
        /// What there is.
        places: usize,
        /// Of what: `cores`, `threads of a core`.
        what: &'static str,
    },
}

/// Places `tasks` tasks (or as many as the shape has) on `pin`, or where the shape wants them.
pub(crate) fn place(
    shape: Shape,
    tasks: Option<usize>,
    pin: Option<&CpuSet>,
    topology: &Topology,
) -> Result<Places, PlaceError> {
    if let Some(pin) = pin
        && (pin.is_empty() || !pin.difference(&topology.allowed).is_empty())
    {
        let (wanted, allowed) = (pin.clone(), topology.allowed.clone());
        return Err(PlaceError::NotAllowed { wanted, allowed });
    }
    let usable = pin.unwrap_or(&topology.allowed);
    match shape {
        Shape::Single => Ok(single(tasks.unwrap_or(1), pin)),
        Shape::Siblings => siblings(tasks, usable, topology),
        Shape::Cores => cores(tasks, usable, topology),
        Shape::Crew => {
            let threads = tasks.unwrap_or(crew_on(usable.len()));
            Ok(Places::Together { threads, cpus: pin.cloned() })
        }
    }
}

/// The CPUs in turns.
fn single(tasks: usize, pin: Option<&CpuSet>) -> Places {
    let cpus: Vec<Option<CpuId>> = match pin {
        Some(pin) => pin.iter().map(Some).collect(),
        None => vec![None],
    };
    Places::Each(cpus.into_iter().cycle().take(tasks).collect())
}

/// The threads of one core: the last that has several, as the first one is the kernel's favourite.
fn siblings(
    tasks: Option<usize>,
    usable: &CpuSet,
    topology: &Topology,
) -> Result<Places, PlaceError> {
    let mut cores = topology.cores.iter().map(|core| core.cpus.intersection(usable));
    let core = cores.rfind(|core| core.len() > 1);
    let core = core.ok_or_else(|| PlaceError::NoSiblings(usable.clone()))?;
    take(core.iter(), core.len(), tasks, "threads of a core")
}

/// One CPU of each core.
fn cores(tasks: Option<usize>, usable: &CpuSet, topology: &Topology) -> Result<Places, PlaceError> {
    let firsts: Vec<CpuId> =
        topology.cores.iter().filter_map(|core| core.cpus.intersection(usable).first()).collect();
    take(firsts.iter().copied(), firsts.len(), tasks, "cores")
}

fn take(
    cpus: impl Iterator<Item = CpuId>,
    places: usize,
    tasks: Option<usize>,
    what: &'static str,
) -> Result<Places, PlaceError> {
    let tasks = tasks.unwrap_or(places).max(1);
    if tasks > places {
        return Err(PlaceError::TooMany { tasks, places, what });
    }
    Ok(Places::Each(cpus.take(tasks).map(Some).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_machine::Core;

    /// Returns a machine of these cores, of which `allowed` may be used.
    fn machine(cores: &[&str], allowed: &str) -> Topology {
        let cores: Vec<Core> =
            cores.iter().map(|cpus| Core { cpus: cpus.parse().unwrap() }).collect();
        Topology { allowed: allowed.parse().unwrap(), cores, ..Topology::default() }
    }

    #[track_caller]
    fn check(shape: Shape, tasks: Option<usize>, pin: Option<&str>, expect: &str) {
        let machine = machine(&["0,4", "1,5", "2,6", "3"], "0-5");
        let pin = pin.map(|list| list.parse().unwrap());
        let shown = match place(shape, tasks, pin.as_ref(), &machine) {
            Ok(Places::Each(cpus)) => {
                let names = cpus.iter().map(|cpu| cpu.map_or("any".into(), |cpu| cpu.to_string()));
                names.collect::<Vec<_>>().join(" ")
            }
            Ok(Places::Together { threads, cpus }) => {
                format!("{threads} on {}", cpus.map_or("any".into(), |cpus| cpus.to_string()))
            }
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn one_task_runs_anywhere_and_several_take_the_cpus_in_turns() {
        check(Shape::Single, None, None, "any");
        check(Shape::Single, Some(3), None, "any any any");
        check(Shape::Single, None, Some("3"), "3");
        check(Shape::Single, Some(3), Some("1,3"), "1 3 1");
    }

    #[test]
    fn siblings_are_those_of_the_last_core_that_may_be_used_whole() {
        check(Shape::Siblings, None, None, "1 5");
        check(Shape::Siblings, Some(1), None, "1");
        check(Shape::Siblings, None, Some("0,4"), "0 4");
        check(Shape::Siblings, Some(3), None, "error: 3 tasks do not fit on 2 threads of a core");
        check(
            Shape::Siblings,
            None,
            Some("0-3"),
            "error: no core here runs two threads at once: SMT is off, absent, or hidden by the \
             hypervisor (CPUs 0-3)",
        );
    }

    #[test]
    fn cores_get_one_task_each() {
        check(Shape::Cores, None, None, "0 1 2 3");
        check(Shape::Cores, Some(2), Some("2-5"), "4 5");
        check(Shape::Cores, Some(5), None, "error: 5 tasks do not fit on 4 cores");
    }

    #[test]
    fn a_crew_is_twice_as_many_as_cpus() {
        check(Shape::Crew, None, None, "12 on any");
        check(Shape::Crew, None, Some("1"), "2 on 1");
        check(Shape::Crew, Some(3), Some("0-1"), "3 on 0-1");
    }

    #[test]
    fn a_cpu_that_may_not_be_used_is_named() {
        let error = "error: cannot run on 6: this process may use 0-5";
        check(Shape::Single, None, Some("6"), error);
        check(Shape::Crew, None, Some("6"), error);
    }
}
