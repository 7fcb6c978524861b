//! More threads than CPUs that have to meet at the end of each piece of work, as of a parallel loop.
//!
//! One thread that did not get a CPU makes all others wait: this is what happens to a program that counts
//! the machine's CPUs and not those that it may use.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::{Prepared, WorkloadError, compute};

/// Prepares `amount` units of the compute loop in each of `threads` threads.
pub(super) fn prepare(amount: u64, threads: usize) -> Result<Prepared, WorkloadError> {
    let crew = Crew::new(amount, threads)?;
    Ok(Prepared::computing(move || crew.work()))
}

/// Threads that wait for work. They end with it.
#[derive(Debug)]
struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    starts: Condvar,
    ends: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many pieces of work were given out.
    piece: u64,
    /// Threads that are still at the present one.
    at_work: usize,
    total: u64,
    is_over: bool,
}

impl Crew {
    fn new(amount: u64, threads: usize) -> Result<Self, WorkloadError> {
        let mut crew = Self { shared: Arc::default(), threads: Vec::with_capacity(threads) };
        for number in 1..=threads {
            let shared = Arc::clone(&crew.shared);
            let started = Builder::new().spawn(move || shared.take_part(amount));
            let failed = |source| WorkloadError::Thread { number, of: threads, source };
            crew.threads.push(started.map_err(failed)?);
        }
        Ok(crew)
    }

    /// Gives out a piece of work and waits for the last thread.
    fn work(&self) -> u64 {
        let mut state = self.shared.state();
        state.piece += 1;
        state.at_work = self.threads.len();
        state.total = 0;
        self.shared.starts.notify_all();
        let ended = self.shared.ends.wait_while(state, |state| state.at_work > 0);
        ended.unwrap_or_else(PoisonError::into_inner).total
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.starts.notify_all();
        for thread in self.threads.drain(..) {
            // The loop of a thread does not panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_part(&self, amount: u64) {
        let mut done = 0;
        loop {
            let waiting = |state: &mut State| state.piece == done && !state.is_over;
            let state = self.starts.wait_while(self.state(), waiting);
            let state = state.unwrap_or_else(PoisonError::into_inner);
            if state.is_over {
                return;
            }
            done = state.piece;
            drop(state);
            let result = compute::steps(amount);
            let mut state = self.state();
            state.total = state.total.wrapping_add(result);
            state.at_work -= 1;
            if state.at_work == 0 {
                self.ends.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_does_its_part_of_every_piece() {
        let crew = Crew::new(2, 5).unwrap();
        for _ in 0..3 {
            assert_eq!(crew.work(), compute::steps(2).wrapping_mul(5));
        }
    }

    #[test]
    fn a_crew_that_never_worked_ends_too() {
        drop(Crew::new(1, 3).unwrap());
    }
}
