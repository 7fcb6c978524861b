//! Does a run settle, and after how many iterations? Classes of series of iterations by change
//! points.
//!
//! 0. Where it is known how long each iteration waited for a CPU, that is taken off: what is judged is
//!    the time that the program had one (or did not want one).
//! 1. Outliers are set aside (`outlier.rs`).
//! 2. The rest is cut into segments of equal mean and variance (`pelt.rs`), with the penalty
//!    15 ln n.
//! 3. A segment is equivalent to the last one when their means differ by at most the tolerance
//!    (a share of the last one's mean, [`TOLERANCE`] unless said otherwise) or by what chance
//!    explains: [`CHANCE`] standard errors, taken from the deviation of the last segment. Where waiting
//!    is not known, so is a segment that is only disturbed (`disturbed.rs`).
//! 4. The steady state begins with the earliest segment that is equivalent to the last one and
//!    after which no level but this one matters: the segments that leave it, taken together, move
//!    the mean of what follows by less than the tolerance.
//! 5. Without one that covers the last quarter of the iterations the run has no steady state.
//!    Otherwise it is flat when the steady state begins with the first iteration, a slow-down when
//!    anything before it is faster, and a warm-up when what differs before it is slower.
//!
//! Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual Machine Warmup Blows Hot and Cold",
//! OOPSLA (2017), section 4, whose rule this is; the last 500 of 2000 iterations there are the last
//! quarter here. What differs, and why:
//!
//! - *A share.* The paper's tolerance is max(variance, 0.001) of times in seconds. That compares
//!   the square of a time with a time, so it depends on the unit: for iterations of 1 ms it would
//!   call any change equivalent, for uneven ones of minutes too, and for even ones of minutes
//!   almost none. Its 0.001 s is 1 % of the paper's shortest iterations, and this share is the
//!   tolerance here, whatever the length and however noisy.
//! - *Chance.* The mean of a short segment is uncertain, and on a noisy machine by more than the
//!   tolerance. That is what the paper's variance is for, but it forgives a slow start for being
//!   uneven; the standard error from the last segment does not, and shrinks with more iterations.
//! - *Excursions.* In the paper any segment off the level ends the steady state. Where other
//!   programs run, a level is left for some dozen short iterations every now and then, so here it
//!   ends only by what moves its mean.
//! - *The first window.* See `outlier.rs`.
//! - *Waiting and disturbed segments.* The paper's machine had no neighbours. They only ever add to a
//!   time: what they add is taken off where it is known, and recognised by its form where it is not.
//!   Where they disturb many iterations all the time, the fastest of every ten are judged (`floors.rs`).
//!
//! Smaller values are faster. Nothing here is about the size of the noise: a noisy run can be flat.

mod disturbed;
mod floors;
mod outlier;
pub mod pelt;
mod several;

pub use several::{Agreement, agreement, warm_up};

use crate::whole::place;
use crate::{Sample, Violation};

/// Fewest iterations that are classified.
pub const FEWEST_ITERATIONS: usize = 40;

/// Share of the iterations, from the end, that has to be steady: 500 of 2000 in the paper.
pub const STEADY_SHARE: f64 = 0.25;

/// Penalty per change point, times ln n: what the paper found right for timings, and strict enough
/// for values that resemble their neighbours.
pub const PENALTY: f64 = 15.0;

/// Window of the outliers in a series that is long enough for it.
pub const WINDOW: usize = 200;

/// Longest series that is cut at single iterations: without changes the time grows with the square
/// of the length. Longer ones are cut between groups of neighbours.
pub const LONGEST: usize = 10_000;

/// Standard errors by which means of equivalent segments may differ.
pub const CHANCE: f64 = 3.0;

/// Share of the last level by which means may differ and still count as one level: what the paper's
/// 0.001 s is of its shortest iterations, of 0.1 s.
pub const TOLERANCE: f64 = 0.01;

/// What a series of iterations does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The same from first to last.
    Flat,
    /// Slower at first, then steady.
    WarmUp,
    /// Steady in the end, after it was faster.
    SlowDown,
    /// Still changing in its last quarter.
    NoSteadyState,
}

/// Iterations of one mean and variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// First iteration, from 0.
    pub start: usize,
    /// First iteration after it.
    pub end: usize,
    /// Mean without outliers.
    pub mean: f64,
    /// Standard deviation without outliers, divided by n.
    pub deviation: f64,
    /// Whether it is equivalent to the last segment.
    pub like_the_last: bool,
    /// Whether it is so only without what neighbours added to some of its iterations.
    pub disturbed: bool,
}

