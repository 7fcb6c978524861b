//! How often a rule is right about a series.

use becalm_stats::steady::Class;

use super::Answer;

/// Share of the iterations by which a start may be off and be near.
pub const NEAR: f64 = 0.05;

/// Answers of one rule held against the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Score {
    /// Series.
    pub all: u32,
    /// Those of which it says rightly whether they are steady in the end, and whether they were faster before.
    pub class: u32,
    /// Those of which it says so and, where there is a steady state, where it begins.
    pub right: u32,
    /// Those with a steady state that it calls without one.
    pub refused: u32,
    /// Those without a steady state that it calls steady.
    pub accepted: u32,
    /// Where both say steady: iterations measured that are none of the steady state, as shares, added up.
    pub missed: f64,
    /// Where both say steady: steady iterations left out, as shares, added up.
    pub wasted: f64,
    /// Series where both say steady.
    pub both: u32,
}

impl Score {
    /// Counts one answer for a series of `n` iterations.
    pub fn add(&mut self, truth: Answer, found: Answer, n: usize) {
        let is_none = |answer: Answer| answer.class == Class::NoSteadyState;
        self.all += 1;
        self.refused += u32::from(is_none(found) && !is_none(truth));
        self.accepted += u32::from(is_none(truth) && !is_none(found));
        if is_none(truth) || is_none(found) {
            let agree = u32::from(is_none(truth) && is_none(found));
            self.class += agree;
            self.right += agree;
            return;
        }
        // A warm-up of no or few iterations is flat: only whether it was faster is told apart by class.
        let is_slower = |answer: Answer| answer.class == Class::SlowDown;
        let is_near = found.from.abs_diff(truth.from) as f64 <= NEAR * n as f64;
        let class = is_slower(truth) == is_slower(found)
            && (truth.class == found.class || is_near || is_slower(truth));
        self.class += u32::from(class);
        self.right += u32::from(class && is_near);
        self.both += 1;
        self.missed += truth.from.saturating_sub(found.from) as f64 / n as f64;
        self.wasted += found.from.saturating_sub(truth.from) as f64 / n as f64;
    }

    /// The cells of a table: class, start as well, refused, accepted in percent, then missed and wasted.
    pub fn cells(&self) -> Vec<String> {
        let share = |count: u32| format!("{:.1}", 100.0 * f64::from(count) / f64::from(self.all));
        let mean = |sum: f64| format!("{:.1}", 100.0 * sum / f64::from(self.both.max(1)));
        vec![
            share(self.class),
            share(self.right),
            share(self.refused),
            share(self.accepted),
            mean(self.missed),
            mean(self.wasted),
        ]
    }
}

/// The titles of the cells.
pub const CELLS: [&str; 6] =
    ["class right", "start right too", "wrongly none", "wrongly steady", "missed", "wasted"];
