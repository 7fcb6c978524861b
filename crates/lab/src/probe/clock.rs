//! Probing in user space: a thread that reads the clock without a pause, on one CPU after the other.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use becalm_kernel::sched;
use becalm_machine::{ActivityReader, SysRoot, Topology};
use becalm_model::{CpuId, CpuSet};
use becalm_runner::{Interrupt, pin_self};

use super::gaps::Gaps;
use super::siblings::WhileBusy;
use super::windows::{lengths, turn};
use super::{Aside, CpuNoise, ProbeError, Siblings, Terms, Window, watch};

/// Probes all CPUs of `terms` in turns. `progress` is told the share that is done, between windows.
///
/// When `interrupt` is raised the windows so far are returned.
pub fn probe_clock(
    root: &SysRoot,
    topology: &Topology,
    terms: &Terms,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<CpuNoise>, ProbeError> {
    let aside = Aside::step(&terms.cpus)?;
    let mut all: Vec<Probed> =
        terms.cpus.iter().map(|cpu| Probed::new(root, topology, terms, cpu)).collect();
    let lengths = lengths(terms.duration, terms.class.longest());
    let start = Instant::now();
    let turns = lengths.iter().enumerate().flat_map(|(round, length)| {
        let order: Vec<usize> = (0..terms.cpus.len()).collect();
        turn(&order, round).into_iter().map(move |index| (round, index, *length))
    });
    let n = lengths.len() * terms.cpus.len();
    for (done, (round, index, length)) in turns.enumerate() {
        progress(done as f64 / n as f64);
        let probed = &mut all[index];
        let left = probed
            .free_at
            .map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
        if !interrupt.sleep(left) {
            break;
        }
        aside.leave(probed.noise.cpu);
        probed.window(round, length, start, terms)?;
    }
    Ok(all.into_iter().map(|probed| probed.noise).collect())
}

/// One CPU while it is probed.
struct Probed {
    noise: CpuNoise,
    siblings: CpuSet,
    account: ActivityReader,
    /// When it has rested.
    free_at: Option<Instant>,
}

impl Probed {
    fn new(root: &SysRoot, topology: &Topology, terms: &Terms, cpu: CpuId) -> Self {
        let siblings = match terms.siblings {
            Siblings::Busy => topology.siblings_of(cpu).intersection(&topology.allowed),
            Siblings::AsTheyAre => CpuSet::new(),
        };
        let one = CpuSet::from_iter([cpu]);
        let account = ActivityReader::open_within(root, &one, Duration::ZERO);
        Self { noise: CpuNoise::new(cpu), siblings, account, free_at: None }
    }

    fn window(
        &mut self,
        round: usize,
        length: Duration,
        start: Instant,
        terms: &Terms,
    ) -> Result<(), ProbeError> {
        let stolen = self.account.read().steal;
        let began = start.elapsed();
        let (gaps, preemptions) = read_on(self.noise.cpu, &self.siblings, length, terms)?;
        self.free_at = Some(Instant::now() + terms.class.rest(length));
        let noise = &mut self.noise;
        noise.preemptions = noise.preemptions.map(|sum| sum + preemptions);
        noise.steal = match (noise.steal, stolen, self.account.read().steal) {
            (Some(sum), Some(before), Some(after)) => Some(sum + (after - before).max(0.0)),
            _ => None,
        };
        noise.windows.push(Window { round, start: began, gaps });
        Ok(())
    }
}

/// Reads the clock on a CPU; returns what was seen, and how often another thread took the CPU.
fn read_on(
    cpu: CpuId,
    siblings: &CpuSet,
    length: Duration,
    terms: &Terms,
) -> Result<(Gaps, u64), ProbeError> {
    let reader = || -> io::Result<(Gaps, u64)> {
        pin_self(&CpuSet::from_iter([cpu]))?;
        terms.class.enter(0)?;
        let before = sched::involuntary_switches()?;
        let gaps = watch::spin(length, terms.threshold);
        Ok((gaps, sched::involuntary_switches()?.saturating_sub(before)))
    };
    let read = || {
        let _busy = WhileBusy::start(siblings)?;
        thread::scope(|scope| scope.spawn(reader).join())
            .unwrap_or_else(|_| Err(io::Error::other("the reader of the clock has failed")))
    };
    read().map_err(|source| ProbeError::Reader { cpu, source })
}
