//! One run of the subject under a set of mitigations: settings of the machine are made before it
//! and put back after it, whatever happens.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use becalm_lab::ablate::advice::{self, has};
use becalm_lab::ablate::mitigation::Means;
use becalm_machine::isolate::{self, Alone, Isolation, Taken};
use becalm_machine::knobs::{Situation, TuningRequest};
use becalm_machine::steward::IsolationRequest;
use becalm_machine::tune::{self, Applied, LockError, TuneError};
use becalm_machine::{Choice, SysRoot, Topology, drop_page_cache};
use becalm_model::conditions::{Aslr, Scheduler, Thp};
use becalm_model::terms::TuneWait;
use becalm_model::{CpuSet, Outcome, with_causes};
use becalm_runner::rounds::FIFO_REST;
use becalm_runner::{
    CounterPlan, Environment, Finished, Interrupt, Launch, LaunchError, MALLOC_VARIABLE, Placement,
    Stderr, Stdin, Stdout, huge_memory, launch, padding,
};

use super::error::AblateError;
use super::subject::{Shown, Subject};
use crate::error::Error;
use crate::event::Listener;
use crate::tuned::{GivenUp, PutBack, Tuned, TunedError, failures};

/// Pause before every run, so that what becalm did just before (files synced, settings written) is
/// over, and is the same for all configurations.
const PAUSE: Duration = Duration::from_millis(10);

/// How long to queue once the experiment is running.
const PATIENCE: TuneWait = TuneWait::For(Duration::from_secs(120));

const COMMAND: &str = "becalm noise ablate";

/// Everything that the runs have in common.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) root: &'a SysRoot,
    pub(super) topology: &'a Topology,
    pub(super) subject: &'a Subject,
    /// CPUs that becalm chose for the subject.
    pub(super) choice: Choice,
    /// Variables of the subject, and the few that it gets instead.
    pub(super) environment: Environment,
    pub(super) cleared: Environment,
    pub(super) counters: CounterPlan,
    pub(super) timeout: Duration,
    /// How long to queue for the right to change the machine the first time.
    pub(super) wait: TuneWait,
    /// Whether it was obtained before.
    pub(super) was_tuned: Cell<bool>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) listener: Listener<'a>,
    pub(super) seed: u64,
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) shown: Shown,
    pub(super) finished: Finished,
    /// Settings that were not possible, as sentences.
    pub(super) failures: Vec<String>,
}

/// Why there was no run.
#[derive(Debug)]
pub(super) enum Trouble {
    /// These mitigations are not possible, or the subject fails under them; the machine is as
    /// before.
    Refused(String),
    /// The experiment cannot continue.
    Fatal(Error),
}

impl<E: Into<Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        match error.into() {
            Error::Tuned(TunedError::Begin { signal: Some(signal), .. }) => stopped(signal),
            Error::Tuned(TunedError::Begin {
                source: TuneError::Lock(error @ LockError::Make { .. }),
                ..
            }) => Self::Refused(error.to_string()),
            error => Self::Fatal(error),
        }
    }
}

fn stopped(signal: i32) -> Trouble {
    Trouble::Fatal(AblateError::Stopped(signal).into())
}

/// Changes of the machine that hold for one run.
struct Quieted<'a> {
    tuned: Tuned<'a>,
    isolated: Option<Isolated>,
    failures: Vec<String>,
}

/// CPUs that the subject has for itself.
#[derive(Debug, Clone)]
struct Isolated {
    control_group: PathBuf,
    cpus: CpuSet,
}

impl<'a> Bench<'a> {
    /// Runs the subject once. `block` decides how far the stack is moved, where that is a mitigation.
    pub(super) fn run(&self, members: &[usize], block: u32) -> Result<Measured, Trouble> {
        let quieted = self.quiet(members)?;
        let isolated = quieted.as_ref().and_then(|quieted| quieted.isolated.clone());
        let result = self.launch(members, block, isolated);
        let failures = match quieted {
            None => Vec::new(),
            Some(Quieted { tuned, failures, .. }) => {
                if !tuned.finish()? {
                    return Err(AblateError::NotRestored.into());
                }
                failures
            }
        };
        let (shown, finished) = result?;
        if has(members, Means::Fifo) {
            // The time until the next run counts too, and is left as a margin.
            self.interrupt.sleep(Duration::from_secs_f64(finished.wall * FIFO_REST));
        }
        Ok(Measured { shown, finished, failures })
    }

