//! Segments that neighbours disturbed, told by their form where nobody counted the waiting.
//!
//! Who shares a CPU takes it for some milliseconds at a time: some iterations take longer by that, the
//! others as long as ever. So a slower segment is the same level, disturbed, when it is much more uneven
//! than the other ([`WIDER`] times, as shares of the means) and still begins where that does: their
//! [`FLOOR`] quantiles differ by no more than the tolerance, or by what chance explains. A program that
//! itself got slower in most of its iterations has a higher floor. One that got slower in a few of them
//! only looks like this: to tell it, waiting has to be known.
//!
//! The standard error of a quantile p of normal values is s sqrt(p (1 - p) / n) / f with the standard
//! normal density f there, 1.7 s / sqrt(n) for 10 % (Stuart and Ord, "Kendall's Advanced Theory of Statistics", section 10.10).

use crate::quantile::of_sorted;

use super::{CHANCE, Segment};

/// Quantile that stands for undisturbed iterations.
const FLOOR: f64 = 0.1;

/// How many times as uneven a disturbed segment is.
const WIDER: f64 = 3.0;

/// Largest deviation of the calm segment, as a share of its mean: with more nothing is calm.
const CALM: f64 = 0.2;

/// Standard error of the floor in deviations, times the root of n.
const ERROR_OF_FLOOR: f64 = 1.7;

/// Marks the segments that are like the last one but for neighbours, and the last one itself where
/// it is the one that is disturbed.
pub(super) fn mark(segments: &mut [Segment], values: &[f64], tolerance: f64) {
    let last = segments.len() - 1;
    let floors: Vec<f64> = segments.iter().map(|one| floor(&values[one.start..one.end])).collect();
    for i in 0..last {
        if segments[i].like_the_last {
            continue;
        }
        let is_slower = segments[i].mean > segments[last].mean;
        let (calm, slow) = if is_slower { (last, i) } else { (i, last) };
        let distance = (floors[slow] - floors[calm]).abs();
        if is_wider(&segments[slow], &segments[calm])
            && distance <= tolerance.max(CHANCE * error_of_floors(&segments[calm], &segments[slow]))
        {
            segments[i].like_the_last = true;
            segments[slow].disturbed = true;
        }
    }
}

fn is_wider(slow: &Segment, calm: &Segment) -> bool {
    let (slow, calm) = (slow.deviation / slow.mean, calm.deviation / calm.mean);
    calm <= CALM && slow > WIDER * calm
}

/// Both floors scatter as undisturbed iterations do.
fn error_of_floors(calm: &Segment, slow: &Segment) -> f64 {
    let inverse = |one: &Segment| 1.0 / (one.end - one.start) as f64;
    ERROR_OF_FLOOR * calm.deviation * (inverse(calm) + inverse(slow)).sqrt()
}

fn floor(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, FLOOR)
}

#[cfg(test)]
mod tests {
    use super::super::{Class, TOLERANCE, classify, tests::series};
    use crate::{Rng, Sample};

    /// Adds waits of some milliseconds to every fourth iteration or so of a part; returns them too.
    fn beside_neighbours(
        series: &Sample,
        part: std::ops::Range<usize>,
        seed: u64,
    ) -> (Sample, Vec<f64>) {
        let mut rng = Rng::new(seed);
        let mut waited = vec![0.0; series.len()];
        for wait in &mut waited[part] {
            *wait = if rng.uniform() < 0.3 { 4e-3 * (0.5 + rng.uniform()) } else { 0.0 };
        }
        let values = series.values().iter().zip(&waited).map(|(time, wait)| time + wait);
        (Sample::new(values.collect()).unwrap(), waited)
    }

    #[test]
    fn what_was_waited_is_no_change_of_the_program() {
        let warm = series(&[(80, 8.0), (420, 5.0)], 6);
        let (values, waited) = beside_neighbours(&warm, 400..500, 7);
        let steady = classify(&values, &waited, TOLERANCE).unwrap();
        assert_eq!((steady.class, steady.from), (Class::WarmUp, Some(80)), "{steady:?}");
        assert!((steady.level / 5e-3 - 1.0).abs() < 0.01, "{}", steady.level);
        assert!(steady.waited.is_some_and(|share| (0.01..0.1).contains(&share)), "{steady:?}");
    }

    #[test]
    fn neighbours_that_nobody_counted_are_known_by_their_form() {
        // Java that is warm after 80 of 500 iterations, and has company from 400 on.
        let warm = series(&[(80, 8.0), (420, 5.0)], 8);
        for part in [400..500, 300..380, 390..430] {
            let (values, _) = beside_neighbours(&warm, part.clone(), 9);
            let steady = classify(&values, &[], TOLERANCE).unwrap();
            assert_eq!(
                (steady.class, steady.from),
                (Class::WarmUp, Some(80)),
                "{part:?}: {steady:?}"
            );
            assert!((steady.level / 5e-3 - 1.0).abs() < 0.02, "{part:?}: {}", steady.level);
        }
    }

    #[test]
    fn waits_hide_no_change_of_the_program() {
        for levels in [[(200, 5.0), (300, 8.0)], [(430, 5.0), (70, 8.0)]] {
            let (values, waited) = beside_neighbours(&series(&levels, 10), 150..500, 11);
            let known = classify(&values, &waited, TOLERANCE).unwrap();
            let unknown = classify(&values, &[], TOLERANCE).unwrap();
            let expected = if levels[0].0 == 200 { Class::SlowDown } else { Class::NoSteadyState };
            assert_eq!((known.class, unknown.class), (expected, expected), "{unknown:?}");
        }
    }

    #[test]
    fn waits_longer_than_their_iterations_and_of_another_number_do_no_harm() {
        let series = series(&[(500, 5.0)], 12);
        let longer = vec![1.0; 500];
        assert_eq!(classify(&series, &longer, TOLERANCE).unwrap().class, Class::Flat);
        let other = classify(&series, &[0.1], TOLERANCE).unwrap();
        assert_eq!((other.class, other.waited), (Class::Flat, None));
    }
}
