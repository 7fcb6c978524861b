//! What happened on the machine while the runs went by.
//!
//! The machine is read between runs, and one reading serves as the end of one run and the start of
//! the next. Reading costs some of the time that it is about, and `/proc/stat` counts in steps of
//! 10 ms, so runs that are shorter share one window.

use std::time::Duration;

use becalm_kernel::clock;
use becalm_machine::{Activity, ActivityReader, SysRoot, monotonic_now};
use becalm_model::{CpuSet, Evidence, Limit, whole};

use crate::launch::Finished;
#[cfg(test)]
use crate::pace::Sampled;
use crate::placement::own_affinity;

/// Shortest time between two readings.
pub const MIN_WINDOW: Duration = Duration::from_millis(10);

/// How old a reading may be to serve as the start of a run. What happened before that run, such
/// as a preparing command, would else be held against it.
const STALE: Duration = Duration::from_millis(1);

/// Reads the machine around runs and gives each run its evidence.
#[derive(Debug)]
pub struct EvidenceCollector {
    reader: ActivityReader,
    /// The CPUs that are watched.
    cpus: CpuSet,
    opened: Totals,
    /// Runs of the window that is still open, with everything that is theirs alone.
    pending: Vec<Evidence>,
    /// CPU time of these runs, in seconds.
    used: f64,
}

/// A reading of the machine, with becalm's own CPU time in seconds at that moment: of all threads, and of the one
/// that measures.
#[derive(Debug, Clone, Copy)]
struct Totals {
    activity: Activity,
    becalm: f64,
    measuring: f64,
}

impl Totals {
    fn read(reader: &mut ActivityReader) -> Self {
        Self {
            activity: reader.read(),
            becalm: clock::process_cpu_time(),
            measuring: clock::thread_cpu_time(),
        }
    }
}

impl EvidenceCollector {
    /// Starts to watch the CPUs that the subjects use.
    pub fn open(root: &SysRoot, cpus: &CpuSet) -> Self {
        let mut reader = ActivityReader::open(root, cpus);
        let opened = Totals::read(&mut reader);
        Self { reader, cpus: cpus.clone(), opened, pending: Vec::new(), used: 0.0 }
    }

    /// Returns what cannot be read here.
    pub fn limits(&self) -> Vec<Limit> {
        self.reader.limits()
    }

    /// Is told that a run starts now. Reads the machine anew when the last reading is old and no
    /// earlier run still waits for the end of its window.
    pub fn before_run(&mut self) {
        let age = monotonic_now().saturating_sub(self.opened.activity.at);
        if self.pending.is_empty() && age > STALE {
            self.opened = Totals::read(&mut self.reader);
        }
    }

    /// Is told that a run has just ended. Returns the evidence of every run since the last
    /// reading, oldest first and this one last; nothing while the window is still too short.
    ///
    /// `migrations` is the counter [`becalm_model::metric::CPU_MIGRATIONS`] of the run.
    pub fn after_run(&mut self, finished: &Finished, migrations: Option<f64>) -> Vec<Evidence> {
        self.pending.push(own_evidence(finished, migrations));
        self.used += finished.cpu_time();
        let age = monotonic_now().saturating_sub(self.opened.activity.at);
        if age < MIN_WINDOW { Vec::new() } else { self.flush() }
    }

    /// Says whether a run waits for the end of its window.
    pub fn is_open(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Ends the window now, whatever its length, and returns the evidence of the runs in it. To be
    /// called before anything that is not a run, and at the end.
    pub fn flush(&mut self) -> Vec<Evidence> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let closed = Totals::read(&mut self.reader);
        // What becalm uses while no subject runs disturbs none, and what it uses to sample the pace is told. Beside
        // the subjects' CPUs it is not among what these were busy with.
        let is_beside = own_affinity().is_ok_and(|own| own.intersection(&self.cpus).is_empty());
        let elsewhere = if is_beside { closed.measuring - self.opened.measuring } else { 0.0 };
        let ours = self.used + (closed.becalm - self.opened.becalm - elsewhere).max(0.0);
        let window = window(&self.opened.activity, &closed.activity, ours);
        self.opened = closed;
        self.used = 0.0;
        let runs = std::mem::take(&mut self.pending);
        runs.iter().map(|run| with_window(run, &window)).collect()
    }
}

/// Returns the part of the evidence that the run itself gives.
pub(crate) fn own_evidence(finished: &Finished, migrations: Option<f64>) -> Evidence {
    let migrations = migrations.map(|count| whole(count.round()));
    Evidence {
        voluntary_switches: finished.voluntary_switches,
        involuntary_switches: finished.involuntary_switches,
        minor_faults: finished.minor_faults,
        major_faults: finished.major_faults,
        migrations,
        run_delay: finished.run_delay,
        main_thread_time: finished.main_thread_time,
        blocked: blocked(finished),
        pace: finished.pace.and_then(|sampled| sampled.pace),
        pace_samples: finished.pace.map(|sampled| sampled.samples),
        ..Evidence::default()
    }
}

/// Returns what the main thread neither ran nor waited for a CPU, of the wall time. Steal is in it.
fn blocked(finished: &Finished) -> Option<f64> {
    let (ran, waited) = (finished.main_thread_time?, finished.run_delay?);
    Some((finished.wall - ran - waited).max(0.0))
}

/// Puts the machine-wide figures of `window` into the evidence of one run.
fn with_window(run: &Evidence, window: &Evidence) -> Evidence {
    Evidence {
        voluntary_switches: run.voluntary_switches,
        involuntary_switches: run.involuntary_switches,
        minor_faults: run.minor_faults,
        major_faults: run.major_faults,
        migrations: run.migrations,
        run_delay: run.run_delay,
        main_thread_time: run.main_thread_time,
        blocked: run.blocked,
        pace: run.pace,
        pace_samples: run.pace_samples,
        ..window.clone()
    }
}

