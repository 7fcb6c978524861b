//! Loads of servers that were invalid, and repeated.

use std::collections::BTreeMap;

use becalm_model::load::Distrust;
use becalm_model::{Note, Record, SessionNote};

/// Notes in the record how many loads were repeated, if any were.
pub fn loads_note(record: &mut Record) {
    record.notes.retain(|note| !matches!(note, Note::Session(SessionNote::LoadsRepeated { .. })));
    record.notes.extend(repeated(record).map(Note::from));
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
    use becalm_model::load::{Latency, LoadCounts, RunLoad};

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
            run.load = Some(Box::new(RunLoad {
                seed: 1,
                counts: LoadCounts::default(),
                elapsed: 1.0,
                answering: None,
                response: Latency::default(),
                service: Latency::default(),
                lag: Latency::default(),
                errors: vec![],
                mix: vec![],
                threads: vec![],
                seconds: vec![],
                repeated,
            }));
        });
        loads_note(&mut record);
        loads_note(&mut record);
        let note = SessionNote::LoadsRepeated { loads: 3, runs: 6, reason: unsent };
        assert_eq!(record.notes, [Note::from(note)]);
        record.runs.iter_mut().for_each(|run| run.load = None);
        loads_note(&mut record);
        assert_eq!(record.notes, []);
    }
}
