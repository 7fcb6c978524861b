//! From terms and machine to everything that the runs have in common.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use becalm_load::TargetError;
use becalm_machine::{
    Chooser, EnergyMeter, NoEnergy, SysRoot, Topology, TopologyError, Width, wakes_late,
};
use becalm_model::conditions::{Affinity, Aslr, Backend, Pace, Scheduler, Thp};
use becalm_model::terms::{Counters, RunTerms, Terms};
use becalm_model::{Limit, MachineFacts, PlacementLimit, SessionLimit, Subject, with_causes};
use becalm_runner::harness::ResultFolder;
use becalm_runner::rounds::{
    Conditioning, Expectation, HarnessPlan, Hooks, ServerStart, SpawnPlan, SpawnSubject, Stand,
    parse_output,
};
use becalm_runner::{
    Callgrind, CounterPlan, Environment, Extractor, LaunchError, Placement, Program, RunEnergy,
    SeriesRule, SeriesRuleError, Stdin, Stdout, WorkFolder, timeit,
};

use crate::environment::{EnvironmentError, environment};
use crate::error::Fault;
use crate::harness::{self, HarnessChoice, HarnessError};
use crate::layouts::{Layouts, LayoutsError};
use crate::servers::{self, ServerTermsError};
use crate::subjects::fill;
use crate::suite::SuitePlan;

/// Why subjects cannot be made ready to be started.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Which CPUs there are is unknown.
    #[error("cannot determine the CPUs of this machine: {0}")]
    Topology(#[from] TopologyError),
    /// The subjects' environment is invalid.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A variable cannot be passed to a program.
    #[error(transparent)]
    Variable(#[from] LaunchError),
    /// The suite names a variable as none can be named.
    #[error("`{subject}`: `{name}` cannot be the name of a variable")]
    VariableName {
        /// The benchmark.
        subject: String,
        /// The name.
        name: String,
    },
    /// The harness cannot be driven.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// The program does not exist, or cannot be started.
    #[error("`{subject}`: {why}")]
    Program {
        /// The subject.
        subject: String,
        /// Why.
        why: String,
    },
    /// A layout of it cannot be started.
    #[error(transparent)]
    Layouts(#[from] LayoutsError),
    /// A file cannot be named from another folder.
    #[error("cannot find {}: {source}", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The expected output cannot be read.
    #[error("--expect-output: cannot read {path}: {source}")]
    Expectation {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The rule that finds iterations is invalid.
    #[error("--iterations: {0}")]
    Iterations(#[from] SeriesRuleError),
    /// There is no folder in memory.
    #[error("--in-memory: cannot create a folder in {0}")]
    InMemory(std::io::Error),
    /// The simulator counts whole programs.
    #[error(
        "--backend callgrind counts whole programs; it cannot count benchmarks inside a harness, \
         or statements, separately"
    )]
    CountedWhole,
    /// The simulator is not installed.
    #[error("--backend callgrind needs valgrind, which is not installed")]
    NoValgrind,
    /// Servers cannot be loaded so.
    #[error(transparent)]
    Servers(#[from] ServerTermsError),
    /// Its counts have no place.
    #[error("cannot create a temporary folder for the counts: {0}")]
    Counts(std::io::Error),
}

impl SetupError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Topology(_)
            | Self::Program { .. }
            | Self::InMemory(_)
            | Self::Counts(_)
            | Self::Servers(ServerTermsError::Target(TargetError::Lookup { .. }))
            | Self::Harness(HarnessError::Folder { .. }) => Fault::Measurement,
            Self::Layouts(error) => error.fault(),
            _ => Fault::Usage,
        }
    }
}

/// The machine as it is before the first run.
#[derive(Debug)]
pub struct Machine {
    /// Through which it is read.
    pub root: SysRoot,
    /// What a result has to carry with it.
    pub facts: MachineFacts,
    /// How its CPUs are built together.
    pub topology: Topology,
}

impl Machine {
    /// Reads the machine.
    pub fn read() -> Result<Self, SetupError> {
        let root = SysRoot::default();
        let topology = Topology::read(&root)?;
        let facts = becalm_machine::read_facts(&root, &topology);
        Ok(Self { root, facts, topology })
    }

