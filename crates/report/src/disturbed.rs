//! Which runs were disturbed and by what, as text.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::{
    Disturbance, DisturbanceSource, DisturbedRun, Note, Record, RecordKind, SessionNote,
};

use crate::quantity::{NBSP, count};

/// Returns the positions in [`Record::runs`] of the disturbed ones.
pub(crate) fn positions(disturbed: &[DisturbedRun]) -> BTreeSet<usize> {
    disturbed.iter().map(|run| run.run).collect()
}

/// Says how many measured runs of `subject` (of all subjects when `None`) were disturbed, and by
/// what: `3 of 34 runs disturbed: other programs on CPU 1 (2), steal (1)`.
pub(crate) fn summary(
    record: &Record,
    disturbed: &[DisturbedRun],
    subject: Option<usize>,
) -> String {
    if record.kind == RecordKind::Import {
        return "it is unknown whether any was disturbed".to_owned();
    }
    let counts = |index: usize| {
        record
            .runs
            .get(index)
            .is_some_and(|run| !run.warmup && subject.is_none_or(|s| run.subject == s))
    };
    let n_runs = (0..record.runs.len()).filter(|&index| counts(index)).count();
    let hit: Vec<&DisturbedRun> = disturbed.iter().filter(|run| counts(run.run)).collect();
    if hit.is_empty() {
        let more = if is_busy(record) { " more than the others, on a busy machine" } else { "" };
        return format!("none of {} was disturbed{more}", count(n_runs, "run"));
    }
    let mut by_source: BTreeMap<DisturbanceSource, usize> = BTreeMap::new();
    for run in &hit {
        let sources: BTreeSet<DisturbanceSource> =
            run.causes.iter().map(|cause| cause.source).collect();
        for source in sources {
            *by_source.entry(source).or_default() += 1;
        }
    }
    let mut causes: Vec<(DisturbanceSource, usize)> = by_source.into_iter().collect();
    causes.sort_by_key(|&(source, n)| (std::cmp::Reverse(n), source));
    let causes: Vec<String> = causes
        .into_iter()
        .map(|(source, n)| format!("{}{NBSP}({n})", phrase(source, record)))
        .collect();
    let n_hit = hit.len();
    let mut text = format!("{n_hit} of {} disturbed", count(n_runs, "run"));
    if !causes.is_empty() {
        text = format!("{text}: {}", causes.join(", "));
    }
    match record.discarded_rounds() {
        0 => text,
        n => {
            let were = if n == 1 { "was" } else { "were" };
            format!("{text}; {} with such a run {were} repeated", count(n as usize, "round"))
        }
    }
}

/// Says whether others used the machine all the time.
fn is_busy(record: &Record) -> bool {
    let mut notes = record.notes.iter();
    notes.any(|note| matches!(note, Note::Session(SessionNote::BusyMachine { .. })))
}

/// Names the place that the evidence points at.
pub(crate) fn phrase(source: DisturbanceSource, record: &Record) -> String {
    let cpus = match record.conditions.affinity.as_ref() {
        Some(list) if list.len() > 1 => format!(" on CPUs {list}"),
        Some(list) if !list.is_empty() => format!(" on CPU {list}"),
        _ => String::new(),
    };
    match source {
        DisturbanceSource::InvoluntarySwitches => "pushed off the CPU".to_owned(),
        DisturbanceSource::Migrations => "moved between CPUs".to_owned(),
        DisturbanceSource::MajorFaults => "page faults that read the disk".to_owned(),
        DisturbanceSource::MinorFaults => "more page faults than usual".to_owned(),
        DisturbanceSource::RunDelay => "waited for a CPU".to_owned(),
        DisturbanceSource::Steal => "steal by the hypervisor".to_owned(),
        DisturbanceSource::Others => format!("other programs{cpus}"),
        DisturbanceSource::Siblings => "others on the same cores (SMT siblings)".to_owned(),
        DisturbanceSource::Interrupts => "more interrupts than usual".to_owned(),
        DisturbanceSource::Softirqs => "more softirqs than usual".to_owned(),
        DisturbanceSource::MemoryPressure => "memory pressure".to_owned(),
        DisturbanceSource::IoPressure => "I/O pressure".to_owned(),
        DisturbanceSource::QuotaThrottled => "throttled by the CPU quota".to_owned(),
        DisturbanceSource::ThermalThrottle => "throttled because of heat".to_owned(),
        DisturbanceSource::Firmware => "interrupted by firmware (SMI)".to_owned(),
        DisturbanceSource::Frequency => "another CPU frequency than usual".to_owned(),
    }
}

/// Writes one cause with its value and limit, for the table of raw runs.
pub(crate) fn detail(cause: &Disturbance, record: &Record) -> String {
    let name = phrase(cause.source, record);
    let (value, limit) = (cause.value, cause.limit);
    match cause.source {
        DisturbanceSource::RunDelay
        | DisturbanceSource::Steal
        | DisturbanceSource::Others
        | DisturbanceSource::Siblings
        | DisturbanceSource::MemoryPressure
        | DisturbanceSource::IoPressure
        | DisturbanceSource::QuotaThrottled => {
            format!("{name}: {:.2}{NBSP}ms (limit {:.2}{NBSP}ms)", value * 1e3, limit * 1e3)
        }
        DisturbanceSource::Frequency => {
            format!("{name}: {:.0}{NBSP}MHz (limit {:.0}{NBSP}MHz)", value / 1e6, limit / 1e6)
        }
        _ => format!("{name}: {value:.0} (limit {limit:.0})"),
    }
}
