//! From flags and machine to everything that the runs have in common.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use becalm_machine::{Chooser, SysRoot, Topology};
use becalm_model::conditions::{Affinity, Aslr, Scheduler};
use becalm_model::terms::Counters;
use becalm_model::{MachineFacts, Subject, with_causes};
use becalm_runner::harness::ResultFolder;
use becalm_runner::rounds::{
    Expectation, HarnessPlan, Hooks, SpawnPlan, SpawnSubject, Stand, parse_output,
};
use becalm_runner::{
    Callgrind, CounterPlan, Environment, Extractor, Placement, Program, Stdin, Stdout, User, timeit,
};

use super::conditions::SchedulerFlag;
use super::environment::{environment, policy};
use super::flags::{BackendFlag, MeasureFlags};
use super::harness::Asked;
use super::layouts::Layouts;
use super::subjects::fill;
use super::suite::SuitePlan;
use super::{harness, metrics};
use crate::caller;
use crate::error::CommandError;
use crate::memory::MemoryFlags;

/// The machine as it is before the first run.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) root: SysRoot,
    pub(crate) facts: MachineFacts,
    pub(crate) topology: Topology,
}

impl Machine {
    /// Reads the machine.
    pub(crate) fn read() -> Result<Self, CommandError> {
        let root = SysRoot::default();
        let topology = crate::topology::read(&root)?;
        let facts = becalm_machine::read_facts(&root, &topology);
        Ok(Self { root, facts, topology })
    }
}

/// A statement that workers time, one for each subject.
#[derive(Debug)]
pub(crate) struct Statement {
    /// How its values are read.
    pub(crate) rule: timeit::Rule,
    /// The command of each worker.
    pub(crate) commands: Vec<Vec<String>>,
}

/// Returns what the runs have in common, with what could not be had, as sentences.
pub(crate) fn spawn_plan(
    flags: &MeasureFlags,
    subjects: &[Subject],
    (stands, layouts): (&[Stand], &Layouts),
    extractors: Vec<Extractor>,
    statement: Option<Statement>,
    suite: Option<&SuitePlan>,
    machine: &Machine,
) -> Result<(SpawnPlan, Vec<String>), CommandError> {
    let Surroundings { mut environment, mut placement } = surroundings(flags)?;
    let user = placement.user.clone();
    let (stdout, stderr) = parse_output(&flags.output);
    let work_folder = flags.conditions.memory.work_folder(user.as_ref())?;
    let (rule, workers) = statement.map(|one| (one.rule, one.commands)).unzip();
    let (harness, invocations) = match Asked::of(flags)? {
        None => (None, workers),
        Some(asked) => {
            // All builds are of one project, so the first tells what they are.
            let folder = stands.first().map(Stand::built);
            let told = harness::tell(&asked, subjects, placement.user.as_ref(), folder.as_deref())?;
            for (name, value) in &told.environment {
                environment =
                    environment.with(name.as_ref(), value.as_ref()).map_err(CommandError::usage)?;
            }
            (Some(told.plan), Some(told.commands))
        }
    };
    let (backend, counters, invocations) = match flags.backend {
        BackendFlag::Processor => (None, metrics::counters(flags.counters), invocations),
        BackendFlag::Callgrind => {
            if invocations.is_some() {
                return Err(CommandError::usage(
                    "--backend callgrind counts whole programs; benchmarks inside a harness and statements \
                     cannot be told apart by it",
                ));
            }
            let callgrind = callgrind(placement.user.as_ref(), &environment)?;
            let commands = subjects.iter().map(|one| callgrind.wrap(&one.command)).collect();
            // What the processor counts would be the simulation's work.
            placement.aslr = Aslr::Off;
            (Some(callgrind), Counters::None, Some(commands))
        }
    };
    let (counters, missing) = CounterPlan::probe(&machine.root, counters);
    let mut limits: Vec<String> = missing.iter().map(ToString::to_string).collect();
    if backend.is_some() {
        limits.push(SIMULATION.to_owned());
    }
    let commands: Vec<&[String]> = match &invocations {
        Some(commands) => commands.iter().map(Vec::as_slice).collect(),
        None => subjects.iter().map(|subject| subject.command.as_slice()).collect(),
    };
    let stdin = match &flags.input {
        Some(path) => Stdin::File(found_from(path, &flags.conditions.memory)?),
        None => Stdin::Null,
    };
    let subjects = if let Some(suite) = suite {
        suite.spawn_subjects(subjects, &environment, user.as_ref(), &flags.conditions)?
    } else {
        let harness = harness.map(Rc::new);
        let common = Common { environment, stdin, extractors, harness };
        spawn_subjects(flags, subjects, &commands, (stands, layouts), &common)?
    };
    let plan = SpawnPlan {
        subjects,
        stdout: match stdout {
            Stdout::File(path) => Stdout::File(found_from(&path, &flags.conditions.memory)?),
            other => other,
        },
        stderr,
        cache: flags.conditions.cache.into(),
        rest: flags.conditions.rest,
        iterations: flags.iterations.clone(),
        statement: rule,
        backend,
        expectation: expectation(flags)?,
        failure: flags.failure_policy(),
        counters,
        placement,
        malloc: flags.conditions.memory.malloc.into(),
        work_folder,
        conditioning: flags.conditioning(),
        chooser: Chooser::new(&machine.root, &machine.topology),
        width: flags.width(),
    };
    Ok((plan, limits))
}

