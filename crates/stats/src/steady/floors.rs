//! Series that neighbours disturb all the time: the fastest iterations of every few are compared.
//!
//! Whoever shares a CPU makes iterations longer and never shorter. If that happens to many of them, means and
//! variances are those of the neighbours, and hide what the program does. A low quantile of [`BLOCK`] iterations in a
//! row (their [`FLOOR`] quantile, near the second fastest of ten) is what it took nearly undisturbed. A series counts
//! as disturbed when in a quarter of its blocks the slow iterations (the 90 % quantile) are above the middle by more
//! than [`UNEVEN`] of the floor.
//!
//! The floors are judged as iterations are, with the penalty [`PENALTY`] ln n: blocks do not resemble their
//! neighbours as iterations do, and are a tenth as many, so that 15 ln n would ask for changes of half the series.
//! Block, limit and penalty were chosen on made-up series and on one half of the recorded programs
//! (docs/methodology/iterations.md).

use crate::center::median_of_sorted;
use crate::quantile::of_sorted;

use super::FEWEST_ITERATIONS;

/// Most iterations of a block.
const BLOCK: usize = 10;

/// Quantile that stands for the undisturbed iterations of a block.
const FLOOR: f64 = 0.1;

/// Share of the floor by which the slow iterations of a disturbed block exceed its middle.
const UNEVEN: f64 = 0.1;

/// Share of the blocks that are so in a disturbed series.
const SHARE: f64 = 0.25;

/// Penalty for each change between floors, times ln n.
pub(super) const PENALTY: f64 = 4.0;

/// Returns the floors of a disturbed series with the number of iterations of each; `None` where it is calm, or too
/// short for blocks.
pub(super) fn of_disturbed(values: &[f64]) -> Option<(Vec<f64>, usize)> {
    let block = (values.len() / FEWEST_ITERATIONS).min(BLOCK);
    if block < 2 {
        return None;
    }
    let (mut floors, mut uneven) = (Vec::new(), Vec::new());
    for part in values.chunks_exact(block) {
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        let floor = of_sorted(&sorted, FLOOR);
        floors.push(floor);
        uneven.push(of_sorted(&sorted, 0.9) - median_of_sorted(&sorted) > UNEVEN * floor);
    }
    let disturbed = uneven.iter().filter(|is_so| **is_so).count();
    (disturbed as f64 > SHARE * floors.len() as f64).then_some((floors, block))
}

#[cfg(test)]
mod tests {
    use super::super::{Class, TOLERANCE, classify, tests::series};
    use super::*;
    use crate::{Rng, Sample};

    /// Neighbours that are there all the time and make seven of ten iterations longer by any amount.
    fn beside_neighbours(series: &Sample, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut disturb = |time: &f64| {
            if rng.uniform() < 0.7 { time + 6e-3 * rng.exponential() } else { *time }
        };
        series.values().iter().map(&mut disturb).collect()
    }

    #[track_caller]
    fn check(levels: &[(usize, f64)], class: Class, from: Option<usize>) {
        for seed in 0..5 {
            let values = beside_neighbours(&series(levels, seed), 100 + seed);
            let steady = classify(&Sample::new(values).unwrap(), &[], TOLERANCE).unwrap();
            assert_eq!(steady.class, class, "seed {seed}: {steady:?}");
            assert_eq!(steady.block, Some(10));
            let (found, expected) = (steady.from.unwrap_or(0), from.unwrap_or(0));
            assert!(found.abs_diff(expected) <= 20, "seed {seed}: {found}");
            let end = steady.segments.last().map(|one| one.end);
            assert_eq!(end, Some(values_of(levels)), "seed {seed}");
        }
    }

    fn values_of(levels: &[(usize, f64)]) -> usize {
        levels.iter().map(|(n, _)| n).sum()
    }

    #[test]
    fn what_a_program_does_is_seen_below_what_neighbours_add() {
        check(&[(500, 5.0)], Class::Flat, Some(0));
        check(&[(200, 8.0), (305, 5.0)], Class::WarmUp, Some(200));
        check(&[(150, 5.0), (355, 8.0)], Class::SlowDown, Some(150));
        check(&[(440, 5.0), (60, 9.0)], Class::NoSteadyState, None);
    }

    #[test]
    fn calm_and_short_series_are_compared_iteration_by_iteration() {
        assert_eq!(of_disturbed(series(&[(500, 5.0)], 1).values()), None);
        assert_eq!(of_disturbed(&beside_neighbours(&series(&[(79, 5.0)], 1), 2)), None);
        let few = of_disturbed(&beside_neighbours(&series(&[(100, 5.0)], 1), 2));
        assert_eq!(few.map(|(floors, block)| (floors.len(), block)), Some((50, 2)));
    }
}
