//! One session from a request to a record: plan, runs, conclusions.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use becalm_machine::Width;
use becalm_model::conditions::Pace;
use becalm_model::terms::{Exports, Primary, RoundLimits, Stop, Terms};
use becalm_model::{
    Conditions, DisturbedRun, Interruption, KnobRecord, Limit, Metric, Note, PaceObstacle, Record,
    RecordKind, Run, SessionLimit, Subject, metric,
};
use becalm_runner::Interrupt;
use becalm_runner::rounds::{
    self, Conditioning, Executor, Hook, Isolate, LeftOut, OnFailure, Plan, RunError, SessionError,
    Spawn, SpawnPlan, measure,
};

use crate::build::BuildError;
use crate::error::Error;
use crate::event::{Event, Listener};
use crate::layouts::Layouts;
use crate::log::{self, LogLines, SessionLog};
use crate::metrics;
use crate::notes::{
    Spent, note_drift, note_left_out, note_other_conditions, note_spent, notes_before_start, tell,
};
use crate::plan::{longer_than_planned, plan_of, undecidable, warn_before_start};
use crate::quiet::Quiet;
use crate::record::{conclude, disturbed_runs, end_of_last_run, record_of};
use crate::resume;
use crate::revisions::Builds;
use crate::same;
use crate::setup::{self, Machine, Statement};
use crate::suite::{self, SuitePlan};
use crate::tracing::{Traced, Tracing};
use crate::tuned::TunedError;

/// What is to be measured, and how.
#[derive(Debug)]
pub struct Request {
    /// The command that asks, for others who wait for the machine.
    pub command: String,
    /// Which kind of record is made.
    pub kind: RecordKind,
    /// The terms.
    pub terms: Terms,
    /// What to measure.
    pub subjects: Vec<Subject>,
    /// Whether all subjects are the same program.
    pub aa: bool,
    /// The session to continue.
    pub resumed: Option<Record>,
    /// The file that it was read from, which may be its log.
    pub resumed_from: Option<PathBuf>,
    /// The command line, for the record.
    pub arguments: Vec<String>,
    /// Which runs are traced.
    pub tracing: Tracing,
    /// The builds that the subjects come from, if they are revisions; the caller keeps them.
    pub builds: Option<Builds>,
    /// The statement that the subjects time; `None` where they are programs of their own.
    pub statement: Option<Statement>,
    /// What a suite says about the subjects; `None` if they are of none.
    pub suite: Option<SuitePlan>,
}

impl Request {
    /// Returns a new session of ordinary programs, by these terms.
    pub fn new(
        command: impl Into<String>,
        kind: RecordKind,
        terms: Terms,
        subjects: Vec<Subject>,
        arguments: Vec<String>,
    ) -> Self {
        Self {
            command: command.into(),
            kind,
            tracing: Tracing::of(&terms.runs),
            terms,
            subjects,
            aa: false,
            resumed: None,
            resumed_from: None,
            arguments,
            builds: None,
            statement: None,
            suite: None,
        }
    }
}

/// A session that ended, well or not.
#[derive(Debug)]
pub struct Session {
    /// Everything that was measured.
    pub record: Record,
    /// Which runs were disturbed.
    pub disturbed: Vec<DisturbedRun>,
    /// What ended it early.
    pub result: Result<(), SessionError<RunError>>,
    /// The results of the hooks at the end.
    pub cleaned: Result<(), RunError>,
    /// Failures of subjects without which the session continued.
    pub left_out: Vec<String>,
    /// Its log, if it contains more than was saved.
    pub log: Option<SessionLog>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the machine could be put back.
    pub machine: Result<bool, TunedError>,
}

