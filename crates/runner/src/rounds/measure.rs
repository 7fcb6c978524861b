//! The loop over rounds: in random order until the plan says stop.
//!
//! [`Rounds`] is a session in progress. Its steps stand where they are about: `turn` makes one run, `learn` draws
//! conclusions from the warm-up, `goal` looks whether it is enough, `redo` judges a round, and `independent` is
//! another loop for subjects that have nothing to do with each other.

use std::collections::BTreeSet;

use becalm_model::conditions::OnDisturbance;
use becalm_model::{Evidence, Interruption, Record, Run};

use super::event::RoundEvent;
use super::executor::Executor;
use super::plan::Plan;
use super::redo;
use super::turn::{RoundSlot, Turn};
use crate::conclude::{self, Shape};
use crate::said::quoted;

/// Why a session ended before its plan did. The record keeps every run that was finished.
#[derive(Debug, thiserror::Error)]
pub enum SessionError<E> {
    /// A run could not be made.
    #[error("{0}")]
    Run(E),
    /// A run failed and the plan does not accept failures.
    #[error("`{subject}` failed in {place}: {how}{}", last_words(said))]
    Failed {
        /// Name of the subject.
        subject: String,
        /// Which round.
        place: String,
        /// Exit code or signal, in words.
        how: String,
        /// The last lines that it said.
        said: Vec<String>,
    },
}

/// Adds what a subject said last.
fn last_words(said: &[String]) -> String {
    if said.is_empty() { String::new() } else { format!("; its output ends with:{}", quoted(said)) }
}

impl<E: std::error::Error> SessionError<E> {
    /// Returns the words for what ended a session, with the causes.
    pub fn in_full(&self) -> String {
        match self {
            Self::Run(error) => becalm_model::with_causes(error),
            Self::Failed { .. } => self.to_string(),
        }
    }
}

/// A subject that failed, and without which the session went on.
#[derive(Debug)]
pub struct LeftOut<E> {
    /// Index of the subject.
    pub subject: usize,
    /// How it failed.
    pub error: SessionError<E>,
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
    tell: &mut dyn FnMut(RoundEvent<'_>),
) -> Result<Vec<LeftOut<E::Error>>, SessionError<E::Error>> {
    let mut rounds = Rounds { plan, record, executor, tell };
    if let Some(own) = &plan.independent {
        let result = rounds.make_independent(own);
        rounds.take_evidence(Window::Close);
        return result;
    }
    let result = rounds.make();
    rounds.take_evidence(Window::Close);
    drop_unfinished_round(record);
    result.map(|()| Vec::new())
}

/// A session in progress.
pub(super) struct Rounds<'a, E: Executor> {
    pub(super) plan: &'a Plan,
    /// What was measured so far; nothing else knows how far the session is.
    pub(super) record: &'a mut Record,
    pub(super) executor: &'a mut E,
    pub(super) tell: &'a mut dyn FnMut(RoundEvent<'_>),
}

/// What happens to the window of evidence that several short runs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    /// It ends when it is long enough.
    KeepOpen,
    /// It ends now.
    Close,
}

/// Whether all runs of a round were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundEnd {
    Whole,
    BrokenOff,
}

/// Time that the measured rounds took, those of an earlier part of the session among them.
pub(super) struct Stopwatch {
    before: f64,
    start: f64,
}

