//! Into which windows the time on one CPU is cut.
//!
//! All CPUs take turns, window by window, so that a machine that gets noisier meanwhile gets noisier
//! for all of them. The windows are not equally long: what happens once a second would otherwise
//! always fall into the windows of one CPU and between those of another.

use std::time::Duration;

/// How long a window is by default. Long against most interruptions, short enough for turns.
const USUAL: Duration = Duration::from_millis(250);

/// At least this many windows, from which the uncertainty of the share is taken.
const FEWEST: usize = 8;

/// Step of the additive recurrence that spreads most evenly: the golden ratio less 1.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Returns the lengths of the windows that come to `duration`; none is longer than `longest`.
pub(super) fn lengths(duration: Duration, longest: Option<Duration>) -> Vec<Duration> {
    let most = longest.unwrap_or(Duration::MAX).min(USUAL.mul_f64(1.25)).as_secs_f64();
    let total = duration.as_secs_f64();
    // The longest has up to 5/3 of the weight of the shortest, thus 5/4 of the mean.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration in windows of milliseconds is a number far below 2^52 and not negative"
    )]
    let n = ((total * 1.3 / most).ceil() as usize).max(FEWEST);
    let weights: Vec<f64> = (0..n).map(|k| 0.75 + 0.5 * (k as f64 * GOLDEN).fract()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| duration.mul_f64(weight / sum)).collect()
}

/// Returns in which order the CPUs have their turns: forwards and backwards in alternation, so that
/// none always comes after the same one.
pub(super) fn turn<T: Clone>(cpus: &[T], round: usize) -> Vec<T> {
    let mut order = cpus.to_vec();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(duration_ms: u64, longest_ms: Option<u64>, at_least: usize) {
        let duration = Duration::from_millis(duration_ms);
        let longest = longest_ms.map(Duration::from_millis);
        let windows = lengths(duration, longest);
        assert!(windows.len() >= at_least, "{windows:?}");
        let sum: f64 = windows.iter().map(Duration::as_secs_f64).sum();
        assert!((sum - duration.as_secs_f64()).abs() < 1e-6, "{sum}");
        let most = longest.unwrap_or(Duration::MAX).min(Duration::from_micros(312_500));
        assert!(windows.iter().all(|window| *window <= most), "{windows:?}");
        let (short, long) = (windows.iter().min().unwrap(), windows.iter().max().unwrap());
        assert!(*long > short.mul_f64(1.3) && *long < short.mul_f64(5.0 / 3.0 + 0.01));
    }

    #[test]
    fn windows_come_to_the_whole_time_and_none_is_too_long() {
        check(2_000, None, 8);
        check(60_000, None, 240);
        check(2_000, Some(40), 50);
        check(50, None, 8);
        check(2_000, Some(760), 8);
    }

    #[test]
    fn cpus_take_turns_forwards_and_backwards() {
        assert_eq!(turn(&[1, 2, 3], 0), [1, 2, 3]);
        assert_eq!(turn(&[1, 2, 3], 1), [3, 2, 1]);
    }
}
