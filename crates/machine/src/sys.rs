//! The few system calls that the standard library does not wrap. All `unsafe` of this crate.

#![expect(unsafe_code, reason = "direct system calls; this is the only file that has any")]

use std::time::Duration;

/// Returns the time of `CLOCK_MONOTONIC`, the clock that [`crate::Activity::at`] uses.
pub fn monotonic_now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call, which only writes to it.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(status, 0, "every Linux kernel has CLOCK_MONOTONIC");
    let seconds = u64::try_from(time.tv_sec).expect("the monotonic clock starts at 0");
    let nanos = u32::try_from(time.tv_nsec).expect("a timespec has less than 1e9 nanoseconds");
    Duration::new(seconds, nanos)
}

/// Returns how many ticks `/proc/stat` counts in a second (100 on every common architecture).
pub(crate) fn ticks_per_second() -> f64 {
    // SAFETY: sysconf takes a plain number and touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_does_not_run_backwards() {
        let earlier = monotonic_now();
        assert!(monotonic_now() >= earlier);
    }

    #[test]
    fn ticks_are_a_sensible_number() {
        assert!((50.0..=10_000.0).contains(&ticks_per_second()));
    }
}
