//! A thread that answers at the times that it was given.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_kernel::{clock, sched};
use tokio::sync::oneshot::Sender;

/// Wakes who waits for a time; timers of asynchronous loops are a millisecond late.
#[derive(Debug)]
pub(super) struct Alarm {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    times: BinaryHeap<Reverse<(u64, u64)>>,
    waiters: std::collections::HashMap<u64, Sender<()>>,
    number: u64,
    is_over: bool,
}

impl Alarm {
    /// Starts the thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let named = std::thread::Builder::new().name("alarm".to_owned());
        let thread = named.spawn(move || of_thread.ring())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Sends to `waiter` at this time of `CLOCK_MONOTONIC`.
    pub(super) fn at(&self, time: u64, waiter: Sender<()>) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.number;
        state.number += 1;
        let is_first = state.times.peek().is_none_or(|Reverse((first, _))| time < *first);
        state.times.push(Reverse((time, number)));
        state.waiters.insert(number, waiter);
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
    }
}

impl Shared {
    fn ring(&self) {
        sched::wake_up_on_time();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            let now = clock::monotonic_nanos();
            let left = match state.times.peek() {
                Some(Reverse((time, number))) if *time <= now => {
                    let number = *number;
                    state.times.pop();
                    if let Some(waiter) = state.waiters.remove(&number) {
                        // Whoever waited may be gone.
                        let _ = waiter.send(());
                    }
                    continue;
                }
                Some(Reverse((time, _))) => Duration::from_nanos(time - now),
                None => Duration::from_secs(3600),
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn waiters_are_woken_in_the_order_of_their_times_and_not_early() {
        let alarm = Alarm::start().unwrap();
        let now = clock::monotonic_nanos();
        let (late, late_rings) = oneshot::channel();
        let (early, early_rings) = oneshot::channel();
        alarm.at(now + 20_000_000, late);
        alarm.at(now + 10_000_000, early);
        early_rings.blocking_recv().unwrap();
        assert!(clock::monotonic_nanos() >= now + 10_000_000);
        late_rings.blocking_recv().unwrap();
        assert!(clock::monotonic_nanos() >= now + 20_000_000);
    }
}
