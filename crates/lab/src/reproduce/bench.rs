//! Runs of a configuration: becalm's own workloads as processes of their own.

use std::cell::RefCell;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Duration;

use becalm_machine::isolate;
use becalm_machine::tune::{LockError, TuneError};
use becalm_machine::{Choice, ChoiceFacts, Chooser, Leases, Width, choose};
use becalm_model::conditions::{Aslr, Scheduler};
use becalm_model::terms::Counters;
use becalm_model::wire::read_workload;
use becalm_model::{CounterLimit, CpuSet, Outcome, with_causes};
use becalm_runner::{
    CounterPlan, EnvPolicy, Environment, EvidenceCollector, Finished, Interrupt, Launch,
    LaunchError, MAX_PADDING, Placement, Program, Stderr, Stdin, Stdout, launch, pin_self,
};
use becalm_stats::Rng;

use super::article::{Setup, Size};
use super::condition::Condition;
use super::machine::{Entered, Machine, MachineError};
use crate::workloads::Workload;

/// No run takes nearly so long.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Why an article cannot be reproduced at all.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The machine could not be changed, or not be put back.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A signal asked becalm to stop.
    #[error("stopped by signal {0}")]
    Interrupted(i32),
    /// Not even the simplest workload runs.
    #[error("the built-in workloads do not run here: {0}")]
    Broken(String),
}

/// What a run needs beside its configuration.
pub struct Bench<'a> {
    machine: Machine<'a>,
    becalm: String,
    interrupt: &'a Interrupt,
    inherited: Environment,
    few_variables: Environment,
    counters: CounterPlan,
    /// Which counters are missing, and why.
    pub(super) counter_limits: Vec<CounterLimit>,
    one: Choice,
    many: Choice,
    rng: RefCell<Rng>,
    _leases: Leases,
}

/// What one run gave.
#[derive(Debug, Clone)]
pub(super) struct RunValues {
    /// Seconds of each iteration, by task.
    pub(super) tasks: Vec<Vec<f64>>,
    pub(super) ticks_per_second: f64,
    /// By [`Bench::counter`].
    pub(super) counters: Vec<Option<f64>>,
    /// Share of the time of its CPUs that other programs used, and that the hypervisor took.
    pub(super) others: Option<f64>,
    pub(super) stolen: Option<f64>,
}

/// Why a run gave nothing.
pub(super) enum Failure {
    /// The configuration cannot be had here, for this reason.
    LeftOut(String),
    /// Nothing can be run any more.
    Stop(ReproduceError),
}

impl<E: Into<ReproduceError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Stop(error.into())
    }
}

impl<'a> Bench<'a> {
    /// Chooses CPUs, moves this process off them, and looks which counters there are. `becalm` is the path of
    /// this very program.
    pub fn new(
        machine: Machine<'a>,
        becalm: String,
        interrupt: &'a Interrupt,
        variables: &[(OsString, OsString)],
        seed: u64,
    ) -> Result<Self, ReproduceError> {
        let broken = |error: LaunchError| ReproduceError::Broken(with_causes(&error));
        let environment = |policy| Environment::from_vars(variables.iter().cloned(), policy);
        let (one, leases) = Chooser::new(machine.root, machine.topology).take(Width::One);
        let many = choose(machine.topology, &ChoiceFacts::read(machine.root), Width::All);
        let (counters, counter_limits) = CounterPlan::probe(machine.root, Counters::All);
        // Refused, becalm is one more thing that disturbs.
        let _ = pin_self(&one.housekeeping);
        Ok(Self {
            becalm,
            interrupt,
            inherited: environment(EnvPolicy::Inherit).map_err(broken)?,
            few_variables: environment(EnvPolicy::Clear).map_err(broken)?,
            counters,
            counter_limits,
            one,
            many,
            rng: RefCell::new(Rng::new(seed)),
            machine,
            _leases: leases,
        })
    }

