//! How fast a core is while a subject runs on it.
//!
//! A virtual CPU is half of a core whose other half may belong to somebody else, and its frequency is the
//! host's business; neither can be seen from inside. Both show in how long a fixed piece of arithmetic takes.
//! A thread of becalm wakes up on the subject's CPU some 4000 times a second, does that piece, and sleeps
//! again: the mean over a run says at which pace the core went *during* the run, which no probe before and
//! after it can, because such neighbours come and go within milliseconds.
//!
//! The kernel accounts the thread's time to becalm and not to the subject. What it costs the subject are two
//! switches and an interrupt each time, alike for all subjects.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use becalm_kernel::sched;
use becalm_model::conditions::Scheduler;
use becalm_model::{CpuId, CpuSet};

/// Time between two samples; where the kernel does not let the thread ask for more, it wakes up some 50 us later.
pub(crate) const PERIOD: Duration = Duration::from_micros(250);

/// How long a sample takes on the core at its best, in seconds: long enough for a clock of 20 to 40 ns, and
/// short beside the period.
const SAMPLE: f64 = 4e-6;

/// Samples without which a run has no pace.
const FEWEST: u32 = 8;

/// A sample that took so many times as long as the shortest did not run through.
const INTERRUPTED: f64 = 4.0;

/// Samples the pace of one CPU while it is told to.
#[derive(Debug)]
pub(crate) struct PaceSampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Rounds of [`work`] in a sample.
    rounds: u32,
}

#[derive(Debug, Default)]
struct Shared {
    is_running: AtomicBool,
    has_ended: AtomicBool,
    gathered: Mutex<Gathered>,
}

/// What the samples during a run showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// See [`Evidence::pace`](becalm_model::Evidence::pace); `None` with too few samples.
    pub pace: Option<f64>,
    /// See [`Evidence::pace_samples`](becalm_model::Evidence::pace_samples).
    pub samples: u64,
}

/// Samples of a run.
#[derive(Debug, Clone, Copy)]
struct Gathered {
    /// Seconds, all samples together that ran through.
    sum: f64,
    ran_through: u32,
    /// How often the CPU was taken from the subject.
    samples: u64,
    /// Shortest sample ever, in seconds.
    shortest: f64,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { sum: 0.0, ran_through: 0, samples: 0, shortest: f64::INFINITY }
    }
}

impl Gathered {
    fn add(&mut self, seconds: f64) {
        self.samples += 1;
        self.shortest = self.shortest.min(seconds);
        if seconds < INTERRUPTED * self.shortest {
            self.sum += seconds;
            self.ran_through += 1;
        }
    }

    /// Returns what was gathered and starts afresh; `rounds` are those of a sample.
    fn take(&mut self, rounds: u32) -> Sampled {
        let all = f64::from(self.ran_through) * f64::from(rounds);
        let pace = (self.ran_through >= FEWEST).then(|| self.sum / all);
        let samples = self.samples;
        *self = Self { shortest: self.shortest, ..Self::default() };
        Sampled { pace, samples }
    }
}

impl PaceSampler {
    /// Makes ready to sample this CPU. The samples go before a subject of this class; before an ordinary one they
    /// do where that is allowed, and else come late where others compete.
    ///
    /// # Errors
    ///
    /// There can be no further thread, or it may not run on the CPU, or not before a real-time subject.
    pub(crate) fn start(cpu: CpuId, subject: Scheduler) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (sender, receiver) = mpsc::channel();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("becalm-pace".to_owned())
            .spawn(move || sample(cpu, subject, &theirs, &sender))?;
        let ready = receiver.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        let mut sampler = Self { shared, thread: Some(thread), rounds: 0 };
        sampler.rounds = ready?;
        Ok(sampler)
    }

    /// Is told that a run is about to start.
    pub(crate) fn before_run(&self) {
        // The last sample of the run before may have come after its end.
        let _ = self.shared.gathered().take(self.rounds);
        self.shared.is_running.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Is told that the run has ended; returns what the samples showed meanwhile.
    pub(crate) fn after_run(&self) -> Sampled {
        self.shared.is_running.store(false, Ordering::Relaxed);
        self.shared.gathered().take(self.rounds)
    }
}

impl Shared {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PaceSampler {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // There is nobody to tell if it panicked.
            let _ = thread.join();
        }
    }
}

