//! One run of a session: which one it is, and what of it goes into the record.

use becalm_model::conditions::Padding;
use becalm_model::{Evidence, Metric, Part, Record, Run};
use becalm_stats::schedule;

use super::event::RoundEvent;
use super::executor::{BenchmarkValue, Executor, MeasuredRun, RunRequest};
use super::measure::{RoundEnd, Rounds, SessionError, Window};
use crate::layout;

/// Which round it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundSlot {
    /// Its number in the record.
    pub(super) number: u32,
    /// Its place in the schedule, which says in which order the subjects run, and with which padding.
    pub(super) scheduled: u32,
    /// Whether it belongs to the warm-up, which has a schedule of its own: the number of warm-up rounds
    /// must not shift the measured ones.
    pub(super) warmup: bool,
}

impl RoundSlot {
    /// Returns the warm-up round of this number.
    pub(super) fn warmup(number: u32) -> Self {
        Self { number, scheduled: number, warmup: true }
    }

    /// Returns all subjects in the order in which the round runs them.
    pub(super) fn order(self, record: &Record) -> Vec<usize> {
        schedule::order(self.seed(record), self.scheduled, record.subjects.len())
    }

    fn seed(self, record: &Record) -> u64 {
        if self.warmup { !record.seed } else { record.seed }
    }

    /// Names it as the reports do, which count from 1.
    fn in_words(self) -> String {
        let kind = if self.warmup { "warm-up round" } else { "round" };
        format!("{kind} {}", self.number + 1)
    }
}

/// The turn of one subject in a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The round.
    pub(super) slot: RoundSlot,
    /// Place inside the round.
    pub(super) order: usize,
    /// Whose turn it is.
    pub(super) subject: usize,
    /// Seconds that were waited for a calm machine before it.
    pub(super) waited: Option<f64>,
}

impl<E: Executor> Rounds<'_, E> {
    /// Makes a run and adds it to the record.
    pub(super) fn turn(&mut self, turn: Turn) -> Result<RoundEnd, SessionError<E::Error>> {
        let Turn { slot, subject, .. } = turn;
        let seed = slot.seed(self.record);
        let padding = match self.plan.padding {
            Padding::Randomise => layout::padding(seed, slot.scheduled),
            Padding::Fixed => 0,
        };
        let builds = u32::try_from(self.plan.builds.len()).expect("as many as a flag can ask for");
        let layout = layout::build(seed, slot.scheduled, builds);
        let request =
            RunRequest { subject, padding, layout, seed: layout::chance(seed, slot.scheduled) };
        let measured = match self.executor.run(request) {
            Ok(measured) => measured,
            // An interrupted run is no failure: what was measured before it stands.
            Err(_) if self.stop_if_interrupted() => return Ok(RoundEnd::BrokenOff),
            Err(error) => return Err(SessionError::Run(error)),
        };
        // A run that cannot be used is told to nobody, so that no log takes it for a measured one.
        if !self.plan.failure.accepts(measured.outcome) {
            let mut evidence = self.executor.evidence(true);
            evidence.pop();
            self.add_evidence(evidence);
            return Err(SessionError::Failed {
                subject: self.record.subjects[subject].name.clone(),
                place: slot.in_words(),
                how: measured.outcome.to_string(),
                said: measured.said,
            });
        }
        self.add_run(turn, request, measured);
        Ok(RoundEnd::Whole)
    }

    fn add_run(&mut self, turn: Turn, request: RunRequest, measured: MeasuredRun) {
        let MeasuredRun {
            started,
            outcome,
            values,
            iterations,
            benchmarks,
            load,
            evidence,
            said: _,
        } = measured;
        let values = values.in_order_of(&self.record.metrics);
        let parts = parts(&mut self.record.metrics, benchmarks);
        self.record.runs.push(Run {
            subject: turn.subject,
            round: turn.slot.number,
            order: u32::try_from(turn.order).expect("fewer than 2^32 subjects"),
            warmup: turn.slot.warmup,
            discarded: false,
            started,
            outcome,
            values,
            parts,
            iterations,
            evidence: Some(Box::new(Evidence { settle_wait: turn.waited, ..evidence })),
            padding: request.padding,
            layout: self.plan.builds.get(request.layout as usize).copied(),
            load,
        });
        self.take_evidence(Window::KeepOpen);
        let run = self.record.runs.last().expect("one was pushed above");
        (self.tell)(RoundEvent::RunFinished { run, metrics: &self.record.metrics });
    }
}

/// Puts what benchmarks gave in the order of the metrics, which get those that are new.
fn parts(metrics: &mut Vec<Metric>, benchmarks: Vec<BenchmarkValue>) -> Vec<Part> {
    let mut parts: Vec<Part> = benchmarks
        .into_iter()
        .map(|BenchmarkValue { metric, value, iterations }| {
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