    /// Returns how large the machine is.
    pub(super) fn size(&self) -> Size {
        let topology = self.machine.topology;
        let usable = |cpus: &CpuSet| !cpus.intersection(&topology.allowed).is_empty();
        let cores = topology.cores.iter().filter(|core| usable(&core.cpus)).count();
        let reserved = isolate::alone(topology, &self.many).choice.subject.len();
        Size { cores: cores.max(1), reserved: reserved.max(1) }
    }

    /// Returns the place of a counter among those of a run.
    pub(super) fn counter(&self, name: &str) -> Option<usize> {
        self.counters.index(name)
    }

    /// Says whether a machine shows no second threads of cores at all.
    pub(super) fn has_no_smt(&self) -> bool {
        self.machine.topology.threads_per_core() == 1
    }

    /// Puts numbers into random order.
    pub(super) fn shuffle(&self, numbers: &mut [usize]) {
        self.rng.borrow_mut().shuffle(numbers);
    }

    /// Returns why a condition cannot be had for a setup; `None` if it can.
    pub(super) fn obstacle(
        &self,
        condition: Condition,
        setup: &Setup,
    ) -> Result<Option<String>, ReproduceError> {
        if condition.is_of_the_machine() {
            return Ok(self.machine.obstacle(condition, self.choice(setup)));
        }
        let least = Setup { amount: Some(1), ..Setup::new(Workload::Compute, 1, 1) };
        match self.run(&least, &[condition]) {
            Ok(_) => Ok(None),
            Err(Failure::LeftOut(why)) => Ok(Some(why)),
            Err(Failure::Stop(error)) => Err(error),
        }
    }

    /// Runs a setup once, under these conditions.
    pub(super) fn run(
        &self,
        setup: &Setup,
        conditions: &[Condition],
    ) -> Result<RunValues, Failure> {
        if let Some(signal) = self.interrupt.signal() {
            return Err(ReproduceError::Interrupted(signal).into());
        }
        let entered = match self.machine.enter(conditions, width(setup), self.choice(setup)) {
            // Between two runs another becalm may have had its turn.
            Err(MachineError::Tune(error @ TuneError::Lock(LockError::Held(_)))) => {
                return Err(Failure::LeftOut(error.to_string()));
            }
            entered => entered?,
        };
        let entered = entered.map_err(Failure::LeftOut)?;
        let cpus = cpus(conditions, &entered);
        let placement = Placement {
            control_group: entered.group(),
            affinity: Some(cpus.clone()),
            scheduler: if conditions.contains(&Condition::Fifo) {
                Scheduler::Fifo(1)
            } else {
                Scheduler::Other
            },
            nice: conditions.contains(&Condition::Nice).then_some(-20),
            aslr: if conditions.contains(&Condition::NoAslr) { Aslr::Off } else { Aslr::On },
            ..Placement::default()
        };
        let mut watch = EvidenceCollector::open(self.machine.root, &cpus);
        watch.before_run();
        let finished = self.start(setup, conditions, &placement);
        let evidence = finished.as_ref().ok().and_then(|finished| {
            watch.after_run(finished, None).pop().or_else(|| watch.flush().pop())
        });
        // Whatever came of the run, the machine comes first.
        entered.leave()?;
        let values = self.values(&finished?, setup, conditions, placement.affinity.as_ref())?;
        Ok(match evidence {
            Some(evidence) => RunValues {
                others: evidence.share_of_cpus(evidence.others, cpus.len()),
                stolen: evidence.share_of_cpus(evidence.steal, cpus.len()),
                ..values
            },
            None => values,
        })
    }

    /// The CPUs that were chosen for as many threads as a setup has.
    fn choice(&self, setup: &Setup) -> &Choice {
        if width(setup) == Width::All { &self.many } else { &self.one }
    }

