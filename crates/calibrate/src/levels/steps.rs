//! Series whose level changes once.

use becalm_stats::Rng;

use super::kinds::{binary, correlated};

/// A kind of series whose level changes once.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Name in tables.
    pub name: &'static str,
    /// Values before the change.
    pub before: usize,
    /// Values after it.
    pub after: usize,
    /// How far from where it is a change may be found.
    pub near: usize,
    /// Smallest share of them that is asked to be found.
    pub least: f64,
    draw: fn(&mut Rng, usize, usize) -> Vec<f64>,
}

impl Step {
    /// Draws such a series.
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let values = (self.draw)(rng, self.before, self.before + self.after);
        values.into_iter().map(|value| 100.0 + value).collect()
    }
}

type Draw = fn(&mut Rng, usize, usize) -> Vec<f64>;

/// How far from where it is a change may be found.
const NEAR: usize = 5;

/// The same where values are few and far between: knowing both shares, the likeliest place of a step from 0.3 to 0.7 is
/// within 5 of it in 75 of 100 series.
const ABOUT: usize = 20;

const fn step(name: &'static str, (before, after): (usize, usize), least: f64, draw: Draw) -> Step {
    Step { name, before, after, near: NEAR, least, draw }
}

const fn coarse(
    name: &'static str,
    (before, after): (usize, usize),
    least: f64,
    draw: Draw,
) -> Step {
    Step { name, before, after, near: ABOUT, least, draw }
}

/// All kinds, in the order of the table.
pub const STEPS: [Step; 13] = [
    step("8 + 8, 5 deviations", (8, 8), 0.6, |rng, at, n| normal(rng, at, n, 5.0)),
    step("8 + 8 without noise", (8, 8), 1.0, |_, at, n| {
        (0..n).map(|i| if i < at { 0.0 } else { 1.0 }).collect()
    }),
    step("25 + 5, 5 deviations", (25, 5), 0.9, |rng, at, n| normal(rng, at, n, 5.0)),
    step("100 + 10, 2 deviations", (100, 10), 0.87, |rng, at, n| normal(rng, at, n, 2.0)),
    step("100 + 20, 1 deviation", (100, 20), 0.4, |rng, at, n| normal(rng, at, n, 1.0)),
    step("AR(1) 0.6, 100 + 20, 3 deviations", (100, 20), 0.9, |rng, at, n| {
        stepped(correlated(rng, n, 0.6), at, 3.0)
    }),
    coarse("0 or 1, 0.3 then 0.7, 100 + 50", (100, 50), 0.9, |rng, at, n| {
        (0..n).map(|i| binary(rng, if i < at { 0.3 } else { 0.7 })).collect()
    }),
    coarse("whole numbers, 0.4 and + 0.4, 100 + 50", (100, 50), 0.85, |rng, at, n| {
        normal(rng, at, n, 1.0).into_iter().map(|value| (0.4 * value).round()).collect()
    }),
    step("100 + 50, 1 deviation", (100, 50), 0.46, |rng, at, n| normal(rng, at, n, 1.0)),
    step("400 + 20, 2 deviations", (400, 20), 0.95, |rng, at, n| normal(rng, at, n, 2.0)),
    DELAYED,
    step("50 + 15, 2 deviations", (50, 15), 0.0, |rng, at, n| normal(rng, at, n, 2.0)),
    step("50 + 15, 3 deviations", (50, 15), 0.0, |rng, at, n| normal(rng, at, n, 3.0)),
];

/// A glaring step after a short history, for the delay.
pub(super) const DELAYED: Step =
    step("60 + 20, 5 deviations", (60, 20), 0.97, |rng, at, n| normal(rng, at, n, 5.0));

fn normal(rng: &mut Rng, at: usize, n: usize, size: f64) -> Vec<f64> {
    stepped((0..n).map(|_| rng.normal()).collect(), at, size)
}

fn stepped(mut values: Vec<f64>, at: usize, size: f64) -> Vec<f64> {
    values[at..].iter_mut().for_each(|value| *value += size);
    values
}