    /// Says whether a program that asks for transparent huge pages may get some.
    fn has_huge_pages(&self) -> bool {
        becalm_machine::huge_pages(&self.root).is_some_and(|mode| mode != "never")
    }
}

/// A statement that workers time, one for each subject.
#[derive(Debug)]
pub struct Statement {
    /// How its values are read.
    pub rule: timeit::Rule,
    /// The command of each worker.
    pub commands: Vec<Vec<String>>,
}

/// Returns what the runs have in common, with what could not be controlled.
pub(crate) fn spawn_plan(
    terms: &Terms,
    subjects: &[Subject],
    (stands, layouts): (&[Stand], &Layouts),
    extractors: Vec<Extractor>,
    statement: Option<Statement>,
    suite: Option<&SuitePlan>,
    machine: &Machine,
) -> Result<(SpawnPlan, Vec<Limit>), SetupError> {
    let runs = &terms.runs;
    let Surroundings { mut environment, mut placement } = surroundings(runs)?;
    let (stdout, stderr) = parse_output(&runs.output);
    let work_folder = work_folder(runs.in_memory)?;
    let (rule, workers) = statement.map(|one| (one.rule, one.commands)).unzip();
    let (harness, invocations) = match HarnessChoice::of(runs)? {
        None => (None, workers),
        Some(choice) => {
            // All builds are of one project, so the first tells what they are.
            let folder = stands.first().map(Stand::built);
            let drive = harness::drive(&choice, subjects, folder.as_deref())?;
            for (name, value) in &drive.environment {
                environment = environment.with(name.as_ref(), value.as_ref())?;
            }
            (Some(drive.plan), Some(drive.commands))
        }
    };
    let (backend, counters, invocations) = match runs.backend {
        Backend::Processor => (None, runs.counters, invocations),
        Backend::Callgrind => {
            if invocations.is_some() {
                return Err(SetupError::CountedWhole);
            }
            let callgrind = callgrind(&environment)?;
            let commands = subjects.iter().map(|one| callgrind.wrap(&one.command)).collect();
            // What the processor counts would be the simulation's work.
            placement.aslr = Aslr::Off;
            (Some(callgrind), Counters::None, Some(commands))
        }
    };
    let counters_wanted = counters;
    let (counters, missing) = CounterPlan::probe(&machine.root, counters);
    let missing = missing.into_iter().map(SessionLimit::Counters);
    let mut limits: Vec<Limit> = missing.map(Limit::from).collect();
    let meter = match counters_wanted {
        Counters::None => Err(NoEnergy::NotHere),
        _ => EnergyMeter::open(&machine.root),
    };
    if let Err(NoEnergy::Unread(error)) = &meter {
        limits.push(SessionLimit::EnergyUnread { error: error.clone() }.into());
    }
    let energy = meter.ok().map(|meter| RunEnergy::new(meter, subjects.len()));
    if backend.is_some() {
        limits.push(SessionLimit::Simulated.into());
    }
    if matches!(runs.thp, Thp::On | Thp::Advised) && !machine.has_huge_pages() {
        limits.push(PlacementLimit::NoHugePages.into());
    }
    if let (Affinity::Cpus(cpus), Some(threads)) = (&runs.affinity, runs.threads)
        && cpus.len() < threads.get()
    {
        let (threads, cpus) = (threads.get(), cpus.clone());
        limits.push(PlacementLimit::TooManyThreads { threads, cpus }.into());
    }
    let commands: Vec<&[String]> = match &invocations {
        Some(commands) => commands.iter().map(Vec::as_slice).collect(),
        None => subjects.iter().map(|subject| subject.command.as_slice()).collect(),
    };
    let stdin = match &runs.input {
        Some(path) => Stdin::File(found_from(path, runs.in_memory)?),
        None => Stdin::Null,
    };
    let subjects = if let Some(suite) = suite {
        suite.spawn_subjects(subjects, &environment, runs)?
    } else {
        let harness = harness.map(Rc::new);
        let common = Common { environment, stdin, extractors, harness };
        spawn_subjects(terms, subjects, &commands, (stands, layouts), &common)?
    };
    let (conditioning, width) = cpus(terms, &subjects, &machine.topology);
    let plan = SpawnPlan {
        subjects,
        stdout: match stdout {
            Stdout::File(path) => Stdout::File(found_from(&path, runs.in_memory)?),
            other => other,
        },
        stderr,
        cache: runs.cache,
        rest: runs.rest,
        iterations: runs.iterations.as_deref().map(SeriesRule::parse).transpose()?,
        statement: rule,
        backend,
        expectation: expectation(runs)?,
        failure: terms.failure.clone(),
        counters,
        energy,
        placement,
        malloc: runs.malloc,
        membind: runs.membind.clone(),
        work_folder,
        conditioning,
        chooser: Chooser::new(&machine.root, &machine.topology),
        width,
        wakes_late: wakes_late(&machine.facts),
    };
    Ok((plan, limits))
}

