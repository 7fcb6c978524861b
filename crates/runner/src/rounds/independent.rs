//! Sessions whose subjects have nothing to do with each other: rounds of those that have not had enough.
//!
//! Who takes part in a round follows from the runs of the rounds before it, and from nothing else, so that a
//! session that was broken off goes on as if it had not been. Nothing pairs the runs of a round, so one that
//! was broken off, or in which a subject failed, is not dropped but completed when the session goes on.

use becalm_model::{Record, Run, metric};

use super::event::RoundEvent;
use super::executor::Executor;
use super::measure::{LeftOut, RoundEnd, Rounds, SessionError, rounds_in};
use super::plan::{Independent, OnFailure, OwnTerms};
use super::turn::{RoundSlot, Turn};

/// What a subject has used of its budget.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Its runs.
    pub runs: u32,
    /// Seconds that they took, with what was done before each since the run before it ended.
    pub seconds: f64,
}

/// Returns what each subject has spent on the runs for which `counts` holds.
pub fn spent(record: &Record, counts: impl Fn(&Run) -> bool) -> Vec<Spent> {
    let mut spent = vec![Spent::default(); record.subjects.len()];
    let wall = record.metric_index(metric::WALL_TIME);
    let mut before = None;
    for run in &record.runs {
        let end = run.started + wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
        let since = before.unwrap_or(run.started);
        before = Some(end);
        if let Some(one) = spent.get_mut(run.subject).filter(|_| counts(run)) {
            one.runs += 1;
            // To wait for a calm machine is nobody's own.
            one.seconds += (end - since - run.evidence().settle_wait.unwrap_or(0.0)).max(0.0);
        }
    }
    spent
}

impl OwnTerms {
    /// Says whether a subject that has spent this has had enough.
    fn are_met(&self, spent: Spent) -> bool {
        self.stop.is_used_up(spent.runs, spent.seconds)
    }
}

impl<E: Executor> Rounds<'_, E> {
    /// Makes rounds until every subject has had enough or failed.
    pub(super) fn make_independent(
        &mut self,
        own: &Independent,
    ) -> Result<Vec<LeftOut<E::Error>>, SessionError<E::Error>> {
        let mut left_out = Vec::new();
        let warmups = own.terms.iter().map(|terms| terms.warmup).max().unwrap_or(0);
        for number in 0..warmups {
            let slot = RoundSlot::warmup(number);
            if self.independent_round(own, slot, &mut left_out)? == RoundEnd::BrokenOff {
                return Ok(left_out);
            }
            (self.tell)(RoundEvent::RoundFinished { rounds: 0, fraction: 0.0, warmup: true });
        }
        // One that failed teaches nothing, and one without a warm-up leaves everything open.
        let taught: Vec<usize> =
            (0..own.terms.len()).filter(|&subject| !is_out(&left_out, subject)).collect();
        self.adapt(&taught);
        (self.tell)(RoundEvent::WarmedUp { record: self.record });
        let stopwatch = self.stopwatch();
        // The last round of a session that is gone on with may lack somebody.
        let mut number = rounds_in(self.record, false).saturating_sub(1);
        loop {
            if self.plan.stop.is_used_up(number, self.measured_for(&stopwatch)) {
                return Ok(left_out);
            }
            let slot = RoundSlot { number, scheduled: number, warmup: false };
            let part = taking_part(own, self.record, slot);
            if (0..part.len()).all(|subject| !part[subject] || is_out(&left_out, subject)) {
                return Ok(left_out);
            }
            if self.independent_round(own, slot, &mut left_out)? == RoundEnd::BrokenOff {
                return Ok(left_out);
            }
            number += 1;
            let fraction = fraction(own, &spent(self.record, is_counted));
            (self.tell)(RoundEvent::RoundFinished { rounds: number, fraction, warmup: false });
        }
    }

    /// Lets everybody have a turn who takes part in the round and has had none in it yet.
    fn independent_round(
        &mut self,
        own: &Independent,
        slot: RoundSlot,
        left_out: &mut Vec<LeftOut<E::Error>>,
    ) -> Result<RoundEnd, SessionError<E::Error>> {
        let part = taking_part(own, self.record, slot);
        let is_of_round = |run: &&Run| run.warmup == slot.warmup && run.round == slot.number;
        let done: Vec<usize> =
            self.record.runs.iter().filter(is_of_round).map(|run| run.subject).collect();
        let turns: Vec<usize> = slot
            .order(self.record)
            .into_iter()
            .filter(|&subject| {
                part[subject] && !done.contains(&subject) && !is_out(left_out, subject)
            })
            .collect();
        if turns.is_empty() {
            return Ok(RoundEnd::Whole);
        }
        if self.stop_if_interrupted() {
            return Ok(RoundEnd::BrokenOff);
        }
        let mut waited = self.executor.wait_until_settled();
        for (order, subject) in turns.into_iter().enumerate() {
            let turn = Turn { slot, order: done.len() + order, subject, waited: waited.take() };
            match self.turn(turn) {
                Ok(RoundEnd::Whole) => {}
                Ok(RoundEnd::BrokenOff) => return Ok(RoundEnd::BrokenOff),
                Err(error) if own.on_failure == OnFailure::LeaveOut => {
                    left_out.push(LeftOut { subject, error });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(RoundEnd::Whole)
    }
}

/// Says whether a run counts against the budget of its subject.
fn is_counted(run: &Run) -> bool {
    !run.warmup
}

/// Says for each subject whether it takes part in a round, by what it has spent on the rounds before.
fn taking_part(own: &Independent, record: &Record, slot: RoundSlot) -> Vec<bool> {
    if slot.warmup {
        return own.terms.iter().map(|terms| terms.warmup > slot.number).collect();
    }
    let before = spent(record, |run| is_counted(run) && run.round < slot.number);
    own.terms.iter().zip(before).map(|(terms, spent)| !terms.are_met(spent)).collect()
}

fn is_out<E>(left_out: &[LeftOut<E>], subject: usize) -> bool {
    left_out.iter().any(|one| one.subject == subject)
}

/// Returns the share of the session that is over: what was spent, of what will have been spent if each
/// subject goes on at its pace.
fn fraction(own: &Independent, spent: &[Spent]) -> f64 {
    let (mut used, mut all) = (0.0, 0.0);
    for (terms, spent) in own.terms.iter().zip(spent) {
        let share = terms.stop.fraction(spent.runs, spent.seconds);
        if share > 0.0 {
            used += spent.seconds;
            all += spent.seconds / share;
        }
    }
    if all > 0.0 { used / all } else { 0.0 }
}
