//! Load on the SMT siblings of a probed CPU.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use becalm_model::{CpuId, CpuSet};
use becalm_runner::pin_self;

/// Rounds of work between two looks at the flag: some microseconds.
const ROUNDS: u32 = 2_000;

/// Threads that compute, one on each of some CPUs, until this is dropped.
#[derive(Debug, Default)]
pub(super) struct WhileBusy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl WhileBusy {
    /// Starts the threads and waits until all of them compute.
    pub(super) fn start(cpus: &CpuSet) -> io::Result<Self> {
        let mut this = Self::default();
        let ready = Arc::new(AtomicUsize::new(0));
        for cpu in cpus.iter() {
            let (stop, ready) = (Arc::clone(&this.stop), Arc::clone(&ready));
            let thread = thread::Builder::new().name(format!("busy/{cpu}"));
            this.threads.push(thread.spawn(move || busy(cpu, &stop, &ready))?);
        }
        while ready.load(Ordering::Acquire) < this.threads.len() {
            if let Some(failed) = this.threads.iter().position(JoinHandle::is_finished) {
                let end = this.threads.swap_remove(failed).join();
                return end.unwrap_or(Ok(())).and(Err(io::Error::other("a thread ended early")));
            }
            thread::sleep(Duration::from_micros(100));
        }
        Ok(this)
    }
}

impl Drop for WhileBusy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // What it could have failed at was seen at the start.
            let _ = thread.join();
        }
    }
}

fn busy(cpu: CpuId, stop: &AtomicBool, ready: &AtomicUsize) -> io::Result<()> {
    pin_self(&CpuSet::from_iter([cpu]))?;
    ready.fetch_add(1, Ordering::Release);
    let mut state = black_box(0x2545_f491_4f6c_dd1d_u64);
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..ROUNDS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    }
    black_box(state);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_runner::own_affinity;

    #[test]
    fn threads_are_busy_until_they_are_dropped() {
        let one: CpuSet = own_affinity().unwrap().first().into_iter().collect();
        let busy = WhileBusy::start(&one).unwrap();
        assert_eq!(busy.threads.len(), 1);
        let stop = Arc::clone(&busy.stop);
        drop(busy);
        assert!(stop.load(Ordering::Relaxed));
    }

    #[test]
    fn without_siblings_nobody_is_busy() {
        assert!(WhileBusy::start(&CpuSet::new()).unwrap().threads.is_empty());
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        let gone = CpuSet::from_iter([CpuId(8191)]);
        assert!(WhileBusy::start(&gone).is_err());
    }
}
