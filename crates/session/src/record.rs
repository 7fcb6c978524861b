//! The record of a session: begun, and concluded from its runs.

use std::time::{Duration, SystemTime};

use becalm_model::terms::Terms;
use becalm_model::{Comparison, DisturbedRun, Metric, Note, Record, RecordKind, Run};
use becalm_runner::conclude::{self, Shape};
use becalm_runner::rounds::{Plan, causes, drop_unfinished_round, settle_note};

use crate::conduct::Request;
use crate::error::Error;
use crate::plan::plan_of;
use crate::resume;
use crate::setup::Machine;

/// Largest seed: JSON readers that keep numbers as floating point read whole numbers up to this right.
pub const LARGEST_SEED: u64 = (1 << 53) - 1;

/// Begins a record, or continues the resumed one.
pub(crate) fn record_of(
    request: Request,
    terms: Terms,
    machine: &Machine,
    metrics: Vec<Metric>,
) -> Result<Record, Error> {
    let suite = request.suite.map(|suite| suite.about).unwrap_or_default();
    if let Some(mut resumed) = request.resumed {
        resume::check_same(&resumed, &request.subjects, &machine.facts, &metrics)?;
        resumed.comparisons.clear();
        resumed.interrupted = None;
        resumed.arguments = request.arguments;
        resumed.suite = suite;
        resumed.notes.retain(|note| !note.is_of_left_out());
        resumed.confidence = terms.confidence;
        resumed.margin = terms.margin;
        resumed.terms = Some(terms);
        // A round that is made again must not stand in the new log twice. In a suite a subject has rounds of its own.
        if resumed.suite.is_empty() {
            drop_unfinished_round(&mut resumed);
        }
        return Ok(resumed);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: request.arguments,
        started_at: now.as_secs_f64(),
        seed: terms.runs.seed.unwrap_or_else(|| fresh_seed(now)),
        confidence: terms.confidence,
        margin: terms.margin,
        aa: request.aa,
        machine: machine.facts.clone(),
        metrics,
        subjects: request.subjects,
        suite,
        terms: Some(terms),
        ..Record::empty(request.kind)
    })
}

/// The seed does not have to be hard to guess, only different each time.
fn fresh_seed(now: Duration) -> u64 {
    let time = now.as_secs() << 30 ^ u64::from(now.subsec_nanos());
    (time ^ u64::from(std::process::id()) << 11) & LARGEST_SEED
}

/// Returns how far the session of a saved record got, as time after its start.
pub(crate) fn end_of_last_run(record: &Record) -> Duration {
    let wall = record.metric_index(becalm_model::metric::WALL_TIME);
    let end = |run: &Run| run.started + wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
    let seconds = record.runs.iter().map(end).fold(0.0, f64::max);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Fills in what follows from the runs.
pub(crate) fn conclude(record: &mut Record, plan: &Plan) {
    settle_note(record);
    conclude::busy_note(record);
    conclude::loads_notes(record);
    conclude::crowded_notes(record);
    if record.kind == RecordKind::Comparison {
        let one_sided = conclude::one_sided(record);
        record.notes.retain(|note| !note.is_one_sided());
        record.notes.extend(one_sided.into_iter().map(Note::from));
        record.comparisons = final_comparisons(plan, record, record.interrupted.is_none());
    }
}

/// Concludes from the runs of a log what its session would have concluded; says whether it was
/// over. It is unchanged if it is not a comparison, or if its terms are unknown.
pub fn conclude_log(record: &mut Record) -> bool {
    let Some(terms) = record.terms.clone().filter(|_| record.kind == RecordKind::Comparison) else {
        return false;
    };
    let plan = plan_of(&terms, terms.primary.clone(), None, Vec::new());
    drop_unfinished_round(record);
    let measured = || record.runs.iter().filter(|run| !run.warmup);
    let rounds = record.rounds();
    let start = measured().map(|run| run.started).fold(f64::INFINITY, f64::min);
    let is_over = plan.stop.is_used_up(rounds, end_of_last_run(record).as_secs_f64() - start);
    record.comparisons = final_comparisons(&plan, record, is_over);
    let mut deciding = record.comparisons.iter().filter(|one| one.primary).peekable();
    let is_decided =
        deciding.peek().is_some() && deciding.all(|one| conclude::is_settled(one, terms.margin));
    is_over || is_decided
}

/// Returns the conclusions from a session. One that is over, with its budget used up and without a
/// decision, spends all remaining error on this last look; one that may continue does not.
fn final_comparisons(plan: &Plan, record: &Record, is_over: bool) -> Vec<Comparison> {
    let shape = Shape::of_session(plan, record);
    let present = conclude::comparisons(record, &plan.judgement, &shape);
    let decided = present
        .iter()
        .filter(|one| one.primary)
        .all(|one| conclude::is_settled(one, plan.judgement.margin));
    if !is_over || (decided && !present.is_empty()) {
        return present;
    }
    conclude::comparisons(record, &plan.judgement, &shape.at_the_end())
}

/// Labels the runs that something disturbed, by evidence alone.
pub fn disturbed_runs(record: &Record) -> Vec<DisturbedRun> {
    let causes = causes(record).into_iter().enumerate();
    causes
        .filter(|(_, causes)| !causes.is_empty())
        .map(|(run, causes)| DisturbedRun { run, causes })
        .collect()
}