/// Carries out a session.
pub fn conduct(
    mut request: Request,
    interrupt: &'static Interrupt,
    listener: Listener<'_>,
) -> Result<Session, Error> {
    let mut read = metrics::metrics(&request.terms)?;
    let statement = request.statement.take();
    if statement.is_some() {
        read.primary = Primary::Benchmarks(Vec::new());
    }
    request.terms.primary = read.primary;
    let machine = Machine::read()?;
    let layouts = layouts(&mut request, interrupt, listener)?;
    let stands = request.builds.as_mut().map_or(Vec::new(), |one| std::mem::take(&mut one.stands));
    let (plan, limits) = setup::spawn_plan(
        &request.terms,
        &request.subjects,
        (&stands, &layouts),
        read.extractors,
        statement,
        request.suite.as_ref(),
        &machine,
    )?;
    if request.suite.is_none() {
        same::refuse_replaced(&plan.subjects, &request.subjects)?;
    }
    let mut notes = notes_before_start(&request, &plan);
    notes.extend(layouts.note(request.terms.confidence).map(Note::from));
    let quiet = Quiet::begin(
        &machine,
        &plan.chooser.look(Width::One).subject,
        &request.terms.runs,
        &format!("becalm {}", request.command),
        interrupt,
        listener,
    )?;
    let setting = Setting {
        machine: &machine,
        quiet: &quiet,
        layouts: layouts.seeds(),
        interrupt,
        listener,
        notes,
        limits,
    };
    let measured = setting.carry_out(request, plan);
    // Whatever comes of it, the machine is put back.
    let restored = quiet.finish();
    let Measured { record, log, result, left_out, cleaned } = match measured {
        Err(error) if !matches!(restored, Ok(true)) => {
            return Err(Error::NotRestored(Box::new(error)));
        }
        measured => measured?,
    };
    let disturbed = disturbed_runs(&record);
    let signal = interrupt.signal();
    Ok(Session { record, disturbed, result, cleaned, left_out, log, signal, machine: restored })
}

/// Returns the layouts that rounds run: those of the builds, or of the build command.
fn layouts(
    request: &mut Request,
    interrupt: &'static Interrupt,
    listener: Listener<'_>,
) -> Result<Layouts, BuildError> {
    let Request { builds, terms, subjects, .. } = request;
    match (builds, &terms.runs.build) {
        (Some(builds), _) => Ok(std::mem::take(&mut builds.layouts)),
        (None, Some(command)) => {
            Layouts::build(command, &terms.runs, subjects, interrupt, listener)
        }
        (None, None) => Ok(Layouts::default()),
    }
}

/// What a session is carried out in.
struct Setting<'a, 'machine> {
    machine: &'a Machine,
    quiet: &'a Quiet<'machine>,
    /// The link seeds of the layouts that rounds run.
    layouts: &'a [u32],
    interrupt: &'static Interrupt,
    listener: Listener<'a>,
    /// What is known before the first run.
    notes: Vec<Note>,
    /// What could not be controlled.
    limits: Vec<Limit>,
}

/// What was measured, while the machine was still set up for it.
struct Measured {
    record: Record,
    log: Option<SessionLog>,
    result: Result<(), SessionError<RunError>>,
    left_out: Vec<String>,
    cleaned: Result<(), RunError>,
}

