//! One session from beginning to end: plan, runs, conclusions, files.

mod end;
mod export;
mod notes;
mod record;
mod terms;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use becalm_machine::Width;
use becalm_model::conditions::Pace;
use becalm_model::terms::{Primary, Stop};
use becalm_model::{Interruption, KnobRecord, Note, Record, RecordKind, Subject, metric};
use becalm_report::outlook_text;
use becalm_runner::Interrupt;
use becalm_runner::rounds::{
    Conditioning, Event, Executor, Isolate, LeftOut, OnFailure, Plan, RunError, SessionError,
    Spawn, SpawnPlan, measure,
};

pub(crate) use self::end::Finished;
pub(crate) use self::record::{conclude_log, disturbed_runs};
pub(crate) use self::terms::stop;

use self::end::{Outcomes, at_fault, keep, told};
use self::export::without_those_that_stay;
pub(crate) use self::export::{check_exports, export};
pub(crate) use self::notes::Spent;
use self::notes::{
    note_drift, note_left_out, note_other_conditions, note_spent, notes_before_start, tell,
};
use self::record::{conclude, end_of_last_run, record_of};
use self::terms::{longer_than_planned, plan_of, undecidable, warn_before_start};
use super::conditions::PaceFlag;
use super::flags::MeasureFlags;
use super::layouts::Layouts;
use super::log::{self, SessionLog};
use super::metrics;
use super::progress::ProgressLine;
use super::quiet::Quiet;
use super::revisions::Builds;
use super::same;
use super::setup::{self, Machine, Statement};
use super::suite::SuitePlan;
use super::tracing::{Traced, Tracing};
use crate::caller;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::suite;
use crate::ui::{Ui, count};

/// What a command wants from a session, beside the shared flags.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The command that asks, as others who want the machine are told.
    pub(crate) command: &'static str,
    /// Which kind of record is made.
    pub(crate) kind: RecordKind,
    /// What to measure.
    pub(crate) subjects: Vec<Subject>,
    /// When to end.
    pub(crate) stop: Stop,
    /// Smallest change that matters.
    pub(crate) margin: f64,
    /// Whether all subjects are the same program.
    pub(crate) aa: bool,
    /// The session to go on with.
    pub(crate) resumed: Option<Record>,
    /// What that has spent of its error, where the plan does not tell.
    pub(crate) spent: Option<Spent>,
    /// The command line.
    pub(crate) arguments: Vec<String>,
    /// Which runs are traced.
    pub(crate) tracing: Tracing,
    /// The builds that the subjects are of, if they are revisions; the caller keeps them.
    pub(crate) builds: Option<Builds>,
    /// The statement that the subjects time; `None` where they are programs of their own.
    pub(crate) statement: Option<Statement>,
    /// What a suite says of the subjects; `None` where they are of none.
    pub(crate) suite: Option<SuitePlan>,
}

impl Wanted {
    /// Returns a session of programs as they are, begun anew, without traces, for which any change matters.
    pub(crate) fn of(
        command: &'static str,
        kind: RecordKind,
        subjects: Vec<Subject>,
        stop: Stop,
        arguments: Vec<String>,
    ) -> Self {
        Self {
            command,
            kind,
            subjects,
            stop,
            margin: 0.0,
            aa: false,
            resumed: None,
            spent: None,
            arguments,
            tracing: Tracing::Off,
            builds: None,
            statement: None,
            suite: None,
        }
    }
}