/// One classified series.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// What it does.
    pub class: Class,
    /// Iterations before the steady state, which a warm-up should leave out; `None` when there is
    /// no steady state.
    pub from: Option<usize>,
    /// The segments, in time order; at least one.
    pub segments: Vec<Segment>,
    /// Iterations that were set aside as outliers.
    pub outliers: Vec<usize>,
    /// Number of iterations.
    pub n: usize,
    /// Mean of the steady iterations without outliers and disturbed segments; of the last segment when
    /// there is no steady state.
    pub level: f64,
    /// Tolerance around the last segment's mean, in the unit of the values, without what is forgiven
    /// for chance.
    pub tolerance: f64,
    /// Share of the time for which the iterations waited for a CPU, where it is known. Segments and
    /// level are without it.
    pub waited: Option<f64>,
    /// Iterations of which the fastest stand for all, where neighbours disturbed many: segments and level are of those.
    pub block: Option<usize>,
}

/// Classifies a series of iterations in time order; needs [`FEWEST_ITERATIONS`]. `waited` is how long of
/// each its thread was ready and had no CPU, in the unit of the series; empty, or of another length,
/// where that is not known. `tolerance` is a share of the last level, such as [`TOLERANCE`].
pub fn classify(series: &Sample, waited: &[f64], tolerance: f64) -> Result<Steady, Violation> {
    series.at_least(FEWEST_ITERATIONS)?;
    if waited.len() != series.len() {
        return Ok(judge_either(series.values(), Waiting::Unknown, tolerance));
    }
    let pairs = series.values().iter().zip(waited);
    // Two clocks: of a wait that is as long as its iteration something is left, because times are above 0.
    let ran: Vec<f64> =
        pairs.map(|(time, wait)| (time - wait.max(0.0)).max(SHORTEST_SHARE * time)).collect();
    let share = waited.iter().sum::<f64>() / series.values().iter().sum::<f64>();
    let steady = judge_either(&ran, Waiting::TakenOff, tolerance);
    Ok(Steady { waited: share.is_finite().then_some(share), ..steady })
}

/// Least share of an iteration that is left when its waiting is taken off.
const SHORTEST_SHARE: f64 = 0.01;

/// What is known of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Unknown,
    TakenOff,
}

/// Judges the iterations, or the floors of blocks of them where many are disturbed.
fn judge_either(values: &[f64], waiting: Waiting, tolerance: f64) -> Steady {
    let Some((floors, block)) = floors::of_disturbed(values) else {
        return judge(values, waiting, tolerance, PENALTY);
    };
    // What neighbours added is no part of the floors, whatever is known of the waiting.
    let of_floors = judge(&floors, Waiting::Unknown, tolerance, floors::PENALTY);
    let last = of_floors.segments.len() - 1;
    let in_iterations = |(at, segment): (usize, Segment)| Segment {
        start: block * segment.start,
        end: if at == last { values.len() } else { block * segment.end },
        ..segment
    };
    Steady {
        from: of_floors.from.map(|from| block * from),
        segments: of_floors.segments.into_iter().enumerate().map(in_iterations).collect(),
        outliers: outlier::outliers(values, window(values.len())),
        n: values.len(),
        block: Some(block),
        ..of_floors
    }
}

fn window(n: usize) -> usize {
    WINDOW.min(n / 10).max(FEWEST_ITERATIONS / 2)
}

