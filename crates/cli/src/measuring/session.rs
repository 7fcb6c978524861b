//! One session from beginning to end: plan, runs, conclusions, files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use becalm_machine::Width;
use becalm_model::{Comparison, Metric, Record, RecordKind, Run, Subject, Verdict};
use becalm_report::DisturbedRun;
use becalm_runner::Interrupt;
use becalm_runner::conclude::{self, Shape};
use becalm_runner::session::{
    Event, Executor, FailurePolicy, Isolate, Judgement, Layout, OnDisturbance, Plan, Primary,
    RunError, SessionError, Spawn, SpawnPlan, Stop, causes, drop_unfinished_round, measure,
    settle_note,
};

use super::flags::{LARGEST_SEED, LayoutFlag, MeasureFlags, OnDisturbanceFlag};
use super::journal::Journal;
use super::progress::ProgressLine;
use super::quiet::Quiet;
use super::setup::{self, Machine};
use super::tracing::{Traced, Tracing};
use super::{metrics, resume, same, tracing};
use crate::error::{CommandError, with_causes};
use crate::exit::Exit;
use crate::files;
use crate::ui::Ui;

/// What a command wants from a session, beside the shared flags.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Which command asks.
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
    /// The command line.
    pub(crate) arguments: Vec<String>,
    /// Which runs are traced.
    pub(crate) tracing: Tracing,
}

/// A session that ended, well or not.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Everything that was measured.
    pub(crate) record: Record,
    /// Which runs were disturbed.
    pub(crate) disturbed: Vec<DisturbedRun>,
    /// What ended it early, after the finished rounds were saved.
    pub(crate) failure: Option<CommandError>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// The file that an unfinished session can be continued from.
    kept: Option<PathBuf>,
    /// Whether a setting of the machine could not be put back, which was told when it happened.
    is_machine_changed: bool,
}

