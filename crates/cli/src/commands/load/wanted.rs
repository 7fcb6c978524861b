//! What a command line asks for: a scenario with everything in it, and where it goes.

use std::time::Duration;

use becalm_load::{Contents, Plan, Protocol, Requests, Schedule, Target, threads_here};
use becalm_model::load::{
    Arrivals, LoadRequest, LoadTerms, PORT, Rates, RequestTerms, Scenario, Stage,
};
use becalm_session::read_times;
use becalm_session::suite::load_of_this_folder;

use super::{Args, ArrivalsFlag, no_target};
use crate::error::CommandError;

/// For how long requests are due where nothing else is said, in seconds.
const DURATION: f64 = 10.0;

/// A load that is asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) scenario: Scenario,
    /// Whether the server has CPUs that the generator does not use; known once the generator has its own.
    pub(super) own_cpus: bool,
    contents: Contents,
}

impl Asked {
    /// Takes a scenario as it is.
    pub(super) fn plain(url: String, scenario: Scenario) -> Self {
        Self { url, scenario, own_cpus: false, contents: Contents::default() }
    }

    /// Takes the flags, over a scenario of `becalm.toml` if one is named.
    pub(super) fn of(args: &Args) -> Result<Self, CommandError> {
        let named = args.scenario.as_deref().map(load_of_this_folder).transpose()?;
        let (mut scenario, url) = match named {
            Some(load) => (load.scenario, load.url),
            None => (Scenario::default(), None),
        };
        let url = args.url.clone().or(url).ok_or_else(|| {
            CommandError::usage("the scenario has no url")
                .hint("name it: becalm load URL --scenario NAME")
        })?;
        if url.contains(PORT) {
            return Err(CommandError::usage(format!(
                "`{url}` has a port that only `compare --load` fills in"
            ))
            .hint("name the server: becalm load URL --scenario NAME"));
        }
        set_times(args, &mut scenario)?;
        args.connections.apply(&mut scenario);
        let contents = args.requests.apply(&mut scenario)?;
        if let Some((one, other)) = scenario.contradiction() {
            return Err(CommandError::usage(format!("{one} and {other} cannot be combined")));
        }
        Ok(Self { url, scenario, own_cpus: false, contents })
    }

    /// Returns when the requests are due.
    pub(super) fn schedule(&self, seed: u64) -> Schedule {
        self.contents.schedule(&self.scenario, seed)
    }

    /// Chooses how many threads send where nobody has, now that it is known on which CPUs they are.
    pub(super) fn settle_threads(&mut self) {
        let threads = self.scenario.threads.unwrap_or_else(threads_here);
        // More than connections would have nothing to do.
        self.scenario.threads = Some(threads.min(self.scenario.connections));
    }

    /// Returns where it goes.
    pub(super) fn target(&self) -> Result<Target, CommandError> {
        Target::new(&self.url, self.contents.way(&self.scenario, &self.url)).map_err(no_target)
    }

    /// Returns the load on a target.
    pub(super) fn plan(
        &self,
        target: Target,
        schedule: Schedule,
        highest_rate: f64,
        seed: u64,
    ) -> Result<Plan, CommandError> {
        let scenario = &self.scenario;
        let requests =
            Requests::of(&target, scenario, &self.contents).map_err(CommandError::usage)?;
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Ok(Plan {
            target,
            requests: requests.with_seed(seed),
            schedule,
            highest_rate,
            time_limit: Duration::from_secs_f64(scenario.time_limit),
            connections: number(scenario.connections),
            streams: number(scenario.streams),
            new_connections: scenario.new_connections,
            threads: number(scenario.threads.unwrap_or(1)),
            own_cpus: self.own_cpus,
            batch: scenario.batch.map(Duration::from_secs_f64),
            pause: None,
        })
    }

