//! The progress line: drawn between runs, from a CPU that no subject uses.

use std::time::{Duration, Instant};

use becalm_model::terms::Stop;
use becalm_model::{Comparison, RatioInterval, Record, Subject};
use becalm_report::{Goal, Progress, progress_line};
use becalm_runner::rounds::Plan;

use crate::ui::Ui;

/// Least time between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// Draws at most ten times a second, and nothing where stderr is no terminal.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    started: Instant,
    drawn: Option<Instant>,
    goal: Goal,
    warmup: bool,
    rounds: u32,
    /// Share of the session that is over, and that was over when it went on.
    fraction: f64,
    at_start: Option<f64>,
    ratio: Option<RatioInterval>,
}

impl ProgressLine {
    /// Starts with what a resumed record already has.
    pub(crate) fn new(plan: &Plan, record: &Record) -> Self {
        Self {
            started: Instant::now(),
            drawn: None,
            goal: match plan.stop {
                Stop::Until { maximum: Some(rounds), budget: Some(budget), .. } => {
                    Goal::Either(rounds, budget)
                }
                Stop::Rounds(rounds) | Stop::Until { maximum: Some(rounds), budget: None, .. } => {
                    Goal::Rounds(rounds)
                }
                Stop::Until { maximum: None, budget, .. } => {
                    Goal::Budget(budget.unwrap_or(Duration::MAX))
                }
            },
            warmup: true,
            rounds: record.rounds(),
            fraction: 0.0,
            at_start: (record.rounds() == 0).then_some(0.0),
            ratio: None,
        }
    }

    /// Takes note of a finished round.
    pub(crate) fn round(&mut self, rounds: u32, fraction: f64, warmup: bool) {
        self.rounds = rounds;
        self.fraction = fraction;
        self.warmup = warmup;
        if self.at_start.is_none() {
            // What the first round of those that go on took is nothing beside the rest.
            (self.at_start, self.started) = (Some(fraction), Instant::now());
        }
    }

    /// Takes note of what a look showed.
    pub(crate) fn look(&mut self, comparisons: &[Comparison]) {
        self.ratio = comparisons.iter().find(|one| one.primary).and_then(|one| one.ratio);
    }

    /// Draws the line if it is time to.
    pub(crate) fn draw(&mut self, ui: &Ui, subject: &Subject, warmup: bool) {
        self.warmup = warmup;
        if !ui.progress || self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.drawn = Some(Instant::now());
        let elapsed = self.started.elapsed();
        let made = self.fraction - self.at_start.unwrap_or(self.fraction);
        let remaining = (made > 0.0)
            .then(|| elapsed.as_secs_f64() * (1.0 - self.fraction) / made)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let line = progress_line(
            &Progress {
                subject: &subject.name,
                warmup: self.warmup,
                round: self.rounds,
                goal: self.goal,
                elapsed,
                remaining,
                estimate: self.ratio,
            },
            ui.style(),
        );
        ui.progress_line(&line);
    }

    /// Removes the line.
    pub(crate) fn clear(&self, ui: &Ui) {
        if self.drawn.is_some() {
            ui.progress_line("");
        }
    }
}
