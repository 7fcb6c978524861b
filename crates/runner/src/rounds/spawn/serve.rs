//! One run of a subject that is a server: started, ready, loaded, stopped.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::time::Duration;

use becalm_machine::{GroupUse, group_use};
use becalm_model::load::{CPU_PER_REQUEST, Distrust, Failed, RunLoad};
use becalm_model::{CpuSet, Outcome, metric};

use super::Spawn;
use crate::rounds::Values;
use crate::rounds::client::{Call, PORT, Ready, Sent, ServerError, ServerStart, Serving};
use crate::rounds::executor::{MeasuredRun, RunRequest};
use crate::rounds::spawn_plan::RunError;
use crate::running::Running;
use crate::{Finished, LaunchError, keep_awake, monotonic_raw, own_affinity};

/// How long a server may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks whether it is.
const LOOK: Duration = Duration::from_millis(10);

/// How long a server may take to end by itself: it may have connections to close.
const GRACE: Duration = Duration::from_secs(3);

/// How long what a server started may still be there after it was killed.
const LINGERING: Duration = Duration::from_secs(3);

/// Another try is of no use after so many invalid loads in a row, or where they outnumber the valid ones of the session by
/// so many; and no sooner than after so many seconds of them, because what keeps a machine busy lasts for seconds.
const MOST: u32 = 5;
const LONGEST: f64 = 10.0;

/// However short they are, no more than this.
const MOST_EVER: u32 = 40;

/// Loads, and how long they took.
#[derive(Debug, Clone, Copy, Default)]
struct Loads {
    count: u32,
    seconds: f64,
}

impl Loads {
    fn add(&mut self, load: &RunLoad) {
        self.count += 1;
        self.seconds += load.elapsed;
    }

    /// Says whether these are enough for another try to be of no use.
    fn are_enough(self) -> bool {
        self.count >= MOST_EVER || (self.count >= MOST && self.seconds >= LONGEST)
    }

    /// Returns by how many they are more than others.
    fn beyond(self, others: Self) -> Self {
        let count = self.count.saturating_sub(others.count);
        Self { count, seconds: self.seconds - others.seconds }
    }
}

/// Servers of a session.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Those that stay, by subject.
    kept: Vec<(usize, Server)>,
    /// The port that each has, or had in its latest run; chosen before the hooks of the run, which may name it.
    ports: BTreeMap<usize, String>,
    /// The CPUs that were kept awake during a load.
    awake: CpuSet,
    /// Why the latest load is invalid; empty if it is valid.
    distrust: Vec<Distrust>,
    /// Valid loads.
    believed: Loads,
    /// Loads that were not.
    not_believed: Loads,
}

/// A server that runs.
#[derive(Debug)]
struct Server {
    running: Running,
    /// Where it is.
    url: String,
}

/// What a run of a server gave.
#[derive(Debug)]
pub(super) struct Served {
    /// Its process, or what of it belongs to the run.
    pub(super) finished: Finished,
    /// What the load gave.
    pub(super) values: Values,
    /// What the record keeps of it.
    pub(super) load: Box<RunLoad>,
    /// Whether the process is the run's alone.
    pub(super) is_whole: bool,
}

