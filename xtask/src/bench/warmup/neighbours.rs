//! Busy loops that come and go beside a program, as one thread for every other CPU.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use becalm_stats::Rng;

use super::Stage;

/// Threads that are busy by turns, until dropped.
pub(super) struct Neighbours {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    /// Starts what belongs to a stage.
    pub(super) fn start(stage: Stage, rng: &mut Rng) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let spells = spells(stage, rng);
        let thread = || {
            let (is_over, spells) = (Arc::clone(&is_over), spells.clone());
            std::thread::spawn(move || keep(&spells, &is_over))
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if spells.is_empty() { 0 } else { cpus.div_ceil(2) };
        let threads = (0..count).map(|_| thread()).collect();
        Self { is_over, threads }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Quiet and busy seconds by turns.
fn spells(stage: Stage, rng: &mut Rng) -> Vec<(f64, f64)> {
    let mut between = |low: f64, high: f64| low + (high - low) * rng.uniform();
    match stage {
        Stage::Quiet | Stage::Mild => Vec::new(),
        Stage::Bursts => (0..60).map(|_| (between(0.1, 0.7), between(0.1, 0.5))).collect(),
        Stage::Passing => vec![(between(0.3, 2.0), between(0.3, 1.0))],
        Stage::Busy => vec![(0.0, 60.0)],
    }
}

/// Goes through the spells, and looks every millisecond or so whether it is over.
fn keep(spells: &[(f64, f64)], is_over: &AtomicBool) {
    const STEP: Duration = Duration::from_millis(1);
    let mut number = 1_u64;
    let mut until = Instant::now();
    for &(quiet, busy) in spells {
        until += Duration::from_secs_f64(quiet);
        while Instant::now() < until {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(STEP);
        }
        until += Duration::from_secs_f64(busy);
        while Instant::now() < until {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            for _ in 0..100_000 {
                number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
        }
    }
}
