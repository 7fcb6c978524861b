//! When requests are due.

use std::time::Duration;

use becalm_model::load::{Arrivals, Stage};
use becalm_stats::Rng;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// The due times of a load, in nanoseconds from its start, in rising order.
///
/// Arrivals at random are a Poisson process of unit rate on the scale of expected requests, which the stages bend to
/// the scale of time (Cinlar 1975, the inversion of the cumulated rate); even ones are the whole numbers there. So both
/// follow a rate that changes, and the same seed gives the same times.
#[derive(Debug, Clone)]
pub struct Schedule(Source);

#[derive(Debug, Clone)]
enum Source {
    Stages { stages: Vec<Stage>, arrivals: Arrivals, rng: Rng, position: Position },
    Times(std::vec::IntoIter<u64>),
}

/// Where the last request was.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    /// In which stage.
    stage: usize,
    /// When that stage begins, in seconds.
    begins: f64,
    /// Expected requests from its beginning to the next request.
    expected: f64,
}

/// Why a text has no due times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimesError {
    /// A line of it is none.
    #[error("line {line}: `{text}` is not a time in seconds")]
    NotATime {
        /// Which line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// There is none.
    #[error("there are no times in it")]
    Nothing,
}

/// Reads due times: seconds from the start, one on each line. Returns them in nanoseconds, as they stand.
pub fn times_of_text(text: &str) -> Result<Vec<u64>, TimesError> {
    let read = |(number, line): (usize, &str)| {
        let time = line.trim().parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
        time.and_then(|time| u64::try_from(time.as_nanos()).ok())
            .ok_or_else(|| TimesError::NotATime { line: number + 1, text: line.to_owned() })
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let times: Vec<u64> = lines.map(read).collect::<Result<_, _>>()?;
    if times.is_empty() { Err(TimesError::Nothing) } else { Ok(times) }
}

impl Schedule {
    /// Makes the due times of these stages.
    pub fn new(stages: Vec<Stage>, arrivals: Arrivals, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let expected = if arrivals == Arrivals::Even { 0.0 } else { rng.exponential() };
        let position = Position { expected, ..Position::default() };
        Self(Source::Stages { stages, arrivals, rng, position })
    }

    /// Takes due times as they are; they are put in order.
    pub fn of_times(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self(Source::Times(times.into_iter()))
    }

    /// Returns how long it is, in nanoseconds: its stages together, or up to the last of its times.
    pub(crate) fn length(&self) -> u64 {
        match &self.0 {
            Source::Stages { stages, .. } => nanos(stages.iter().map(|one| one.seconds).sum()),
            Source::Times(times) => times.as_slice().last().copied().unwrap_or(0),
        }
    }
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match &mut self.0 {
            Source::Times(times) => times.next(),
            Source::Stages { stages, arrivals, rng, position } => {
                let stage = loop {
                    let stage = stages.get(position.stage)?;
                    let all = stage.requests();
                    if position.expected < all {
                        break stage;
                    }
                    position.expected -= all;
                    position.begins += stage.seconds;
                    position.stage += 1;
                };
                let due = position.begins + seconds_until(stage, position.expected);
                position.expected +=
                    if *arrivals == Arrivals::Even { 1.0 } else { rng.exponential() };
                Some(nanos(due))
            }
        }
    }
}

/// Returns after how many seconds of a stage so many requests are expected: the inverse of `Stage::requests_until`.
fn seconds_until(stage: &Stage, expected: f64) -> f64 {
    let slope = (stage.to - stage.from) / stage.seconds;
    // The root in the form that does not cancel, and that a slope of zero does not divide by.
    let root = (2.0 * slope).mul_add(expected, stage.from * stage.from).max(0.0).sqrt();
    let below = stage.from + root;
    if below > 0.0 { (2.0 * expected / below).min(stage.seconds) } else { 0.0 }
}

/// Turns seconds into nanoseconds.
pub(crate) fn nanos(seconds: f64) -> u64 {
    // Loads last hours at most, far below 2^53 nanoseconds, and negative times are zero.
    becalm_model::whole((seconds * SECOND).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn constant(rate: f64, seconds: f64) -> Vec<Stage> {
        vec![Stage { seconds, from: rate, to: rate }]
    }

    #[test]
    fn even_requests_are_due_at_equal_distances_from_the_start() {
        let times: Vec<u64> = Schedule::new(constant(2000.0, 10.0), Arrivals::Even, 1).collect();
        assert_eq!(times.len(), 20_000);
        assert!((0..).zip(&times).all(|(index, due): (u64, _)| *due == index * 500_000));
    }

    #[test]
    fn arrivals_at_random_have_the_rate_and_the_variation_of_a_poisson_process() {
        let times: Vec<u64> =
            Schedule::new(constant(1000.0, 100.0), Arrivals::Poisson, 7).collect();
        let n = times.len() as f64;
        // Five standard deviations; the seed is fixed.
        assert!((n - 100_000.0).abs() < 5.0 * 100_000.0_f64.sqrt(), "{n}");
        let gaps: Vec<f64> = times.windows(2).map(|two| (two[1] - two[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn a_ramp_has_the_requests_of_its_area_and_more_of_them_later() {
        let stages = vec![Stage { seconds: 10.0, from: 0.0, to: 2000.0 }];
        let times: Vec<u64> = Schedule::new(stages, Arrivals::Even, 1).collect();
        assert_eq!(times.len(), 10_000);
        let early = times.iter().filter(|due| **due < 5_000_000_000).count();
        assert_eq!(early, 2500);
    }

    #[test]
    fn steps_follow_each_other() {
        let stages = [100.0, 300.0].map(|rate| Stage { seconds: 1.0, from: rate, to: rate });
        let times: Vec<u64> = Schedule::new(stages.to_vec(), Arrivals::Even, 1).collect();
        assert_eq!(times.len(), 400);
        assert_eq!(times.iter().filter(|due| **due < 1_000_000_000).count(), 100);
    }

    #[test]
    fn a_file_has_a_time_on_each_line() {
        assert_eq!(times_of_text("0.5\n\n0.25\n"), Ok(vec![500_000_000, 250_000_000]));
        let error = times_of_text("0\nsoon\n").unwrap_err().to_string();
        assert!(error.contains("line 2: `soon`"), "{error}");
        assert!(times_of_text("\n").is_err() && times_of_text("-1").is_err());
    }

    #[test]
    fn times_of_a_file_are_put_in_order() {
        assert!(Schedule::of_times(vec![3, 1, 2]).eq([1, 2, 3]));
    }

    proptest! {
        #[test]
        fn due_times_rise_and_stay_within_the_duration(
            rates in proptest::collection::vec((0.0..500.0, 0.0..500.0, 0.01..3.0), 1..4),
            seed in any::<u64>(),
            is_even in any::<bool>(),
        ) {
            let stages: Vec<Stage> = rates.iter().map(|&(from, to, seconds)| Stage { seconds, from, to }).collect();
            let all: f64 = stages.iter().map(|stage| stage.seconds).sum();
            let arrivals = if is_even { Arrivals::Even } else { Arrivals::Poisson };
            let times: Vec<u64> = Schedule::new(stages, arrivals, seed).collect();
            prop_assert!(times.is_sorted());
            prop_assert!(times.iter().all(|due| *due <= nanos(all)));
        }
    }
}
