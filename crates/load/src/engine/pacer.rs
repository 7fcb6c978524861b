//! The thread that keeps the time: it hands each request to a shard when it is due.

use std::sync::atomic::{AtomicBool, Ordering};

use becalm_kernel::sched;
use becalm_model::load::Gaps;
use tokio::sync::mpsc::UnboundedSender;

use super::Keeping;
use super::batches::Batches;
use super::clock::Clock;
use super::gaps::Handed;
use super::threads::Watch;
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
    Keeping { schedule, spin, batch }: Keeping,
    clock: Clock,
    shards: &[UnboundedSender<Due>],
    is_stopped: &AtomicBool,
) -> Paced {
    sched::wake_up_on_time();
    let watch = Watch::start("pacer");
    let goes_on = || !is_stopped.load(Ordering::Relaxed);
    let (mut handed, mut batches) = (Handed::default(), Batches::of(batch));
    for (number, (due, shard)) in (0..).zip(schedule.zip(shards.iter().cycle())) {
        if !goes_on() || !clock.wait_until(batches.time(due), spin, goes_on) {
            break;
        }
        let now = clock.now();
        batches.sent_at(now);
        // A shard goes away only when the load is over.
        let _ = shard.send(Due { number, time: due });
        handed.next(due, now);
    }
    Paced { gaps: handed.gaps(), used: watch.stop() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;

    fn at(times: Vec<u64>, batch: u64) -> Keeping {
        Keeping { schedule: Schedule::of_times(times), spin: 0, batch }
    }

    #[test]
    fn every_due_time_is_handed_out_once_in_turns_and_not_early() {
        let (senders, mut receivers): (Vec<_>, Vec<_>) =
            (0..2).map(|_| tokio::sync::mpsc::unbounded_channel()).unzip();
        let clock = Clock::starting_in(0);
        let times = vec![0, 1_000, 2_000_000];
        pace(at(times, 0), clock, &senders, &AtomicBool::new(false));
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
        pace(at(vec![u64::MAX / 2], 0), Clock::starting_in(0), &[sender], &AtomicBool::new(true));
        assert!(receiver.try_recv().is_err());
    }
}
