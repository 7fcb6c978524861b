//! The experiment from the first run to the last.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use becalm_lab::ablate::advice;
use becalm_lab::ablate::analysis::Run;
use becalm_lab::ablate::design::{self, Configuration, Kind, Stage};
use becalm_lab::ablate::here::{Here, KnobPlan, applicability};
use becalm_lab::ablate::mitigation::{MITIGATIONS, Means};
use becalm_lab::ablate::{Experiment, Recommended, StageRuns};
use becalm_machine::{Chooser, Leases, SysRoot, Topology, Width, read_facts};
use becalm_model::MachineFacts;
use becalm_runner::{
    CounterPlan, Counters, EnvPolicy, Environment, Interrupt, User, invoking_user, monotonic_raw,
    pin_self,
};

use super::Args;
use super::bench::{Bench, Measured, Trouble};
use super::hogs::Hogs;
use super::subject::Subject;
use crate::error::CommandError;
use crate::tuning::wait;
use crate::ui::Ui;

/// Fewest blocks of a stage from which anything could be concluded.
const FEWEST_BLOCKS: u32 = 3;

/// Blocks for which the second stage leaves time, by taking fewer steps.
const WANTED_BLOCKS: u32 = 6;

/// Steps that the second stage has however long they take.
const FEWEST_STEPS: usize = 4;

/// A mitigation is costly when it makes a run take so many times as long as the untuned run.
const COSTLY: u32 = 10;

/// Untuned runs before anything else: the first fills caches, the others tell how long a run takes.
const FIRST_RUNS: u32 = 3;

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
    let interrupt = Interrupt::install().map_err(|error| {
        CommandError::measure(format!("cannot install a signal handler: {error}"))
    })?;
    let root = SysRoot::new(&args.root);
    let topology = Topology::read(&root).map_err(|error| {
        CommandError::measure(format!("cannot tell which CPUs there are: {error}"))
    })?;
    let machine = read_facts(&root, &topology);
    let chooser = Chooser::new(&root, &topology);
    let (choice, mut leases) = chooser.take(Width::One);
    let user = if args.keep_root { None } else { sudo_user() };
    let (counters, limits) = CounterPlan::probe(&root, Counters::All);
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
        wait: wait(&args.wait),
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
        limits,
        untuned: Duration::ZERO,
        alone: BTreeMap::new(),
        ui: *ui,
    };
    lab.limits.extend(lab.bench.choice.limits.iter().cloned());
    let here = lab.look(args, &chooser, &mut leases)?;
    let mut not_tried: Vec<Option<String>> =
        applicability(&here).into_iter().map(Result::err).collect();
    let mut interrupted = lab.try_once(&mut not_tried).err();
    if !args.list && interrupted.is_none() {
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
        duration: monotonic_raw().saturating_sub(started),
        interrupted,
    })
}