/// Sets up callgrind, if it is installed.
fn callgrind(environment: &Environment) -> Result<Callgrind, SetupError> {
    Program::resolve(&["valgrind".to_owned()], environment.get("PATH".as_ref()), None)
        .map_err(|_| SetupError::NoValgrind)?;
    ResultFolder::create().map(Callgrind::new).map_err(SetupError::Counts)
}

/// Makes the folder in memory that the subjects should work in, if any.
pub fn work_folder(in_memory: bool) -> Result<Option<WorkFolder>, SetupError> {
    if !in_memory {
        return Ok(None);
    }
    WorkFolder::create().map(Some).map_err(SetupError::InMemory)
}

/// Returns how many CPUs to choose; `None` if none are chosen, or if the warm-up shows it.
fn width(terms: &Terms) -> Option<Width> {
    match (&terms.runs.affinity, terms.runs.threads) {
        (Affinity::Auto, Some(threads)) => Some(Width::Several(threads)),
        (Affinity::Auto, None) if terms.warmup == 0 => Some(Width::All),
        _ => None,
    }
}

/// Returns which conditions the warm-up shows, and how many CPUs are chosen before it.
fn cpus(
    terms: &Terms,
    subjects: &[SpawnSubject],
    topology: &Topology,
) -> (Conditioning, Option<Width>) {
    let (conditioning, width) = (conditioning(terms), width(terms));
    let starts = || subjects.iter().filter_map(|one| Some(&one.serving.as_ref()?.start));
    if starts().next().is_none() {
        return (conditioning, width);
    }
    let conditioning = match conditioning {
        // A server and its generator need CPUs apart from the beginning.
        Conditioning::Learn { scheduler, pace, .. } => {
            Conditioning::Learn { affinity: false, scheduler, pace }
        }
        Conditioning::Given => Conditioning::Given,
    };
    let is_started = starts().any(|start| *start != ServerStart::IsThere);
    let width = match width {
        // Servers that are there already keep their CPUs, and becalm has all of its own.
        _ if !is_started => None,
        None | Some(Width::All) if terms.runs.affinity == Affinity::Auto => {
            Some(half_of_the_cores(topology))
        }
        other => other,
    };
    (conditioning, width)
}

/// Returns how many CPUs a server gets: one of each of half of the cores, so that the others are the generator's.
fn half_of_the_cores(topology: &Topology) -> Width {
    let mut cores: Vec<_> = topology.allowed.iter().map(|cpu| topology.core_of(cpu)).collect();
    cores.sort();
    cores.dedup();
    NonZeroUsize::new(cores.len() / 2).map_or(Width::One, Width::Several)
}

/// Returns which conditions are left to what the warm-up shows.
pub(crate) fn conditioning(terms: &Terms) -> Conditioning {
    let runs = &terms.runs;
    let affinity = runs.affinity == Affinity::Auto && width(terms).is_none();
    let scheduler = runs.scheduler.is_none();
    let pace = runs.pace;
    if affinity || scheduler || pace != Pace::Off {
        Conditioning::Learn { affinity, scheduler, pace }
    } else {
        Conditioning::Given
    }
}

/// The conditions under which the subjects start before anything is known about them.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The variables they see.
    pub(crate) environment: Environment,
    /// Where and how they run.
    pub(crate) placement: Placement,
}

