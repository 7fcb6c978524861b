//! The experiment from the first run to the last.

mod look;
mod stages;
mod time;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use becalm_lab::ablate::Experiment;
use becalm_lab::ablate::here::{Here, applicability};
use becalm_lab::ablate::mitigation::MITIGATIONS;
use becalm_machine::{Chooser, SysRoot, Width, read_facts};
use becalm_model::MachineFacts;
use becalm_model::terms::Counters;
use becalm_runner::{CounterPlan, EnvPolicy, Environment, User, monotonic_raw};

use super::bench::{Bench, Trouble};
use super::hogs::Hogs;
use super::subject::Subject;
use super::{Args, is_unwanted};
use crate::caller;
use crate::error::CommandError;
use crate::ui::Ui;

/// An experiment that was carried out, as far as it got.
#[derive(Debug)]
pub(super) struct Conducted {
    pub(super) experiment: Experiment,
    pub(super) here: Here,
    /// Why each mitigation was not tried, if it was not.
    pub(super) not_tried: Vec<Option<String>>,
    pub(super) counters: Vec<String>,
    pub(super) limits: Vec<String>,
    pub(super) machine: MachineFacts,
    pub(super) subject: Subject,
    pub(super) hogs: u32,
    /// Runs that are in no stage.
    pub(super) uncounted: u32,
    pub(super) duration: Duration,
    pub(super) interrupted: Option<Interruption>,
}

/// What ended an experiment early.
#[derive(Debug)]
pub(super) enum Interruption {
    /// A signal.
    Signal(i32),
    /// Something that does not allow to go on.
    Failure(CommandError),
}

/// The experiment while it goes on.
struct Laboratory<'a> {
    bench: Bench<'a>,
    experiment: Experiment,
    started: Duration,
    whole: Duration,
    limits: Vec<String>,
    /// Runs that tried what is possible, or whose block was broken off.
    uncounted: u32,
    /// How long one run took with everything around it: untuned, and under each mitigation alone.
    untuned: Duration,
    alone: BTreeMap<usize, Duration>,
    ui: Ui,
}

/// Carries out the experiment. What ends it after the first runs is told with what it had found.
pub(super) fn conduct(
    args: &Args,
    subject: &Subject,
    becalm: &str,
    seed: u64,
    ui: &Ui,
) -> Result<Conducted, CommandError> {
    let started = monotonic_raw();
    let interrupt = caller::interrupt()?;
    let root = SysRoot::new(&args.root);
    let topology = crate::topology::read(&root)?;
    let machine = read_facts(&root, &topology);
    let chooser = Chooser::new(&root, &topology);
    let (choice, mut leases) = chooser.take(Width::One);
    let user = caller::subject_user(args.keep_root);
    let (counters, missing) = CounterPlan::probe(&root, Counters::All);
    let bench = Bench {
        root: &root,
        topology: &topology,
        subject,
        choice,
        environment: environment(user.as_ref(), EnvPolicy::Inherit)?,
        cleared: environment(user.as_ref(), EnvPolicy::Clear)?,
        counters,
        user,
        timeout: args.timeout,
        wait: becalm_session::queue(args.wait.wait.unwrap_or_default()),
        was_tuned: Cell::new(false),
        interrupt,
        seed,
        ui: *ui,
    };
    let hogs = if args.busy {
        // They end long before they could be forgotten.
        let at_most = args.max_time * 2 + args.timeout;
        Some(Hogs::start(becalm, &topology.online, at_most)?)
    } else {
        None
    };
    let mut lab = Laboratory {
        bench,
        experiment: Experiment::new(subject.timing(), args.confidence, seed),
        started,
        whole: args.max_time,
        limits: missing.iter().map(ToString::to_string).collect(),
        uncounted: 0,
        untuned: Duration::ZERO,
        alone: BTreeMap::new(),
        ui: *ui,
    };
    lab.limits.extend(lab.bench.choice.limits.iter().cloned());
    let here = lab.look(args, &chooser, &mut leases)?;
    let mut not_tried: Vec<Option<String>> =
        applicability(&here).into_iter().map(Result::err).collect();
    if !args.list {
        refuse_if_none(args, &not_tried)?;
    }
    let mut interrupted = lab.try_once(&mut not_tried).err();
    if !args.list && interrupted.is_none() {
        refuse_if_none(args, &not_tried)?;
        lab.make_time(&mut not_tried)?;
        let possible: Vec<usize> = lab.alone.keys().copied().collect();
        interrupted = lab.stages(&possible).err();
    }
    ui.progress_line("");
    if let Some(hogs) = &hogs
        && !hogs.are_alive()
    {
        lab.limits
            .push("not all of the processes that were to keep the machine busy did so".into());
    }
    Ok(Conducted {
        counters: lab.bench.counters.metrics().iter().map(|one| one.name.clone()).collect(),
        experiment: lab.experiment,
        here,
        not_tried,
        limits: lab.limits,
        machine,
        subject: subject.clone(),
        hogs: hogs.as_ref().map_or(0, Hogs::count),
        uncounted: lab.uncounted,
        duration: monotonic_raw().saturating_sub(started),
        interrupted,
    })
}

/// Refuses an experiment of which nothing is possible here.
fn refuse_if_none(args: &Args, not_tried: &[Option<String>]) -> Result<(), CommandError> {
    if not_tried.iter().any(Option::is_none) {
        return Ok(());
    }
    let what = if args.only.is_empty() { "that there is" } else { "that --only names" };
    let error = CommandError::measure(format!("nothing {what} can be tried here"));
    let reasons = MITIGATIONS.iter().zip(not_tried);
    let wanted = reasons.filter(|(one, _)| !is_unwanted(args, one.name));
    let named = wanted.filter_map(|(one, why)| Some(format!("{}: {}", one.name, why.as_ref()?)));
    Err(named.fold(error, CommandError::hint))
}

impl Laboratory<'_> {
    fn interruption(&self, trouble: Trouble) -> Interruption {
        match trouble {
            Trouble::Interrupted(signal) => Interruption::Signal(signal),
            Trouble::Fatal(error) => Interruption::Failure(error),
            Trouble::Refused(why) => Interruption::Failure(CommandError::measure(format!(
                "`{}`: {why}",
                self.bench.subject.name()
            ))),
        }
    }

    /// Keeps sentences, each once.
    fn note(&mut self, sentences: impl IntoIterator<Item = String>) {
        for sentence in sentences {
            if !self.limits.contains(&sentence) {
                self.limits.push(sentence);
            }
        }
    }

    fn used(&self) -> Duration {
        monotonic_raw().saturating_sub(self.started)
    }
}

fn environment(user: Option<&User>, policy: EnvPolicy) -> Result<Environment, CommandError> {
    Environment::from_vars(caller::variables(user), policy).map_err(CommandError::usage)
}
