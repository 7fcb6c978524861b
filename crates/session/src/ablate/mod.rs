//! Which mitigation of noise helps here: the experiment from the first run to the last. What to
//! run, and what the runs show, is decided in the lab.

mod bench;
mod error;
mod hogs;
mod look;
mod stages;
mod subject;
mod time;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use becalm_lab::ablate::here::applicability;
use becalm_lab::ablate::mitigation::MITIGATIONS;
use becalm_lab::ablate::{Experiment, Names, document};
use becalm_machine::{Chooser, SysRoot, Topology, Width, read_facts};
use becalm_model::ablate::{AblateDocument, AblateSubject};
use becalm_model::conditions::{Malloc, Thp};
use becalm_model::terms::{Counters, TuneWait};
use becalm_model::wire::{Words, worded};
use becalm_model::{Limit, SessionLimit};
use becalm_runner::{CounterPlan, Interrupt, monotonic_raw};

pub use self::error::AblateError;
pub use self::subject::Subject;
use crate::environment::environment;
use crate::error::Error;
use crate::event::{Event, Listener};
use crate::tuned::is_restored;
use bench::{Bench, Trouble};
use hogs::Hogs;

/// What is to be found out.
#[derive(Debug)]
pub struct AblateRequest {
    /// The machine.
    pub root: SysRoot,
    /// Its CPUs.
    pub topology: Topology,
    /// What is run.
    pub subject: Subject,
    /// As whom, if not as this process.
    /// The file of becalm itself, which has the workloads.
    pub becalm: String,
    /// Seed of the order in the blocks.
    pub seed: u64,
    /// Confidence of intervals and verdicts.
    pub confidence: f64,
    /// The time for all of it.
    pub max_time: Duration,
    /// The time of a run.
    pub timeout: Duration,
    /// How long to queue for the right to change the machine.
    pub wait: TuneWait,
    /// The mitigations to try; all if empty.
    pub only: Vec<String>,
    /// Those not to try.
    pub skip: Vec<String>,
    /// Whether to try mitigations that others may notice.
    pub is_strict: bool,
    /// Whether the machine is made busy meanwhile.
    pub is_busy: bool,
    /// Whether only to find out what is possible.
    pub is_list: bool,
}

impl AblateRequest {
    /// Says whether a mitigation is not to be tried.
    pub fn is_unwanted(&self, name: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|one| one == name);
        is_named(&self.skip) || (!self.only.is_empty() && !is_named(&self.only))
    }

    /// Refuses an experiment of which nothing is possible here.
    fn refuse_if_none(&self, not_tried: &[Option<String>]) -> Result<(), AblateError> {
        if self.is_list || not_tried.iter().any(Option::is_none) {
            return Ok(());
        }
        let wanted =
            MITIGATIONS.iter().zip(not_tried).filter(|(one, _)| !self.is_unwanted(one.name));
        let told = wanted.filter_map(|(one, why)| Some(format!("{}: {}", one.name, why.as_ref()?)));
        Err(AblateError::Nothing { of_some: !self.only.is_empty(), reasons: told.collect() })
    }
}

/// The experiment while it goes on.
struct Laboratory<'a> {
    bench: Bench<'a>,
    experiment: Experiment,
    started: Duration,
    whole: Duration,
    limits: Vec<Limit>,
    /// Runs that tried what is possible, or whose block was broken off.
    uncounted: u32,
    /// How long one run took with everything around it: untuned, and under each mitigation alone.
    untuned: Duration,
    alone: BTreeMap<usize, Duration>,
}

