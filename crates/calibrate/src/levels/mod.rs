//! How often the detector of change points is wrong, and what it finds: one table for all kinds of noise.
//!
//! [`KINDS`] are series whose level never changes, [`STEPS`] those in which it does once. Each is drawn anew from a
//! seed; the detector reads them as `becalm changes` does.

mod courses;
mod kinds;
mod steps;
mod table;

use becalm_stats::Rng;
use becalm_stats::changes::{Change, Rules, detect};

pub use courses::{COURSES, Course, Courses, courses};
pub use kinds::{KINDS, Kind, correlated, each, spiky};
pub use steps::{STEPS, Step};
pub use table::{alarms_table, courses_table, found_table, levels_markdown};

/// Lengths of series whose level never changes.
pub const LENGTHS: [usize; 3] = [50, 200, 500];

/// How far from where it is a change is about there.
const ABOUT: usize = 20;

/// What was found in series whose level never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Alarms {
    /// How many series there were.
    pub series: u32,
    /// How many of them had a confirmed change of level; of restless kinds one that is no part of a state in the end.
    pub alarmed: u32,
    /// How many of them ever had one.
    pub ever: u32,
    /// How many of them were unstable or on a trend.
    pub restless: u32,
    /// How many of them had a confirmed change of spread.
    pub spread: u32,
}

/// Reads `count` series of `n` values.
pub fn alarms(kind: &Kind, n: usize, count: u32, seed: u64) -> Alarms {
    let mut rng = Rng::new(seed);
    let mut alarms = Alarms { series: count, ..Alarms::default() };
    for _ in 0..count {
        let found = detect(kind.draw(&mut rng, n), Rules::default());
        alarms.spread += u32::from(!found.spreads.is_empty());
        let all = 0..found.confirmed.len();
        let is_wrong = |at: usize| !kind.is_restless || found.state_of(at).is_none();
        alarms.alarmed += u32::from(all.clone().any(is_wrong));
        alarms.ever += u32::from(!all.is_empty());
        alarms.restless += u32::from(!found.states.is_empty());
    }
    alarms
}

/// What was found of a change of level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundSteps {
    /// How many series there were.
    pub series: u32,
    /// For each change that was found and is no part of a state, how many values after the first of the new level were read before it was
    /// confirmed; in ascending order.
    pub delays: Vec<usize>,
    /// How many of the changes were found within 20 values of where they are.
    pub about: u32,
    /// How many other changes were confirmed.
    pub others: u32,
}

impl FoundSteps {
    /// Returns the share of changes that were found.
    pub fn share(&self) -> f64 {
        self.delays.len() as f64 / f64::from(self.series)
    }

    /// Returns the delay that such a share of all series does not exceed; nothing if fewer were found.
    pub fn delay(&self, share: f64) -> Option<usize> {
        let wanted = (share * f64::from(self.series)).ceil();
        self.delays
            .iter()
            .zip(1u32..)
            .find(|(_, n)| f64::from(*n) >= wanted)
            .map(|(delay, _)| *delay)
    }
}

/// Reads `count` series with a change.
pub fn found(step: &Step, count: u32, seed: u64) -> FoundSteps {
    let mut rng = Rng::new(seed);
    let mut steps = FoundSteps { series: count, ..FoundSteps::default() };
    for _ in 0..count {
        let found = detect(step.draw(&mut rng), Rules::default());
        let alone =
            found.confirmed.iter().enumerate().filter(|(at, _)| found.state_of(*at).is_none());
        let alone: Vec<&Change> = alone.map(|(_, one)| one).collect();
        let near = alone.iter().find(|one| one.index.abs_diff(step.before) <= step.near);
        steps.delays.extend(near.map(|one| one.seen.saturating_sub(step.before)));
        steps.about += u32::from(alone.iter().any(|one| one.index.abs_diff(step.before) <= ABOUT));
        let all = u32::try_from(found.confirmed.len()).unwrap_or(u32::MAX);
        steps.others += all - u32::from(near.is_some());
    }
    steps.delays.sort_unstable();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_what_is_drawn() {
        for kind in &KINDS {
            let draw = |seed| kind.draw(&mut Rng::new(seed), 60);
            assert!(draw(1) == draw(1) && draw(1) != draw(2), "{}", kind.name);
            assert!(draw(3).iter().all(|value| value.is_finite()), "{}", kind.name);
        }
        for step in &STEPS {
            let values = step.draw(&mut Rng::new(1));
            assert_eq!(values.len(), step.before + step.after, "{}", step.name);
        }
    }

    #[test]
    fn delays_count_those_that_were_not_found() {
        let found = FoundSteps { series: 4, delays: vec![2, 3, 9], ..FoundSteps::default() };
        assert_eq!([0.5, 0.75, 0.9].map(|share| found.delay(share)), [Some(3), Some(9), None]);
    }
}