/// Carries out a session and writes the files that the flags ask for.
pub(crate) fn conduct(
    wanted: Wanted,
    flags: &MeasureFlags,
    ui: &Ui,
) -> Result<Finished, CommandError> {
    let interrupt = Interrupt::install().map_err(|error| {
        CommandError::measure(format!("cannot install a signal handler: {error}"))
    })?;
    check_exports(flags)?;
    let read = metrics::wanted(flags)?;
    let machine = Machine::read()?;
    let (plan, mut limits) = setup::spawn_plan(flags, &wanted.subjects, read.extractors, &machine)?;
    let notes = notes_before_start(&wanted, &plan);
    let command = if wanted.kind == RecordKind::Comparison { "compare" } else { "run" };
    let quiet = Quiet::begin(
        &machine,
        &plan.chooser.look(Width::One).subject,
        flags,
        &format!("becalm {command}"),
        interrupt,
        ui,
    )?;
    let elapsed = wanted.resumed.as_ref().map_or(Duration::ZERO, end_of_last_run);
    let planned_end = wanted.resumed.as_ref().and_then(planned_end);
    let isolate = flags.isolate.then_some(&quiet as &dyn Isolate);
    let mut spawn = Spawn::new(plan, &machine.root, interrupt, elapsed, isolate);
    if let Some(maximum) = flags.settle {
        spawn = spawn.settling(maximum);
    }
    metrics::check_recorded(&read.primary, &spawn.metrics())?;
    let plan = plan_of(wanted.stop, wanted.margin, flags, read.primary)?;
    let tracing = wanted.tracing;
    let mut record = record_of(wanted, flags, &machine, spawn.metrics())?;
    record.conditions = spawn.conditions();
    for note in notes {
        ui.say(format!("note: {note}"));
        if !record.notes.contains(&note) {
            record.notes.push(note);
        }
    }
    let warned = warn_before_start(&record, &plan, ui);
    let mut traced = Traced::start(&mut spawn, tracing, &machine.root)?;
    let mut journal = match Journal::start(&record, flags.export_json.as_deref()) {
        Ok(journal) => Some(journal),
        Err(error) => {
            limits.push(format!("no log of the session is kept on disk: {error}"));
            None
        }
    };
    let result = match traced.executor.set_up() {
        Ok(()) => measure_and_log(&plan, &mut record, &mut traced, journal.as_mut(), warned, ui),
        Err(error) => Err(SessionError::Run(error)),
    };
    traced.finish(&mut record, &machine.root);
    let result = match (spawn.interrupted(), result) {
        // What the signal broke off is no failure.
        (Some(reason), Err(SessionError::Run(_))) => {
            record.interrupted = Some(reason);
            Ok(())
        }
        (_, result) => result,
    };
    if let Err(error) = &result {
        record.interrupted = Some(told(error));
    }
    let cleaned = spawn.clean_up();
    limits.extend(quiet.lost_isolation());
    settle(&mut record, &plan, &spawn, limits);
    note_extension(&mut record, planned_end);
    record.conditions.knobs = quiet.record();
    note_drift(&mut record);
    let restored = quiet.finish(ui);
    let disturbed = disturbed_runs(&record);
    let saved = export(&record, &disturbed, flags);
    let unfinished = record.interrupted.is_some();
    let log = journal.as_ref().map(|journal| journal.path().to_owned());
    let kept = match &flags.export_json {
        Some(path) if saved.is_ok() && !files::is_special(path) => Some(path.clone()),
        _ => log,
    };
    let log_error = journal.as_ref().and_then(Journal::error);
    let has_rounds = record.runs.iter().any(|run| !run.warmup);
    let kept_rounds = kept.as_deref().filter(|_| has_rounds);
    let failure = failure(result, cleaned, saved, log_error, kept_rounds);
    if let Some(journal) = journal
        && flags.export_json.is_some()
        && failure.is_none()
        && !unfinished
    {
        journal.remove();
    }
    let kept = kept.filter(|_| unfinished);
    let is_machine_changed = match restored {
        Ok(exit) => exit == Exit::NotRestored,
        Err(error) => {
            ui.error(&error);
            true
        }
    };
    let signal = interrupt.signal();
    Ok(Finished { record, disturbed, failure, signal, kept, is_machine_changed })
}

/// Refuses, before anything is measured, files that could not be written in the end.
fn check_exports(flags: &MeasureFlags) -> Result<(), CommandError> {
    let exports = [&flags.export_json, &flags.export_html, &flags.export_markdown];
    let exports: Vec<&PathBuf> = exports.into_iter().flatten().collect();
    for (index, path) in exports.iter().enumerate() {
        if exports[..index].contains(path) {
            let path = path.display();
            return Err(CommandError::usage(format!("two exports go to the same file {path}")));
        }
        files::check_writable(path)?;
    }
    Ok(())
}

/// Notes the settings that somebody else changed meanwhile.
fn note_drift(record: &mut Record) {
    for moved in &record.conditions.knobs.drifted {
        record.notes.push(format!(
            "{} was {} at the start and {} at the end: somebody else changed it during the session.",
            moved.target, moved.from, moved.to
        ));
    }
}

/// Returns what the reader has to know about the subjects, whatever the runs show.
fn notes_before_start(wanted: &Wanted, plan: &SpawnPlan) -> Vec<String> {
    let mut notes = Vec::new();
    if wanted.kind == RecordKind::Comparison && !wanted.aa {
        notes.extend(same::notes(&plan.subjects, &wanted.subjects));
    }
    if let Some(resumed) = &wanted.resumed {
        notes.extend(same::changed_since(resumed.started_at, &plan.subjects));
    }
    notes
}

/// Returns the rounds after which a comparison ended as planned, with all of its error spent.
fn planned_end(record: &Record) -> Option<u32> {
    let is_over = !record.comparisons.is_empty() && record.interrupted.is_none();
    is_over.then(|| record.rounds())
}