impl Spawn<'_> {
    /// Makes a run; one whose generator was not to be believed is made again, with the same due times.
    pub(super) fn believed_run(&mut self, request: RunRequest) -> Result<MeasuredRun, RunError> {
        let (mut repeated, mut in_a_row) = (Vec::new(), Loads::default());
        loop {
            let mut measured = self.one_run(request)?;
            let Some(load) = &mut measured.load else { return Ok(measured) };
            let servers = &mut self.servers;
            let distrust = std::mem::take(&mut servers.distrust);
            let Some(reason) = distrust.first().cloned() else {
                servers.believed.add(load);
                load.repeated = repeated;
                return Ok(measured);
            };
            servers.not_believed.add(load);
            let (scheduled, failed) = (load.counts.scheduled, load.errors.clone());
            in_a_row.add(load);
            let Servers { believed, not_believed, .. } = servers;
            let is_enough = in_a_row.are_enough() || not_believed.beyond(*believed).are_enough();
            let (invalid, all) = (not_believed.count, not_believed.count + believed.count);
            repeated.push(distrust);
            self.forget_latest();
            if is_enough {
                let source = ServerError::NotBelieved { invalid, all, reason, scheduled, failed };
                return Err(self.server_error(request.subject, source));
            }
        }
    }

    /// Chooses the port of a server that the next run starts.
    pub(super) fn choose_port(
        &mut self,
        subject: usize,
        serving: &Serving,
    ) -> Result<(), RunError> {
        let is_kept = self.servers.kept.iter().any(|(one, _)| *one == subject);
        if is_kept || serving.start == ServerStart::IsThere {
            return Ok(());
        }
        let port =
            free_port().map_err(|why| self.server_error(subject, ServerError::NoPort(why)))?;
        self.servers.ports.insert(subject, port);
        Ok(())
    }

    /// Returns a command of the user with the port of the server, if there is one.
    pub(super) fn with_port(&self, subject: usize, text: &str) -> String {
        let port = self.servers.ports.get(&subject);
        port.map_or_else(|| text.to_owned(), |port| text.replace(PORT, port))
    }

    /// Returns the CPUs that were kept awake during loads, if any were.
    pub(super) fn awake(&self) -> Option<CpuSet> {
        Some(&self.servers.awake).filter(|cpus| !cpus.is_empty()).cloned()
    }

    /// Returns the CPUs that servers and generator have.
    fn cpus_of_load(&self) -> CpuSet {
        let generator = own_affinity().unwrap_or_default();
        self.cpus_of_servers()
            .map_or_else(|| generator.clone(), |servers| servers.union(&generator))
    }

    /// Returns the CPUs of the servers, if becalm gave them any.
    fn cpus_of_servers(&self) -> Option<&CpuSet> {
        self.plan.placement.affinity.as_ref().or(self.cpus.own.as_ref())
    }

    /// Says whether no server can use the CPUs of the generator.
    fn generator_has_others(&self) -> bool {
        let generator = own_affinity().unwrap_or_default();
        self.cpus_of_servers().is_some_and(|servers| servers.intersection(&generator).is_empty())
    }

    /// Starts a server, waits until it is ready, loads it and stops it; as far as it is not there already or stays.
    pub(super) fn serve(
        &mut self,
        request: RunRequest,
        serving: &Serving,
    ) -> Result<Served, RunError> {
        let awake = keep_awake(serving.keep_awake, self.plan.wakes_late, &self.cpus_of_load());
        self.servers.awake = self.servers.awake.union(awake.cpus());
        match &serving.start {
            ServerStart::IsThere => {
                let url = serving.url.clone();
                self.window(request, serving, &url, None)
            }
            ServerStart::Once(ready) => {
                let subject = request.subject;
                let kept = &mut self.servers.kept;
                let server = match kept.iter().position(|(one, _)| *one == subject) {
                    Some(place) => kept.swap_remove(place).1,
                    None => self.start_server(request, serving, ready)?,
                };
                let served = self.window(request, serving, &server.url, Some(&server.running));
                if server.running.ends_within(Duration::ZERO) {
                    return Err(self.ended_under_load(subject, server));
                }
                self.servers.kept.push((subject, server));
                served
            }
            ServerStart::EachRun(ready) => {
                let server = self.start_server(request, serving, ready)?;
                let served = self.window(request, serving, &server.url, Some(&server.running));
                if server.running.ends_within(Duration::ZERO) {
                    return Err(self.ended_under_load(request.subject, server));
                }
                let url = server.url.clone();
                let finished = self.stop_server(request.subject, server)?;
                self.see_that_it_is_gone(request.subject, serving, &url)?;
                Ok(Served { finished, is_whole: true, ..served? })
            }
        }
    }

    /// Stops the servers that stay as long as the session, all of them even if one cannot be stopped; the first failure is
    /// returned.
    pub(super) fn stop_servers(&mut self) -> Result<(), RunError> {
        let mut result = Ok(());
        for (subject, server) in std::mem::take(&mut self.servers.kept) {
            result = result.and(self.stop_kept(subject, server));
        }
        result
    }

    fn stop_kept(&self, subject: usize, server: Server) -> Result<(), RunError> {
        let url = server.url.clone();
        match self.stop_server(subject, server) {
            // It has ended; the signal is about the session.
            Err(RunError::Launch { source: LaunchError::Interrupted { .. }, .. }) => return Ok(()),
            stopped => stopped.map(drop)?,
        }
        match self.plan.subjects[subject].serving.clone() {
            Some(serving) => self.see_that_it_is_gone(subject, &serving, &url),
            None => Ok(()),
        }
    }

    fn server_error(&self, subject: usize, source: ServerError) -> RunError {
        let subject = self.plan.subjects[subject].name.clone();
        RunError::Server { subject, source: Box::new(source) }
    }

    /// Starts a server and waits until it is ready.
    fn start_server(
        &mut self,
        request: RunRequest,
        serving: &Serving,
        ready: &Ready,
    ) -> Result<Server, RunError> {
        let subject = request.subject;
        let error = |spawn: &Self, source| spawn.server_error(subject, source);
        let port = self.servers.ports.get(&subject).cloned().expect("chosen before the run");
        let filled = |text: &str| text.replace(PORT, &port);
        let url = filled(&serving.url);
        if serving.client.is_taken(&url) {
            return Err(error(self, ServerError::Taken { url }));
        }
        let running = self
            .start_running(request, &port)
            .map_err(|source| RunError::Launch { subject: self.name_of(subject), source })?;
        let until = monotonic_raw() + PATIENCE;
        loop {
            let left = until.saturating_sub(monotonic_raw());
            let why = match ready {
                Ready::Answers(other) => {
                    let other = other.as_ref().map(|other| filled(other));
                    let asked = match &other {
                        None => serving.client.ask(&url, left, self.interrupt),
                        Some(other) => serving.client.get(other, &url, left, self.interrupt),
                    };
                    match asked {
                        Ok(()) => return Ok(Server { running, url }),
                        Err(why) => format!("{}: {why}", other.as_ref().unwrap_or(&url)),
                    }
                }
                Ready::Listens(text) => {
                    let place = filled(text);
                    if place.parse().is_ok_and(is_listening) {
                        return Ok(Server { running, url });
                    }
                    format!("nothing listens at port {place}")
                }
                Ready::Prints(text) => {
                    let line = filled(text);
                    if running.has_said(&line) {
                        return Ok(Server { running, url });
                    }
                    format!("no line that it printed contains `{line}`")
                }
            };
            let has_ended = running.ends_within(LOOK);
            if has_ended || left.is_zero() || self.interrupt.signal().is_some() {
                let finished = self.finish_running(subject, running)?;
                let source = if has_ended {
                    ServerError::EndedBefore { outcome: finished.outcome }
                } else {
                    ServerError::NotReady { patience: PATIENCE, why }
                };
                return Err(error(self, source).with(finished.said));
            }
        }
    }

    /// Loads a server that is ready.
    fn window(
        &mut self,
        request: RunRequest,
        serving: &Serving,
        url: &str,
        running: Option<&Running>,
    ) -> Result<Served, RunError> {
        let error = |spawn: &Self, source| spawn.server_error(request.subject, source);
        let mut goes_on = || {
            let Some(running) = running else { return true };
            running.forget_beginning();
            !running.ends_within(Duration::ZERO)
        };
        let seed = request.seed;
        let interrupt = self.interrupt;
        let client = &serving.client;
        let own_cpus = self.generator_has_others();
        let call = Call { url, seed, own_cpus, interrupt, goes_on: &mut goes_on };
        client.warm_up(call).map_err(|why| error(self, ServerError::NotLoaded(why)))?;
        let used = || running.and_then(|running| group_use(self.root, running.group()));
        let (before, released) = (used(), monotonic_raw());
        let call = Call { url, seed, own_cpus, interrupt, goes_on: &mut goes_on };
        let sent = client.load(call).map_err(|why| error(self, ServerError::NotLoaded(why)))?;
        let (after, wall) = (used(), monotonic_raw().saturating_sub(released));
        let Sent { load, mut values, distrust } = sent;
        if let Some(signal) = interrupt.signal() {
            return Err(interrupted(self, request.subject, signal));
        }
        // Without ports of this machine nothing is known of the server.
        let is_exhausted = distrust.iter().any(|one| matches!(one, Distrust::Exhausted { .. }));
        let is_silent = load.counts.answered == 0 && !is_exhausted;
        if is_silent && running.is_none_or(|one| !one.ends_within(Duration::ZERO)) {
            let requests = load.counts.scheduled;
            let most = load.errors.first();
            let why = most.map_or_else(|| "none was sent".to_owned(), Failed::in_words);
            return Err(error(self, ServerError::NoAnswer { requests, why }));
        }
        let cpu_time = before.zip(after).map(|(then, now)| (now.cpu_time - then.cpu_time).max(0.0));
        let answered = load.counts.answered as f64;
        values.add(CPU_PER_REQUEST, cpu_time.map(|time| time / answered.max(1.0)));
        self.servers.distrust = distrust;
        let finished = of_window(released, wall, cpu_time, after);
        Ok(Served { finished, values, load: Box::new(load), is_whole: false })
    }

    fn ended_under_load(&self, subject: usize, server: Server) -> RunError {
        match self.finish_running(subject, server.running) {
            Ok(Finished { outcome, said, .. }) => {
                self.server_error(subject, ServerError::EndedUnderLoad { outcome }).with(said)
            }
            Err(error) => error,
        }
    }

    /// Stops a server. Its exit code does not count: it ends because it was asked to.
    fn stop_server(&self, subject: usize, server: Server) -> Result<Finished, RunError> {
        server.running.ask_to_end(GRACE);
        let finished = self.finish_running(subject, server.running)?;
        Ok(Finished { outcome: Outcome::Exited(0), said: Vec::new(), ..finished })
    }

    fn finish_running(&self, subject: usize, running: Running) -> Result<Finished, RunError> {
        running
            .finish(Ok(None), None, &self.plan.counters, self.interrupt)
            .map_err(|source| RunError::Launch { subject: self.name_of(subject), source })
    }

    /// Waits until nobody listens any more where a server was; not after a signal, which ends the session.
    fn see_that_it_is_gone(
        &self,
        subject: usize,
        serving: &Serving,
        url: &str,
    ) -> Result<(), RunError> {
        let until = monotonic_raw() + LINGERING;
        while serving.client.is_taken(url) {
            if monotonic_raw() > until {
                let url = url.to_owned();
                return Err(self.server_error(subject, ServerError::StillThere { url }));
            }
            if !self.interrupt.sleep(LOOK) {
                break;
            }
        }
        Ok(())
    }

    /// Returns what is recorded of a server that is not the run's alone.
    pub(super) fn values_of_window(finished: &Finished) -> Values {
        let mut values = Values::default();
        values.add(metric::WALL_TIME, finished.wall);
        if finished.max_rss > 0 {
            values.add(metric::CPU_TIME, finished.cpu_time());
            values.add(metric::MAX_RSS, finished.max_rss as f64);
        }
        values
    }
}