    fn start(
        &self,
        setup: &Setup,
        conditions: &[Condition],
        placement: &Placement,
    ) -> Result<Finished, Failure> {
        let words = self.words(setup, conditions);
        let program = Program::resolve(&words, None, None);
        let program = program.map_err(|error| ReproduceError::Broken(with_causes(&error)))?;
        let has = |condition| conditions.contains(&condition);
        let few = has(Condition::FixedEnvironment);
        let padding = if has(Condition::ChangingEnvironment) {
            u32::try_from(self.rng.borrow_mut().below(MAX_PADDING as usize)).unwrap_or(0)
        } else {
            0
        };
        let run = Launch {
            program: &program,
            environment: if few { &self.few_variables } else { &self.inherited },
            padding,
            placement,
            stdin: &Stdin::Null,
            stdout: &Stdout::Capture,
            stderr: Stderr::Null,
            cwd: None,
            timeout: Some(TIMEOUT),
        };
        launch(&run, &self.counters, self.interrupt).map_err(|error| match error {
            LaunchError::Interrupted { signal } => ReproduceError::Interrupted(signal).into(),
            other => Failure::LeftOut(with_causes(&other)),
        })
    }

    /// The command line of the workload.
    fn words(&self, setup: &Setup, conditions: &[Condition]) -> Vec<String> {
        let mut words: Vec<String> = vec![
            self.becalm.clone(),
            "workload".to_owned(),
            setup.workload.name().to_owned(),
            "--json".to_owned(),
            format!("--iterations={}", setup.iterations),
            format!("--warmup={}", setup.warmup),
        ];
        words.extend(setup.amount.map(|amount| format!("--amount={amount}")));
        words.extend(setup.tasks.map(|tasks| format!("--tasks={tasks}")));
        if conditions.contains(&Condition::LockedMemory) {
            words.push("--mlock".to_owned());
        }
        words
    }

    fn values(
        &self,
        finished: &Finished,
        setup: &Setup,
        conditions: &[Condition],
        cpus: Option<&CpuSet>,
    ) -> Result<RunValues, Failure> {
        if finished.outcome != Outcome::Exited(0) {
            let why = self.why(setup, conditions, cpus, finished.outcome);
            return Err(Failure::LeftOut(why));
        }
        let output = finished.output.as_deref().unwrap_or_default();
        let document =
            read_workload(output).map_err(|error| ReproduceError::Broken(error.to_string()))?;
        Ok(RunValues {
            tasks: document.tasks.into_iter().map(|task| task.values).collect(),
            ticks_per_second: document.ticks_per_second,
            counters: finished.counters.clone(),
            others: None,
            stolen: None,
        })
    }

    /// Asks a workload that failed once more for its reason, which goes to standard error.
    fn why(
        &self,
        setup: &Setup,
        conditions: &[Condition],
        cpus: Option<&CpuSet>,
        outcome: Outcome,
    ) -> String {
        let words = self.words(setup, conditions);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null());
        // It sees the CPUs that this thread may use. Refused, the reason names others.
        let _ = cpus.map(pin_self);
        let said = command.output().map(|output| output.stderr).unwrap_or_default();
        let _ = pin_self(&self.one.housekeeping);
        let said = String::from_utf8_lossy(&said);
        let error = said.lines().find_map(|line| line.strip_prefix("error: "));
        error.map_or_else(|| format!("the workload ended with {outcome:?}"), ToOwned::to_owned)
    }
}

/// How many CPUs a setup can use of those that are kept for it.
fn width(setup: &Setup) -> Width {
    if setup.workload == Workload::Oversubscribed { Width::All } else { Width::One }
}

/// CPUs that a subject may use.
fn cpus(conditions: &[Condition], entered: &Entered<'_>) -> CpuSet {
    let has = |condition| conditions.contains(&condition);
    if has(Condition::Isolated) || has(Condition::ChosenCpu) {
        entered.choice.subject.clone()
    } else if has(Condition::FirstCpu) {
        entered.allowed.first().into_iter().collect()
    } else {
        entered.allowed.clone()
    }
}
