//! Series of several changes, and of slow ones: which of them are reported as changes, and which as a state.

use becalm_stats::Rng;
use becalm_stats::changes::{Rules, StateKind, detect};

/// A kind of series in which the level moves.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// Name in tables.
    pub name: &'static str,
    /// How many values it has.
    pub values: usize,
    /// How far the level moves in the end, for the size of a trend; 0 if it is no trend.
    pub moves: f64,
    level: fn(f64) -> f64,
}

const fn course(name: &'static str, values: usize, moves: f64, level: fn(f64) -> f64) -> Course {
    Course { name, values, moves, level }
}

/// Returns the share of the way between two places.
fn way(t: f64, from: f64, to: f64) -> f64 {
    ((t - from) / (to - from)).clamp(0.0, 1.0)
}

fn step(t: f64, at: f64) -> f64 {
    if t < at { 0.0 } else { 1.0 }
}

/// All kinds, in the order of the table.
pub const COURSES: [Course; 10] = [
    course("one step of 2, then 300 points", 400, 0.0, |t| 2.0 * step(t, 100.0)),
    course("one step of 5 after 30 points, then 300", 330, 0.0, |t| 5.0 * step(t, 30.0)),
    course("two steps of 2, 40 points apart", 240, 0.0, |t| {
        2.0 * (step(t, 100.0) + step(t, 140.0))
    }),
    course("two steps of 4, 40 points apart", 240, 0.0, |t| {
        4.0 * (step(t, 100.0) + step(t, 140.0))
    }),
    course("a step of 3, and back after 40 points", 240, 0.0, |t| {
        3.0 * (step(t, 100.0) - step(t, 140.0))
    }),
    course("back and forth by 3, 20 points each", 260, 0.0, |t| back_and_forth(t, 3.0)),
    course("back and forth by 6, 20 points each", 260, 0.0, |t| back_and_forth(t, 6.0)),
    course("a slope of 5 over 50 points", 250, 5.0, |t| 5.0 * way(t, 100.0, 150.0)),
    course("a slope of 10 over 200 points", 400, 10.0, |t| 10.0 * way(t, 100.0, 300.0)),
    course("a slope of 20 over 400 points", 600, 20.0, |t| 20.0 * way(t, 100.0, 500.0)),
];

fn back_and_forth(t: f64, by: f64) -> f64 {
    if t >= 100.0 && ((t - 100.0) / 20.0).floor() % 2.0 == 0.0 { by } else { 0.0 }
}

/// What was found in such series.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Courses {
    /// How many series there were.
    pub series: u32,
    /// How many changes were confirmed, and how many of them are no part of a state.
    pub changes: usize,
    /// See `changes`.
    pub alone: usize,
    /// How many series were unstable, and how many on a trend.
    pub unstable: u32,
    /// See `unstable`.
    pub trends: u32,
    /// Sum of the sizes of the trends.
    pub sizes: f64,
}

/// Reads `count` series with independent noise of deviation 1.
pub fn courses(course: &Course, count: u32, seed: u64) -> Courses {
    let mut rng = Rng::new(seed);
    let mut all = Courses { series: count, ..Courses::default() };
    for _ in 0..count {
        let value = |t: usize| 100.0 + (course.level)(t as f64) + rng.normal();
        let found = detect((0..course.values).map(value), Rules::default());
        all.changes += found.confirmed.len();
        all.alone += (0..found.confirmed.len()).filter(|at| found.state_of(*at).is_none()).count();
        let of = |kind| found.states.iter().find(move |state| state.kind == kind);
        all.unstable += u32::from(of(StateKind::Unstable).is_some());
        if let Some(trend) = of(StateKind::Trend) {
            all.trends += 1;
            all.sizes += trend.to - trend.from;
        }
    }
    all
}
