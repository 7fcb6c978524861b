//! Whether a subject has more threads that want to run than CPUs.
//!
//! Nobody counts the threads of a process over its life. But threads that share CPUs push each other off them, some
//! hundred times a second (the scheduler's slice is about 3 ms), while a thread with a CPU of its own is pushed off only by
//! others, and those are in the evidence.

use becalm_model::{Note, Record, RecordKind, Run, SessionNote, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;

use super::busy::{USED, n_cpus};

/// Share of the time of its CPUs from which a subject wants all of them.
const ALL: f64 = 0.9;

/// Times a second and CPU that threads push each other off, at least.
const PUSHED_OFF: f64 = 50.0;

/// Share of its CPU time below which the main thread is not alone.
const MAIN_THREAD: f64 = 0.95;

/// Notes which subjects have more threads or processes that want to run than CPUs.
pub fn crowded_notes(record: &mut Record) {
    record.notes.retain(|note| !matches!(note, Note::Session(SessionNote::Crowded { .. })));
    if record.kind == RecordKind::Import {
        return;
    }
    let Some(cpus) = n_cpus(record) else { return };
    let crowded = (0..record.subjects.len()).filter(|&subject| is_crowded(record, subject, cpus));
    let notes: Vec<Note> = crowded
        .map(|subject| {
            let subject = record.subjects[subject].name.clone();
            SessionNote::Crowded { subject, cpus }.into()
        })
        .collect();
    record.notes.extend(notes);
}

fn is_crowded(record: &Record, subject: usize, cpus: usize) -> bool {
    let index = |name| record.metric_index(name);
    let (Some(wall), Some(cpu)) = (index(metric::WALL_TIME), index(metric::CPU_TIME)) else {
        return false;
    };
    let runs: Vec<(&Run, f64, f64)> = record
        .runs
        .iter()
        .filter(|run| run.subject == subject && run.is_measured() && !run.is_censored())
        .filter_map(|run| {
            let (wall, cpu) = (run.value(wall)?, run.value(cpu)?);
            (wall > 0.0 && cpu > 0.0).then_some((run, wall, cpu))
        })
        .collect();
    let typical = |value: &dyn Fn(&Run, f64, f64) -> Option<f64>| {
        let values = runs.iter().filter_map(|&(run, wall, cpu)| value(run, wall, cpu)).collect();
        Sample::new(values).ok().map(|sample| median(&sample))
    };
    let of_all = |wall: f64| wall * cpus as f64;
    let wants_all = typical(&|_, wall, cpu| Some(cpu / of_all(wall))).is_some_and(|it| it >= ALL);
    let has_others = typical(&|run, _, cpu| Some(run.evidence().main_thread_time? / cpu))
        .is_some_and(|share| share < MAIN_THREAD);
    let alone = typical(&|run, _, _| {
        let evidence = run.evidence();
        evidence.share_of_cpus(evidence.others, cpus)
    })
    .is_some_and(|share| share < USED);
    let pushed_off =
        typical(&|run, wall, _| Some(run.evidence().involuntary_switches as f64 / of_all(wall)));
    wants_all && has_others && alone && pushed_off.is_some_and(|rate| rate >= PUSHED_OFF)
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    /// Says whether a subject is called crowded whose runs take a second on two CPUs, with so much CPU time in all
    /// and in its main thread, pushed off so often, beside others that use so much.
    fn is_called(cpu: f64, main: f64, pushed_off: u64, others: f64) -> bool {
        let mut record = record(2, 5, |_, subject, run| {
            run.values[0] = Some(1.0);
            run.values[1] = Some(if subject == 0 { cpu } else { 0.5 });
            let evidence = run.evidence.get_or_insert_default();
            evidence.main_thread_time = Some(main);
            evidence.involuntary_switches = pushed_off;
            (evidence.others, evidence.window) = (Some(others), Some(1.0));
        });
        record.conditions.affinity = "2-3".parse().ok();
        crowded_notes(&mut record);
        crowded_notes(&mut record);
        match record.notes.as_slice() {
            [] => false,
            [Note::Session(SessionNote::Crowded { subject, cpus: 2 })] if subject == "A" => true,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn threads_that_push_each_other_off_are_too_many() {
        assert!(is_called(1.9, 0.5, 400, 0.02));
        // One for each CPU.
        assert!(!is_called(1.9, 0.95, 6, 0.02));
        // Pushed off by others.
        assert!(!is_called(1.9, 0.5, 400, 0.5));
        // A CPU is free.
        assert!(!is_called(1.2, 0.5, 400, 0.02));
        // A single thread.
        assert!(!is_called(1.9, 1.9, 400, 0.02));
    }
}