fn judge(values: &[f64], waiting: Waiting, tolerance: f64, penalty: f64) -> Steady {
    let n = values.len();
    let outliers = outlier::outliers(values, window(n));
    let mut segments = segments(values, &outliers, tolerance, penalty);

    let last = segments[segments.len() - 1];
    let tolerance = tolerance * last.mean.abs();
    let kept = |segment: &Segment| {
        let set_aside = outliers.iter().filter(|&&i| segment.start <= i && i < segment.end);
        (segment.end - segment.start - set_aside.count()) as f64
    };
    let last_kept = kept(&last);
    for segment in &mut segments {
        let error = last.deviation * (1.0 / kept(segment) + 1.0 / last_kept).sqrt();
        segment.like_the_last = (segment.mean - last.mean).abs() <= tolerance.max(CHANCE * error);
    }
    if waiting == Waiting::Unknown {
        disturbed::mark(&mut segments, values, tolerance);
    }

    let latest = n - place(STEADY_SHARE * n as f64);
    let from = steady_from(&segments, tolerance).filter(|&from| from <= latest);
    let (weight, total) = segments
        .iter()
        .filter(|segment| !segment.disturbed || from.is_none())
        .filter(|segment| segment.start >= from.unwrap_or(last.start))
        .map(|segment| (kept(segment), segment.mean))
        .fold((0.0, 0.0), |(weight, total), (kept, mean)| (weight + kept, total + kept * mean));
    let level = total / weight;
    let class = match from {
        None => Class::NoSteadyState,
        Some(0) => Class::Flat,
        Some(from) => {
            let mut before = segments.iter().filter(|one| one.start < from && !one.like_the_last);
            if before.any(|one| one.mean < level) { Class::SlowDown } else { Class::WarmUp }
        }
    };
    Steady { class, from, segments, outliers, n, level, tolerance, waited: None, block: None }
}

/// Returns the start of the earliest segment from which on only the last level matters.
fn steady_from(segments: &[Segment], tolerance: f64) -> Option<usize> {
    let last = segments.last()?;
    let mut off_the_level = 0.0;
    let mut earliest = None;
    for segment in segments.iter().rev() {
        if !segment.like_the_last {
            let length = (segment.end - segment.start) as f64;
            off_the_level += length * (segment.mean - last.mean).abs();
        } else if off_the_level <= tolerance * (last.end - segment.start) as f64 {
            earliest = Some(segment.start);
        }
    }
    earliest
}

/// Cuts the values into segments; outliers belong to the segment around them.
fn segments(values: &[f64], outliers: &[usize], tolerance: f64, penalty: f64) -> Vec<Segment> {
    let mut places = Vec::with_capacity(values.len());
    let mut left_out = outliers.iter().copied().peekable();
    for i in 0..values.len() {
        if left_out.next_if_eq(&i).is_none() {
            places.push(i);
        }
    }
    let kept: Vec<f64> = places.iter().map(|&i| values[i]).collect();
    let penalty = penalty * (kept.len() as f64).ln();
    let group = kept.len().div_ceil(LONGEST);
    let grouped: Vec<f64> =
        kept.chunks(group).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let changes: Vec<usize> = pelt::changes(&grouped, penalty, smallest_variance(&kept, tolerance))
        .into_iter()
        .map(|change| change * group)
        .collect();
    let starts = || std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([kept.len()]);
    starts()
        .zip(ends)
        .map(|(start, end)| {
            let part = &kept[start..end];
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            let variance = part.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / part.len() as f64;
            Segment {
                start: if start == 0 { 0 } else { places[start] },
                end: places.get(end).copied().unwrap_or(values.len()),
                mean,
                deviation: variance.sqrt(),
                like_the_last: true,
                disturbed: false,
            }
        })
        .collect()
}