/// Carries out the experiment; returns what was found, and what ended it after the first runs. The file of the profile
/// is called `profile` in the flags that are recommended.
pub fn ablate(
    request: &AblateRequest,
    profile: &str,
    interrupt: &Interrupt,
    listener: Listener<'_>,
) -> Result<(AblateDocument, Result<(), Error>), Error> {
    let started = monotonic_raw();
    let AblateRequest { root, topology, subject, max_time, .. } = request;
    // Settings change with each run: only trouble is worth a line.
    let told = |event: Event<'_>| match event {
        Event::Restored(recovered) if is_restored(recovered) => {}
        Event::Changed(_) => {}
        event => listener.hears(event),
    };
    let chooser = Chooser::new(root, topology);
    let (choice, mut leases) = chooser.take(Width::One);
    let (counters, missing) = CounterPlan::probe(root, Counters::All);
    let variables = |clear| environment(clear, &[], Malloc::default(), Thp::default());
    let bench = Bench {
        root,
        topology,
        subject,
        choice,
        environment: variables(false)?,
        cleared: variables(true)?,
        counters,
        timeout: request.timeout,
        wait: request.wait,
        was_tuned: Cell::new(false),
        interrupt,
        listener: Listener::new(&told),
        seed: request.seed,
    };
    // They end long before they could be forgotten.
    let at_most = *max_time * 2 + request.timeout;
    let busy = || Hogs::start(&request.becalm, &topology.online, at_most);
    let hogs = request.is_busy.then(busy).transpose()?;
    let mut lab = Laboratory {
        bench,
        experiment: Experiment::new(subject.timing(), request.confidence, request.seed),
        started,
        whole: *max_time,
        limits: missing.into_iter().map(|one| SessionLimit::Counters(one).into()).collect(),
        uncounted: 0,
        untuned: Duration::ZERO,
        alone: BTreeMap::new(),
    };
    lab.limits.extend(lab.bench.choice.limits.iter().cloned());
    let here = lab.look(request, &chooser, &mut leases)?;
    let mut not_tried: Vec<Option<String>> =
        applicability(&here).into_iter().map(Result::err).collect();
    request.refuse_if_none(&not_tried)?;
    let mut ended = lab.try_once(&mut not_tried);
    if !request.is_list && ended.is_ok() {
        request.refuse_if_none(&not_tried)?;
        lab.make_time(&mut not_tried)?;
        let possible: Vec<usize> = lab.alone.keys().copied().collect();
        ended = lab.stages(&possible);
    }
    if hogs.as_ref().is_some_and(|hogs| !hogs.are_alive()) {
        lab.limits.push(SessionLimit::NotBusy.into());
    }
    let (name, facts) = (subject.name(), read_facts(root, topology));
    let counters: Vec<String> =
        lab.bench.counters.metrics().iter().map(|one| one.name.clone()).collect();
    let names = Names { subject: &name, counters: &counters, profile };
    let document = AblateDocument {
        becalm: env!("CARGO_PKG_VERSION").to_owned(),
        duration: lab.used().as_secs_f64(),
        subject: AblateSubject {
            command: subject.words(&[]),
            iterations: subject.iterations(),
            hogs: hogs.as_ref().map_or(0, Hogs::count),
            name: name.clone(),
        },
        uncounted_runs: lab.uncounted,
        interrupted: ended.as_ref().err().map(ToString::to_string),
        machine: facts,
        ..document(&lab.experiment, &here, &not_tried, &names)
    };
    let limits = worded(&lab.limits, Words::NONE.limit);
    Ok((AblateDocument { limits, ..document }, ended))
}

impl Laboratory<'_> {
    /// Returns what ends the experiment.
    fn ended(&self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Refused(why) => {
                AblateError::Subject { subject: self.bench.subject.name(), why }.into()
            }
            Trouble::Fatal(error) => error,
        }
    }

    /// Keeps what failed, each once.
    fn note(&mut self, failures: impl IntoIterator<Item = String>) {
        for error in failures {
            let limit = SessionLimit::MitigationFailed { error }.into();
            if !self.limits.contains(&limit) {
                self.limits.push(limit);
            }
        }
    }

    fn used(&self) -> Duration {
        monotonic_raw().saturating_sub(self.started)
    }
}
