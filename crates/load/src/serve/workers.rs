//! Threads that compute for as long as a request takes.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use becalm_kernel::clock;
use becalm_stats::Rng;
use tokio::sync::oneshot::Sender;

use super::truth::{ServiceTime, Stalls};

/// Workers that use a CPU.
#[derive(Debug)]
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stalls: Option<Stalls>,
}

#[derive(Debug)]
struct State {
    jobs: VecDeque<Job>,
    rng: Rng,
    is_over: bool,
}

/// A request that waits: when the server's time began, and whom to tell.
type Job = (u64, Sender<()>);

impl Workers {
    /// Starts as many threads.
    pub(super) fn start(
        number: usize,
        service: ServiceTime,
        stalls: Option<Stalls>,
        seed: u64,
    ) -> std::io::Result<Self> {
        let state = State { jobs: VecDeque::new(), rng: Rng::new(seed), is_over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), stalls });
        let mut workers = Self { shared, threads: Vec::new() };
        for number in 1..=number.max(1) {
            let shared = Arc::clone(&workers.shared);
            let named = std::thread::Builder::new().name(format!("worker {number}"));
            workers.threads.push(named.spawn(move || shared.work(service))?);
        }
        Ok(workers)
    }

    /// Gives them a request; `began` is when the server's time began.
    pub(super) fn take(&self, began: u64, done: Sender<()>) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.push_back((began, done));
        drop(state);
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn work(&self, service: ServiceTime) {
        while let Some((work, (began, done))) = self.next(service) {
            let now = clock::monotonic_nanos();
            // In a stall nobody begins anything; what is begun is finished.
            if let Some(stalls) = self.stalls {
                let resumes = began + stalls.end_of_work(now - began, 0);
                while clock::monotonic_nanos() < resumes {
                    clock::sleep_until(resumes);
                }
            }
            let until = clock::thread_cpu_time() + work as f64 * 1e-9;
            while clock::thread_cpu_time() < until {
                std::hint::spin_loop();
            }
            // Whoever asked may be gone.
            let _ = done.send(());
        }
    }

    /// Waits for a request; none comes when it is over.
    fn next(&self, service: ServiceTime) -> Option<(u64, Job)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.is_over {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some((service.draw(&mut state.rng), job));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn a_worker_takes_no_less_time_than_the_service() {
        let workers = Workers::start(1, ServiceTime::Fixed(0.005), None, 1).unwrap();
        let began = clock::monotonic_nanos();
        for _ in 0..2 {
            let (done, is_done) = oneshot::channel();
            workers.take(began, done);
            is_done.blocking_recv().unwrap();
        }
        assert!(clock::monotonic_nanos() >= began + 10_000_000);
    }
}
