//! Where the mean or the variance of a sequence changes: exact segmentation by PELT.
//!
//! Minimises sum C(segment) + penalty per change, C being twice the negative log likelihood of
//! normal values with a mean and a variance of their own, constants left out: C = n (ln v + s^2 / v)
//! with the segment's variance s^2 (divided by n) and v = max(s^2, floor). The floor keeps two equal
//! neighbours from looking like a segment of infinite precision. Candidates that cannot be the last
//! change any more are pruned, which makes long sequences with many changes linear in their length.
//!
//! Killick, Fearnhead and Eckley, "Optimal Detection of Changepoints with a Linear Computational
//! Cost", JASA 107 (2012); the cost is that of `cpt.meanvar` in Killick and Eckley, "changepoint: An
//! R Package for Changepoint Analysis", Journal of Statistical Software 58 (2014). Assumes
//! independent values; a penalty above the usual 3 ln n is what pays for values that are not.

use crate::segments;

/// Fewest values of a segment.
const SHORTEST: usize = 2;

/// Returns the first index of every segment but the first, for values in time order and a `penalty` in units of the cost
/// above. `floor` is the smallest variance that
/// means something, above 0.
pub fn changes(values: &[f64], penalty: f64, floor: f64) -> Vec<usize> {
    assert!(floor > 0.0, "the smallest variance is above 0, not {floor}");
    let n = values.len();
    if n < 2 * SHORTEST {
        return Vec::new();
    }
    let moments = Moments::of(values, floor);
    // best[t] is the least cost of the first t values, last[t] where their last segment begins.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    best[0] = -penalty;
    let mut candidates: Vec<Candidate> = Vec::new();
    for t in SHORTEST..=n {
        candidates.push(Candidate { start: t - SHORTEST, until: usize::MAX });
        candidates.retain(|candidate| t < candidate.until);
        for candidate in &candidates {
            let cost = best[candidate.start] + moments.cost(candidate.start, t) + penalty;
            if cost < best[t] {
                (best[t], last[t]) = (cost, candidate.start);
            }
        }
        for candidate in &mut candidates {
            // A change at t is at least as good from here on, as soon as t can be one: a segment
            // that begins at t has SHORTEST values at t + SHORTEST.
            if best[candidate.start] + moments.cost(candidate.start, t) >= best[t] {
                candidate.until = candidate.until.min(t + SHORTEST);
            }
        }
    }
    segments::starts(&last)
}

/// A place where the last segment may begin.
struct Candidate {
    start: usize,
    /// First length of the sequence at which it is out of the race.
    until: usize,
}

/// Sums of the values from each place on, from which the cost of any segment follows in constant time. They run from
/// the end, so that a first iteration that took ten million times as long takes no digits from those after it.
struct Moments {
    sums: Vec<f64>,
    squares: Vec<f64>,
    floor: f64,
}

impl Moments {
    fn of(values: &[f64], floor: f64) -> Self {
        // Around the middle the sums of squares stay small, and their differences exact enough.
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = crate::center::median_of_sorted(&sorted);
        let n = values.len();
        let (mut sums, mut squares) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        for (place, value) in values.iter().enumerate().rev() {
            sums[place] = sums[place + 1] + (value - middle);
            squares[place] = squares[place + 1] + (value - middle).powi(2);
        }
        Self { sums, squares, floor }
    }

    /// Returns the cost of the values from `start` up to but not including `end`.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let n = (end - start) as f64;
        let mean = (self.sums[start] - self.sums[end]) / n;
        let square = (self.squares[start] - self.squares[end]) / n;
        let variance = (square - mean * mean).max(0.0);
        let modelled = variance.max(self.floor);
        n * (modelled.ln() + variance / modelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// The same minimum by trying every last segment of every prefix.
    fn by_brute_force(values: &[f64], penalty: f64, floor: f64) -> Vec<usize> {
        let moments = Moments::of(values, floor);
        let n = values.len();
        let mut best = vec![(f64::INFINITY, Vec::new()); n + 1];
        best[0] = (-penalty, Vec::new());
        for t in SHORTEST..=n {
            for start in 0..=t - SHORTEST {
                let cost = best[start].0 + moments.cost(start, t) + penalty;
                if cost < best[t].0 {
                    let mut starts = best[start].1.clone();
                    if start > 0 {
                        starts.push(start);
                    }
                    best[t] = (cost, starts);
                }
            }
        }
        best.swap_remove(n).1
    }

    fn steps(levels: &[(usize, f64, f64)], seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        levels
            .iter()
            .flat_map(|&(n, mean, sd)| (0..n).map(move |_| (mean, sd)))
            .map(|(mean, sd)| mean + sd * rng.normal())
            .collect()
    }

    #[test]
    fn pruning_changes_nothing() {
        for seed in 0..40 {
            let levels = [(17, 10.0, 1.0), (2, 30.0, 1.0), (20, 10.0, 1.0), (25, 12.0, 0.1)];
            let values = steps(&levels, seed);
            for penalty in [0.5, 3.0, 12.0] {
                assert_eq!(
                    changes(&values, penalty, 1e-4),
                    by_brute_force(&values, penalty, 1e-4),
                    "seed {seed}, penalty {penalty}"
                );
            }
        }
    }

    #[test]
    fn a_change_of_the_mean_is_found_where_it_is() {
        let values = steps(&[(100, 10.0, 0.1), (100, 11.0, 0.1)], 1);
        assert_eq!(changes(&values, 15.0 * 200.0_f64.ln(), 1e-6), [100]);
    }

    #[test]
    fn a_change_of_the_variance_alone_is_one_too() {
        let values = steps(&[(150, 10.0, 0.1), (150, 10.0, 1.0)], 2);
        let found = changes(&values, 15.0 * 300.0_f64.ln(), 1e-6);
        assert!(found.len() == 1 && found[0].abs_diff(150) <= 5, "{found:?}");
    }

    #[test]
    fn a_first_value_of_another_order_hides_nothing_behind_it() {
        let mut values = steps(&[(300, 1.3, 0.01), (700, 1.0, 0.01)], 5);
        for first in [1e6, 1e7, 1e8] {
            values[0] = first;
            assert_eq!(changes(&values, 15.0 * 1000.0_f64.ln(), 1e-6), [2, 300], "{first}");
        }
    }

    #[test]
    fn noise_has_no_changes() {
        let values = steps(&[(2000, 10.0, 1.0)], 3);
        assert!(changes(&values, 15.0 * 2000.0_f64.ln(), 1e-6).is_empty());
    }

    #[test]
    fn changes_below_the_floor_are_not_looked_for() {
        let values = steps(&[(100, 10.0, 1e-7), (100, 10.0001, 1e-7)], 4);
        assert!(changes(&values, 15.0 * 200.0_f64.ln(), 1e-6).is_empty());
    }

    #[test]
    fn few_and_equal_values_have_no_changes() {
        assert!(changes(&[1.0, 9.0, 1.0], 1.0, 1e-6).is_empty());
        assert!(changes(&[5.0; 50], 1.0, 1e-6).is_empty());
    }
}
