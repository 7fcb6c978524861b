//! The time of a load: nanoseconds from its start.

use becalm_kernel::{affinity, clock, sched};

/// The longest that a thread looks at the clock instead of sleeping.
const LONGEST_SPIN: u64 = 200_000;

/// Sleeps by which it is measured how late this machine wakes a thread up, and how long each is.
const SLEEPS: usize = 40;
const SLEEP: u64 = 200_000;

/// No wait is so long that somebody notices that it cannot be ended.
pub(super) const AT_ONCE: u64 = 20_000_000;

/// Counts nanoseconds from the start of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// Makes one whose start is so far in the future.
    pub(crate) fn starting_in(nanos: u64) -> Self {
        Self { start: clock::monotonic_nanos() + nanos }
    }

    /// Returns the time; 0 before the start.
    pub(crate) fn now(self) -> u64 {
        self.since_the_start().unwrap_or(0)
    }

    /// Returns the time; `None` before the start, when nothing is due yet.
    pub(crate) fn since_the_start(self) -> Option<u64> {
        clock::monotonic_nanos().checked_sub(self.start)
    }

    /// Returns what the clock of the kernel says at a time.
    pub(crate) fn monotonic(self, time: u64) -> u64 {
        self.start + time
    }

    /// Waits until `time`: asleep until `spin` nanoseconds before it, then looking at the clock. Returns early, with
    /// `false`, when a sleep has ended and `goes_on` says so; sleeps are at most 20 ms long.
    pub(crate) fn wait_until(self, time: u64, spin: u64, goes_on: impl Fn() -> bool) -> bool {
        let time = self.monotonic(time);
        loop {
            let now = clock::monotonic_nanos();
            if now >= time {
                return true;
            }
            let left = time - now;
            if left > spin {
                clock::sleep_until(now + (left - spin).min(AT_ONCE));
                if !goes_on() {
                    return false;
                }
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Measures how long before a due time the calling thread has to stop sleeping, so that it is on time: what nine sleeps
/// of ten are late.
pub(crate) fn measure_spin() -> u64 {
    sched::wake_up_on_time();
    let late = || {
        let until = clock::monotonic_nanos() + SLEEP;
        clock::sleep_until(until);
        clock::monotonic_nanos().saturating_sub(until)
    };
    let mut late: Vec<u64> = std::iter::repeat_with(late).take(SLEEPS).collect();
    late.sort_unstable();
    late[SLEEPS * 9 / 10].min(LONGEST_SPIN)
}

/// Says whether the calling thread, and those that it starts, may use more than one CPU.
pub(crate) fn has_several_cpus() -> bool {
    affinity::affinity(affinity::CALLER).map_or(1, |mask| mask.cpus().count()) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_no_earlier_than_it_was_to_unless_it_is_ended() {
        let clock = Clock::starting_in(0);
        assert!(clock.wait_until(2_000_000, 100_000, || true));
        assert!(clock.now() >= 2_000_000);
        assert!(!clock.wait_until(u64::MAX / 2, 100_000, || false));
    }

    #[test]
    fn nothing_is_due_before_the_start() {
        let clock = Clock::starting_in(3_600_000_000_000);
        assert_eq!((clock.now(), clock.since_the_start()), (0, None));
        assert!(Clock::starting_in(0).since_the_start().is_some());
    }

    #[test]
    fn spinning_is_bounded() {
        assert!(std::thread::spawn(measure_spin).join().unwrap() <= LONGEST_SPIN);
    }
}
