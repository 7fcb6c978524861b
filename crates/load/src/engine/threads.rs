//! What the generator's own threads use.

use becalm_kernel::{clock, sched};
use becalm_model::load::ThreadUse;

/// Watches the calling thread.
#[derive(Debug)]
pub(crate) struct Watch {
    name: String,
    started: u64,
    cpu: f64,
    waited: Option<f64>,
}

impl Watch {
    /// From now on.
    pub(crate) fn start(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            started: clock::monotonic_nanos(),
            cpu: clock::thread_cpu_time(),
            waited: waited(),
        }
    }

    /// Returns what the thread used since then, as shares of the time.
    pub(crate) fn stop(self) -> ThreadUse {
        let elapsed = (clock::monotonic_nanos() - self.started).max(1) as f64 * 1e-9;
        let share = |seconds: f64| (seconds / elapsed).clamp(0.0, 1.0);
        let waited = waited().zip(self.waited).map(|(after, before)| share(after - before));
        let cpu = share(clock::thread_cpu_time() - self.cpu);
        ThreadUse { name: self.name, cpu, waited }
    }
}

fn waited() -> Option<f64> {
    sched::own_scheduled().map(|scheduled| scheduled.waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_shares() {
        let watch = Watch::start("this");
        let used = watch.stop();
        assert!((0.0..=1.0).contains(&used.cpu));
        assert!(used.waited.is_none_or(|waited| (0.0..=1.0).contains(&waited)));
    }
}
