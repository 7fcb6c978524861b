//! `becalm load --archetype`: a load that looks like that of production, as shares of what the server can do.

use std::time::Duration;

use becalm_load::{Capacity, Plan, Schedule, Target, capacity, wait_until_idle};
use becalm_model::load::{Archetype, ArchetypeTerms};

use super::not_loaded;
use super::wanted::Asked;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;

/// For how long requests are due where nothing else is said.
const DURATION: Duration = Duration::from_secs(30);

/// The longest wait for a server that was asked for all that it can do.
const IDLE: Duration = Duration::from_secs(10);

/// See [`Archetype`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ArchetypeFlag {
    /// A background worker that is hardly used: 1 % of the capacity
    Idle,
    /// A service whose users wait for each answer: 40 %
    Latency,
    /// A worker that is kept busy: 85 %, evenly
    Throughput,
    /// An application with several kinds of requests (--requests), whose load rises to 60 % and falls
    Enterprise,
}

impl ArchetypeFlag {
    fn archetype(self) -> Archetype {
        match self {
            Self::Idle => Archetype::Idle,
            Self::Latency => Archetype::Latency,
            Self::Throughput => Archetype::Throughput,
            Self::Enterprise => Archetype::Enterprise,
        }
    }
}

/// Measures what a server can do, and gives the load its rates. Returns how, and how many requests were used up.
pub(super) fn settle(
    flag: ArchetypeFlag,
    duration: Option<Duration>,
    asked: &mut Asked,
    target: &Target,
    seed: u64,
) -> Result<(ArchetypeTerms, u64), CommandError> {
    let archetype = flag.archetype();
    if archetype.is_mixed() && asked.scenario.requests.len() < 2 {
        return Err(CommandError::usage(format!(
            "the archetype `{archetype}` needs a mix of requests"
        ))
        .hint("name a file with them: --requests FILE"));
    }
    let interrupt = interrupt()?;
    let plan = asked.plan(target.clone(), Schedule::of_times(Vec::new()), 1.0, seed)?;
    let found = capacity(&plan, interrupt).map_err(not_loaded)?;
    let Some(Capacity { rate, connections, sent }) = found else {
        if let Some(signal) = interrupt.signal() {
            let stopped = CommandError::measure("a signal came before the capacity was known");
            return Err(CommandError { exit: Exit::Signal(signal), ..stopped });
        }
        return Err(CommandError::measure(
            "the server gave no expected answer, so its capacity is unknown",
        )
        .hint("becalm load URL --rate 10 shows what fails"));
    };
    let requests = plan.requests.clone().starting_at(sent);
    wait_until_idle(Plan { requests, ..plan }, IDLE, interrupt).map_err(not_loaded)?;
    let duration = duration.unwrap_or(DURATION).as_secs_f64();
    asked.scenario.stages = archetype.stages(rate, duration);
    asked.scenario.arrivals = archetype.arrivals();
    let connections = connections as u64;
    Ok((ArchetypeTerms { archetype, capacity: rate, connections }, sent + 1))
}
