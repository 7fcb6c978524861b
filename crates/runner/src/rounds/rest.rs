//! How long the subjects' CPUs still have to rest.

use std::time::Duration;

use crate::{Finished, monotonic_raw};

/// Sleeping takes some 60 us more than asked for, which very short runs would pay each time: what
/// is owed is slept in pieces that are worth a timer.
const SHORTEST_SLEEP: f64 = 1e-3;

/// Rest that is owed. Time that becalm itself needs between runs counts as rest.
#[derive(Debug, Default)]
pub(super) struct RestDebt {
    /// Seconds.
    owed: f64,
    /// When the last run ended, in seconds of the raw monotonic clock.
    ended: Option<f64>,
}

impl RestDebt {
    /// Takes note of a run that calls for `share` of its duration; returns how long to sleep now,
    /// if it is time to.
    pub(super) fn after(&mut self, finished: &Finished, share: f64) -> Option<Duration> {
        let owed = self.owed_at(finished, share, monotonic_raw());
        (owed >= SHORTEST_SLEEP).then(|| Duration::from_secs_f64(owed))
    }

    fn owed_at(&mut self, finished: &Finished, share: f64, now: Duration) -> f64 {
        let ended = finished.released.as_secs_f64() + finished.wall;
        if let Some(before) = self.ended {
            let idle = finished.released.as_secs_f64() - before;
            self.owed = (self.owed - idle).max(0.0);
        }
        self.owed += finished.wall * share;
        self.ended = Some(ended);
        self.owed - (now.as_secs_f64() - ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(released: f64, wall: f64) -> Finished {
        Finished::blank(Duration::from_secs_f64(released), wall)
    }

    #[track_caller]
    fn check(owed: f64, expected: f64) {
        assert!((owed - expected).abs() < 1e-9, "{owed} instead of {expected}");
    }

    #[test]
    fn a_share_of_every_run_is_owed_less_the_time_between_runs() {
        let mut debt = RestDebt::default();
        let at = Duration::from_secs_f64;
        check(debt.owed_at(&run(1.0, 0.5), 0.1, at(1.5)), 0.05);
        // 0.02 of the 0.05 passed before the next run; the rest is carried over.
        check(debt.owed_at(&run(1.52, 0.5), 0.1, at(2.02)), 0.08);
        // A long pause pays everything, but no credit is kept.
        check(debt.owed_at(&run(9.0, 0.5), 0.1, at(9.5)), 0.05);
    }
}
