//! The one clock that runs are timed with.

use std::time::Duration;

/// Reads `CLOCK_MONOTONIC_RAW`, which no time daemon slews, in nanoseconds since some fixed point.
pub(crate) fn monotonic_raw_nanos() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut now) };
    debug_assert_eq!(result, 0, "CLOCK_MONOTONIC_RAW exists since Linux 2.6.28");
    nanos(now)
}

/// Reads the same clock as a duration.
pub(crate) fn monotonic_raw() -> Duration {
    Duration::from_nanos(monotonic_raw_nanos())
}

fn nanos(time: libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + rest
}

/// Turns a duration into the form that system calls take, saturating far beyond any real wait.
pub(crate) fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(i32::try_from(duration.subsec_nanos()).unwrap_or(0)),
    }
}

/// Returns the CPU time that all threads of becalm have used, in seconds.
pub(crate) fn process_cpu_time() -> f64 {
    cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the CPU time that the calling thread has used, in seconds.
pub(crate) fn thread_cpu_time() -> f64 {
    cpu_time(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn cpu_time(clock: libc::clockid_t) -> f64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime(clock, &raw mut used) };
    debug_assert_eq!(result, 0, "clocks of CPU time exist since Linux 2.6.12");
    nanos(used) as f64 * 1e-9
}
