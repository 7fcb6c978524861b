//! What iterations are timed with: the time-stamp counter, or the clock.
//!
//! Reading the counter costs some 20 cycles and no call. It is a clock only if it ticks at one rate whatever
//! the frequency is, and alike on every CPU. The processor promises the first (CPUID 0x80000007, EDX bit 8);
//! the kernel checks both all the time, and takes a counter that fails off its list of clocks
//! (`kernel/time/clocksource.c`, `arch/x86/kernel/tsc.c`). The rate is measured against
//! `CLOCK_MONOTONIC_RAW` over the whole series.

use std::time::Duration;

use becalm_kernel::tsc;
use becalm_machine::{Reading, SysRoot};
use becalm_runner::monotonic_raw;

/// Clocks that the kernel trusts enough to keep time by them.
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// Time over which a rate is measured at least. The two ends are known to some 50 ns, so that the rate is
/// right to a few millionths.
const LEAST: Duration = Duration::from_millis(20);

/// Readings of both clocks at an end, of which the closest pair is taken.
const ATTEMPTS: usize = 16;

/// Which clock is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimerChoice {
    /// The counter where it can be trusted, else the clock.
    #[default]
    Auto,
    /// The time-stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC_RAW`.
    Clock,
}

/// Why a series cannot be timed as was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimerError {
    /// The counter is no clock here.
    #[error("the time-stamp counter cannot serve as a clock here: {0}; use --timer clock")]
    NoTsc(String),
    /// The counter went backwards.
    #[error(
        "the time-stamp counter went backwards in {0} iterations, so the counters of the CPUs \
         differ; use --timer clock"
    )]
    Backwards(usize),
}

/// A clock that counts in ticks of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// The time-stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    Clock,
}

impl Timer {
    /// Decides for a timer.
    pub(crate) fn choose(choice: TimerChoice, root: &SysRoot) -> Result<Self, TimerError> {
        let problem = || tsc_problem(tsc::is_invariant(), &root.read(CLOCKS));
        match choice {
            TimerChoice::Clock => Ok(Self::Clock),
            TimerChoice::Auto => Ok(if problem().is_some() { Self::Clock } else { Self::Tsc }),
            TimerChoice::Tsc => problem().map_or(Ok(Self::Tsc), |why| Err(TimerError::NoTsc(why))),
        }
    }

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Clock => "clock",
        }
    }

    /// Returns the ticks now.
    #[inline]
    pub(crate) fn now(self) -> u64 {
        match self {
            Self::Tsc => tsc::read(),
            Self::Clock => nanos(),
        }
    }

    /// Reads this timer and the clock at the same moment, as nearly as possible.
    pub(crate) fn moment(self) -> Moment {
        let pairs = (0..ATTEMPTS).map(|_| {
            let before = nanos();
            let ticks = self.now();
            let after = nanos();
            (after.saturating_sub(before), Moment { ticks, nanos: before + (after - before) / 2 })
        });
        let (_, closest) = pairs.min_by_key(|(apart, _)| *apart).expect("there are attempts");
        closest
    }

    /// Returns the ticks in a second, from `start` until now; waits if that was only just.
    pub(crate) fn ticks_per_second(self, start: Moment) -> f64 {
        if self == Self::Clock {
            return 1e9;
        }
        let passed = Duration::from_nanos(nanos().saturating_sub(start.nanos));
        std::thread::sleep(LEAST.saturating_sub(passed));
        rate(start, self.moment())
    }
}

/// A reading of a timer and of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    ticks: u64,
    nanos: u64,
}

fn rate(start: Moment, end: Moment) -> f64 {
    let seconds = end.nanos.saturating_sub(start.nanos) as f64 * 1e-9;
    end.ticks.saturating_sub(start.ticks) as f64 / seconds
}

fn nanos() -> u64 {
    u64::try_from(monotonic_raw().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns why the counter cannot be used; `None` if it can.
fn tsc_problem(is_invariant: bool, clocks: &Reading) -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return Some("this architecture has none".to_owned());
    }
    if !is_invariant {
        return Some(
            "the processor does not guarantee a constant rate (CPUID 0x80000007, EDX bit 8)"
                .to_owned(),
        );
    }
    match clocks {
        Reading::Value(names) if names.split_whitespace().any(|name| name == "tsc") => None,
        Reading::Value(names) => {
            Some(format!("the kernel does not list it among its clocks ({CLOCKS}: {names})"))
        }
        missing => Some(format!("{CLOCKS} {}", missing.why_not().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn machine(clocks: &str) -> FakeTree {
        FakeTree::new().file(CLOCKS, clocks)
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_counter_is_used_where_processor_and_kernel_trust_it() {
        #[track_caller]
        fn check(is_invariant: bool, clocks: Option<&str>, problem: Option<&str>) {
            let clocks = clocks.map_or(Reading::Absent, |names| Reading::Value(names.to_owned()));
            let found = tsc_problem(is_invariant, &clocks);
            let as_expected = match (&found, problem) {
                (Some(found), Some(problem)) => found.contains(problem),
                (found, problem) => found.is_none() && problem.is_none(),
            };
            assert!(as_expected, "{found:?}");
        }
        check(true, Some("tsc hpet acpi_pm"), None);
        check(true, Some("kvm-clock tsc acpi_pm"), None);
        check(true, Some("hpet acpi_pm"), Some("does not list it among its clocks"));
        check(true, Some("tsc-early"), Some("does not list it"));
        check(false, Some("tsc"), Some("CPUID 0x80000007"));
        check(true, None, Some("does not exist here"));
    }

    #[test]
    fn without_a_counter_the_clock_is_used_unless_the_counter_was_asked_for() {
        let tree = machine("hpet\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(Timer::choose(TimerChoice::Auto, &root), Ok(Timer::Clock));
        assert_eq!(Timer::choose(TimerChoice::Clock, &root), Ok(Timer::Clock));
        let error = Timer::choose(TimerChoice::Tsc, &root).unwrap_err().to_string();
        assert!(error.ends_with("use --timer clock"), "{error}");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the numbers divide exactly")]
    fn the_rate_is_ticks_over_seconds() {
        let moment = |ticks, nanos| Moment { ticks, nanos };
        assert_eq!(rate(moment(1_000, 500), moment(5_000_001_000, 2_000_000_500)), 2.5e9);
    }

    #[test]
    fn neither_timer_runs_backwards() {
        for timer in [Timer::Tsc, Timer::Clock] {
            let earlier = timer.now();
            assert!(timer.now() >= earlier, "{timer:?}");
        }
    }
}
