//! Whether a machine is as it always is: a known program, measured before each block, held against the earlier ones there.
//!
//! The next of n values whose logarithms are normal lies within
//!
//! ```text
//! mean +- t(1 - alpha / 2; n - 1) s sqrt(1 + 1 / n)
//! ```
//!
//! of them (Whitmore 1986, "Prediction limits for a univariate normal observation", The American Statistician 40). A machine
//! is off its level if the canary lies outside this interval at 99 % and differs from the mean by more than 3 %. A smaller
//! difference does not justify losing a machine.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use becalm_model::Record;
use becalm_model::wire::{Canary, CanaryPoint, CanarySeries};
use becalm_session::files;
use becalm_stats::student;
use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::frame::line;

/// Fewest earlier canaries that make a level.
const FEWEST: usize = 3;

/// Earlier ones that count: a machine may change in the course of a year.
const MOST: usize = 20;

/// Confidence at which a canary is news.
const CONFIDENCE: f64 = 0.99;

/// A machine whose canary differs by no more than this is kept.
const TOLERATED: f64 = 0.03;

/// The file in the shared folder with every canary.
const FILE: &str = "canaries.jsonl";

/// A known program, and what of it is measured. Another program has another level.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CanaryProgram {
    /// Its words.
    pub command: Vec<String>,
    /// Its metric, as `--metric` takes it.
    pub metric: String,
}

/// A canary that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) machine: String,
    pub(crate) program: CanaryProgram,
    /// When, in seconds of Unix time.
    pub(crate) at: f64,
    /// The median of its runs.
    pub(crate) value: f64,
    /// Whether it was off the level, and so is no part of it.
    pub(crate) is_off: bool,
}

/// Returns the value of a canary: the median of its runs in a record whose first subject it is.
pub(crate) fn value(record: &Record, program: &CanaryProgram) -> Option<f64> {
    // `NAME=REGEX` and `NAME[UNIT]=REGEX` have names, too.
    let name = program.metric.split(['[', '=']).next().unwrap_or_default();
    let mut values = record.values(0, record.metric_index(name)?);
    if values.is_empty() {
        return None;
    }
    Some(becalm_stats::center::median_of(&mut values))
}

/// Judges a canary by the earlier ones of its machine, in time order.
pub(crate) fn judge(value: f64, earlier: &[f64]) -> Canary {
    let earlier = &earlier[earlier.len().saturating_sub(MOST)..];
    let count = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
    let unknown = Canary { value, earlier: count, change: None, limit: None };
    let logs: Vec<f64> = earlier.iter().filter(|one| **one > 0.0).map(|one| one.ln()).collect();
    if logs.len() < FEWEST || value <= 0.0 {
        return unknown;
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let deviation = (logs.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let reach =
        student::two_sided_quantile(CONFIDENCE, n - 1.0) * deviation * (1.0 + 1.0 / n).sqrt();
    let change = (value.ln() - mean).exp_m1();
    Canary { change: Some(change), limit: Some(reach.exp_m1().max(TOLERATED)), ..unknown }
}

/// Returns the values that make the level of a machine for a canary of this moment.
pub(crate) fn level(folder: &Path, machine: &str, program: &CanaryProgram, at: f64) -> Vec<f64> {
    let is_earlier = |one: &Measured| one.at < at && !one.is_off;
    let of_it =
        |one: &Measured| one.machine == machine && one.program == *program && is_earlier(one);
    all(folder).into_iter().filter(of_it).map(|one| one.value).collect()
}

/// Keeps a canary, once: a becalm that died may have kept it already.
pub(crate) fn keep(folder: &Path, measured: &Measured) -> Result<(), FleetError> {
    if all(folder).contains(measured) {
        return Ok(());
    }
    let path = folder.join(FILE);
    let written = OpenOptions::new().append(true).create(true).open(&path);
    let written = written.and_then(|mut file| file.write_all(line(measured).as_bytes()));
    written.map_err(|source| FleetError::Here { path, source })
}

/// Returns the canaries of a shared folder, one series for each program on each machine.
pub fn canary_series(folder: &Path) -> Vec<CanarySeries> {
    let mut found: BTreeMap<(String, CanaryProgram), Vec<CanaryPoint>> = BTreeMap::new();
    for Measured { machine, program, at, value, is_off } in all(folder) {
        found.entry((machine, program)).or_default().push(CanaryPoint { at, value, off: is_off });
    }
    let series = |((machine, program), points)| {
        let CanaryProgram { command, metric } = program;
        CanarySeries { machine, command, metric, points }
    };
    found.into_iter().map(series).collect()
}

/// Forgets the canaries of a machine, which then gets a new level; returns how many there were.
pub fn forget_canaries(folder: &Path, machine: &str) -> Result<usize, FleetError> {
    let (of_it, others): (Vec<Measured>, Vec<Measured>) =
        all(folder).into_iter().partition(|one| one.machine == machine);
    if !of_it.is_empty() {
        let path = folder.join(FILE);
        files::write_atomically(&path, &others.iter().map(line).collect::<String>())?;
    }
    Ok(of_it.len())
}

/// A line that was cut off by a crash, or is of another version, is no canary.
fn all(folder: &Path) -> Vec<Measured> {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_needs_a_level_to_be_off_it() {
        assert!(!judge(2.0, &[1.0, 1.0]).is_off());
        let off = judge(1.05, &[1.0; 3]);
        assert!(off.is_off() && (off.change.unwrap() - 0.05).abs() < 1e-9);
        assert!(judge(0.95, &[1.0; 3]).is_off());
        assert!(!judge(1.02, &[1.0; 3]).is_off(), "less than anybody would lose a machine for");
    }

    #[test]
    fn a_machine_that_always_varies_is_not_off_its_level() {
        let earlier = [1.0, 1.04, 0.97, 1.02, 0.95, 1.05, 0.99, 1.01];
        let found = judge(1.07, &earlier);
        assert!(!found.is_off() && found.limit.unwrap() > 0.1, "{found:?}");
        assert!(judge(1.3, &earlier).is_off());
    }

    #[test]
    fn only_recent_canaries_make_the_level() {
        let mut earlier = vec![2.0; 50];
        earlier.extend([1.0; MOST]);
        assert_eq!(judge(1.0, &earlier).change, Some(0.0));
    }

    #[test]
    fn canaries_are_kept_and_forgotten_by_machine() {
        let folder = tempfile::tempdir().unwrap();
        let program =
            CanaryProgram { command: vec!["c".to_owned()], metric: "wall_time".to_owned() };
        for (machine, value, is_off) in [("a", 1.0, false), ("b", 3.0, false), ("a", 9.0, true)] {
            let (machine, program) = (machine.to_owned(), program.clone());
            let measured = Measured { machine, program, at: 0.0, value, is_off };
            keep(folder.path(), &measured).unwrap();
        }
        assert_eq!(level(folder.path(), "a", &program, 1.0), [1.0]);
        assert_eq!(canary_series(folder.path()).len(), 2);
        assert_eq!(forget_canaries(folder.path(), "a").unwrap(), 2);
        assert_eq!(forget_canaries(folder.path(), "a").unwrap(), 0);
        assert_eq!(level(folder.path(), "b", &program, 1.0), [3.0]);
    }
}
