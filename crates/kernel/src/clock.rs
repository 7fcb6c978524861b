//! The clocks of the kernel.

use std::time::Duration;

/// Reads `CLOCK_MONOTONIC_RAW`, which no time daemon slews, in nanoseconds since some fixed point.
pub fn monotonic_raw_nanos() -> u64 {
    nanos(read(libc::CLOCK_MONOTONIC_RAW))
}

/// Returns the time of `CLOCK_MONOTONIC_RAW`, the clock that every run is timed with.
pub fn monotonic_raw() -> Duration {
    Duration::from_nanos(monotonic_raw_nanos())
}

/// Returns the time of `CLOCK_MONOTONIC`, the clock that readings of the machine are dated with.
pub fn monotonic_now() -> Duration {
    Duration::from_nanos(nanos(read(libc::CLOCK_MONOTONIC)))
}

/// Reads `CLOCK_MONOTONIC`, the clock that [`sleep_until`] takes times of, in nanoseconds.
pub fn monotonic_nanos() -> u64 {
    nanos(read(libc::CLOCK_MONOTONIC))
}

/// Sleeps until a time of [`monotonic_nanos`]; returns early if a signal came.
pub fn sleep_until(nanos: u64) {
    let until = timespec(Duration::from_nanos(nanos));
    // SAFETY: `until` is a valid timespec that is only read, and no rest is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        );
    }
}

/// Returns for how long the machine has been suspended since it was started: `CLOCK_BOOTTIME` goes on meanwhile, and
/// `CLOCK_MONOTONIC` does not.
pub fn suspended() -> Duration {
    let boot_time = nanos(read(libc::CLOCK_BOOTTIME));
    Duration::from_nanos(boot_time).saturating_sub(monotonic_now())
}

/// Returns the CPU time that all threads of becalm have used, in seconds.
pub fn process_cpu_time() -> f64 {
    nanos(read(libc::CLOCK_PROCESS_CPUTIME_ID)) as f64 * 1e-9
}

/// Returns the CPU time that the calling thread has used, in seconds.
pub fn thread_cpu_time() -> f64 {
    nanos(read(libc::CLOCK_THREAD_CPUTIME_ID)) as f64 * 1e-9
}

/// Returns the CPU time that all threads of a process have used, those that have ended among them, in seconds; `None` if
/// there is no such process.
pub fn cpu_time_of(pid: u32) -> Option<f64> {
    /// The clock of what a process has used in any mode (`CPUCLOCK_SCHED` in `include/linux/posix-timers.h`).
    const SCHED: libc::clockid_t = 2;
    let pid = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0)?;
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime((!pid << 3) | SCHED, &raw mut used) };
    (result == 0).then(|| nanos(used) as f64 * 1e-9)
}

/// Returns the nanoseconds between two ticks: the resolution of the clock that only ticks advance.
pub fn tick_nanos() -> u64 {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `resolution` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) };
    if result == 0 && resolution.tv_sec == 0 {
        u64::try_from(resolution.tv_nsec).unwrap_or(0)
    } else {
        0
    }
}

/// Returns how many ticks `/proc/stat` counts in a second (100 on every common architecture).
pub fn ticks_per_second() -> f64 {
    // SAFETY: sysconf takes a plain number and touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// Reads a clock. Makes one call and allocates nothing, because a child calls it before `execve`.
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime(clock, &raw mut now) };
    debug_assert_eq!(result, 0, "every kernel since Linux 2.6.28 has these clocks");
    now
}

fn nanos(time: libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + rest
}

/// Turns a duration into the form that system calls take, saturating beyond any real wait, at 68 years.
pub(crate) fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).into(),
        tv_nsec: libc::c_long::from(i32::try_from(duration.subsec_nanos()).unwrap_or(0)),
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
    fn a_sleep_ends_no_earlier_than_it_was_to() {
        let until = monotonic_nanos() + 1_000_000;
        while monotonic_nanos() < until {
            sleep_until(until);
        }
        sleep_until(0);
    }

    #[test]
    fn a_process_has_a_clock_of_its_own_and_one_that_is_not_there_has_none() {
        let before = process_cpu_time();
        let read = cpu_time_of(std::process::id()).unwrap();
        assert!(read >= before && read <= process_cpu_time());
        assert_eq!(cpu_time_of(u32::MAX), None);
        assert_eq!(cpu_time_of(0), None);
    }

    #[test]
    fn ticks_are_a_sensible_number() {
        assert!((50.0..=10_000.0).contains(&ticks_per_second()));
    }
}
