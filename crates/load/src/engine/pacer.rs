//! The thread that keeps the time: it hands each request to a shard when it is due.

use std::sync::atomic::{AtomicBool, Ordering};

use becalm_kernel::sched;
use becalm_model::load::Gaps;
use tokio::sync::mpsc::UnboundedSender;

use super::clock::Clock;
use super::threads::Watch;
use crate::schedule::Schedule;
use becalm_model::load::ThreadUse;

/// A request that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Which one it is, from 0.
    pub(crate) number: u64,
    /// When, in nanoseconds from the start.
    pub(crate) time: u64,
}

/// What the pacer did.
#[derive(Debug)]
pub(crate) struct Paced {
    /// The gaps between requests.
    pub(crate) gaps: Gaps,
    /// What it used of a CPU.
    pub(crate) used: ThreadUse,
}

/// Hands out a schedule, to the shards in turns, until it ends or is stopped.
pub(crate) fn pace(
    schedule: Schedule,
    clock: Clock,
    spin: u64,
    shards: &[UnboundedSender<Due>],
    is_stopped: &AtomicBool,
) -> Paced {
    sched::wake_up_on_time();
    let watch = Watch::start("pacer");
    let goes_on = || !is_stopped.load(Ordering::Relaxed);
    let (mut scheduled, mut actual) = (Variation::default(), Variation::default());
    for (number, (due, shard)) in (0..).zip(schedule.zip(shards.iter().cycle())) {
        if !goes_on() || !clock.wait_until(due, spin, goes_on) {
            break;
        }
        // A shard goes away only when the load is over.
        let _ = shard.send(Due { number, time: due });
        scheduled.next(due);
        actual.next(clock.now());
    }
    let gaps = Gaps {
        mean: scheduled.mean() * 1e-9,
        scheduled_variation: scheduled.coefficient(),
        actual_variation: actual.coefficient(),
    };
    Paced { gaps, used: watch.stop() }
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
    use super::*;
    use becalm_model::load::{Arrivals, Stage};

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

    #[test]
    fn every_due_time_is_handed_out_once_in_turns_and_not_early() {
        let (senders, mut receivers): (Vec<_>, Vec<_>) =
            (0..2).map(|_| tokio::sync::mpsc::unbounded_channel()).unzip();
        let clock = Clock::starting_in(0);
        let times = vec![0, 1_000, 2_000_000];
        pace(Schedule::of_times(times), clock, 0, &senders, &AtomicBool::new(false));
        assert!(clock.now() >= 2_000_000);
        drop(senders);
        let mut got = |shard: usize| -> Vec<(u64, u64)> {
            let next = || receivers[shard].try_recv().ok();
            std::iter::from_fn(next).map(|due| (due.number, due.time)).collect()
        };
        assert_eq!((got(0), got(1)), (vec![(0, 0), (2, 2_000_000)], vec![(1, 1_000)]));
    }

    #[test]
    fn a_pacer_that_is_stopped_hands_out_nothing_more() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let schedule = Schedule::of_times(vec![u64::MAX / 2]);
        pace(schedule, Clock::starting_in(0), 0, &[sender], &AtomicBool::new(true));
        assert!(receiver.try_recv().is_err());
    }
}
