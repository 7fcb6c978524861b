//! One session from beginning to end: plan, runs, conclusions, files.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use becalm_model::{Comparison, Metric, Record, RecordKind, Subject, Verdict};
use becalm_report::DisturbedRun;
use becalm_runner::conclude::{self, Shape};
use becalm_runner::session::{
    Event, FailurePolicy, Judgement, Layout, Plan, Primary, RunError, SessionError, Spawn, Stop,
    measure,
};
use becalm_runner::{Interrupt, Observed, disturbances};

use super::flags::{LayoutFlag, MeasureFlags};
use super::journal::Journal;
use super::progress::ProgressLine;
use super::setup::{self, Machine};
use super::{metrics, resume};
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
    let exports = [&flags.export_json, &flags.export_html, &flags.export_markdown];
    for path in exports.into_iter().flatten() {
        files::check_writable(path)?;
    }
    let read = metrics::wanted(flags)?;
    let machine = Machine::read()?;
    let (plan, mut limits) = setup::spawn_plan(flags, &wanted.subjects, read.extractors, &machine)?;
    let mut spawn = Spawn::new(plan, &machine.root, interrupt, Duration::ZERO);
    metrics::check_recorded(&read.primary, &spawn.metrics())?;
    let plan = plan_of(&wanted, flags, read.primary);
    warn_before_start(&wanted, &plan, ui);
    let mut record = record_of(wanted, flags, &machine, spawn.metrics())?;
    record.conditions = spawn.conditions();
    let mut journal = match Journal::start(&record, flags.export_json.as_deref()) {
        Ok(journal) => Some(journal),
        Err(error) => {
            limits.push(format!("no log of the session is kept on disk: {error}"));
            None
        }
    };
    let result = match spawn.set_up() {
        Ok(()) => measure_and_log(&plan, &mut record, &mut spawn, journal.as_mut(), ui),
        Err(error) => Err(SessionError::Run(error)),
    };
    let cleaned = spawn.clean_up();
    settle(&mut record, &plan, &spawn, limits);
    let failure = failure(result, cleaned, journal.as_ref(), flags);
    let disturbed = disturbed_runs(&record);
    export(&record, &disturbed, flags)?;
    if let Some(journal) = journal
        && flags.export_json.is_some()
        && failure.is_none()
        && record.interrupted.is_none()
    {
        journal.remove();
    }
    Ok(Finished { record, disturbed, failure, signal: interrupt.signal() })
}

fn plan_of(wanted: &Wanted, flags: &MeasureFlags, primary: Primary) -> Plan {
    Plan {
        warmup: flags.warmup,
        stop: wanted.stop,
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
        conditioning: flags.conditioning(),
        judgement: Judgement { confidence: flags.confidence, margin: wanted.margin, primary },
    }
}

fn warn_before_start(wanted: &Wanted, plan: &Plan, ui: &Ui) {
    let needed = becalm_stats::decide::paired::fewest_rounds(1.0 - plan.judgement.confidence);
    let possible = match plan.stop {
        Stop::Rounds(rounds) => Some(rounds),
        Stop::Until { maximum, .. } => maximum,
    };
    if wanted.subjects.len() > 1
        && wanted.kind == RecordKind::Comparison
        && let Some(possible) = possible.filter(|&possible| possible < needed)
    {
        ui.warn(undecidable(possible, needed, plan.judgement.confidence));
    }
}

fn undecidable(possible: u32, needed: u32, confidence: f64) -> String {
    format!(
        "{possible} round(s) cannot give a verdict at {:.4}% confidence; at least {needed} are \
         needed, and more for a small difference",
        confidence * 100.0
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
        // Nothing depends on the seed being hard to guess, only on its being different each time.
        // It stays below 2^53, so that every JSON reader gets it right.
        seed: flags
            .seed
            .unwrap_or((now.as_nanos() as u64 ^ u64::from(std::process::id()) << 32) >> 11),
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
    })
}