    /// Returns the terms.
    pub(super) fn terms(&self, seed: u64) -> LoadTerms {
        let scenario = &self.scenario;
        let socket = self.contents.way(scenario, &self.url).unix_socket;
        let kinds = scenario.kinds();
        let bytes = |kind: &LoadRequest| match (&kind.body_file, &kind.body) {
            (Some(file), _) => file.bytes,
            (None, body) => body.as_ref().map_or(0, String::len) as u64,
        };
        let first = &kinds[0];
        let of_mix = |kind: &LoadRequest| RequestTerms {
            name: kind.name.clone(),
            weight: kind.weight,
            method: kind.method.clone(),
            path: kind.path.clone().unwrap_or_default(),
            body_bytes: bytes(kind),
        };
        let is_mix = !scenario.requests.is_empty();
        LoadTerms {
            url: self.url.clone(),
            unix_socket: socket.map(|path| path.display().to_string()),
            protocol: Protocol::of(scenario).name().to_owned(),
            streams: scenario.http2.then_some(scenario.streams),
            method: first.method.clone(),
            body_bytes: bytes(first),
            grpc: scenario.grpc,
            expected_status: scenario.expected_status.clone(),
            expected_body: scenario.expected_body.clone(),
            requests: if is_mix { kinds.iter().map(of_mix).collect() } else { Vec::new() },
            values: scenario.values.clone(),
            authentication: scenario.authentication.clone(),
            follow: (scenario.follow > 0).then_some(scenario.follow),
            requests_digest: scenario.requests_digest(),
            archetype: None,
            arrivals: scenario.arrivals,
            stages: scenario.stages.clone(),
            seed,
            duration: scenario.duration(),
            time_limit: scenario.time_limit,
            connections: scenario.connections,
            new_connections: scenario.new_connections,
            threads: scenario.threads.unwrap_or(1),
            batch: scenario.batch,
        }
    }
}

/// Puts into a scenario what flags say about when requests are due.
fn set_times(args: &Args, scenario: &mut Scenario) -> Result<(), CommandError> {
    let duration = args.duration.as_ref().map(Duration::as_secs_f64);
    if let Some(file) = &args.replay {
        let (_, kept) = read_times(file).map_err(CommandError::usage)?;
        scenario.replay = Some(kept);
        scenario.arrivals = Arrivals::Replayed;
        return Ok(());
    }
    if scenario.replay.is_some() && args.rate.is_none() {
        let given = [("--duration", duration.is_some()), ("--arrivals", args.arrivals.is_some())];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => Err(CommandError::usage(format!(
                "the scenario replays the times of a file, so {flag} cannot change them"
            ))
            .hint("give it a rate in place of the file: --rate 2000")),
        };
    }
    match (&args.rate, duration) {
        (Some(rates), _) => {
            scenario.stages = stages(rates, duration, scenario.duration())?;
            if scenario.replay.take().is_some() {
                scenario.arrivals = Arrivals::Poisson;
            }
        }
        (None, Some(duration)) => {
            let longer = duration / scenario.duration().max(f64::MIN_POSITIVE);
            scenario.stages.iter_mut().for_each(|stage| stage.seconds *= longer);
        }
        (None, None) => {}
    }
    match args.arrivals {
        Some(ArrivalsFlag::Poisson) => scenario.arrivals = Arrivals::Poisson,
        Some(ArrivalsFlag::Even) => scenario.arrivals = Arrivals::Even,
        None => {}
    }
    Ok(())
}

/// Returns the stages of a rate, over the time that somebody said, or over that of the scenario.
fn stages(rates: &Rates, given: Option<f64>, of_scenario: f64) -> Result<Vec<Stage>, CommandError> {
    if rates.seconds().is_some() && given.is_some() {
        return Err(CommandError::usage(
            "--duration cannot be combined with a --rate that says how long each phase is",
        ));
    }
    let of_scenario = Some(of_scenario).filter(|length| *length > 0.0);
    Ok(rates.stages(given.or(of_scenario).unwrap_or(DURATION)))
}