impl Setting<'_, '_> {
    /// Makes the runs and concludes from them.
    fn carry_out(self, request: Request, mut plan: SpawnPlan) -> Result<Measured, Error> {
        let Self { machine, quiet, layouts, interrupt, listener, notes, mut limits } = self;
        let terms = request.terms.clone();
        let elapsed = request.resumed.as_ref().map_or(Duration::ZERO, end_of_last_run);
        let is_of_use = request.kind == RecordKind::Comparison
            && matches!(request.tracing, Tracing::Off)
            && pace_is_of_use(&plan, &terms.primary, machine);
        if let Conditioning::Learn { pace: pace @ Pace::Auto, .. } = &mut plan.conditioning
            && !is_of_use
        {
            *pace = Pace::Off;
        }
        if terms.runs.pace == Pace::On && terms.warmup == 0 {
            let because = PaceObstacle::NoWarmup;
            limits.push(SessionLimit::PaceNotSampled { because }.into());
        }
        let isolate = terms.runs.isolate.then_some(quiet as &dyn Isolate);
        let mut spawn = Spawn::new(plan, &machine.root, interrupt, elapsed, isolate);
        if let Some(maximum) = terms.runs.settle {
            spawn = spawn.settling(maximum);
        }
        metrics::check_recorded(&terms.primary, &spawn.metrics())?;
        let independent = request.suite.as_ref().map(SuitePlan::independent);
        let mut plan = plan_of(&terms, terms.primary.clone(), independent, layouts.to_vec());
        if let Some(suite) = &request.suite {
            limits.extend(suite.not_recorded(&spawn.metrics()));
        }
        let before = request.resumed.as_ref().map(Before::of);
        let spent = spent(&request);
        let (tracing, resumed_from) = (request.tracing, request.resumed_from.clone());
        // What is exported is exported where becalm was started; the log of the far end is its own.
        let exports = match terms.elsewhere {
            Some(_) => Exports::default(),
            None => terms.exports.clone(),
        };
        let mut record = record_of(request, terms, machine, spawn.metrics())?;
        record.conditions = spawn.conditions(&plan, KnobRecord::default(), &[]);
        tell(notes, &mut record, listener);
        let runs_before = record.runs.len();
        // Traced beside untraced is no question that needs a verdict, and what was measured has had its warning.
        let warned = matches!(tracing, Tracing::Only(_))
            || plan.stop.is_used_up(record.rounds(), elapsed.as_secs_f64())
            || warn_before_start(&record, &plan, listener);
        let mut traced = Traced::start(&mut spawn, tracing, &machine.root)?;
        let place = (exports.json.as_deref(), resumed_from.as_deref());
        let mut logging = Logging::start(&record, place, &mut limits, listener);
        let starts = |hook| move |command: &str| listener.hears(Event::Hook { hook, command });
        let is_set_up = match plan.independent.as_ref().map(|own| own.on_failure) {
            Some(OnFailure::LeaveOut) => {
                traced.executor.set_up_each(&mut starts(Hook::Setup));
                Ok(())
            }
            Some(OnFailure::End) | None => traced.executor.set_up(&mut starts(Hook::Setup)),
        };
        let result = match is_set_up {
            Ok(()) => {
                measure_and_log(&plan, &mut record, &mut traced, &mut logging, warned, listener)
            }
            Err(error) => Err(SessionError::Run(error)),
        };
        traced.finish(&mut record, &machine.root);
        let (result, left_out) = match result {
            Ok(left_out) => (Ok(()), left_out.iter().map(|one| one.error.in_full()).collect()),
            Err(error) => (Err(error), Vec::new()),
        };
        for how in &left_out {
            note_left_out(&mut record, how);
        }
        let result = match (spawn.interrupted(), result) {
            // What the signal broke off is no failure.
            (Some(signal), Err(SessionError::Run(_))) => {
                record.interrupted = Some(Interruption::Signal { signal });
                Ok(())
            }
            (_, result) => result,
        };
        if let Err(error) = &result {
            record.interrupted = Some(Interruption::Failure { error: error.in_full() });
        }
        let cleaned = spawn.clean_up(&mut starts(Hook::Cleanup));
        limits.extend(quiet.limits());
        record.conditions = spawn.conditions(&plan, quiet.record(), &limits);
        match before {
            Some(before) if record.runs.len() == runs_before => {
                if before.stop != plan.stop {
                    let rounds = record.rounds();
                    listener.hears(Event::NothingAdded { rounds, took: elapsed });
                }
                before.put_back(&mut record, &mut plan);
                conclude(&mut record, &plan);
            }
            before => {
                conclude(&mut record, &plan);
                note_spent(&mut record, spent);
                if let Some(before) = before {
                    note_other_conditions(&mut record, &before.conditions, before.rounds);
                }
                note_drift(&mut record, quiet.is_tuned_by_another());
            }
        }
        Ok(Measured { record, log: logging.log, result, left_out, cleaned })
    }
}

/// How the runs of a continued session were made, and the rule that should end it. If no run is
/// added, both stay: by another rule its looks would have been different. The log of a comparison
/// whose answer nobody has seen may be ended by another rule.
struct Before {
    rounds: u32,
    is_answered: bool,
    conditions: Conditions,
    stop: Stop,
    limits: RoundLimits,
}

impl Before {
    fn of(resumed: &Record) -> Self {
        let terms = resumed.terms.clone().unwrap_or_default();
        Self {
            rounds: resumed.rounds(),
            is_answered: !resumed.comparisons.is_empty(),
            conditions: resumed.conditions.clone(),
            stop: terms.stop,
            limits: terms.limits,
        }
    }

    fn put_back(self, record: &mut Record, plan: &mut Plan) {
        record.conditions = self.conditions;
        if self.is_answered {
            plan.stop = self.stop;
            if let Some(terms) = &mut record.terms {
                (terms.stop, terms.limits) = (self.stop, self.limits);
            }
        }
    }
}

