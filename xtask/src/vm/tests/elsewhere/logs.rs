//! What logs and records say of runs.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Rounds of every session.
pub(super) const ROUNDS: usize = 8;

/// Subjects of every session.
pub(super) const SUBJECTS: usize = 2;

/// Runs that are no warm-up: what was measured, by round and subject.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Runs(BTreeMap<(u64, u64), String>);

impl Runs {
    /// Reads the lines of a log; fails if it has a run twice.
    pub(super) fn of_log(text: &str) -> Result<Self> {
        let mut runs = Self::default();
        // The last line of a log may be cut off.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if line["run"].is_object() {
                runs.add(line["subject"].as_u64().context("no subject")?, &line["run"])?;
            }
        }
        Ok(runs)
    }

    /// Reads a record; fails if it has a run twice.
    pub(super) fn of_record(record: &Value) -> Result<Self> {
        let mut runs = Self::default();
        let subjects = record["subjects"].as_array().context("no subjects")?;
        for (index, subject) in subjects.iter().enumerate() {
            for run in subject["runs"].as_array().context("no runs")? {
                runs.add(index as u64, run)?;
            }
        }
        Ok(runs)
    }

    fn add(&mut self, subject: u64, run: &Value) -> Result<()> {
        if run["warmup"] == true {
            return Ok(());
        }
        let round = run["round"].as_u64().context("a run without a round")?;
        ensure!(run["wall_time"].is_f64(), "a run without a wall time: {run}");
        let what = format!("{} at {}", run["wall_time"], run["started"]);
        let other = self.0.insert((round, subject), what);
        ensure!(other.is_none(), "round {round} has subject {subject} twice");
        Ok(())
    }

    /// Takes in the finished rounds of another log of the same session; fails if a round has other values there.
    pub(super) fn join(&mut self, other: &Self) -> Result<()> {
        for round in other.finished() {
            for subject in 0..SUBJECTS as u64 {
                let value = &other.0[&(round, subject)];
                let known = self.0.entry((round, subject)).or_insert_with(|| value.clone());
                ensure!(known == value, "round {round} is there twice: {known} and {value}");
            }
        }
        Ok(())
    }

    /// Returns the rounds that have a run of every subject.
    pub(super) fn finished(&self) -> Vec<u64> {
        let all = |round: &u64| (0..SUBJECTS as u64).all(|s| self.0.contains_key(&(*round, s)));
        self.0
            .keys()
            .filter(|(_, subject)| *subject == 0)
            .map(|(round, _)| *round)
            .filter(all)
            .collect()
    }

    /// Fails unless everything of these is here, with the same values.
    pub(super) fn has_all_of(&self, others: &Self) -> Result<()> {
        for (run, value) in &others.0 {
            let here = self.0.get(run);
            ensure!(here == Some(value), "{run:?}: was {value}, is {here:?}");
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Returns how many runs of a record count.
pub(super) fn counted(record: &Value) -> usize {
    let subjects = record["subjects"].as_array().into_iter().flatten();
    let runs = subjects.filter_map(|subject| subject["runs"].as_array()).flatten();
    runs.filter(|run| run["warmup"] != true && run["discarded"] != true).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"log":"becalm/log/4"}
{"subject":0,"run":{"round":0,"warmup":true,"wall_time":0.5,"started":0.1}}
{"subject":0,"run":{"round":0,"wall_time":0.5,"started":1.1}}
{"subject":1,"run":{"round":0,"wall_time":0.7,"started":2.1}}
{"subject":1,"run":{"round":1,"wall_time":0.6,"started":3.1}}
{"subject":0,"ru"#;

    #[test]
    fn finished_rounds_count_and_others_do_not() {
        let runs = Runs::of_log(LOG).unwrap();
        assert_eq!((runs.len(), runs.finished()), (3, vec![0]));
        let mut expected = Runs::default();
        expected.join(&runs).unwrap();
        assert_eq!(expected.len(), 2);
        runs.has_all_of(&expected).unwrap();
        assert!(expected.has_all_of(&runs).is_err());
    }

    #[test]
    fn a_round_that_is_there_twice_is_an_error() {
        let doubled = format!("{}\n{}", LOG.replace("{\"subject\":0,\"ru", ""), LOG);
        assert!(Runs::of_log(&doubled).is_err());
        let mut runs = Runs::of_log(LOG).unwrap();
        assert!(runs.join(&Runs::of_log(&LOG.replace("0.7", "0.8")).unwrap()).is_err());
    }
}
