//! Waiting for a calm machine before a round.

use std::time::Duration;

use becalm_machine::{Unrest, UnrestReader};

use super::Spawn;
use crate::monotonic_raw;
use crate::rounds::settling::{BASELINE_LOOKS, BETWEEN_LOOKS, Baseline, Step, Unsettled, Wait};

/// What is needed to wait for a calm machine.
#[derive(Debug)]
pub(super) struct Settling {
    pub(super) reader: UnrestReader,
    pub(super) baseline: Baseline,
    /// The latest reading.
    pub(super) latest: Option<Unrest>,
    pub(super) maximum: Duration,
    pub(super) unsettled: Unsettled,
}

impl Spawn<'_> {
    /// Reads how calm the machine is now, and from here on waits before each round until it is so again,
    /// at most for `maximum`. Takes a fifth of a second; to be called before anything is run.
    #[must_use]
    pub fn settling(mut self, maximum: Duration) -> Self {
        let mut reader = UnrestReader::open(self.root);
        let mut looks = Vec::with_capacity(BASELINE_LOOKS);
        for _ in 0..BASELINE_LOOKS {
            if !self.interrupt.sleep(BETWEEN_LOOKS) {
                break;
            }
            looks.push(reader.read());
        }
        let baseline = Baseline::of(&looks);
        let latest = looks.last().copied();
        let unsettled = Unsettled::new();
        self.settling = Some(Settling { reader, baseline, latest, maximum, unsettled });
        self
    }

    /// Waits until the machine is as calm as at the start, and returns the seconds that took; `None` where
    /// nobody asked for it.
    pub(super) fn wait_until_calm(&mut self) -> Option<f64> {
        let settling = self.settling.as_mut()?;
        let start = monotonic_raw();
        let mut wait = Wait::new(settling.baseline, settling.latest);
        let mut waited = Duration::ZERO;
        loop {
            let reading = settling.reader.read();
            settling.latest = Some(reading);
            let Step::LookAgain(restless) = wait.see(reading) else { break };
            if waited + BETWEEN_LOOKS > settling.maximum {
                for what in restless {
                    *settling.unsettled.entry(what).or_default() += 1;
                }
                break;
            }
            // What happens meanwhile is no evidence against the runs before it.
            self.observed.flush();
            if !self.interrupt.sleep(BETWEEN_LOOKS) {
                break;
            }
            waited = monotonic_raw().saturating_sub(start);
        }
        Some(waited.as_secs_f64())
    }
}