fn measure_and_log(
    plan: &Plan,
    record: &mut Record,
    spawn: &mut Spawn<'_>,
    mut journal: Option<&mut Journal>,
    ui: &Ui,
) -> Result<(), SessionError<RunError>> {
    let mut line = ProgressLine::new(plan, record);
    let metrics = record.metrics.clone();
    let subjects = record.subjects.clone();
    let mut undecidable_note = None;
    let result = measure(plan, record, spawn, &mut |event| match event {
        Event::RunFinished(run) => {
            if let Some(journal) = &mut journal {
                journal.add(&metrics, run);
            }
            line.draw(ui, &subjects[run.subject]);
        }
        Event::RoundFinished { rounds, fraction, warmup } => line.round(rounds, fraction, warmup),
        Event::Looked { comparisons, .. } => line.look(comparisons),
        Event::Undecidable { possible, needed } => {
            let text = undecidable(possible, needed, plan.judgement.confidence);
            if undecidable_note.is_none() {
                line.clear(ui);
                ui.warn(&text);
                undecidable_note = Some(text);
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
    record.conditions.layout = match plan.layout {
        Layout::Randomise => "randomise",
        Layout::Fixed => "fixed",
    }
    .to_owned();
    if record.kind == RecordKind::Comparison {
        record.comparisons = final_comparisons(plan, record);
    }
}

/// Returns the conclusions at the end of a session. One that used its budget up without a decision
/// spends all the error that is left on this last look.
fn final_comparisons(plan: &Plan, record: &Record) -> Vec<Comparison> {
    let shape = Shape::of_session(plan, record);
    let present = conclude::comparisons(record, &plan.judgement, &shape);
    let decided = present
        .iter()
        .filter(|one| one.primary)
        .all(|one| conclude::leaves_or_fits_margin(one.ratio.as_ref(), plan.judgement.margin));
    if record.interrupted.is_some() || (decided && !present.is_empty()) {
        return present;
    }
    conclude::comparisons(record, &plan.judgement, &shape.at_the_end())
}

fn failure(
    result: Result<(), SessionError<RunError>>,
    cleaned: Result<(), RunError>,
    journal: Option<&Journal>,
    flags: &MeasureFlags,
) -> Option<CommandError> {
    let log_error = journal.and_then(Journal::error);
    let mut error = match (result, cleaned) {
        (Err(error), _) => {
            let mut told = CommandError::measure(with_causes(&error));
            if matches!(error, SessionError::Failed { .. }) {
                told = told.hint(
                    "its runs are not used; -i takes failing runs as they are, --output inherit \
                     shows what it says",
                );
            }
            told
        }
        (Ok(()), Err(error)) => CommandError::measure(with_causes(&error)),
        (Ok(()), Ok(())) => return log_error,
    };
    if let Some(journal) = journal {
        let kept = flags.export_json.as_deref().unwrap_or(journal.path());
        error = error.hint(format!("every finished round before that is in {}", kept.display()));
    }
    Some(error)
}

/// Labels the runs that something disturbed, by evidence alone.
pub(crate) fn disturbed_runs(record: &Record) -> Vec<DisturbedRun> {
    let Some(wall) = record.metric_index(becalm_model::metric::WALL_TIME) else {
        return Vec::new();
    };
    let mut disturbed = Vec::new();
    for subject in 0..record.subjects.len() {
        let runs: Vec<(usize, f64)> = record
            .runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.subject == subject && !run.warmup)
            .filter_map(|(index, run)| Some((index, run.value(wall)?)))
            .collect();
        let observed: Vec<Observed<'_>> = runs
            .iter()
            .map(|&(index, wall)| Observed { evidence: &record.runs[index].evidence, wall })
            .collect();
        for ((run, _), causes) in runs.iter().zip(disturbances(&observed)) {
            if !causes.is_empty() {
                disturbed.push(DisturbedRun { run: *run, causes });
            }
        }
    }
    disturbed.sort_by_key(|one| one.run);
    disturbed
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
        files::write_atomically(path, &becalm_report::html(record, disturbed))?;
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
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        if let Some(signal) = self.signal {
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