/// Notes that rounds were added to a session that was over; looking alone adds none.
fn note_extension(record: &mut Record, planned_end: Option<u32>) {
    if let Some(end) = planned_end.filter(|&end| record.rounds() > end) {
        record.notes.push(format!(
            "continued after its planned end at round {end}, where all the error was spent: false alarms \
             can be up to twice as frequent as stated"
        ));
    }
}

/// Returns how long after its start the session of a saved record had got.
fn end_of_last_run(record: &Record) -> Duration {
    let wall = record.metric_index(becalm_model::metric::WALL_TIME);
    let end = |run: &Run| run.started + wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
    let seconds = record.runs.iter().map(end).fold(0.0, f64::max);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn plan_of(
    stop: Stop,
    margin: f64,
    flags: &MeasureFlags,
    primary: Primary,
) -> Result<Plan, CommandError> {
    if let (Some(least), Some(most)) = (flags.min_rounds, flags.max_rounds)
        && least > most
    {
        return Err(CommandError::usage(format!(
            "--min-rounds {least} is more than --max-rounds {most}"
        )));
    }
    Ok(Plan {
        warmup: flags.warmup,
        stop,
        failure: match &flags.ignore_failure {
            None => FailurePolicy::Stop,
            Some(codes) if codes.is_empty() => FailurePolicy::Ignore,
            Some(codes) => FailurePolicy::IgnoreCodes(codes.clone()),
        },
        layout: match flags.layout {
            LayoutFlag::Randomise => Layout::Randomise,
            LayoutFlag::Fixed => Layout::Fixed,
        },
        rest: flags.rest,
        on_disturbance: match flags.on_disturbance {
            OnDisturbanceFlag::Keep => OnDisturbance::Keep,
            OnDisturbanceFlag::Redo => OnDisturbance::Redo,
        },
        conditioning: flags.conditioning(),
        judgement: Judgement { confidence: flags.confidence, margin, primary },
    })
}

/// Concludes from the runs of a log what the session would have concluded from them.
pub(crate) fn conclude_log(
    record: &mut Record,
    stop: Stop,
    margin: f64,
    flags: &MeasureFlags,
) -> Result<(), CommandError> {
    let plan = plan_of(stop, margin, flags, metrics::wanted(flags)?.primary)?;
    drop_unfinished_round(record);
    let measured = || record.runs.iter().filter(|run| !run.warmup);
    let rounds = record.rounds();
    let start = measured().map(|run| run.started).fold(f64::INFINITY, f64::min);
    let is_over = plan.stop.is_used_up(rounds, end_of_last_run(record).as_secs_f64() - start);
    record.comparisons = final_comparisons(&plan, record, is_over);
    Ok(())
}

/// Warns of a plan that is too short for any verdict; says whether it did.
fn warn_before_start(record: &Record, plan: &Plan, ui: &Ui) -> bool {
    let needed = plan.judgement.fewest_rounds(record.subjects.len());
    let possible = match plan.stop {
        Stop::Rounds(rounds) => Some(rounds),
        Stop::Until { maximum, .. } => maximum,
    };
    let Some(possible) = possible.filter(|&possible| possible < needed) else { return false };
    if record.kind != RecordKind::Comparison {
        return false;
    }
    ui.warn(undecidable(possible, needed, plan.judgement.confidence));
    true
}

fn undecidable(possible: u32, needed: u32, confidence: f64) -> String {
    // Rounded, because 0.95 times 100 is not quite 95.
    let percent = (confidence * 1e6).round() / 1e4;
    let rounds = if possible == 1 { "1 round".to_owned() } else { format!("{possible} rounds") };
    format!(
        "{rounds} cannot give a verdict at {percent}% confidence; at least {needed} are needed, \
         and more for a small difference"
    )
}

fn record_of(
    wanted: Wanted,
    flags: &MeasureFlags,
    machine: &Machine,
    metrics: Vec<Metric>,
) -> Result<Record, CommandError> {
    if let Some(mut resumed) = wanted.resumed {
        resume::check_same(&resumed, &wanted.subjects, &machine.facts, &metrics)?;
        resumed.comparisons.clear();
        resumed.interrupted = None;
        resumed.arguments = wanted.arguments;
        resumed.confidence = flags.confidence;
        resumed.margin = wanted.margin;
        return Ok(resumed);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Record {
        kind: wanted.kind,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: wanted.arguments,
        started_at: now.as_secs_f64(),
        seed: flags.seed.unwrap_or_else(|| fresh_seed(now)),
        confidence: flags.confidence,
        margin: wanted.margin,
        aa: wanted.aa,
        machine: machine.facts.clone(),
        conditions: becalm_model::Conditions::default(),
        metrics,
        subjects: wanted.subjects,
        runs: Vec::new(),
        comparisons: Vec::new(),
        interrupted: None,
        notes: Vec::new(),
        trace: None,
    })
}

/// Nothing depends on the seed being hard to guess, only on its being different each time.
fn fresh_seed(now: Duration) -> u64 {
    let time = now.as_secs() << 30 ^ u64::from(now.subsec_nanos());
    (time ^ u64::from(std::process::id()) << 11) & LARGEST_SEED
}

fn measure_and_log(
    plan: &Plan,
    record: &mut Record,
    spawn: &mut Traced<'_, '_>,
    mut journal: Option<&mut Journal>,
    mut warned: bool,
    ui: &Ui,
) -> Result<(), SessionError<RunError>> {
    let mut line = ProgressLine::new(plan, record);
    let metrics = record.metrics.clone();
    let subjects = record.subjects.clone();
    let is_comparison = record.kind == RecordKind::Comparison;
    let result = measure(plan, record, spawn, &mut |event| match event {
        Event::RunFinished(run) => {
            if let Some(journal) = &mut journal {
                journal.add(&metrics, run);
            }
            line.draw(ui, &subjects[run.subject]);
        }
        Event::RoundFinished { rounds, fraction, warmup } => line.round(rounds, fraction, warmup),
        Event::RoundDiscarded { round } => {
            if let Some(journal) = &mut journal {
                journal.discard(round);
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

/// Fills in what follows from the runs.
fn settle(record: &mut Record, plan: &Plan, spawn: &Spawn<'_>, limits: Vec<String>) {
    record.conditions = spawn.conditions();
    record.conditions.limits.extend(limits);
    let layout = match plan.layout {
        Layout::Randomise => "randomise",
        Layout::Fixed => "fixed",
    };
    layout.clone_into(&mut record.conditions.layout);
    let on_disturbance = match plan.on_disturbance {
        OnDisturbance::Keep => "keep",
        OnDisturbance::Redo => "redo",
    };
    on_disturbance.clone_into(&mut record.conditions.on_disturbance);
    settle_note(record);
    if record.kind == RecordKind::Comparison {
        record.comparisons = final_comparisons(plan, record, record.interrupted.is_none());
    }
}

/// Returns the conclusions from a session. One that is over, with its budget used up and without a
/// decision, spends all the error that is left on this last look; one that may go on does not.
fn final_comparisons(plan: &Plan, record: &Record, is_over: bool) -> Vec<Comparison> {
    let shape = Shape::of_session(plan, record);
    let present = conclude::comparisons(record, &plan.judgement, &shape);
    let decided = present
        .iter()
        .filter(|one| one.primary)
        .all(|one| conclude::leaves_or_fits_margin(one.ratio.as_ref(), plan.judgement.margin));
    if !is_over || (decided && !present.is_empty()) {
        return present;
    }
    conclude::comparisons(record, &plan.judgement, &shape.at_the_end())
}

fn failure(
    result: Result<(), SessionError<RunError>>,
    cleaned: Result<(), RunError>,
    saved: Result<(), CommandError>,
    log_error: Option<CommandError>,
    kept: Option<&Path>,
) -> Option<CommandError> {
    let mut errors = Vec::new();
    match (result, cleaned) {
        (Err(error), _) => {
            let mut failed = CommandError::measure(told(&error));
            if matches!(error, SessionError::Failed { .. }) {
                failed = failed.hint(
                    "its runs are not used; -i takes failing runs as they are, --output inherit \
                     shows what it says",
                );
            }
            errors.push(failed);
        }
        (Ok(()), Err(error)) => errors.push(CommandError::measure(with_causes(&error))),
        (Ok(()), Ok(())) => {}
    }
    let log_is_whole = log_error.is_none();
    errors.extend(saved.err());
    errors.extend(log_error);
    let mut errors = errors.into_iter();
    let mut first = errors.next()?;
    for more in errors {
        first = first.hint(format!("also: {}", more.message));
    }
    if let Some(kept) = kept.filter(|_| log_is_whole) {
        first = first.hint(format!("every finished round before that is in {}", kept.display()));
    }
    Some(first)
}

fn told(error: &SessionError<RunError>) -> String {
    match error {
        SessionError::Run(error) => with_causes(error),
        SessionError::Failed { .. } => error.to_string(),
    }
}

/// Labels the runs that something disturbed, by evidence alone.
pub(crate) fn disturbed_runs(record: &Record) -> Vec<DisturbedRun> {
    let causes = causes(record).into_iter().enumerate();
    causes
        .filter(|(_, causes)| !causes.is_empty())
        .map(|(run, causes)| DisturbedRun { run, causes })
        .collect()
}

fn export(
    record: &Record,
    disturbed: &[DisturbedRun],
    flags: &MeasureFlags,
) -> Result<(), CommandError> {
    if let Some(path) = &flags.export_json {
        files::write_atomically(path, &files::json(record))?;
    }
    if let Some(path) = &flags.export_html {
        let page = becalm_report::html(&tracing::with_notes(record), disturbed);
        files::write_atomically(path, &page)?;
    }
    if let Some(path) = &flags.export_markdown {
        files::write_atomically(path, &becalm_report::markdown(record, disturbed))?;
    }
    Ok(())
}

impl Finished {
    /// Prints the result and says how the command ended.
    pub(crate) fn report(
        self,
        flags: &MeasureFlags,
        text: impl Fn(&Record, &[DisturbedRun]) -> String,
        ui: &Ui,
    ) -> Result<Exit, CommandError> {
        let measured = self.record.runs.iter().any(|run| !run.warmup);
        if flags.json {
            ui.print(&files::json(&self.record))?;
        } else if measured {
            ui.print(&text(&self.record, &self.disturbed))?;
            ui.print(&tracing::text(&self.record, ui))?;
        }
        self.end(ui)
    }

    /// Says how the command ended, with everything printed already.
    pub(crate) fn end(self, ui: &Ui) -> Result<Exit, CommandError> {
        if let Some(mut error) = self.failure {
            if self.is_machine_changed {
                error.exit = Exit::NotRestored;
            } else if let Some(signal) = self.signal {
                error.exit = Exit::Signal(signal);
            }
            return Err(error);
        }
        if self.is_machine_changed {
            return Ok(Exit::NotRestored);
        }
        if let Some(signal) = self.signal {
            if let Some(kept) = self.kept {
                let command = match self.record.kind {
                    RecordKind::Run => "run",
                    RecordKind::Comparison => "compare",
                };
                let file = shell_words::quote(&kept.to_string_lossy()).into_owned();
                ui.say(format!(
                    "stopped by signal {signal}; `becalm {command} --resume {file}` goes on"
                ));
            }
            return Ok(Exit::Signal(signal));
        }
        let undecided = self
            .record
            .comparisons
            .iter()
            .any(|one| one.primary && one.verdict == Verdict::Inconclusive);
        Ok(if undecided && !self.record.aa { Exit::Inconclusive } else { Exit::Done })
    }
}

/// Returns the command line as texts, for the record.
pub(crate) fn as_texts(given: &[OsString]) -> Vec<String> {
    given.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}
