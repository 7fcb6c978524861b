//! The progress line: drawn between runs, from a CPU that no subject uses.

use std::time::{Duration, Instant};

use becalm_model::terms::Stop;
use becalm_model::{Comparison, RatioInterval, Record, Subject};
use becalm_report::{Goal, Progress, progress_line};
use becalm_runner::rounds::Plan;

use crate::ui::Ui;

/// Shortest time between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// Draws at most ten times a second, and nothing if standard error is not a terminal.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    started: Instant,
    /// When the first round began that counts: warm-up says nothing about how long the rest takes.
    counted: Instant,
    /// When the latest round ended.
    latest: Instant,
    drawn: Option<Instant>,
    /// Whether the line was drawn after the latest run.
    shows_this_run: bool,
    /// What was measured last.
    subject: String,
    goal: Goal,
    warmup: bool,
    rounds: u32,
    /// Share of the session that is over, and that was over when it continued.
    fraction: f64,
    at_start: Option<f64>,
    ratio: Option<RatioInterval>,
}

impl ProgressLine {
    /// Starts with what a resumed record already has.
    pub(crate) fn new(plan: &Plan, record: &Record) -> Self {
        let now = Instant::now();
        Self {
            started: now,
            counted: now,
            latest: now,
            drawn: None,
            shows_this_run: false,
            subject: String::new(),
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

    /// Takes note of a finished run, and draws the line if it is time to.
    pub(crate) fn run(&mut self, ui: &Ui, subject: &Subject, warmup: bool) {
        self.warmup = warmup;
        self.subject.clone_from(&subject.name);
        let is_early = self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL);
        self.shows_this_run = ui.progress && !is_early;
        if self.shows_this_run {
            self.draw(ui);
        }
    }

    /// Takes note of a finished round, which corrects what was drawn after its last run.
    pub(crate) fn round(&mut self, ui: &Ui, rounds: u32, fraction: f64, warmup: bool) {
        let now = Instant::now();
        self.rounds = rounds;
        self.fraction = fraction;
        self.warmup = warmup;
        self.latest = now;
        // Neither warm-up nor the first round of those that go on says how long the rest takes.
        if warmup || self.at_start.is_none() {
            (self.at_start, self.counted) = (Some(fraction), now);
        }
        if self.shows_this_run {
            self.draw(ui);
        }
    }

    /// Records what a look showed.
    pub(crate) fn look(&mut self, comparisons: &[Comparison]) {
        self.ratio = comparisons.iter().find(|one| one.primary).and_then(|one| one.ratio);
    }

    fn draw(&mut self, ui: &Ui) {
        self.drawn = Some(Instant::now());
        let line = progress_line(
            &Progress {
                subject: &self.subject,
                warmup: self.warmup,
                round: self.rounds,
                goal: self.goal,
                elapsed: self.started.elapsed(),
                remaining: self.remaining(),
                estimate: self.ratio,
            },
            ui.style(),
        );
        ui.progress_line(&line);
    }

    /// Returns the time to the likely end, at the pace of the finished rounds.
    fn remaining(&self) -> Option<Duration> {
        let made = self.fraction - self.at_start.unwrap_or(self.fraction);
        if made <= 0.0 {
            return None;
        }
        let took = self.latest.duration_since(self.counted).as_secs_f64();
        let rest = took * (1.0 - self.fraction) / made;
        Duration::try_from_secs_f64((rest - self.latest.elapsed().as_secs_f64()).max(0.0)).ok()
    }
}
