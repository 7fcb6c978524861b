//! The session: rounds in random order until the plan says stop.

use std::collections::BTreeSet;

use becalm_model::conditions::{OnDisturbance, Padding};
use becalm_model::terms::{Goal, Primary, Stop};
use becalm_model::{Evidence, Interruption, Metric, Part, Record, Run, metric};
use becalm_stats::{Sample, decide, median_interval, schedule};

use super::event::Event;
use super::executor::{Executor, Learnt, Measured, Reading, Request};
use super::plan::{Conditioning, Judgement, Plan};
use super::{independent, redo};
use crate::conclude::{self, Shape};
use crate::layout;

/// Why a session ended before its plan did. The record keeps every run that was finished.
#[derive(Debug, thiserror::Error)]
pub enum SessionError<E> {
    /// A run could not be made.
    #[error("{0}")]
    Run(E),
    /// A run failed and the plan does not accept failures.
    #[error("`{subject}` failed in {place}: {how}")]
    Failed {
        /// Name of the subject.
        subject: String,
        /// Which round.
        place: String,
        /// Exit code or signal, in words.
        how: String,
    },
}

/// Makes rounds until the plan says stop, appending to `record.runs`, and tells about each step.
///
/// A record that already has runs is continued after its last whole round; runs of an unfinished
/// round are dropped first. With [`OnDisturbance::Redo`] a disturbed round does not count, and another one
/// is made in its place. Returns the subjects that failed and were left out, which only
/// [`OnFailure::LeaveOut`](super::OnFailure::LeaveOut) allows.
pub fn measure<E: Executor>(
    plan: &Plan,
    record: &mut Record,
    executor: &mut E,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<LeftOut<E::Error>>, SessionError<E::Error>> {
    if let Some(own) = &plan.independent {
        let result = independent::rounds(plan, own, record, executor, tell);
        complete_evidence(record, executor.evidence(true));
        return result;
    }
    let result = rounds(plan, record, executor, tell);
    complete_evidence(record, executor.evidence(true));
    drop_unfinished_round(record);
    result.map(|()| Vec::new())
}

/// A subject that failed, and without which the session went on.
#[derive(Debug)]
pub struct LeftOut<E> {
    /// Index of the subject.
    pub subject: usize,
    /// How it failed.
    pub error: SessionError<E>,
}

/// Puts the evidence of the latest runs, which came late, in its place.
pub(super) fn complete_evidence(record: &mut Record, late: Vec<Evidence>) {
    let first = record.runs.len().saturating_sub(late.len());
    for (run, evidence) in record.runs[first..].iter_mut().zip(late) {
        // What was waited before the run is no part of what happened during it.
        let settle_wait = run.evidence().settle_wait;
        run.evidence = Some(Box::new(Evidence { settle_wait, ..evidence }));
    }
}

fn rounds<E: Executor>(
    plan: &Plan,
    record: &mut Record,
    executor: &mut E,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), SessionError<E::Error>> {
    drop_unfinished_round(record);
    let mut warmups = rounds_in(record, true);
    while warmups < plan.warmup {
        if stop_if_interrupted(record, executor) {
            return Ok(());
        }
        let place = Place { number: warmups, scheduled: warmups, warmup: true };
        if round(plan, record, executor, tell, place)? == Round::BrokenOff {
            return Ok(());
        }
        warmups += 1;
        tell(Event::RoundFinished { rounds: 0, fraction: 0.0, warmup: true });
    }
    // On --resume the conditions are learnt again from the saved warm-up.
    adapt(plan, record, executor, &all(record));
    warn_if_undecidable(plan, record, tell);
    let offset = time_used(record);
    let start = executor.elapsed().as_secs_f64();
    // A session may have been cut off before its last round was judged.
    judge(plan, record, executor, tell);
    let mut made = rounds_in(record, false);
    let mut rounds = record.rounds();
    // A session that was cut off right after its last round has nothing left to do.
    if rounds >= plan.stop.minimum() && goal_is_reached(plan, record, rounds, tell) {
        return Ok(());
    }
    loop {
        let elapsed = offset + executor.elapsed().as_secs_f64() - start;
        if plan.stop.is_used_up(rounds, elapsed) || stop_if_interrupted(record, executor) {
            return Ok(());
        }
        // A round that is made again has the place of the one that it replaces.
        let place = Place { number: made, scheduled: rounds, warmup: false };
        if round(plan, record, executor, tell, place)? == Round::BrokenOff {
            return Ok(());
        }
        made += 1;
        if judge(plan, record, executor, tell) {
            continue;
        }
        rounds += 1;
        let elapsed = offset + executor.elapsed().as_secs_f64() - start;
        let fraction = plan.stop.fraction(rounds, elapsed);
        tell(Event::RoundFinished { rounds, fraction, warmup: false });
        if rounds == 1 && conclude::have_nothing_in_common(record, &plan.judgement) {
            return Ok(());
        }
        if rounds >= plan.stop.minimum() && goal_is_reached(plan, record, rounds, tell) {
            return Ok(());
        }
    }
}

/// Discards the round that has just ended if it was disturbed and the plan says so; says whether it did.
fn judge<E: Executor>(
    plan: &Plan,
    record: &mut Record,
    executor: &mut E,
    tell: &mut dyn FnMut(Event<'_>),
) -> bool {
    if plan.on_disturbance == OnDisturbance::Keep {
        return false;
    }
    // A round is judged by all of its evidence, so its window ends with it.
    complete_evidence(record, executor.evidence(true));
    let discarded = redo::judge(plan, record);
    if let Some(round) = discarded {
        tell(Event::RoundDiscarded { round });
    }
    discarded.is_some()
}

/// Which round it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Its number in the record.
    pub(super) number: u32,
    /// Its place in the schedule, which says in which order the subjects run, and with which padding.
    pub(super) scheduled: u32,
    /// Whether it belongs to the warm-up, which has a schedule of its own: the number of warm-up rounds
    /// must not shift the measured ones.
    pub(super) warmup: bool,
}

impl Place {
    /// Returns all subjects in the order in which the round runs them.
    pub(super) fn order(self, record: &Record) -> Vec<usize> {
        schedule::order(self.seed(record), self.scheduled, record.subjects.len())
    }

    fn seed(self, record: &Record) -> u64 {
        if self.warmup { !record.seed } else { record.seed }
    }
}

/// Whether all runs of a round were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Whole,
    BrokenOff,
}