impl Laboratory<'_> {
    /// Finds out what decides about mitigations, from the machine and from the first runs.
    fn look(
        &mut self,
        args: &Args,
        chooser: &Chooser,
        leases: &mut Leases,
    ) -> Result<Here, CommandError> {
        let mut run_time = f64::INFINITY;
        let mut single_threaded = true;
        for _ in 0..FIRST_RUNS {
            let begun = monotonic_raw();
            let Measured { shown, finished, .. } = self.first_run()?;
            self.untuned = monotonic_raw().saturating_sub(begun);
            run_time = run_time.min(finished.wall);
            single_threaded = shown.single_threaded;
        }
        if !single_threaded {
            // Its own leases would be in the way.
            *leases = Leases::default();
            let (choice, taken) = chooser.take(Width::All);
            *leases = taken;
            self.bench.choice = choice;
        }
        if let Err(error) = pin_self(&self.bench.choice.housekeeping) {
            self.limits.push(format!("becalm could not be kept off the subject's CPUs: {error}"));
        }
        let root = self.bench.root;
        let status = root.read("/proc/self/status").value().unwrap_or_default();
        let rt_runtime = root.read("/proc/sys/kernel/sched_rt_runtime_us").value();
        Ok(Here {
            is_root: is_root(&status),
            allowed: self.bench.allowed().clone(),
            chosen: self.bench.choice.subject.clone(),
            single_threaded,
            timing: self.bench.subject.timing(),
            run_time,
            rt_runtime: rt_runtime.and_then(|text| text.trim().parse().ok()),
            isolation: self.bench.isolation().map(drop),
            knobs: self.knob_plans(),
            is_strict: args.strict,
            only: args.only.clone(),
            skip: args.skip.clone(),
        })
    }

    fn first_run(&self) -> Result<Measured, CommandError> {
        self.bench.run(&[], 0).map_err(|trouble| match trouble {
            Trouble::Refused(why) => {
                CommandError::measure(format!("`{}`: {why}", self.bench.subject.name()))
                    .hint("nothing was changed")
            }
            Trouble::Interrupted(signal) => CommandError {
                exit: crate::exit::Exit::Signal(signal),
                message: format!("stopped by signal {signal} before anything was measured"),
                hints: Vec::new(),
            },
            Trouble::Fatal(error) => error,
        })
    }

    fn knob_plans(&self) -> BTreeMap<&'static str, KnobPlan> {
        let plans = MITIGATIONS.iter().enumerate().filter_map(|(index, one)| {
            let plan = self.bench.plan(&[index], &advice::request(&[index])?);
            let changes = plan.changes.iter().filter(|change| change.new.is_some()).count();
            let notes = plan.notes.into_iter().map(|note| note.text).collect();
            Some((one.name, KnobPlan { changes, notes }))
        });
        plans.collect()
    }

    /// Runs each mitigation once, which shows those that look possible and are not.
    fn try_once(&mut self, not_tried: &mut [Option<String>]) -> Result<(), Interruption> {
        for (index, reason) in not_tried.iter_mut().enumerate() {
            if reason.is_some() {
                continue;
            }
            self.ui.progress_line(&format!("trying {}", MITIGATIONS[index].name));
            let begun = monotonic_raw();
            match self.bench.run(&[index], 0) {
                Ok(measured) => {
                    self.alone.insert(index, monotonic_raw().saturating_sub(begun));
                    self.note(measured.failures);
                }
                Err(Trouble::Refused(why)) => {
                    // The workload says so on standard error, which nobody hears.
                    let hint = match MITIGATIONS[index].means {
                        Means::LockMemory => " (may memory be locked? `ulimit -l`)",
                        _ => "",
                    };
                    *reason = Some(format!("{why}{hint}"));
                }
                Err(trouble) => return Err(self.interruption(trouble)),
            }
        }
        Ok(())
    }

    /// Gives up mitigations whose set-up takes too long for the time there is, the longest first.
    ///
    /// # Errors
    ///
    /// If that is not enough.
    fn make_time(&mut self, not_tried: &mut [Option<String>]) -> Result<(), CommandError> {
        let left = self.whole.mul_f64(Stage::Singly.ends_at()).saturating_sub(self.used());
        loop {
            let needed = (self.untuned * 2 + self.alone.values().sum::<Duration>()) * FEWEST_BLOCKS;
            if needed <= left {
                return Ok(());
            }
            let costly = self.costly();
            let longest = costly.into_iter().max_by_key(|member| self.alone[member]);
            let Some(longest) = longest else { return Err(self.no_time(needed)) };
            let time = self.alone.remove(&longest).unwrap_or_default();
            not_tried[longest] = Some(format!(
                "setting it up and putting it back takes {:.1} s, for which there is no time \
                 (--max-time)",
                time.as_secs_f64()
            ));
        }
    }

    fn no_time(&self, needed: Duration) -> CommandError {
        let enough = needed.as_secs_f64() / Stage::Singly.ends_at() + self.used().as_secs_f64();
        CommandError::measure(format!(
            "{FEWEST_BLOCKS} runs under each mitigation take {:.0} s: they do not fit into the time",
            needed.as_secs_f64().ceil()
        ))
        .hint(format!(
            "--max-time {:.0}m would do; --only or --skip leave fewer mitigations, and a shorter \
             subject tells more in the same time",
            (enough / 60.0).ceil()
        ))
    }

    /// Returns the mitigations that take long to set up: they would take the time of all others.
    fn costly(&self) -> Vec<usize> {
        let costly =
            |(&index, &time): (&usize, &Duration)| (time > self.untuned * COSTLY).then_some(index);
        self.alone.iter().filter_map(costly).collect()
    }

    /// Returns how long a run under several mitigations takes, at most.
    fn expected(&self, one: &Configuration) -> Duration {
        let more = one.members.iter().filter_map(|member| self.alone.get(member));
        self.untuned + more.map(|time| time.saturating_sub(self.untuned)).sum::<Duration>()
    }

    /// Returns the second stage, with as many steps as there is time for.
    fn stacks(&mut self, costly: &[usize]) -> Vec<Configuration> {
        let order = self.experiment.stack_order(costly);
        let all = order.best_first.len();
        let end = self.whole.mul_f64(Stage::Cumulatively.ends_at());
        let left = end.saturating_sub(self.used());
        let fits = |steps: &usize| {
            let stage = design::cumulatively(&order, *steps);
            let time = |one: &Configuration| match one.kind {
                Kind::Branch => self.expected(one) / design::COSTLY_EVERY,
                _ => self.expected(one),
            };
            stage.iter().map(time).sum::<Duration>() * WANTED_BLOCKS <= left
        };
        let steps = (FEWEST_STEPS..=all).rev().find(fits).unwrap_or(FEWEST_STEPS);
        let stage = design::cumulatively(&order, steps);
        if steps < all {
            self.note([format!(
                "for lack of time only the best {steps} mitigations were stacked (--max-time)"
            )]);
        }
        stage
    }

    /// Runs all stages.
    fn stages(&mut self, possible: &[usize]) -> Result<(), Interruption> {
        let costly = self.costly();
        self.stage(Stage::Singly, design::singly(possible), &costly)?;
        let stacks = self.stacks(&costly);
        self.stage(Stage::Cumulatively, stacks, &costly)?;
        let Some(chosen) = self.experiment.chosen() else { return Ok(()) };
        let mut members = chosen.stack.clone();
        if members.len() > 1 {
            self.stage(Stage::Without, design::without(&chosen.stack), &costly)?;
            members = self.experiment.needed(&chosen.stack);
        }
        self.stage(Stage::Again, design::again(&members, &chosen.stack), &costly)?;
        if self.experiment.was_thinned_too_far() {
            members.clone_from(&chosen.stack);
        }
        self.experiment.recommended = Some(Recommended { members, chosen });
        Ok(())
    }

    /// Runs blocks of one stage while there is time.
    fn stage(
        &mut self,
        stage: Stage,
        configurations: Vec<Configuration>,
        costly: &[usize],
    ) -> Result<(), Interruption> {
        let number = configurations.len();
        let at = self.experiment.stages.len();
        self.experiment.stages.push(StageRuns { stage, configurations, runs: Vec::new() });
        let mut longest = Duration::ZERO;
        let mut block = 0;
        while design::goes_on(stage, block, longest, self.used(), self.whole) {
            let begun = monotonic_raw();
            self.ui.progress_line(&format!(
                "{}: block {}, {:.0} of {:.0} s",
                stage.name(),
                block + 1,
                self.used().as_secs_f64(),
                self.whole.as_secs_f64()
            ));
            // A block that is broken off is left out.
            let mut runs = Vec::with_capacity(number);
            let order = design::order(self.experiment.seed, stage, block, number);
            for (place, configuration) in (0..).zip(order) {
                let one = self.experiment.stages[at].configurations[configuration].clone();
                if !design::takes_part(stage, &one, block, costly) {
                    continue;
                }
                if let Some(run) = self.one(&one, configuration, block, place)? {
                    runs.push(run);
                }
            }
            self.experiment.stages[at].runs.extend(runs);
            longest = longest.max(monotonic_raw().saturating_sub(begun));
            block += 1;
        }
        Ok(())
    }

    fn one(
        &mut self,
        one: &Configuration,
        configuration: usize,
        block: u32,
        place: u32,
    ) -> Result<Option<Run>, Interruption> {
        let started = self.used().as_secs_f64();
        match self.bench.run(&one.members, block) {
            Ok(Measured { shown, finished, failures }) => {
                self.note(failures);
                let values = shown.values;
                let counters = finished.counters;
                Ok(Some(Run { configuration, block, place, started, values, counters }))
            }
            Err(Trouble::Refused(why)) if one.kind != Kind::Baseline => {
                self.note([format!("`{}` could not be run in every block: {why}", one.name())]);
                Ok(None)
            }
            Err(trouble) => Err(self.interruption(trouble)),
        }
    }

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

fn sudo_user() -> Option<User> {
    let variable = |name| std::env::var_os(name);
    invoking_user(variable("SUDO_UID").as_deref(), variable("SUDO_GID").as_deref())
}

fn environment(user: Option<&User>, policy: EnvPolicy) -> Result<Environment, CommandError> {
    let variables: Vec<_> = match user {
        Some(user) => user.environment(std::env::vars_os()),
        None => std::env::vars_os().collect(),
    };
    Environment::from_vars(variables, policy).map_err(CommandError::usage)
}

/// Says whether the effective user of a process is root, by its `/proc/PID/status`.
fn is_root(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    line.and_then(|line| line.split_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_who_has_its_effective_user_id() {
        assert!(is_root("Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\n"));
        assert!(is_root("Uid:\t1000\t0\t0\t0\n"));
        assert!(!is_root("Uid:\t0\t1000\t0\t0\n"));
        assert!(!is_root(""));
    }
}
