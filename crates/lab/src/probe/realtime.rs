//! How much of its time a spinning real-time task may have.
//!
//! The kernel stops all real-time tasks of a CPU when together they have run for
//! `sched_rt_runtime_us` of a period of `sched_rt_period_us` (`Documentation/scheduler/
//! sched-rt-group.rst`), by default 0.95 of 1 s: the pause would look like noise of 50 ms. And what
//! spins without end starves the kernel's own threads on its CPU. So a reader rests in time.

use std::time::Duration;

use becalm_machine::SysRoot;

/// Of the share that the kernel allows this much is used: periods of the kernel and windows of the
/// reader do not begin together, and other real-time tasks need time too.
const USED: f64 = 0.8;

/// A shorter window is not worth its setup.
const SHORTEST_WINDOW: Duration = Duration::from_millis(5);

/// What real-time tasks may have of a CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Allowance {
    /// Share of the time in which the reader may spin.
    share: f64,
    /// The longest that it may spin at once.
    pub(super) longest: Duration,
}

impl Allowance {
    /// Reads the limit of the kernel, or says why real-time tasks cannot spin here.
    pub(super) fn read(root: &SysRoot) -> Result<Self, String> {
        let number = |name: &str| -> Option<i64> {
            root.read(format!("/proc/sys/kernel/{name}")).value()?.parse().ok()
        };
        // A kernel without the files has no such limit.
        let runtime = number("sched_rt_runtime_us").unwrap_or(-1);
        let period = number("sched_rt_period_us").unwrap_or(1_000_000);
        Self::of(runtime, period)
    }

    /// Returns the allowance for a runtime, -1 for no limit, in a period, both in microseconds.
    fn of(runtime: i64, period: i64) -> Result<Self, String> {
        let whole = u32::try_from(period).ok().filter(|period| *period > 0);
        let part = match (u32::try_from(runtime), whole) {
            (_, None) => None,
            (Err(_), whole) => whole,
            (Ok(runtime), Some(period)) => Some(runtime.min(period)),
        };
        let (part, whole) = (part.unwrap_or(0), whole.unwrap_or(1));
        let longest = Duration::from_micros(u64::from(part)).mul_f64(USED);
        if longest < SHORTEST_WINDOW {
            return Err(format!(
                "the kernel gives real-time tasks {runtime} of {period} us \
                 (/proc/sys/kernel/sched_rt_runtime_us)"
            ));
        }
        Ok(Self { share: f64::from(part) / f64::from(whole) * USED, longest })
    }

    /// Returns how long a CPU rests after a window.
    pub(super) fn rest(&self, window: Duration) -> Duration {
        window.mul_f64(1.0 / self.share - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(runtime: i64, period: i64, longest_ms: u64, rest_ms: u64) {
        let allowance = Allowance::of(runtime, period).unwrap();
        assert_eq!(allowance.longest, Duration::from_millis(longest_ms));
        let rest = allowance.rest(Duration::from_millis(250)).as_secs_f64() * 1e3;
        assert!((rest - rest_ms as f64).abs() < 1.0, "{rest}");
    }

    #[test]
    fn a_window_and_its_rest_stay_below_what_the_kernel_allows() {
        check(950_000, 1_000_000, 760, 79);
        check(50_000, 100_000, 40, 375);
    }

    #[test]
    fn without_a_limit_the_kernels_own_threads_still_get_their_time() {
        check(-1, 1_000_000, 800, 63);
        check(1_000_000, 1_000_000, 800, 63);
    }

    #[test]
    fn where_real_time_tasks_get_next_to_nothing_nobody_spins() {
        for (runtime, period) in [(0, 1_000_000), (3_000, 1_000_000), (950_000, 0)] {
            let why = Allowance::of(runtime, period).unwrap_err();
            assert!(why.contains("sched_rt_runtime_us"), "{why}");
        }
    }
}
