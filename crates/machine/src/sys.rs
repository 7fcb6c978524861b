//! The few system calls that the standard library does not wrap. All `unsafe` of this crate.

#![expect(unsafe_code, reason = "direct system calls; this is the only file that has any")]

use std::time::Duration;

use crate::privilege::Limit;

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

/// Returns the user id by which the kernel judges this process.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: geteuid takes nothing, touches no memory of ours and cannot fail.
    unsafe { libc::geteuid() }
}

/// A resource whose limit matters here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resource {
    /// `RLIMIT_RTPRIO`.
    RealTimePriority,
    /// `RLIMIT_MEMLOCK`.
    LockedMemory,
    /// `RLIMIT_NICE`.
    Nice,
}

/// Returns the soft limit of a resource for this process.
pub(crate) fn resource_limit(resource: Resource) -> Limit {
    let resource = match resource {
        Resource::RealTimePriority => libc::RLIMIT_RTPRIO,
        Resource::LockedMemory => libc::RLIMIT_MEMLOCK,
        Resource::Nice => libc::RLIMIT_NICE,
    };
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit that outlives the call, which only writes to it.
    let status = unsafe { libc::getrlimit(resource, &raw mut limit) };
    assert_eq!(status, 0, "these resources exist since Linux 2.6.12");
    if limit.rlim_cur == libc::RLIM_INFINITY {
        Limit::Unlimited
    } else {
        Limit::AtMost(limit.rlim_cur)
    }
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