/// Carries out a session and writes the files that the flags ask for.
pub(crate) fn conduct(
    mut wanted: Wanted,
    flags: &MeasureFlags,
    ui: &Ui,
) -> Result<Finished, CommandError> {
    let interrupt = caller::interrupt()?;
    check_exports(flags)?;
    let mut read = metrics::wanted(flags)?;
    let statement = wanted.statement.take();
    if statement.is_some() {
        read.primary = Primary::Benchmarks(Vec::new());
    }
    let machine = Machine::read()?;
    let layouts = match (&mut wanted.builds, &flags.build) {
        (Some(builds), _) => std::mem::take(&mut builds.layouts),
        (None, Some(command)) => {
            let user = caller::subject_user(flags.conditions.keep_root);
            Layouts::build(command, flags, &wanted.subjects, user.as_ref(), interrupt, ui)?
        }
        (None, None) => Layouts::default(),
    };
    let stands = wanted.builds.as_mut().map_or(Vec::new(), |one| std::mem::take(&mut one.stands));
    let (plan, limits) = setup::spawn_plan(
        flags,
        &wanted.subjects,
        (&stands, &layouts),
        read.extractors,
        statement,
        wanted.suite.as_ref(),
        &machine,
    )?;
    if wanted.suite.is_none() {
        same::refuse_replaced(&plan.subjects, &wanted.subjects)?;
    }
    let mut notes = notes_before_start(&wanted, &plan);
    notes.extend(layouts.note(flags.confidence).map(Note::from));
    let quiet = Quiet::begin(
        &machine,
        &plan.chooser.look(Width::One).subject,
        flags,
        &format!("becalm {}", wanted.command),
        interrupt,
        ui,
    )?;
    let setting = Setting {
        machine: &machine,
        quiet: &quiet,
        layouts: layouts.seeds(),
        interrupt,
        notes,
        limits,
    };
    let answered = wanted.resumed.as_ref().filter(|one| !one.comparisons.is_empty()).cloned();
    let carried = carry_out(wanted, flags, plan, read.primary, setting, ui);
    // Whatever comes of it, the machine is put back, and told where it is not.
    let is_machine_changed = match quiet.finish(ui) {
        Ok(exit) => exit == Exit::NotRestored,
        Err(error) => {
            ui.error(&error);
            true
        }
    };
    let Carried { record, log, result, left_out, cleaned } = match carried {
        Err(error) if is_machine_changed => {
            return Err(CommandError { exit: Exit::NotRestored, ..error });
        }
        carried => carried?,
    };
    let record = match answered {
        // A look that nothing was added for would only spend what the answer may err.
        Some(answered)
            if result.is_ok()
                && answered.rounds() == record.rounds()
                && is_lost(&answered, &record) =>
        {
            ui.warn(format!(
                "no round was added, and the answer is that of the saved session: limits count from its beginning, and \
                 it has made {} in {:.1} s",
                count(answered.rounds() as usize, "round"),
                end_of_last_run(&answered).as_secs_f64()
            ));
            answered
        }
        _ => record,
    };
    let disturbed = disturbed_runs(&record);
    let exports = without_those_that_stay(&flags.exports, &record, ui);
    let saved = export(&record, &disturbed, &exports);
    let at_fault = result.as_ref().err().and_then(at_fault).map(str::to_owned);
    let (failure, kept) = keep(log, &record, &exports, Outcomes { result, cleaned, saved }, ui);
    let signal = interrupt.signal();
    Ok(Finished {
        record,
        disturbed,
        failure,
        at_fault,
        left_out,
        signal,
        kept,
        is_machine_changed,
    })
}

/// Says whether an answer was replaced by none, for which there was no error left.
fn is_lost(before: &Record, after: &Record) -> bool {
    before.comparisons.iter().any(|one| one.ratio.is_some())
        && after.comparisons.iter().any(|one| one.ratio.is_none() && one.confidence >= 1.0)
}

/// What a session is carried out in.
struct Setting<'a, 'machine> {
    machine: &'a Machine,
    quiet: &'a Quiet<'machine>,
    /// The link seeds of the layouts that rounds run.
    layouts: &'a [u32],
    interrupt: &'static Interrupt,
    /// What is to be told before the first run.
    notes: Vec<Note>,
    /// What could not be controlled.
    limits: Vec<String>,
}

/// A session that was carried out.
struct Carried {
    record: Record,
    log: Option<SessionLog>,
    result: Result<(), SessionError<RunError>>,
    /// How subjects failed without which the session went on.
    left_out: Vec<String>,
    /// What the hooks at the end said.
    cleaned: Result<(), RunError>,
}

