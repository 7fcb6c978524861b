//! The executor that starts real processes.
//!
//! `one_run` is a run with the hooks and the evidence around it, `output` what is read from what it printed,
//! `placement` where subjects and becalm itself run, `calm` the wait for a machine at rest.

mod calm;
mod clock;
mod neighbours;
mod one_run;
mod output;
mod placement;
mod serve;

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use becalm_machine::{Choice, Leases, SysRoot, Width};
use becalm_model::conditions::{
    AffinityReason, Aslr, Backend, Described, IsolatedCpus, PaceSampling, Rest, Scheduler,
    SchedulingClass,
};
use becalm_model::{Conditions, CpuSet, Evidence, KnobRecord, Limit, Metric, SessionLimit};

use self::calm::Settling;
use self::clock::SessionClock;
use self::neighbours::Neighbours;
use self::placement::FIFO_PRIORITY;
use self::serve::Servers;
use super::executor::{Executor, Learnt, MeasuredRun, RunRequest};
use super::hook::Hook;
use super::plan::{Conditioning, FIFO_REST, Plan};
use super::rest::RestDebt;
use super::settling::unsettled_limit;
use super::spawn_plan::{Isolate, RunError, SpawnPlan};
use crate::cached_files::{cached_elsewhere, files_of};
use crate::inherited::Inherited;
use crate::pace::{self, PaceSampler};
use crate::precedence::Precedence;
use crate::{
    Callgrind, EvidenceCollector, Interrupt, Program, RunEnergy, Stdin, monotonic_raw,
    own_affinity, pin_self, resident_floor,
};

/// The executor that starts real processes.
#[derive(Debug)]
pub struct Spawn<'a> {
    plan: SpawnPlan,
    root: &'a SysRoot,
    interrupt: &'a Interrupt,
    clock: SessionClock,
    rest: RestDebt,
    cpus: Cpus<'a>,
    observed: Observed,
    /// What subjects have where nobody asked for anything.
    inherited: Inherited,
    /// What lets becalm see the end of a run at once, where it is allowed.
    precedence: io::Result<Option<Precedence>>,
    /// What could not be controlled or observed, whatever the CPUs.
    limits: Vec<Limit>,
    /// Whether the present scheduling class was becalm's own idea and may be taken back.
    scheduler_is_a_try: bool,
    settling: Option<Settling>,
    /// What samples the pace of the subjects' CPU.
    pace: Option<PaceSampler>,
    /// Subjects that are servers.
    servers: Servers,
}

/// Where the subjects and becalm itself run.
#[derive(Debug)]
struct Cpus<'a> {
    /// Where becalm itself could run before the session, to be put back after it.
    own: Option<CpuSet>,
    isolate: Option<&'a dyn Isolate>,
    /// Why the subjects run where they do.
    reason: AffinityReason,
    /// The CPUs that were chosen last; `None` if the user named them.
    choice: Option<Choice>,
    /// What keeps other measurements off the subject's CPUs.
    leases: Leases,
    /// CPUs that share a cache with the subject's.
    neighbours: Vec<Neighbours>,
    /// How the subject's CPUs were isolated.
    isolation: Option<IsolatedCpus>,
    /// Why they could not be, although that was tried.
    not_isolated: Option<String>,
    /// What the present CPUs do not allow; a new choice of CPUs has its own.
    limits: Vec<Limit>,
}

/// What is observed around the runs.
#[derive(Debug)]
struct Observed {
    evidence: EvidenceCollector,
    /// Evidence that is complete and was not asked for yet.
    complete: Vec<Evidence>,
    /// Smallest of the resident sets of all runs, in bytes.
    smallest_resident: u64,
}

impl Observed {
    /// Completes the evidence of the run whose window is open.
    fn flush(&mut self) {
        self.complete.extend(self.evidence.flush());
    }
}

