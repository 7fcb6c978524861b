//! The record of a session: begun, and concluded from its runs.

use std::time::{Duration, SystemTime};

use becalm_model::terms::Stop;
use becalm_model::{Comparison, Metric, Note, Record, RecordKind, Run};
use becalm_report::DisturbedRun;
use becalm_runner::conclude::{self, Shape};
use becalm_runner::rounds::{Plan, causes, drop_unfinished_round, settle_note};

use super::Wanted;
use super::terms::plan_of;
use crate::error::CommandError;
use crate::measuring::flags::{LARGEST_SEED, MeasureFlags};
use crate::measuring::setup::Machine;
use crate::measuring::{metrics, resume};

/// Begins a record, or goes on with the one that is resumed.
pub(super) fn record_of(
    wanted: Wanted,
    flags: &MeasureFlags,
    machine: &Machine,
    metrics: Vec<Metric>,
) -> Result<Record, CommandError> {
    let terms = wanted.suite.map(|suite| suite.terms).unwrap_or_default();
    if let Some(mut resumed) = wanted.resumed {
        resume::check_same(&resumed, &wanted.subjects, &machine.facts, &metrics)?;
        resumed.comparisons.clear();
        resumed.interrupted = None;
        resumed.arguments = wanted.arguments;
        resumed.terms = terms;
        resumed.notes.retain(|note| !note.is_of_left_out());
        resumed.confidence = flags.confidence;
        resumed.margin = wanted.margin;
        // A round that is made again must not stand in the new log twice. In a suite a subject has rounds of its own.
        if resumed.terms.is_empty() {
            drop_unfinished_round(&mut resumed);
        }
        return Ok(resumed);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: wanted.arguments,
        started_at: now.as_secs_f64(),
        seed: flags.conditions.seed.unwrap_or_else(|| fresh_seed(now)),
        confidence: flags.confidence,
        margin: wanted.margin,
        aa: wanted.aa,
        machine: machine.facts.clone(),
        metrics,
        subjects: wanted.subjects,
        terms,
        ..Record::empty(wanted.kind)
    })
}

/// Nothing depends on the seed being hard to guess, only on its being different each time.
fn fresh_seed(now: Duration) -> u64 {
    let time = now.as_secs() << 30 ^ u64::from(now.subsec_nanos());
    (time ^ u64::from(std::process::id()) << 11) & LARGEST_SEED
}

/// Returns how long after its start the session of a saved record had got.
pub(super) fn end_of_last_run(record: &Record) -> Duration {
    let wall = record.metric_index(becalm_model::metric::WALL_TIME);
    let end = |run: &Run| run.started + wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
    let seconds = record.runs.iter().map(end).fold(0.0, f64::max);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Fills in what follows from the runs.
pub(super) fn conclude(record: &mut Record, plan: &Plan) {
    settle_note(record);
    if record.kind == RecordKind::Comparison {
        let one_sided = conclude::one_sided(record);
        record.notes.retain(|note| !note.is_one_sided());
        record.notes.extend(one_sided.into_iter().map(Note::from));
        record.comparisons = final_comparisons(plan, record, record.interrupted.is_none());
    }
}

/// Concludes from the runs of a log what the session would have concluded from them; says whether it was over.
pub(crate) fn conclude_log(
    record: &mut Record,
    stop: Stop,
    margin: f64,
    flags: &MeasureFlags,
) -> Result<bool, CommandError> {
    let plan = plan_of(stop, margin, flags, metrics::wanted(flags)?.primary, None)?;
    drop_unfinished_round(record);
    let measured = || record.runs.iter().filter(|run| !run.warmup);
    let rounds = record.rounds();
    let start = measured().map(|run| run.started).fold(f64::INFINITY, f64::min);
    let is_over = plan.stop.is_used_up(rounds, end_of_last_run(record).as_secs_f64() - start);
    record.comparisons = final_comparisons(&plan, record, is_over);
    let mut deciding = record.comparisons.iter().filter(|one| one.primary).peekable();
    let is_decided =
        deciding.peek().is_some() && deciding.all(|one| conclude::is_settled(one, margin));
    Ok(is_over || is_decided)
}

/// Returns the conclusions from a session. One that is over, with its budget used up and without a
/// decision, spends all the error that is left on this last look; one that may go on does not.
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
pub(crate) fn disturbed_runs(record: &Record) -> Vec<DisturbedRun> {
    let causes = causes(record).into_iter().enumerate();
    causes
        .filter(|(_, causes)| !causes.is_empty())
        .map(|(run, causes)| DisturbedRun { run, causes })
        .collect()
}