/// Returns what a continued comparison has spent of its error, if its terms do not say.
fn spent(request: &Request) -> Option<Spent> {
    let resumed = request.resumed.as_ref()?;
    let is_comparison = request.kind == RecordKind::Comparison;
    is_comparison.then(|| resume::spent(resumed, &request.terms)).flatten()
}

/// Says whether sampling the pace of the core may help: if CPU time may decide, and if a virtual
/// machine hides who else uses the core and how fast it is. Elsewhere the evidence has both.
fn pace_is_of_use(plan: &SpawnPlan, primary: &Primary, machine: &Machine) -> bool {
    let may_decide_on_cpu_time = match primary {
        Primary::Auto => true,
        Primary::Named(names) => names.iter().any(|name| name == metric::CPU_TIME),
        Primary::Benchmarks(_) => false,
    };
    let shows_siblings = machine.topology.threads_per_core() > 1;
    may_decide_on_cpu_time
        && plan.backend.is_none()
        && !shows_siblings
        && machine.facts.found("virtualisation").is_some()
}

/// The log of a session: its lines are written to a file, where there is one, and reported.
struct Logging<'a> {
    lines: LogLines,
    log: Option<SessionLog>,
    listener: Listener<'a>,
}

impl<'a> Logging<'a> {
    /// Starts the log; if there can be no file, says why among the limits. Its place follows from where the session is saved
    /// and what it was read from.
    fn start(
        record: &Record,
        (export, resumed_from): (Option<&Path>, Option<&Path>),
        limits: &mut Vec<Limit>,
        listener: Listener<'a>,
    ) -> Self {
        let (lines, first) = LogLines::begin(record);
        listener.hears(Event::Logged(&first));
        let started = log::set_aside(export, resumed_from).and_then(|aside| {
            if let Some(aside) = aside {
                listener.hears(Event::LogSetAside(&aside));
            }
            SessionLog::start(&first, record.started_at, export)
        });
        let log = started
            .map_err(|error| limits.push(SessionLimit::NoLog { error: error.to_string() }.into()))
            .ok();
        Self { lines, log, listener }
    }

    fn run(&mut self, metrics: &[Metric], run: &Run) {
        let lines = self.lines.of_run(metrics, run);
        self.add(&lines);
    }

    fn discard(&mut self, round: u32) {
        self.add(&LogLines::of_discarded(round));
    }

    fn add(&mut self, lines: &str) {
        if let Some(log) = &mut self.log {
            log.add(lines);
        }
        self.listener.hears(Event::Logged(lines));
    }
}

fn measure_and_log(
    plan: &Plan,
    record: &mut Record,
    spawn: &mut Traced<'_, '_>,
    log: &mut Logging<'_>,
    mut warned: bool,
    listener: Listener<'_>,
) -> Result<Vec<LeftOut<RunError>>, SessionError<RunError>> {
    listener.hears(Event::Started { plan, record });
    let subjects = record.subjects.clone();
    let is_comparison = record.kind == RecordKind::Comparison;
    let started = Instant::now();
    let mut is_first = true;
    let result = measure(plan, record, spawn, &mut |event| match event {
        rounds::RoundEvent::RunFinished { run, metrics } => {
            log.run(metrics, run);
            listener.hears(Event::Ran { subject: &subjects[run.subject], warmup: run.warmup });
        }
        rounds::RoundEvent::RoundFinished { rounds, fraction, warmup } => {
            listener.hears(Event::Round { rounds, fraction, warmup });
            if std::mem::take(&mut is_first)
                && let Some(event) = longer_than_planned(plan, started.elapsed())
            {
                listener.hears(event);
            }
        }
        rounds::RoundEvent::RoundDiscarded { round } => {
            log.discard(round);
        }
        rounds::RoundEvent::WarmedUp { record } => {
            if let Some(own) = &plan.independent {
                let outlook = suite::after_the_warm_up(&own.terms, record);
                listener.hears(Event::Outlook(outlook));
            }
        }
        rounds::RoundEvent::Looked { comparisons, .. } => {
            listener.hears(Event::Looked(comparisons));
        }
        rounds::RoundEvent::Undecidable { possible, needed } => {
            if !warned && is_comparison {
                listener.hears(undecidable(possible, needed, plan));
                warned = true;
            }
        }
    });
    listener.hears(Event::Measured);
    result
}