/// What has to be known of counts by simulation.
const SIMULATION: &str = "instructions are counted by callgrind: those that the program executes in user mode, and \
                          not the kernel's. It sees neither waiting nor what makes an instruction slow; its times \
                          are those of the simulation, and simulated_... are of a model and not of this processor";

/// Takes callgrind in use, if it is installed.
fn callgrind(user: Option<&User>, environment: &Environment) -> Result<Callgrind, CommandError> {
    Program::resolve(&["valgrind".to_owned()], environment.get("PATH".as_ref()), None).map_err(
        |_| {
            CommandError::usage("--backend callgrind needs valgrind, which is not installed")
                .hint("Debian and its like have it as `valgrind`: apt-get install valgrind")
        },
    )?;
    let folder = ResultFolder::create(user).map_err(|error| {
        CommandError::measure(format!("no folder for the counts can be made: {error}"))
    })?;
    Ok(Callgrind::new(folder))
}

/// In what the subjects are started before anything is learnt about them.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The variables they see.
    pub(crate) environment: Environment,
    /// Where and as whom they run.
    pub(crate) placement: Placement,
}

/// Returns what the flags say about where the subjects start.
pub(crate) fn surroundings(flags: &MeasureFlags) -> Result<Surroundings, CommandError> {
    let conditions = &flags.conditions;
    let user = caller::subject_user(conditions.keep_root);
    let environment = environment(
        policy(conditions.env_clear),
        &conditions.env,
        conditions.memory.malloc,
        user.as_ref(),
    )?;
    let placement = Placement {
        control_group: None,
        affinity: match &conditions.affinity {
            Affinity::Cpus(cpus) => Some(cpus.clone()),
            Affinity::Auto | Affinity::None => None,
        },
        scheduler: match conditions.scheduler {
            SchedulerFlag::Given(scheduler) => scheduler,
            SchedulerFlag::Auto => Scheduler::Other,
        },
        nice: conditions.nice,
        aslr: conditions.aslr.into(),
        user,
    };
    Ok(Surroundings { environment, placement })
}

/// Names a file so that the subjects find it where they start; as the user did, if that is here.
fn found_from(path: &Path, memory: &MemoryFlags) -> Result<PathBuf, CommandError> {
    if !memory.in_memory {
        return Ok(path.to_owned());
    }
    std::path::absolute(path)
        .map_err(|error| CommandError::usage(format!("cannot find {}: {error}", path.display())))
}

/// What all subjects have alike.
struct Common {
    environment: Environment,
    stdin: Stdin,
    extractors: Vec<Extractor>,
    harness: Option<Rc<HarnessPlan>>,
}

fn spawn_subjects(
    flags: &MeasureFlags,
    subjects: &[Subject],
    commands: &[&[String]],
    (stands, layouts): (&[Stand], &Layouts),
    common: &Common,
) -> Result<Vec<SpawnSubject>, CommandError> {
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
            let found = Program::resolve(command, path, built.as_deref());
            let in_memory = flags.conditions.memory.in_memory;
            // The setup may build it.
            let is_late = found.is_err() && flags.setup.is_some() && !in_memory;
            let program = match found {
                Err(error) if is_late => Err(with_causes(&error)),
                Err(error) => {
                    let text = with_causes(&error);
                    return Err(CommandError::measure(format!("`{}`: {text}", subject.name)));
                }
                Ok(program) if in_memory => Ok(program.from_anywhere().map_err(|error| {
                    CommandError::measure(format!("`{}`: cannot find it: {error}", subject.name))
                })?),
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
                timeout: flags.timeout,
                extractors: common.extractors.clone(),
                harness: common.harness.clone(),
                hooks: Hooks {
                    setup: filled(&flags.setup),
                    prepare: filled(&flags.prepare),
                    conclude: filled(&flags.conclude),
                    cleanup: filled(&flags.cleanup),
                },
            })
        })
        .collect()
}

fn expectation(flags: &MeasureFlags) -> Result<Expectation, CommandError> {
    match flags.expect_output.as_deref() {
        None => Ok(Expectation::Anything),
        Some("same") => Ok(Expectation::Same),
        Some(path) => std::fs::read(path).map(Expectation::Text).map_err(|error| {
            CommandError::usage(format!("--expect-output: cannot read {path}: {error}"))
        }),
    }
}

/// Reads the facts about the machine.
pub(crate) fn machine_facts() -> Result<MachineFacts, CommandError> {
    Machine::read().map(|machine| machine.facts)
}
