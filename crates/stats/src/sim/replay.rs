//! The fixed rule on runs that were really made: values go in, counts come out.

use super::calibration::{ALPHA, Tally};
use super::trial::Plan;
use crate::decide::margin::Answer;
use crate::decide::paired::Observation;

/// One round as it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Value of the baseline, above 0.
    pub baseline: f64,
    /// Value of the candidate, above 0.
    pub candidate: f64,
    /// Whether the candidate ran first.
    pub candidate_first: bool,
}

/// Decides one comparison after all its rounds, which are in time order.
///
/// Panics when there is no round or a value is not above 0.
pub fn replay(pairs: &[Pair], margin: f64) -> Answer {
    let log = |value: f64| {
        assert!(value > 0.0 && value.is_finite(), "a ratio needs values above 0, not {value}");
        value.ln()
    };
    let rounds: Vec<Observation> = pairs
        .iter()
        .map(|pair| Observation {
            baseline: log(pair.baseline),
            candidate: log(pair.candidate),
            candidate_first: pair.candidate_first,
            pace: [0.0; 2],
        })
        .collect();
    let n = u32::try_from(rounds.len()).expect("fewer than 2^32 rounds");
    Plan::fixed(n, margin, ALPHA).decide(&rounds).answer
}

/// Decides many comparisons and counts the answers.
pub fn replay_all<T: AsRef<[Pair]>>(comparisons: &[T], margin: f64) -> Tally {
    let mut tally = Tally::default();
    for pairs in comparisons {
        let pairs = pairs.as_ref();
        tally.count(replay(pairs, margin), pairs.len() as u64);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(ratio: f64) -> Vec<Pair> {
        let wobble = |i: u32| 1.0 + 0.001 * f64::from(i * 7 % 5);
        (0..17)
            .map(|i| Pair {
                baseline: 80.0 * wobble(i),
                candidate: ratio * 80.0 * wobble(i + 2),
                candidate_first: i % 3 == 0,
            })
            .collect()
    }

    #[test]
    fn answers_are_counted() {
        let tally = replay_all(&[comparison(1.0), comparison(1.05), comparison(0.9)], 0.01);
        assert_eq!((tally.trials, tally.above, tally.below, tally.equivalent), (3, 1, 1, 1));
        assert_eq!(tally.rounds, 51);
    }
}