/// Makes the runs and concludes from them.
fn carry_out(
    wanted: Wanted,
    flags: &MeasureFlags,
    mut plan: SpawnPlan,
    primary: Primary,
    setting: Setting<'_, '_>,
    ui: &Ui,
) -> Result<Carried, CommandError> {
    let Setting { machine, quiet, layouts, interrupt, notes, mut limits } = setting;
    let elapsed = wanted.resumed.as_ref().map_or(Duration::ZERO, end_of_last_run);
    let is_of_use = wanted.kind == RecordKind::Comparison
        && matches!(wanted.tracing, Tracing::Off)
        && pace_is_of_use(&plan, &primary, machine);
    if let Conditioning::Learn { pace: pace @ Pace::Auto, .. } = &mut plan.conditioning
        && !is_of_use
    {
        *pace = Pace::Off;
    }
    if flags.conditions.pace == PaceFlag::On && flags.warmup == 0 {
        limits.push(
            "the pace is not sampled: without a warm-up round nothing is known of the subjects"
                .to_owned(),
        );
    }
    let isolate = flags.conditions.isolate.then_some(quiet as &dyn Isolate);
    let mut spawn = Spawn::new(plan, &machine.root, interrupt, elapsed, isolate);
    if let Some(maximum) = flags.conditions.settle {
        spawn = spawn.settling(maximum);
    }
    metrics::check_recorded(&primary, &spawn.metrics())?;
    let independent = wanted.suite.as_ref().map(SuitePlan::independent);
    let mut plan = plan_of(wanted.stop, wanted.margin, flags, primary, independent)?;
    plan.builds = layouts.to_vec();
    if let Some(suite) = &wanted.suite {
        limits.extend(suite.not_recorded(&spawn.metrics()));
    }
    let before = wanted.resumed.as_ref().map(|one| (one.conditions.clone(), one.rounds()));
    let (tracing, spent) = (wanted.tracing, wanted.spent);
    let mut record = record_of(wanted, flags, machine, spawn.metrics())?;
    record.conditions = spawn.conditions(&plan, KnobRecord::default(), &[]);
    tell(notes, &mut record, ui);
    // Traced beside untraced is no question that needs a verdict.
    let warned = matches!(tracing, Tracing::Only(_)) || warn_before_start(&record, &plan, ui);
    let mut traced = Traced::start(&mut spawn, tracing, &machine.root)?;
    let mut log = start_log(&record, flags, &mut limits, ui);
    let is_set_up = match plan.independent.as_ref().map(|own| own.on_failure) {
        Some(OnFailure::LeaveOut) => {
            traced.executor.set_up_each();
            Ok(())
        }
        Some(OnFailure::End) | None => traced.executor.set_up(),
    };
    let result = match is_set_up {
        Ok(()) => measure_and_log(&plan, &mut record, &mut traced, log.as_mut(), warned, ui),
        Err(error) => Err(SessionError::Run(error)),
    };
    traced.finish(&mut record, &machine.root);
    let (result, left_out) = match result {
        Ok(left_out) => (Ok(()), left_out.iter().map(|one| told(&one.error)).collect()),
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
        record.interrupted = Some(Interruption::Failure { error: told(error) });
    }
    let cleaned = spawn.clean_up();
    limits.extend(quiet.limits());
    record.conditions = spawn.conditions(&plan, quiet.record(), &limits);
    conclude(&mut record, &plan);
    note_spent(&mut record, spent);
    if let Some((conditions, rounds)) = before {
        note_other_conditions(&mut record, &conditions, rounds);
    }
    note_drift(&mut record);
    Ok(Carried { record, log, result, left_out, cleaned })
}

/// Says whether sampling the pace of the core may help: where CPU time may decide, and where a virtual
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

/// Starts the log of a session; says among its limits why there is none.
fn start_log(
    record: &Record,
    flags: &MeasureFlags,
    limits: &mut Vec<String>,
    ui: &Ui,
) -> Option<SessionLog> {
    let export = flags.exports.export_json.as_deref();
    match log::set_aside(export, flags.resume.as_deref()) {
        Ok(Some(aside)) => ui.say(format!(
            "the log of a session that was killed is kept as {0}: --resume {0} goes on with it",
            aside.display()
        )),
        Ok(None) => {}
        Err(error) => {
            limits.push(format!("no log of the session is kept on disk: {error}"));
            return None;
        }
    }
    match SessionLog::start(record, export) {
        Ok(log) => Some(log),
        Err(error) => {
            limits.push(format!("no log of the session is kept on disk: {error}"));
            None
        }
    }
}

fn measure_and_log(
    plan: &Plan,
    record: &mut Record,
    spawn: &mut Traced<'_, '_>,
    mut log: Option<&mut SessionLog>,
    mut warned: bool,
    ui: &Ui,
) -> Result<Vec<LeftOut<RunError>>, SessionError<RunError>> {
    let mut line = ProgressLine::new(plan, record);
    let subjects = record.subjects.clone();
    let is_comparison = record.kind == RecordKind::Comparison;
    let started = Instant::now();
    let mut is_first = true;
    let result = measure(plan, record, spawn, &mut |event| match event {
        Event::RunFinished { run, metrics } => {
            if let Some(log) = &mut log {
                log.add(metrics, run);
            }
            line.draw(ui, &subjects[run.subject], run.warmup);
        }
        Event::RoundFinished { rounds, fraction, warmup } => {
            line.round(rounds, fraction, warmup);
            if std::mem::take(&mut is_first)
                && let Some(text) = longer_than_planned(plan, started.elapsed())
            {
                line.clear(ui);
                ui.say(text);
            }
        }
        Event::RoundDiscarded { round } => {
            if let Some(log) = &mut log {
                log.discard(round);
            }
        }
        Event::WarmedUp { record } => {
            if let Some(own) = &plan.independent {
                line.clear(ui);
                ui.say(outlook_text(&suite::after_the_warm_up(&own.terms, record)));
            }
        }
        Event::Looked { comparisons, .. } => line.look(comparisons),
        Event::Undecidable { possible, needed } => {
            if !warned && is_comparison {
                line.clear(ui);
                ui.warn(undecidable(possible, needed, plan.judgement.confidence));
                warned = true;
            }
        }
    });
    line.clear(ui);
    result
}

/// Returns the command line as texts, for the record.
pub(crate) fn as_texts(given: &[OsString]) -> Vec<String> {
    given.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}