fn interrupted(spawn: &Spawn<'_>, subject: usize, signal: i32) -> RunError {
    let source = LaunchError::Interrupted { signal };
    RunError::Launch { subject: spawn.name_of(subject), source }
}

/// What of a server belongs to a run, where it was there before and stays.
fn of_window(
    released: Duration,
    wall: Duration,
    cpu_time: Option<f64>,
    used: Option<GroupUse>,
) -> Finished {
    Finished {
        // In which mode is not known.
        user_time: cpu_time.unwrap_or(0.0),
        max_rss: used.map_or(0, |used| used.max_rss),
        ..Finished::blank(released, wall.as_secs_f64())
    }
}

/// The addresses of the loopback: a server may listen at either.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Finds a port of the loopback at which nobody listens.
fn free_port() -> Result<String, String> {
    /// A port that is free at one address and not at the other is rare.
    const TRIES: usize = 20;
    for _ in 0..TRIES {
        let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|one| one.local_addr());
        let port = found.map_err(|error| error.to_string())?.port();
        if !is_listening(port) {
            return Ok(port.to_string());
        }
    }
    Err("the ports that the system chooses are in use at the other address of the loopback"
        .to_owned())
}

fn is_listening(port: u16) -> bool {
    const AT_ONCE: Duration = Duration::from_millis(500);
    LOOPBACK
        .into_iter()
        .any(|address| TcpStream::connect_timeout(&(address, port).into(), AT_ONCE).is_ok())
}