impl<'a> Spawn<'a> {
    /// Prepares a session that has already used `elapsed` (0 unless it is resumed). With `isolate`
    /// the subjects get CPUs that nobody else uses.
    pub fn new(
        plan: SpawnPlan,
        root: &'a SysRoot,
        interrupt: &'a Interrupt,
        elapsed: Duration,
        isolate: Option<&'a dyn Isolate>,
    ) -> Self {
        let mut spawn = Self {
            cpus: Cpus {
                own: own_affinity().ok(),
                isolate,
                reason: AffinityReason::ChosenByUser,
                choice: None,
                leases: Leases::default(),
                neighbours: Vec::new(),
                isolation: None,
                not_isolated: None,
                limits: Vec::new(),
            },
            observed: Observed {
                evidence: EvidenceCollector::open(root, &CpuSet::new()),
                complete: Vec::new(),
                smallest_resident: u64::MAX,
            },
            limits: Vec::new(),
            scheduler_is_a_try: false,
            clock: SessionClock::after(elapsed),
            rest: RestDebt::default(),
            settling: None,
            pace: None,
            servers: Servers::default(),
            inherited: Inherited::read(root),
            precedence: Precedence::take(match plan.placement.scheduler {
                Scheduler::Fifo(priority) => priority,
                Scheduler::Other => FIFO_PRIORITY,
            }),
            plan,
            root,
            interrupt,
        };
        if matches!(spawn.plan.conditioning, Conditioning::Learn { affinity: true, .. }) {
            // The warm-up needs no CPUs for itself.
            let wide = spawn.plan.chooser.look(Width::All);
            spawn.place(&wide);
        } else if let Some(width) = spawn.plan.width {
            spawn.choose(width);
        } else {
            spawn.take_given();
        }
        spawn
    }

    /// Runs the setup hooks of every subject, and says before each which command starts.
    pub fn set_up(&mut self, starts: &mut dyn FnMut(&str)) -> Result<(), RunError> {
        let begun = monotonic_raw();
        (0..self.plan.subjects.len()).try_for_each(|index| self.set_up_one(index, starts))?;
        self.clock.leave_out_since(begun);
        Ok(())
    }

    /// Runs the setup hooks of every subject, all of them even if one fails: the first run of a subject
    /// whose hook failed fails too, and says so.
    pub fn set_up_each(&mut self, starts: &mut dyn FnMut(&str)) {
        let begun = monotonic_raw();
        for index in 0..self.plan.subjects.len() {
            if let Err(error @ RunError::Hook { .. }) = self.set_up_one(index, starts) {
                self.plan.subjects[index].program = Err(error.to_string());
            }
        }
        self.clock.leave_out_since(begun);
    }

    fn set_up_one(&mut self, index: usize, starts: &mut dyn FnMut(&str)) -> Result<(), RunError> {
        let command = self.plan.subjects[index].hooks.setup.clone();
        command.as_deref().into_iter().for_each(starts);
        self.hook(Hook::Setup, index, command.as_deref())?;
        let folder = self.plan.folder_of(index);
        let subject = &mut self.plan.subjects[index];
        let Some(late) = subject.late.take() else { return Ok(()) };
        let path = subject.environment.get("PATH".as_ref());
        subject.program =
            Program::resolve(&late, path, folder.as_deref()).map_err(|error| error.to_string());
        match &subject.program {
            Ok(_) => Ok(()),
            Err(why) => Err(RunError::NotReady { subject: subject.name.clone(), why: why.clone() }),
        }
    }

    /// Stops the servers that still run, and runs the cleanup hooks of every subject, all of them even if one fails; the
    /// first failure is returned. Says before each which command starts.
    pub fn clean_up(&mut self, starts: &mut dyn FnMut(&str)) -> Result<(), RunError> {
        let mut result = self.stop_servers();
        for index in 0..self.plan.subjects.len() {
            let command = self.plan.subjects[index].hooks.cleanup.clone();
            command.as_deref().into_iter().for_each(&mut *starts);
            result = result.and(self.hook(Hook::Cleanup, index, command.as_deref()));
        }
        result
    }

