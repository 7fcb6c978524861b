//! Loads of servers: what failed, and which were invalid and repeated.

use std::collections::BTreeMap;

use becalm_model::load::{Distrust, Failed};
use becalm_model::{Note, Record, SessionNote};

/// Notes in the record how many loads were repeated, if any were, and which requests failed.
pub fn loads_notes(record: &mut Record) {
    record.notes.retain(|note| {
        !matches!(
            note,
            Note::Session(SessionNote::LoadsRepeated { .. } | SessionNote::RequestsFailed { .. })
        )
    });
    let failed: Vec<SessionNote> =
        (0..record.subjects.len()).filter_map(|subject| failed(record, subject)).collect();
    record.notes.extend(repeated(record).into_iter().chain(failed).map(Note::from));
}

fn failed(record: &Record, subject: usize) -> Option<SessionNote> {
    let loads = || record.measured(subject).filter_map(|run| run.load.as_ref());
    let errors = Failed::together(loads().flat_map(|load| &load.errors));
    (!errors.is_empty()).then(|| SessionNote::RequestsFailed {
        subject: record.subjects[subject].name.clone(),
        scheduled: loads().fold(0, |sum, load| sum.saturating_add(load.counts.scheduled)),
        errors,
    })
}

fn repeated(record: &Record) -> Option<SessionNote> {
    let loads: Vec<_> = record.runs.iter().filter_map(|run| run.load.as_ref()).collect();
    let reasons = || loads.iter().flat_map(|load| &load.repeated).filter_map(|all| all.first());
    let mut counts: BTreeMap<&str, (usize, &Distrust)> = BTreeMap::new();
    for reason in reasons() {
        counts.entry(reason.in_words()).or_insert((0, reason)).0 += 1;
    }
    let (_, reason) = counts.into_values().max_by_key(|(count, _)| *count)?;
    Some(SessionNote::LoadsRepeated {
        loads: reasons().count(),
        runs: loads.len(),
        reason: reason.clone(),
    })
}

#[cfg(test)]
mod tests {
    use becalm_model::load::{FailureKind, RunLoad};

    use super::super::tests::record;
    use super::*;

    #[test]
    fn what_was_repeated_is_counted_with_its_most_frequent_reason() {
        let unsent = Distrust::Unsent { requests: 1, scheduled: 9 };
        let late = Distrust::BusyPacer { share: 0.9, limit: 0.7 };
        let mut record = record(2, 3, |round, subject, run| {
            let repeated = match (subject, round) {
                (0, 0) => vec![vec![late.clone()], vec![unsent.clone(), late.clone()]],
                (1, 2) => vec![vec![unsent.clone()]],
                _ => vec![],
            };
            run.load = Some(Box::new(RunLoad { repeated, ..RunLoad::default() }));
        });
        loads_notes(&mut record);
        loads_notes(&mut record);
        let note = SessionNote::LoadsRepeated { loads: 3, runs: 6, reason: unsent };
        assert_eq!(record.notes, [Note::from(note)]);
        for run in &mut record.runs {
            let load = run.load.as_mut().unwrap();
            load.repeated.clear();
            if run.subject == 1 {
                let status = Some(503);
                let kind = FailureKind::Status;
                load.errors = vec![Failed { kind, status, count: 2, example: None }];
                load.counts.scheduled = 10;
            }
        }
        loads_notes(&mut record);
        let [Note::Session(SessionNote::RequestsFailed { scheduled: 30, errors, .. })] =
            &record.notes[..]
        else {
            panic!("{:?}", record.notes)
        };
        assert_eq!(errors[0].count, 6);
        record.runs.iter_mut().for_each(|run| run.load = None);
        loads_notes(&mut record);
        assert_eq!(record.notes, []);
    }
}