fn round<E: Executor>(
    plan: &Plan,
    record: &mut Record,
    executor: &mut E,
    tell: &mut dyn FnMut(Event<'_>),
    place: Place,
) -> Result<Round, SessionError<E::Error>> {
    let mut waited = executor.wait_until_settled();
    for (order, subject) in place.order(record).into_iter().enumerate() {
        let run = Turn { place, order, subject, waited: waited.take() };
        if run.make(plan, record, executor, tell)? == Round::BrokenOff {
            return Ok(Round::BrokenOff);
        }
    }
    Ok(Round::Whole)
}

/// The turn of one subject in a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The round.
    pub(super) place: Place,
    /// Place inside the round.
    pub(super) order: usize,
    /// Whose turn it is.
    pub(super) subject: usize,
    /// Seconds that were waited for a calm machine before it.
    pub(super) waited: Option<f64>,
}

impl Turn {
    /// Makes the run and adds it to the record.
    pub(super) fn make<E: Executor>(
        self,
        plan: &Plan,
        record: &mut Record,
        executor: &mut E,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<Round, SessionError<E::Error>> {
        let Self { place, order, subject, waited } = self;
        let padding = match plan.padding {
            Padding::Randomise => layout::padding(place.seed(record), place.scheduled),
            Padding::Fixed => 0,
        };
        let builds = u32::try_from(plan.builds.len()).expect("as many as a flag can ask for");
        let layout = layout::build(place.seed(record), place.scheduled, builds);
        let measured = match executor.run(Request { subject, padding, layout }) {
            Ok(measured) => measured,
            // An interrupted run is no failure: what was measured before it stands.
            Err(_) if stop_if_interrupted(record, executor) => return Ok(Round::BrokenOff),
            Err(error) => return Err(SessionError::Run(error)),
        };
        let Measured { started, outcome, values, iterations, readings, evidence } = measured;
        let parts = parts(&mut record.metrics, readings);
        let run = Run {
            subject,
            round: place.number,
            order: u32::try_from(order).expect("fewer than 2^32 subjects"),
            warmup: place.warmup,
            discarded: false,
            started,
            outcome,
            values,
            parts,
            iterations,
            evidence: Some(Box::new(Evidence { settle_wait: waited, ..evidence })),
            padding,
            layout: plan.builds.get(layout as usize).copied(),
        };
        // A run that cannot be used is told to nobody, so that no log takes it for a measured one.
        if !plan.failure.accepts(outcome) {
            let mut evidence = executor.evidence(true);
            evidence.pop();
            complete_evidence(record, evidence);
            return Err(SessionError::Failed {
                subject: record.subjects[subject].name.clone(),
                // People count from 1, as the reports do.
                place: if place.warmup {
                    format!("warm-up round {}", place.number + 1)
                } else {
                    format!("round {}", place.number + 1)
                },
                how: outcome.to_string(),
            });
        }
        record.runs.push(run);
        complete_evidence(record, executor.evidence(false));
        let run = record.runs.last().expect("one was pushed above");
        tell(Event::RunFinished { run, metrics: &record.metrics });
        Ok(Round::Whole)
    }
}

/// Puts the readings of a harness in the order of the metrics, which get those that are new.
fn parts(metrics: &mut Vec<Metric>, readings: Vec<Reading>) -> Vec<Part> {
    let mut parts: Vec<Part> = readings
        .into_iter()
        .map(|Reading { metric, value, iterations }| {
            let known = metrics.iter().position(|known| known.name == metric.name);
            let metric = known.unwrap_or_else(|| {
                metrics.push(metric);
                metrics.len() - 1
            });
            Part { metric, value, iterations }
        })
        .collect();
    parts.sort_by_key(|part| part.metric);
    parts.dedup_by_key(|part| part.metric);
    parts
}

fn goal_is_reached(
    plan: &Plan,
    record: &Record,
    rounds: u32,
    tell: &mut dyn FnMut(Event<'_>),
) -> bool {
    let Stop::Until { minimum, goal, .. } = plan.stop else { return false };
    match goal {
        Goal::Budget => false,
        _ if !decide::looks::is_look(rounds, minimum) => false,
        Goal::Precision(target) => {
            precision(record, &plan.judgement).is_some_and(|precision| precision <= target)
        }
        Goal::Verdict => {
            let comparisons =
                conclude::comparisons(record, &plan.judgement, &Shape::of_session(plan, record));
            tell(Event::Looked { rounds, comparisons: &comparisons });
            !comparisons.is_empty()
                && comparisons
                    .iter()
                    .filter(|one| one.primary)
                    .all(|one| conclude::is_settled(one, plan.judgement.margin))
        }
    }
}

/// Returns the half width of the interval of the median as a share of the median, the widest over
/// the subjects and the metrics that the user named, else the wall time; `None` while some
/// interval is not known.
fn precision(record: &Record, judgement: &Judgement) -> Option<f64> {
    let metrics = match &judgement.primary {
        Primary::Named(names) => names.iter().map(|name| record.metric_index(name)).collect(),
        Primary::Auto => vec![record.metric_index(metric::WALL_TIME)],
        Primary::Benchmarks(_) => {
            let metrics = conclude::primary_metrics(record, judgement).metrics;
            // Nothing is precise before anything is known.
            if metrics.is_empty() { vec![None] } else { metrics.into_iter().map(Some).collect() }
        }
    };
    let mut widest: f64 = 0.0;
    for metric in metrics {
        for subject in 0..record.subjects.len() {
            let sample = Sample::new(record.values(subject, metric?)).ok()?;
            let interval = median_interval::median_interval(&sample, judgement.confidence)?;
            let half = (interval.high - interval.estimate).max(interval.estimate - interval.low);
            // Values that never differ are as precise as can be, be they zero or not.
            if half > 0.0 {
                widest = widest.max(half / interval.estimate.abs());
            }
        }
    }
    Some(widest)
}

fn all(record: &Record) -> Vec<usize> {
    (0..record.subjects.len()).collect()
}

/// Chooses the conditions by what the warm-up rounds of these subjects showed, if the plan leaves them to
/// it.
pub(super) fn adapt<E: Executor>(
    plan: &Plan,
    record: &mut Record,
    executor: &mut E,
    subjects: &[usize],
) {
    if let (Conditioning::Learn { .. }, Some(learnt)) =
        (&plan.conditioning, learn(record, subjects))
    {
        complete_evidence(record, executor.evidence(true));
        executor.adapt(learnt);
    }
}

/// What the warm-up rounds showed about these subjects; `None` where one of them has no warm-up runs.
fn learn(record: &Record, subjects: &[usize]) -> Option<Learnt> {
    if subjects.is_empty() {
        return None;
    }
    let mut learnt = Learnt {
        single_threaded: true,
        cpu_bound: true,
        shortest_run: f64::INFINITY,
        longest_run: 0.0,
        kept_waiting: 0.0,
    };
    for &subject in subjects {
        let runs: Vec<&Run> =
            record.runs.iter().filter(|run| run.warmup && run.subject == subject).collect();
        let character = conclude::character(record, &runs)?;
        learnt.single_threaded &= character.single_threaded;
        learnt.cpu_bound &= character.cpu_bound;
        learnt.shortest_run = learnt.shortest_run.min(character.wall);
        learnt.longest_run = learnt.longest_run.max(character.wall);
        learnt.kept_waiting = learnt.kept_waiting.max(character.kept_waiting.unwrap_or(0.0));
    }
    Some(learnt)
}

/// Tells before the first measured round when the plan has no room for any verdict.
fn warn_if_undecidable(plan: &Plan, record: &Record, tell: &mut dyn FnMut(Event<'_>)) {
    /// A first, cold run can take so many times as long as the later ones.
    const COLD_FACTOR: f64 = 2.0;
    let needed = plan.judgement.fewest_rounds(record);
    let fastest = |subject: usize| {
        let wall = record.metric_index(metric::WALL_TIME)?;
        let runs = record.runs.iter().filter(|run| run.subject == subject);
        runs.filter_map(|run| run.value(wall)).min_by(f64::total_cmp)
    };
    let round: f64 = (0..record.subjects.len()).filter_map(fastest).sum();
    if let Some(possible) = plan.stop.possible_rounds(round / COLD_FACTOR)
        && possible < needed
    {
        tell(Event::Undecidable { possible, needed });
    }
}

pub(super) fn stop_if_interrupted<E: Executor>(record: &mut Record, executor: &E) -> bool {
    match executor.interrupted() {
        None => false,
        Some(signal) => {
            record.interrupted = Some(Interruption::Signal { signal });
            true
        }
    }
}

/// Returns how many rounds were made, discarded ones among them.
pub(super) fn rounds_in(record: &Record, warmup: bool) -> u32 {
    record
        .runs
        .iter()
        .filter(|run| run.warmup == warmup)
        .map(|run| run.round + 1)
        .max()
        .unwrap_or(0)
}

/// Drops the runs of a round that did not finish, so that every kept round is whole.
pub fn drop_unfinished_round(record: &mut Record) {
    let subjects = record.subjects.len();
    for warmup in [true, false] {
        let Some(last) = rounds_in(record, warmup).checked_sub(1) else { continue };
        let is_last = |run: &Run| run.warmup == warmup && run.round == last;
        let made: BTreeSet<usize> =
            record.runs.iter().filter(|run| is_last(run)).map(|run| run.subject).collect();
        if made.len() < subjects {
            record.runs.retain(|run| !is_last(run));
        }
    }
}

/// Returns the time that the measured rounds took, discarded ones among them and pauses between sessions
/// left out.
pub(super) fn time_used(record: &Record) -> f64 {
    Shape::last_end(record)
}