    fn launch(
        &self,
        members: &[usize],
        block: u32,
        isolated: Option<Isolated>,
    ) -> Result<(Shown, Finished), Trouble> {
        let is_clear = has(members, Means::ClearEnvironment);
        let environment = if is_clear { &self.cleared } else { &self.environment };
        let thp = advice::huge_pages(members);
        let asking = (thp == Thp::On).then(|| {
            let value = huge_memory(environment.get(MALLOC_VARIABLE.as_ref()));
            environment.clone().with(MALLOC_VARIABLE.as_ref(), &value)
        });
        let asking = asking.transpose().map_err(|error| Trouble::Refused(with_causes(&error)))?;
        let environment = asking.as_ref().unwrap_or(environment);
        let allowed = &self.topology.allowed;
        let (control_group, affinity) = match isolated {
            Some(Isolated { control_group, cpus }) => (Some(control_group), Some(cpus)),
            None => (None, advice::affinity(members, &self.choice.subject, allowed)),
        };
        let placement = Placement {
            control_group,
            // Without a mitigation the subject may go anywhere, whereas becalm itself may not.
            affinity: Some(affinity.unwrap_or_else(|| allowed.clone())),
            scheduler: if has(members, Means::Fifo) {
                Scheduler::Fifo(1)
            } else {
                Scheduler::Other
            },
            nice: has(members, Means::Nice).then_some(-20),
            aslr: if has(members, Means::NoAslr) { Aslr::Off } else { Aslr::On },
            memory: None,
            thp,
        };
        let program = self
            .subject
            .program(members, environment)
            .map_err(|error| Trouble::Refused(with_causes(&error)))?;
        let captures = self.subject.iterations().is_some();
        let one = Launch {
            program: &program,
            environment,
            padding: if has(members, Means::MoveStack) { padding(self.seed, block) } else { 0 },
            placement: &placement,
            stdin: &Stdin::Null,
            stdout: if captures { &Stdout::Capture } else { &Stdout::Null },
            stderr: Stderr::Null,
            cwd: None,
            timeout: Some(self.timeout),
        };
        if has(members, Means::ColdCache) {
            drop_page_cache(self.root).map_err(|error| {
                Trouble::Refused(format!("the page cache cannot be dropped: {error}"))
            })?;
        }
        if has(members, Means::WarmUp) && !captures {
            self.start(&one)?;
        }
        if !self.interrupt.sleep(PAUSE) {
            return Err(stopped(self.interrupt.signal().unwrap_or_default()));
        }
        let finished = self.start(&one)?;
        let shown = self.subject.shown(&finished).map_err(Trouble::Refused)?;
        Ok((shown, finished))
    }

    fn start(&self, one: &Launch<'_>) -> Result<Finished, Trouble> {
        let finished =
            launch(one, &self.counters, self.interrupt).map_err(|error| match error {
                LaunchError::Interrupted { signal } => stopped(signal),
                error => Trouble::Refused(with_causes(&error)),
            })?;
        Err(Trouble::Refused(match finished.outcome {
            Outcome::Exited(0) => return Ok(finished),
            Outcome::Exited(code) => format!("the subject exits with {code}"),
            Outcome::Signalled(signal) => format!("the subject is ended by signal {signal}"),
            Outcome::Unknown => "it is unknown how the subject ended".to_owned(),
            Outcome::TimedOut => {
                format!("a run takes longer than {:.0} s (--timeout)", self.timeout.as_secs_f64())
            }
        }))
    }