impl<E: Executor> Rounds<'_, E> {
    fn make(&mut self) -> Result<(), SessionError<E::Error>> {
        drop_unfinished_round(self.record);
        let mut warmups = rounds_in(self.record, true);
        while warmups < self.plan.warmup {
            if self.stop_if_interrupted() {
                return Ok(());
            }
            if self.round(RoundSlot::warmup(warmups))? == RoundEnd::BrokenOff {
                return Ok(());
            }
            warmups += 1;
            (self.tell)(RoundEvent::RoundFinished { rounds: 0, fraction: 0.0, warmup: true });
        }
        // On --resume the conditions are learnt again from the saved warm-up.
        let all: Vec<usize> = (0..self.record.subjects.len()).collect();
        self.adapt(&all);
        self.warn_if_undecidable();
        let stopwatch = self.stopwatch();
        // A session may have been cut off before its last round was judged.
        self.discard_if_disturbed();
        let mut made = rounds_in(self.record, false);
        let mut rounds = self.record.rounds();
        // A session that was cut off right after its last round has nothing left to do.
        if self.is_enough(rounds) {
            return Ok(());
        }
        loop {
            let elapsed = self.measured_for(&stopwatch);
            if self.plan.stop.is_used_up(rounds, elapsed) || self.stop_if_interrupted() {
                return Ok(());
            }
            // A round that is made again has the place of the one that it replaces.
            let slot = RoundSlot { number: made, scheduled: rounds, warmup: false };
            if self.round(slot)? == RoundEnd::BrokenOff {
                return Ok(());
            }
            made += 1;
            if self.discard_if_disturbed() {
                continue;
            }
            rounds += 1;
            let fraction = self.plan.stop.fraction(rounds, self.measured_for(&stopwatch));
            (self.tell)(RoundEvent::RoundFinished { rounds, fraction, warmup: false });
            if rounds == 1 && conclude::have_nothing_in_common(self.record, &self.plan.judgement) {
                return Ok(());
            }
            if self.is_enough(rounds) {
                return Ok(());
            }
        }
    }

    /// Lets every subject have its turn.
    fn round(&mut self, slot: RoundSlot) -> Result<RoundEnd, SessionError<E::Error>> {
        let mut waited = self.executor.wait_until_settled();
        for (order, subject) in slot.order(self.record).into_iter().enumerate() {
            let turn = Turn { slot, order, subject, waited: waited.take() };
            if self.turn(turn)? == RoundEnd::BrokenOff {
                return Ok(RoundEnd::BrokenOff);
            }
        }
        Ok(RoundEnd::Whole)
    }

    /// Discards the round that has just ended if it was disturbed and the plan says so; says whether it did.
    fn discard_if_disturbed(&mut self) -> bool {
        if self.plan.on_disturbance == OnDisturbance::Keep {
            return false;
        }
        // A round is judged by all of its evidence, so its window ends with it.
        self.take_evidence(Window::Close);
        let discarded = redo::judge(self.plan, self.record);
        if let Some(round) = discarded {
            (self.tell)(RoundEvent::RoundDiscarded { round });
        }
        discarded.is_some()
    }

    /// Puts the evidence of the latest runs, which comes late, in its place.
    pub(super) fn take_evidence(&mut self, window: Window) {
        let late = self.executor.evidence(window == Window::Close);
        self.add_evidence(late);
    }

    /// Puts evidence into the record, the last of it that of the last run.
    pub(super) fn add_evidence(&mut self, late: Vec<Evidence>) {
        let first = self.record.runs.len().saturating_sub(late.len());
        for (run, evidence) in self.record.runs[first..].iter_mut().zip(late) {
            // What was waited before the run is no part of what happened during it.
            let settle_wait = run.evidence().settle_wait;
            run.evidence = Some(Box::new(Evidence { settle_wait, ..evidence }));
        }
    }

    pub(super) fn stop_if_interrupted(&mut self) -> bool {
        let Some(signal) = self.executor.interrupted() else { return false };
        self.record.interrupted = Some(Interruption::Signal { signal });
        true
    }

    /// Starts to count the time of the measured rounds; pauses between the parts of a session do not count.
    pub(super) fn stopwatch(&self) -> Stopwatch {
        Stopwatch {
            before: Shape::last_end(self.record),
            start: self.executor.elapsed().as_secs_f64(),
        }
    }

    pub(super) fn measured_for(&self, stopwatch: &Stopwatch) -> f64 {
        stopwatch.before + self.executor.elapsed().as_secs_f64() - stopwatch.start
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