    /// Returns the metrics that each run gives.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Metric::always();
        metrics.extend(self.plan.counters.metrics().iter().cloned());
        metrics.extend(self.plan.energy.as_ref().map(|_| RunEnergy::metric()));
        metrics.extend(self.plan.read_metrics());
        metrics.extend(self.plan.load_metrics());
        metrics.extend(self.plan.backend.iter().flat_map(|_| Callgrind::metrics()));
        metrics
    }

    /// Returns how the subjects are started now, in a session by `plan` on a machine with these settings, with
    /// what else is known not to be controlled.
    pub fn conditions(&self, plan: &Plan, knobs: KnobRecord, more_limits: &[Limit]) -> Conditions {
        let placement = &self.plan.placement;
        let is_random = placement.aslr == Aslr::On && self.inherited.aslr;
        Conditions {
            affinity: placement.affinity.clone(),
            affinity_reason: Some(Described::Value(self.cpus.reason.clone())),
            scheduler: Some(match placement.scheduler {
                Scheduler::Other => self.inherited.scheduler,
                Scheduler::Fifo(priority) => SchedulingClass::Fifo(priority),
            }),
            nice: placement.nice.unwrap_or(self.inherited.nice),
            aslr: Some(if is_random { Aslr::On } else { Aslr::Off }),
            malloc: self.plan.malloc,
            memory_nodes: placement.memory.clone(),
            thp: placement.thp,
            in_memory: self.plan.folder().map(|folder| folder.display().to_string()),
            backend: if self.plan.backend.is_some() {
                Backend::Callgrind
            } else {
                Backend::Processor
            },
            harness: self.plan.own_timing(),
            padding: Some(plan.padding),
            cache: Some(self.plan.cache),
            rest: Some(self.rest_share()),
            settle: self
                .settling
                .as_ref()
                .map(|one| Described::Value(one.baseline.settle(one.maximum))),
            pace: self.pace.as_ref().map(|_| {
                let every_us = u64::try_from(pace::PERIOD.as_micros()).unwrap_or(u64::MAX);
                Described::Value(PaceSampling { every_us })
            }),
            on_disturbance: Some(plan.on_disturbance),
            environment: self.plan.variables(),
            limits: [self.all_limits(), more_limits.to_vec()].concat(),
            isolation: self.cpus.isolation.clone().map(Described::Value),
            awake: self.awake(),
            knobs,
        }
    }

    /// Returns what could not be controlled or observed.
    fn all_limits(&self) -> Vec<Limit> {
        let mut limits = [self.cpus.limits.clone(), self.limits.clone()].concat();
        limits.extend(self.resident_limit());
        limits.extend(self.cached_elsewhere());
        let neighbours = self.cpus.neighbours.iter().filter_map(|one| one.limit(self.root));
        limits.extend(neighbours.map(Limit::from));
        limits.extend(self.observed.evidence.limits());
        if let Some(settling) = &self.settling {
            limits.extend(settling.reader.limits().iter().cloned());
            let unsettled = unsettled_limit(&settling.unsettled, settling.maximum);
            limits.extend(unsettled);
        }
        limits
    }

    fn limit(&mut self, limit: impl Into<Limit>) {
        let limit = limit.into();
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
    }

    /// Says so when becalm itself hides how much memory a subject used.
    fn resident_limit(&self) -> Option<Limit> {
        let bytes = resident_floor().filter(|&floor| self.observed.smallest_resident <= floor)?;
        Some(SessionLimit::ResidentFloor { bytes }.into())
    }

    /// Says so when files of the subjects are cached on other nodes than those of their CPUs. Before the first run nobody
    /// looks: looking may read what is not cached, here and not where the subjects would.
    fn cached_elsewhere(&self) -> Option<Limit> {
        if self.observed.smallest_resident == u64::MAX {
            return None;
        }
        let near = self.plan.chooser.memory_of(self.plan.placement.affinity.as_ref()?)?;
        let mut files = BTreeSet::new();
        for (index, subject) in self.plan.subjects.iter().enumerate() {
            if let Ok(program) = &subject.program {
                files.extend(files_of(program, self.plan.folder_of(index).as_deref()));
            }
            if let Stdin::File(path) = &subject.stdin {
                files.insert(path.clone());
            }
        }
        cached_elsewhere(&files, &near).map(Limit::from)
    }

    fn rest_share(&self) -> f64 {
        match (self.plan.rest, self.plan.placement.scheduler) {
            (Rest::Share(share), _) => share,
            (Rest::Auto, Scheduler::Fifo(_)) => FIFO_REST,
            (Rest::Auto, Scheduler::Other) if self.inherited.scheduler.is_real_time() => FIFO_REST,
            (Rest::Auto, Scheduler::Other) => 0.0,
        }
    }
}

impl Drop for Spawn<'_> {
    /// Gives becalm its own CPUs back, so that a further session of this process chooses afresh.
    fn drop(&mut self) {
        if let Some(own) = &self.cpus.own {
            // CPUs that went away meanwhile are no error worth a word at the end.
            let _ = pin_self(own);
        }
    }
}

impl Executor for Spawn<'_> {
    type Error = RunError;

    fn wait_until_settled(&mut self) -> Option<f64> {
        self.wait_until_calm()
    }

    fn run(&mut self, request: RunRequest) -> Result<MeasuredRun, RunError> {
        self.believed_run(request)
    }

    fn evidence(&mut self, close: bool) -> Vec<Evidence> {
        if close {
            self.observed.flush();
        }
        // What a hook completed is of earlier runs than one whose window is open, and comes with that one's.
        if self.observed.evidence.is_open() {
            Vec::new()
        } else {
            std::mem::take(&mut self.observed.complete)
        }
    }

    fn elapsed(&self) -> Duration {
        self.clock.now()
    }

    fn adapt(&mut self, learnt: Learnt) {
        self.adapt_placement(learnt);
        self.adapt_pace(learnt);
    }

    fn interrupted(&self) -> Option<i32> {
        self.interrupt.signal()
    }
}
