//! Which rounds of a session are made again: the evidence of its runs, held against the rule of
//! [`becalm_stats::decide::redo`].

use std::collections::BTreeSet;

use becalm_model::conditions::OnDisturbance;
use becalm_model::{Disturbance, Record, Run, metric};
use becalm_stats::decide::redo;

use super::plan::Plan;
use crate::disturbance::disturbances_of_round;
use crate::{Observed, disturbances};

/// Rounds before a round that tell what is usual: more would know it no better, and a session of very many rounds
/// would spend its time on sorting them again after each.
const LATEST: u32 = 500;

/// Discards the last measured round if the plan says so and it was disturbed; returns its number then. To
/// be called when the round has ended and its evidence is complete. Judging a round again changes nothing,
/// so that a session which was broken off in between loses nothing.
pub(super) fn judge(plan: &Plan, record: &mut Record) -> Option<u32> {
    if plan.on_disturbance == OnDisturbance::Keep {
        return None;
    }
    let last = record.runs.iter().rfind(|run| !run.warmup).filter(|run| !run.discarded)?.round;
    // Without the round itself.
    let kept = record.rounds() - 1;
    if !redo::may_discard(kept, record.discarded_rounds(), plan.stop.minimum())
        || causes_of_round(record, last).iter().all(|(_, causes)| causes.is_empty())
    {
        return None;
    }
    for run in record.runs.iter_mut().filter(|run| !run.warmup && run.round == last) {
        run.discarded = true;
    }
    Some(last)
}

/// Returns what disturbed each run, in the order of the record: a run that was kept is held against all
/// measured runs of its subject, a discarded one against the latest before it, as when it was discarded.
pub fn causes(record: &Record) -> Vec<Vec<Disturbance>> {
    let mut causes = vec![Vec::new(); record.runs.len()];
    for (indices, runs) in by_subject(record, |_| true) {
        for (index, labels) in indices.into_iter().zip(disturbances(&runs)) {
            causes[index] = labels;
        }
    }
    let discarded: BTreeSet<u32> =
        record.runs.iter().filter(|run| run.discarded).map(|run| run.round).collect();
    for round in discarded {
        for (index, labels) in causes_of_round(record, round) {
            causes[index] = labels;
        }
    }
    causes
}

/// Labels the runs of a measured round by what was usual before it; returns their indices in the record.
fn causes_of_round(record: &Record, round: u32) -> Vec<(usize, Vec<Disturbance>)> {
    let latest = round.saturating_sub(LATEST)..round;
    let before = by_subject(record, |run| latest.contains(&run.round));
    let before: Vec<Vec<Observed<'_>>> = before.into_iter().map(|(_, runs)| runs).collect();
    let (mut indices, mut runs) = (Vec::new(), Vec::new());
    for (of_subject, now) in by_subject(record, |run| run.round == round) {
        // A run without a wall time is in no record of ours.
        let (Some(&index), Some(&run)) = (of_subject.first(), now.first()) else {
            return Vec::new();
        };
        indices.push(index);
        runs.push(run);
    }
    indices.into_iter().zip(disturbances_of_round(&before, &runs)).collect()
}

/// Returns, for each subject, the measured runs for which `counts` holds, with their indices in the record.
fn by_subject(
    record: &Record,
    counts: impl Fn(&Run) -> bool,
) -> Vec<(Vec<usize>, Vec<Observed<'_>>)> {
    let mut subjects = vec![(Vec::new(), Vec::new()); record.subjects.len()];
    let Some(wall) = record.metric_index(metric::WALL_TIME) else { return subjects };
    for (index, run) in record.runs.iter().enumerate().filter(|(_, run)| !run.warmup && counts(run))
    {
        let (Some(wall), Some((indices, runs))) = (run.value(wall), subjects.get_mut(run.subject))
        else {
            continue;
        };
        indices.push(index);
        runs.push(Observed { evidence: run.evidence(), wall });
    }
    subjects
}