/// Returns the variance below which segments are not told apart: a tenth of the tolerance is no
/// deviation to speak of, and steps of a coarse clock hide what is smaller than they are.
fn smallest_variance(values: &[f64], tolerance: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let level = crate::center::median_of_sorted(&sorted);
    let tenth = tolerance * level.abs() / 10.0;
    (tenth * tenth).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Levels with their lengths, in milliseconds, with 1 % of noise.
    pub(super) fn series(levels: &[(usize, f64)], seed: u64) -> Sample {
        let mut rng = Rng::new(seed);
        let values = levels.iter().flat_map(|&(n, level)| std::iter::repeat_n(level, n));
        Sample::new(values.map(|level| 1e-3 * level * (1.0 + 0.01 * rng.normal())).collect())
            .unwrap()
    }

    #[track_caller]
    fn check(levels: &[(usize, f64)], class: Class, from: Option<usize>) {
        let steady = classify(&series(levels, 1), &[], TOLERANCE).unwrap();
        assert_eq!(steady.class, class, "{steady:?}");
        match (steady.from, from) {
            (Some(found), Some(true_one)) => {
                assert!(found.abs_diff(true_one) <= 3, "{found} instead of {true_one}");
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }

    #[test]
    fn classes_follow_the_levels() {
        check(&[(2000, 5.0)], Class::Flat, Some(0));
        check(&[(300, 8.0), (1700, 5.0)], Class::WarmUp, Some(300));
        check(&[(40, 20.0), (300, 8.0), (1660, 5.0)], Class::WarmUp, Some(340));
        check(&[(300, 5.0), (1700, 8.0)], Class::SlowDown, Some(300));
        check(&[(200, 9.0), (200, 4.0), (1600, 5.0)], Class::SlowDown, Some(400));
        check(&[(1700, 5.0), (300, 8.0)], Class::NoSteadyState, None);
        check(&[(1000, 5.0), (600, 8.0), (400, 5.0)], Class::NoSteadyState, None);
    }

    #[test]
    fn a_level_that_comes_back_is_the_same_level() {
        check(&[(500, 5.0), (200, 7.0), (1300, 5.0)], Class::WarmUp, Some(700));
    }

    #[test]
    fn an_excursion_ends_the_steady_state_only_if_it_moves_the_mean() {
        check(&[(300, 8.0), (1300, 5.0), (40, 5.4), (360, 5.0)], Class::WarmUp, Some(300));
        check(&[(300, 8.0), (1300, 5.0), (150, 7.0), (250, 5.0)], Class::NoSteadyState, None);
    }

    #[test]
    fn a_long_series_is_cut_between_groups() {
        let steady = classify(&series(&[(6_000, 8.0), (19_000, 5.0)], 5), &[], TOLERANCE);
        let steady = steady.unwrap();
        assert_eq!(steady.class, Class::WarmUp);
        assert!(steady.from.unwrap().abs_diff(6_000) <= 6, "{:?}", steady.from);
    }

    #[test]
    fn changes_inside_the_tolerance_are_none() {
        check(&[(1000, 5.0), (1000, 5.03)], Class::Flat, Some(0));
    }

    #[test]
    fn a_share_can_be_tolerated_instead() {
        let levels = series(&[(1000, 5.0), (1000, 5.2)], 2);
        let class = |share| classify(&levels, &[], share).unwrap().class;
        assert_eq!((class(0.05), class(0.02)), (Class::Flat, Class::SlowDown));
    }

    #[test]
    fn the_unit_does_not_matter() {
        let short = series(&[(300, 8.0), (1700, 5.0)], 3);
        let one = classify(&short, &[], TOLERANCE).unwrap();
        for factor in [1e-4, 1e4] {
            let scaled = Sample::new(short.values().iter().map(|x| x * factor).collect()).unwrap();
            let other = classify(&scaled, &[], TOLERANCE).unwrap();
            assert_eq!((one.class, one.from), (other.class, other.from));
            assert!((one.tolerance * factor / other.tolerance - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn long_and_uneven_iterations_are_told_apart_too() {
        // Three minutes, then one, each with 5 %: the variance is 9 s^2, and no tolerance.
        let mut rng = Rng::new(5);
        let levels = std::iter::repeat_n(180.0, 50).chain(std::iter::repeat_n(60.0, 150));
        let values = levels.map(|level| level * (1.0 + 0.05 * rng.normal())).collect();
        let steady = classify(&Sample::new(values).unwrap(), &[], TOLERANCE).unwrap();
        assert_eq!((steady.class, steady.from), (Class::WarmUp, Some(50)));
        let growing = Sample::new((1..=50).map(f64::from).collect()).unwrap();
        assert_ne!(classify(&growing, &[], TOLERANCE).unwrap().class, Class::Flat);
    }

    #[test]
    fn spikes_are_set_aside() {
        let mut values = series(&[(2000, 5.0)], 4).values().to_vec();
        for at in [17, 18, 400, 1500, 1990] {
            values[at] *= 4.0;
        }
        let steady = classify(&Sample::new(values).unwrap(), &[], TOLERANCE).unwrap();
        assert_eq!((steady.class, steady.outliers.len()), (Class::Flat, 5));
        assert!((steady.level / 5e-3 - 1.0).abs() < 0.001);
    }

    #[test]
    fn equal_values_are_flat_and_few_are_refused() {
        let equal = Sample::new(vec![0.25; 40]).unwrap();
        assert_eq!(classify(&equal, &[], TOLERANCE).unwrap().class, Class::Flat);
        let few = Sample::new(vec![0.25; 39]).unwrap();
        assert_eq!(classify(&few, &[], TOLERANCE), Err(Violation::TooFew { needed: 40, have: 39 }));
        let zero = Sample::new(vec![0.0; 50]).unwrap();
        assert_eq!(classify(&zero, &[], TOLERANCE).unwrap().class, Class::Flat);
    }
}