/// The life of the thread.
fn sample(cpu: CpuId, subject: Scheduler, shared: &Shared, ready: &Sender<io::Result<u32>>) {
    let place = crate::pin_self(&CpuSet::from_iter([cpu])).and_then(|()| go_before(subject));
    if let Err(error) = place {
        let _ = ready.send(Err(error));
        return;
    }
    let rounds = rounds();
    let _ = ready.send(Ok(rounds));
    while !shared.has_ended.load(Ordering::Relaxed) {
        if !shared.is_running.load(Ordering::Relaxed) {
            thread::park();
            continue;
        }
        thread::sleep(PERIOD);
        if shared.is_running.load(Ordering::Relaxed) {
            let seconds = timed(rounds);
            shared.gathered().add(seconds);
        }
    }
}

/// Puts the calling thread before a subject of this class.
fn go_before(subject: Scheduler) -> io::Result<()> {
    match subject {
        Scheduler::Fifo(priority) => sched::set_own_fifo(priority.saturating_add(1)),
        Scheduler::Other => {
            // Somebody may have chosen a class for becalm, which stays.
            if sched::is_ordinary()? && sched::set_own_fifo(1).is_err() {
                sched::wake_up_on_time();
            }
            Ok(())
        }
    }
}

/// Returns how many rounds of [`work`] take as long as a sample should.
fn rounds() -> u32 {
    const TRIED: u32 = 1000;
    let shortest = (0..20).map(|_| timed(TRIED)).fold(f64::INFINITY, f64::min).max(1e-8);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let rounds = (f64::from(TRIED) * SAMPLE / shortest).clamp(100.0, 1e6) as u32;
    rounds
}

fn timed(rounds: u32) -> f64 {
    let start = Instant::now();
    black_box(work(black_box(rounds)));
    start.elapsed().as_secs_f64()
}

/// Arithmetic that keeps as many units of a core busy as it has: what another thread of the core takes is
/// missed at once, and the sample takes up to twice as long. A chain of dependent rounds would hardly notice.
/// No step depends on another of its round, and the compiler knows no shorter way to the result.
fn work(rounds: u32) -> u64 {
    let (mut a, mut b, mut c, mut d) = (1_u64, 2_u64, 3_u64, 4_u64);
    let (mut e, mut f, mut g, mut h) = (5_u64, 6_u64, 7_u64, 8_u64);
    for _ in 0..rounds {
        let (first, fifth) = (a, e);
        a = a.wrapping_add(b);
        b ^= c;
        c = c.wrapping_sub(d);
        d ^= first;
        e = e.wrapping_sub(f);
        f = f.wrapping_add(g);
        g ^= h;
        h = h.wrapping_add(fifth);
    }
    a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::wait_until;

    #[test]
    fn a_run_has_the_mean_of_its_samples_without_those_that_were_interrupted() {
        let mut gathered = Gathered::default();
        for sample in [4e-6, 6e-6, 4e-6, 6e-6, 4e-6, 6e-6, 4e-6] {
            gathered.add(sample);
        }
        assert_eq!(gathered.take(2), Sampled { pace: None, samples: 7 }, "too few");
        for sample in [4e-6, 6e-6, 4e-6, 6e-6, 900e-6, 4e-6, 6e-6, 4e-6, 6e-6] {
            gathered.add(sample);
        }
        let sampled = gathered.take(2);
        assert!((sampled.pace.unwrap() - 2.5e-6).abs() < 1e-12);
        assert_eq!(sampled.samples, 9);
        assert_eq!(gathered.take(2).samples, 0, "each run has samples of its own");
    }

    #[test]
    fn a_cpu_is_sampled_while_it_is_told_to() {
        let cpu = crate::own_affinity().unwrap().first().unwrap();
        let sampler = PaceSampler::start(cpu, Scheduler::Other).unwrap();
        assert_eq!(sampler.after_run().pace, None, "no run, no pace");
        let paces = std::cell::RefCell::new(Vec::new());
        // A busy machine may let an ordinary thread wait for long.
        wait_until("a run with samples", || {
            sampler.before_run();
            thread::sleep(Duration::from_millis(20));
            paces.borrow_mut().extend(sampler.after_run().pace);
            !paces.borrow().is_empty()
        });
        let paces = paces.into_inner();
        assert!(paces.iter().all(|pace| (1e-11..1e-5).contains(pace)), "{paces:?}");
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        assert!(PaceSampler::start(CpuId(8000), Scheduler::Other).is_err());
    }
}
