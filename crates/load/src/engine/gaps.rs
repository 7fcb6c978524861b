//! How regular the requests are handed out, beside how regular they were to be.

use becalm_model::load::Gaps;

/// The times at which requests were due, and were handed out.
#[derive(Debug, Default)]
pub(crate) struct Handed {
    scheduled: Variation,
    actual: Variation,
}

impl Handed {
    /// Takes note of the next request.
    pub(crate) fn next(&mut self, due: u64, now: u64) {
        self.scheduled.next(due);
        self.actual.next(now);
    }

    /// Returns the mean and the variation of the gaps.
    pub(crate) fn gaps(&self) -> Gaps {
        Gaps {
            mean: self.scheduled.mean() * 1e-9,
            scheduled_variation: self.scheduled.coefficient(),
            actual_variation: self.actual.coefficient(),
        }
    }
}

/// Mean and variance of the gaps between times, as they come (Welford 1962).
#[derive(Debug, Default)]
struct Variation {
    last: Option<u64>,
    count: f64,
    mean: f64,
    squares: f64,
}

impl Variation {
    fn next(&mut self, time: u64) {
        if let Some(last) = self.last.replace(time) {
            let gap = time.saturating_sub(last) as f64;
            self.count += 1.0;
            let from_mean = gap - self.mean;
            self.mean += from_mean / self.count;
            self.squares += from_mean * (gap - self.mean);
        }
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the standard deviation over the mean.
    fn coefficient(&self) -> f64 {
        if self.mean > 0.0 { (self.squares / self.count).sqrt() / self.mean } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::load::{Arrivals, Stage};

    use super::*;
    use crate::schedule::Schedule;

    fn variation(times: impl IntoIterator<Item = u64>) -> Variation {
        let mut variation = Variation::default();
        times.into_iter().for_each(|time| variation.next(time));
        variation
    }

    #[test]
    fn even_gaps_do_not_vary_and_gaps_at_random_vary_by_their_mean() {
        let stages = vec![Stage { seconds: 50.0, from: 1000.0, to: 1000.0 }];
        let even = variation(Schedule::new(stages.clone(), Arrivals::Even, 1));
        assert!((even.mean() - 1e6).abs() < 1.0 && even.coefficient() < 1e-6);
        let random = variation(Schedule::new(stages, Arrivals::Poisson, 1));
        assert!((random.coefficient() - 1.0).abs() < 0.03, "{}", random.coefficient());
        // Pairs at once, as coarse timers make of an even schedule.
        let pairs = variation((0..1000).map(|n| n / 2 * 1_000_000));
        assert!((pairs.coefficient() - 1.0).abs() < 0.01);
        assert!(variation([]).coefficient().abs() < 1e-9);
    }
}
