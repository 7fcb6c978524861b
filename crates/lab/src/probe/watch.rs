//! The spinning reader of the clock.

use std::time::{Duration, Instant};

use super::gaps::Gaps;

/// Nanoseconds of reading before the first that counts, which bring code and stack into memory and
/// into the caches.
const WARM_UP: u64 = 200_000;

/// Reads the monotonic clock without a pause for `window`, on whatever CPU the caller is pinned to.
pub(super) fn spin(window: Duration, threshold: Duration) -> Gaps {
    let origin = Instant::now();
    let clock = || nanos(origin.elapsed());
    watch(clock, WARM_UP, nanos(threshold));
    watch(clock, nanos(window), nanos(threshold))
}

/// Reads `clock`, in nanoseconds, until `window` has passed since the first reading. A window ends
/// with the gap that it ends in.
fn watch(mut clock: impl FnMut() -> u64, window: u64, threshold: u64) -> Gaps {
    let mut gaps = Gaps::default();
    let mut reads = 0;
    let start = clock();
    let mut last = start;
    while last - start < window {
        let now = clock();
        reads += 1;
        let gap = now.saturating_sub(last);
        if gap >= threshold {
            gaps.add(gap);
        }
        last = now.max(last);
    }
    gaps.reads = reads;
    gaps.watched = last - start;
    gaps
}

fn nanos(duration: Duration) -> u64 {
    // 584 years fit.
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that goes on by these steps, and by 100 ns afterwards.
    fn clock(steps: &[u64]) -> impl FnMut() -> u64 + use<'_> {
        let mut now = 7;
        let mut steps = steps.iter();
        move || {
            let before = now;
            now += steps.next().unwrap_or(&100);
            before
        }
    }

    #[track_caller]
    fn check(steps: &[u64], window: u64, gaps: &[u64], watched: u64) {
        let seen = watch(clock(steps), window, 5_000);
        let mut expected = Gaps { watched, reads: seen.reads, ..Gaps::default() };
        for &gap in gaps {
            expected.add(gap);
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn gaps_of_at_least_the_threshold_are_counted_with_the_step_they_begin_with() {
        check(&[], 1_000, &[], 1_000);
        check(&[100, 4_999, 100], 10_000, &[], 10_099);
        check(&[100, 5_000, 100, 7_300], 20_000, &[5_000, 7_300], 20_000);
    }

    #[test]
    fn a_window_ends_with_the_gap_that_it_ends_in() {
        check(&[100, 80_000], 10_000, &[80_000], 80_100);
    }

    #[test]
    fn reading_the_real_clock_takes_a_step() {
        let gaps = spin(Duration::from_millis(2), Duration::from_micros(5));
        assert!(gaps.watched >= 2_000_000, "{gaps:?}");
        assert!(gaps.reads > 0 && gaps.lost <= gaps.watched, "{gaps:?}");
    }
}