    /// Makes the settings of the machine that a set of mitigations asks for.
    fn quiet(&self, members: &[usize]) -> Result<Option<Quieted<'a>>, Trouble> {
        let request = advice::request(members);
        let is_isolated = has(members, Means::Isolation);
        if request.is_none() && !is_isolated {
            return Ok(None);
        }
        // Between two runs anybody may tune; that is no reason to give up what was measured.
        let wait = if self.was_tuned.get() { PATIENCE } else { self.wait };
        let (tuned, _) = Tuned::begin(self.root, COMMAND, wait, self.interrupt, self.listener)?;
        self.was_tuned.set(true);
        let made = tuned.attempt(|tuned| self.make(tuned, members, request.as_ref(), is_isolated));
        match made {
            Ok((tuned, (isolated, failures))) => Ok(Some(Quieted { tuned, isolated, failures })),
            Err(GivenUp { error, machine }) if machine.is_complete() => Err(error),
            Err(GivenUp { machine: PutBack::Unknown(error), .. }) => {
                Err(TunedError::NotRestored(*error).into())
            }
            Err(_) => Err(AblateError::NotRestored.into()),
        }
    }

    /// Makes them; returns the CPUs that were isolated, and what was not possible.
    fn make(
        &self,
        tuned: &mut Tuned<'_>,
        members: &[usize],
        request: Option<&TuningRequest>,
        is_isolated: bool,
    ) -> Result<(Option<Isolated>, Vec<String>), Trouble> {
        let (mut applied, mut isolated) = (Vec::new(), None);
        if let Some(request) = request {
            applied = tuned.carry_out(&self.situation(members, request))?.1;
        }
        if is_isolated {
            let (cpus, further) = self.isolate(tuned, request)?;
            isolated = Some(cpus);
            applied.extend(further);
        }
        let failures = failures(&applied);
        let set = applied.iter().filter(|one| one.effect == tune::Effect::Set).count();
        match failures.first() {
            Some(first) if set == 0 => Err(Trouble::Refused(first.clone())),
            _ => Ok((isolated, failures)),
        }
    }

    /// Takes CPUs away from everything else, as `--isolate` does: interrupts and threads of the kernel
    /// included.
    fn isolate(
        &self,
        tuned: &mut Tuned<'_>,
        request: Option<&TuningRequest>,
    ) -> Result<(Isolated, Vec<Applied>), Trouble> {
        // Second threads that were switched off have taken their CPUs with them.
        let now = Topology::read(self.root);
        let topology = now.as_ref().unwrap_or(self.topology);
        let alone = self.alone(topology);
        let (cpus, partition) = (alone.cpus.clone(), alone.partition);
        let without = request.map_or_else(Vec::new, |request| request.only.clone());
        let Taken { isolation, applied } = tuned
            .isolate(IsolationRequest { cpus, partition, without })?
            .map_err(|error| Trouble::Refused(error.to_string()))?;
        isolation.check(self.root).map_err(|broken| Trouble::Refused(broken.to_string()))?;
        let control_group = isolation.group.into();
        Ok((Isolated { control_group, cpus: alone.choice.subject }, applied))
    }

    /// Plans the settings that knobs ask for.
    pub(super) fn plan(&self, members: &[usize], request: &TuningRequest) -> tune::TuningPlan {
        tune::plan(&self.situation(members, request)).expect("only existing knobs are named")
    }

    fn situation<'b>(&'b self, members: &[usize], request: &'b TuningRequest) -> Situation<'b> {
        let (root, topology) = (self.root, self.topology);
        let cpus = advice::affinity(members, &self.choice.subject, &topology.allowed)
            .unwrap_or_else(|| self.choice.subject.clone());
        Situation::of(root, topology, cpus, request)
    }

    /// Says why the subject cannot have CPUs alone, if so.
    pub(super) fn isolation(&self) -> Result<Isolation, String> {
        let alone = self.alone(self.topology);
        isolate::plan(self.root, self.topology, &alone.cpus, alone.partition)
            .map_err(|error| error.to_string())
    }

    /// Chooses CPUs for the subject alone.
    fn alone(&self, topology: &Topology) -> Alone {
        let mut choice = self.choice.clone();
        choice.subject = choice.subject.intersection(&topology.online);
        isolate::alone(topology, &choice)
    }

    /// Returns the CPUs that the subject may use without any mitigation.
    pub(super) fn allowed(&self) -> &CpuSet {
        &self.topology.allowed
    }
}