/// Returns what happened between two readings; `ours` is the CPU time in seconds that the
/// subjects and becalm used meanwhile. Only the machine-wide fields are filled in.
///
/// A total that runs backwards, as that of a CPU does that goes offline, gives no value.
pub fn window(before: &Activity, after: &Activity, ours: f64) -> Evidence {
    let seconds = |field: fn(&Activity) -> Option<f64>| {
        Some(field(after)? - field(before)?).filter(|difference| *difference >= 0.0)
    };
    let count = |field: fn(&Activity) -> Option<u64>| field(after)?.checked_sub(field(before)?);
    Evidence {
        window: Some(after.at.saturating_sub(before.at).as_secs_f64()),
        steal: seconds(|activity| activity.steal),
        others: seconds(|activity| activity.busy).map(|busy| (busy - ours).max(0.0)),
        siblings: seconds(|activity| activity.siblings),
        pressure_cpu: seconds(|activity| activity.pressure_cpu),
        pressure_memory: seconds(|activity| activity.pressure_memory),
        pressure_io: seconds(|activity| activity.pressure_io),
        quota_throttled: seconds(|activity| activity.quota_throttled),
        thermal_throttles: count(|activity| activity.thermal_throttles),
        smis: count(|activity| activity.smis),
        interrupts: count(|activity| activity.interrupts),
        softirqs: count(|activity| activity.softirqs),
        frequency: after.frequency,
        effective_frequency: after
            .clocks
            .zip(before.clocks)
            .and_then(|(after, before)| after.frequency_since(&before)),
        ..Evidence::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Outcome;

    fn activity(at_ms: u64, busy: f64) -> Activity {
        Activity {
            at: Duration::from_millis(at_ms),
            busy: Some(busy),
            siblings: Some(busy / 2.0),
            interrupts: Some(at_ms * 10),
            softirqs: Some(at_ms * 3),
            frequency: Some(2e9 + busy),
            ..Activity::default()
        }
    }

    fn finished(cpu_time: f64) -> Finished {
        Finished {
            released: Duration::ZERO,
            wall: cpu_time,
            outcome: Outcome::Exited(0),
            user_time: cpu_time,
            system_time: 0.0,
            max_rss: 0,
            voluntary_switches: 1,
            involuntary_switches: 2,
            minor_faults: 3,
            major_faults: 4,
            main_thread_time: Some(cpu_time),
            run_delay: Some(0.001),
            pace: Some(Sampled { pace: Some(7e-10), samples: 150 }),
            counters: vec![],
            output: None,
            said: Vec::new(),
        }
    }

    #[test]
    fn a_window_is_the_difference_of_two_readings_less_what_is_ours() {
        let evidence = window(&activity(1000, 5.0), &activity(1500, 5.4), 0.3);
        assert_eq!(evidence.window, Some(0.5));
        assert!((evidence.others.unwrap() - 0.1).abs() < 1e-9);
        assert!((evidence.siblings.unwrap() - 0.2).abs() < 1e-9);
        assert_eq!((evidence.interrupts, evidence.softirqs), (Some(5000), Some(1500)));
        assert_eq!(evidence.frequency, Some(2e9 + 5.4));
        assert_eq!(evidence.steal, None, "what was not read stays unknown");
    }

    #[test]
    fn others_never_use_less_than_nothing() {
        // The ticks of /proc/stat are coarser than the CPU time of a process.
        let evidence = window(&activity(0, 5.0), &activity(10, 5.0), 0.008);
        assert_eq!(evidence.others, Some(0.0));
    }

    #[test]
    fn a_total_that_runs_backwards_gives_no_value() {
        let evidence = window(&activity(100, 5.0), &activity(50, 4.0), 0.0);
        assert_eq!((evidence.others, evidence.interrupts), (None, None));
        assert_eq!(evidence.window, Some(0.0));
    }

    #[test]
    fn a_run_keeps_what_is_its_own_beside_the_window() {
        let window = window(&activity(0, 1.0), &activity(20, 1.0), 0.0);
        let evidence = with_window(&own_evidence(&finished(0.01), Some(2.0)), &window);
        assert_eq!(evidence.migrations, Some(2));
        assert_eq!((evidence.involuntary_switches, evidence.major_faults), (2, 4));
        assert_eq!((evidence.run_delay, evidence.pace), (Some(0.001), Some(7e-10)));
        // It ran all the time, and waited a millisecond: rounding must not make it less than nothing.
        assert_eq!(evidence.blocked, Some(0.0));
        assert_eq!(evidence.window, Some(0.02));
    }

    #[test]
    fn short_runs_share_a_window_and_long_ones_have_their_own() {
        let cpus = crate::own_affinity().unwrap();
        let mut collector = EvidenceCollector::open(&SysRoot::default(), &cpus);
        collector.before_run();
        let opened = collector.opened.activity.at;
        let first = collector.after_run(&finished(0.0), None);
        let second = collector.after_run(&finished(0.0), None);
        // Unless somebody else had the CPU meanwhile.
        if monotonic_now().saturating_sub(opened) < MIN_WINDOW {
            assert_eq!((first.len(), second.len()), (0, 0));
        }
        assert_eq!(first.len() + second.len() + collector.flush().len(), 2);
        assert_eq!(collector.flush(), vec![], "every run is handed out once");
        collector.before_run();
        std::thread::sleep(Duration::from_millis(15));
        let evidence = collector.after_run(&finished(0.0), None);
        assert_eq!(evidence.len(), 1);
        assert!(evidence[0].window.unwrap() >= 0.015, "{evidence:?}");
    }
}
