//! Whether the machine was busy all the time.
//!
//! A run is labelled where something happened more than is usual for its subject ([`crate::disturbances`]). What
//! all runs have alike labels none of them, so that the amount itself has to be looked at, too.

use becalm_model::{CpuSet, Evidence, Note, Record, RecordKind, Run, SessionNote, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;

/// Share of its time from which a subject that waits for a CPU, or loses it to the hypervisor, does so on a busy
/// machine.
const LOST: f64 = 0.05;

/// Share of the time of CPUs from which the work of others on them is more than the usual ticks and interrupts.
pub(super) const USED: f64 = 0.10;

/// Shortest median run, in seconds, about which the use of CPUs says something: around shorter ones becalm's own work
/// is a large part of it.
const SHORTEST: f64 = 0.02;

/// Notes it in the record where most runs were measured on a busy machine.
pub fn busy_note(record: &mut Record) {
    record.notes.retain(|note| !matches!(note, Note::Session(SessionNote::BusyMachine { .. })));
    if record.kind != RecordKind::Import {
        record.notes.extend(busy(record).map(Note::from));
    }
}

fn busy(record: &Record) -> Option<SessionNote> {
    let wall = record.metric_index(metric::WALL_TIME)?;
    let runs: Vec<(&Run, f64)> = record
        .runs
        .iter()
        .filter(|run| run.is_measured() && !run.is_censored())
        .filter_map(|run| Some((run, run.value(wall).filter(|wall| *wall > 0.0)?)))
        .collect();
    let typical = |value: &dyn Fn(&Run, f64) -> Option<f64>| {
        let values = runs.iter().filter_map(|&(run, wall)| value(run, wall)).collect();
        Sample::new(values).ok().map(|sample| median(&sample))
    };
    let cpus = n_cpus(record)?;
    let is_long = typical(&|_, wall| Some(wall))? >= SHORTEST;
    let of_cpus = |seconds: fn(&Evidence) -> Option<f64>| {
        typical(&|run, _| run.evidence().share_of_cpus(seconds(run.evidence()), cpus))
    };
    let waited = typical(&|run, wall| Some((run.evidence().run_delay? / wall).min(1.0)));
    let stolen = of_cpus(|evidence| evidence.steal);
    let others = of_cpus(|evidence| evidence.others);
    let siblings = of_cpus(|evidence| evidence.siblings);
    let [waited, stolen] = [waited, stolen].map(|share| share.filter(|share| *share >= LOST));
    let [others, siblings] =
        [others, siblings].map(|share| share.filter(|share| is_long && *share >= USED));
    if [waited, stolen, others, siblings].iter().all(Option::is_none) {
        return None;
    }
    Some(SessionNote::BusyMachine { waited, stolen, others, siblings })
}

/// Returns how many CPUs the subjects had.
pub(super) fn n_cpus(record: &Record) -> Option<usize> {
    let all = || record.machine.facts.get("cpu_allowed")?.parse::<CpuSet>().ok();
    let cpus = record.conditions.affinity.clone().or_else(all)?;
    Some(cpus.len()).filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    /// Waited, stolen, others, siblings.
    type Shares = [Option<f64>; 4];

    /// Checks what is noted of runs that all took `wall` seconds on CPUs 2 and 3.
    #[track_caller]
    fn check(evidence: &Evidence, wall: f64, expected: Option<Shares>) {
        let mut record = record(1, 5, |_, _, run| {
            run.values[0] = Some(wall);
            run.evidence = Some(Box::new(evidence.clone()));
        });
        record.conditions.affinity = "2-3".parse().ok();
        busy_note(&mut record);
        busy_note(&mut record);
        let noted: Vec<Shares> = record
            .notes
            .iter()
            .filter_map(|note| match *note {
                Note::Session(SessionNote::BusyMachine { waited, stolen, others, siblings }) => {
                    Some([waited, stolen, others, siblings])
                }
                _ => None,
            })
            .collect();
        assert_eq!(noted, Vec::from_iter(expected), "{evidence:?}");
    }

    #[test]
    fn what_all_runs_have_alike_is_noted_from_a_share_on() {
        let quiet = Evidence { window: Some(1.0), run_delay: Some(0.01), ..Evidence::default() };
        check(&quiet, 1.0, None);
        check(&Evidence { others: Some(0.1), ..quiet.clone() }, 1.0, None);
        let waits = Evidence { run_delay: Some(0.4), ..quiet.clone() };
        check(&waits, 1.0, Some([Some(0.4), None, None, None]));
        let shared = Evidence { others: Some(1.0), steal: Some(0.2), ..quiet };
        check(&shared, 1.0, Some([None, Some(0.1), Some(0.5), None]));
        // Around short runs becalm itself is at work.
        let short = Evidence { others: Some(0.02), window: Some(0.01), ..Evidence::default() };
        check(&short, 0.01, None);
        check(&Evidence::default(), 1.0, None);
    }
}