/// Returns where the subjects start.
pub(crate) fn surroundings(runs: &RunTerms) -> Result<Surroundings, EnvironmentError> {
    let environment = environment(runs.env_clear, &runs.env, runs.malloc, runs.thp)?;
    let placement = Placement {
        control_group: None,
        affinity: match &runs.affinity {
            Affinity::Cpus(cpus) => Some(cpus.clone()),
            Affinity::Auto | Affinity::None => None,
        },
        scheduler: runs.scheduler.unwrap_or(Scheduler::Other),
        nice: runs.nice,
        aslr: runs.aslr,
        memory: None,
        thp: runs.thp,
    };
    Ok(Surroundings { environment, placement })
}

/// Names a file so that the subjects find it where they start; as the user did, if that is here.
fn found_from(path: &Path, in_memory: bool) -> Result<PathBuf, SetupError> {
    if !in_memory {
        return Ok(path.to_owned());
    }
    std::path::absolute(path)
        .map_err(|source| SetupError::NotFound { path: path.to_owned(), source })
}

/// What all subjects have alike.
struct Common {
    environment: Environment,
    stdin: Stdin,
    extractors: Vec<Extractor>,
    harness: Option<Rc<HarnessPlan>>,
}

fn spawn_subjects(
    terms: &Terms,
    subjects: &[Subject],
    commands: &[&[String]],
    (stands, layouts): (&[Stand], &Layouts),
    common: &Common,
) -> Result<Vec<SpawnSubject>, SetupError> {
    let runs = &terms.runs;
    let numbers = Rc::default();
    subjects
        .iter()
        .zip(commands)
        .enumerate()
        .map(|(index, (subject, command))| {
            let stand = stands.get(index);
            let built = stand.map(Stand::built);
            let filled =
                |hook: &Option<String>| hook.as_ref().map(|text| fill(text, &subject.parameters));
            let path = common.environment.get("PATH".as_ref());
            let serving = runs.load.as_ref().map(|load| {
                let named = crate::metrics::named(terms);
                let quantiles = servers::quantiles(&load.scenario, &named);
                servers::serving(load, command, &runs.env, &quantiles, &numbers)
            });
            let serving = serving.transpose()?;
            let is_there =
                serving.as_ref().is_some_and(|serving| serving.start == ServerStart::IsThere);
            let found = Program::resolve(command, path, built.as_deref());
            let in_memory = runs.in_memory;
            // The setup may build it.
            let is_late = found.is_err() && runs.setup.is_some() && !in_memory && !is_there;
            let program = match found {
                Err(error) if is_late || is_there => Err(with_causes(&error)),
                Err(error) => {
                    let why = with_causes(&error);
                    return Err(SetupError::Program { subject: subject.name.clone(), why });
                }
                Ok(program) if in_memory => {
                    Ok(program.from_anywhere().map_err(|error| SetupError::Program {
                        subject: subject.name.clone(),
                        why: format!("cannot find it: {error}"),
                    })?)
                }
                Ok(program) => Ok(program),
            };
            Ok(SpawnSubject {
                name: subject.name.clone(),
                program,
                layouts: layouts.of(index, command, &common.environment)?,
                late: is_late.then(|| command.to_vec()),
                stand: stand.cloned(),
                folder: None,
                environment: common.environment.clone(),
                stdin: common.stdin.clone(),
                timeout: terms.timeout,
                extractors: common.extractors.clone(),
                harness: common.harness.clone(),
                serving,
                hooks: Hooks {
                    setup: filled(&runs.setup),
                    prepare: filled(&runs.prepare),
                    conclude: filled(&runs.conclude),
                    cleanup: filled(&runs.cleanup),
                },
            })
        })
        .collect()
}

fn expectation(runs: &RunTerms) -> Result<Expectation, SetupError> {
    match runs.expect_output.as_deref() {
        None => Ok(Expectation::Anything),
        Some("same") => Ok(Expectation::Same),
        Some(path) => std::fs::read(path)
            .map(Expectation::Text)
            .map_err(|source| SetupError::Expectation { path: path.to_owned(), source }),
    }
}
