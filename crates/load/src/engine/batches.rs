//! Requests that are sent several at a time.
//!
//! To wake up costs a thread more than to send a request, above all in a virtual machine: a timer is set, the CPU stops, the
//! host starts it again. At a high rate a thread that wakes up for each request has no CPU left, and its lag is that of a
//! queue. If it wakes up less often and sends all that has become due, each request waits a little, and none waits long. A
//! connection that has nothing more to do takes the next request that is due in any case, so most wait for less than a
//! batch lasts.

use std::time::Duration;

/// From this rate on, in requests in a second, a thread that sends and keeps the time sends in batches, if nobody says. One by
/// one, it would be busy for three quarters of the time and more, and after a pause would be late for long.
const FROM: f64 = 40_000.0;

/// For how long such a batch is gathered: a fifth of the lag that a load may have.
const USUAL: Duration = Duration::from_micros(200);

/// Returns for how long a thread that sends and keeps the time gathers requests of so high a rate, if nobody says.
pub(super) fn usual(highest_rate: f64) -> Duration {
    if highest_rate < FROM { Duration::ZERO } else { USUAL }
}

/// When batches are sent.
#[derive(Debug)]
pub(super) struct Batches {
    length: u64,
    /// When one was sent; none yet at first.
    last: Option<u64>,
}

impl Batches {
    /// Gathers for at most so many nanoseconds; each request is a batch of its own if that is 0.
    pub(super) fn of(length: u64) -> Self {
        Self { length, last: None }
    }

    /// Returns when a request that is due at a time is sent: with the last batch if it was due by then, else with the next.
    pub(super) fn time(&self, due: u64) -> u64 {
        match self.last {
            Some(last) if due > last => due.max(last + self.length),
            _ => due,
        }
    }

    /// Takes note that one is sent.
    pub(super) fn sent_at(&mut self, now: u64) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_for_the_end_of_a_batch_and_never_longer() {
        let mut batches = Batches::of(200);
        // The first one, and one after a rest, waits for nothing.
        assert_eq!(batches.time(50), 50);
        batches.sent_at(60);
        // What was due by then is part of it.
        assert_eq!([50, 60].map(|due| batches.time(due)), [50, 60]);
        assert_eq!([61, 259, 260, 1000].map(|due| batches.time(due)), [260, 260, 260, 1000]);
        let mut alone = Batches::of(0);
        alone.sent_at(60);
        assert_eq!(alone.time(61), 61);
    }

    #[test]
    fn requests_are_sent_one_by_one_while_there_is_time_for_it() {
        assert_eq!([20e3, 40e3].map(usual), [Duration::ZERO, USUAL]);
    }
}
