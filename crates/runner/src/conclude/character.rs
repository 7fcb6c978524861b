//! What kind of program a subject is, by its own runs.

use becalm_model::{Record, Run, metric};
use becalm_stats::{Sample, center};

use crate::main_thread::OF_ITS_END;

/// What the runs of one subject show about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Character {
    /// Nearly all its CPU time is that of its main thread, children included.
    pub single_threaded: bool,
    /// Whether the kernel told what the main thread used and waited for; without that, only a
    /// program that computes all the time on one CPU shows its kind.
    pub is_certain: bool,
    /// It computed nearly all the time that it was not kept from a CPU.
    pub cpu_bound: bool,
    /// Median wall time in seconds.
    pub wall: f64,
    /// Mean share of its wall time that it was ready to run and had no CPU; `None` where the kernel
    /// does not tell.
    pub kept_waiting: Option<f64>,
}

/// Smallest share of the CPU time that the main thread has in a single-threaded program. The rest
/// leaves room for the program loader, which runs before the accounting of the new image.
const MAIN_THREAD_SHARE: f64 = 0.95;

/// Largest share of its time that a computing program spends neither running nor ready to run.
const WAITING_SHARE: f64 = 0.10;

/// Without the kernel's per-thread figures: CPU time over wall time of one computing thread.
const ONE_THREAD: std::ops::RangeInclusive<f64> = 0.90..=1.02;

/// Largest share of a CPU that is taken to be stolen.
const MOST_STOLEN: f64 = 0.95;

/// Returns how much of the time that a hypervisor took from a subject's CPUs it took from the subject
/// itself, and not from others there while the subject slept. Whoever has a CPU for `cpu` seconds has to
/// stay there for `cpu / (1 - share)` where a share is stolen. All times are in seconds.
fn stolen_while_it_ran(steal: f64, wall: f64, cpu: f64) -> f64 {
    if wall <= 0.0 {
        return 0.0;
    }
    let share = (steal / wall).clamp(0.0, MOST_STOLEN);
    (cpu * share / (1.0 - share)).min(steal)
}

/// Returns what `runs`, all of one subject, show about it; `None` when there is nothing to go by.
pub fn character(record: &Record, runs: &[&Run]) -> Option<Character> {
    let wall_index = record.metric_index(metric::WALL_TIME)?;
    let cpu_index = record.metric_index(metric::CPU_TIME)?;
    let sample = |value: &dyn Fn(&Run, f64, f64) -> Option<f64>| {
        let values = runs
            .iter()
            .filter(|run| !run.is_censored())
            .filter_map(|run| value(run, run.value(wall_index)?, run.value(cpu_index)?))
            .collect();
        Sample::new(values).ok()
    };
    let of = |value: &dyn Fn(&Run, f64, f64) -> Option<f64>| {
        sample(value).map(|sample| center::median(&sample))
    };
    let wall = of(&|_, wall, _| Some(wall))?;
    let usage = of(&|_, wall, cpu| (wall > 0.0).then(|| cpu / wall))?;
    let main_share = of(&|run, _, cpu| {
        let evidence = run.evidence();
        // One that has not switched yet was seen while it was ending, and its times are not complete.
        let was_over = evidence.voluntary_switches >= OF_ITS_END;
        evidence.main_thread_time.filter(|_| cpu > 0.0 && was_over).map(|time| time / cpu)
    });
    let waiting = of(&|run, wall, cpu| {
        let evidence = run.evidence();
        let run_delay = evidence.run_delay?;
        if evidence.voluntary_switches <= OF_ITS_END {
            // It never went away by itself: what it did not run was taken from it. (Steal is told in steps of 10 ms.)
            return Some(0.0);
        }
        let kept_away = run_delay + stolen_while_it_ran(evidence.steal.unwrap_or(0.0), wall, cpu);
        (wall > 0.0).then(|| ((wall - cpu - kept_away) / wall).max(0.0))
    });
    // The mean, because competition comes in spells that a median of few runs does not show.
    let kept_waiting = sample(&|run, wall, _| {
        run.evidence().run_delay.filter(|_| wall > 0.0).map(|delay| delay / wall)
    });
    Some(Character {
        kept_waiting: kept_waiting.map(|sample| center::mean(&sample)),
        is_certain: main_share.is_some() && waiting.is_some(),
        single_threaded: main_share
            .map_or(ONE_THREAD.contains(&usage), |share| share >= MAIN_THREAD_SHARE),
        cpu_bound: waiting.map_or(ONE_THREAD.contains(&usage), |share| share <= WAITING_SHARE),
        wall,
    })
}
