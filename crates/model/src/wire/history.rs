//! Shape of what `becalm history list --json`, `add --json` and `prune --json` print.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HISTORY_SCHEMA;
use crate::history::{Entry, Point, Pruned, Series};

/// Entries or series of a history, or what was removed from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDocument {
    /// `becalm/history/1`.
    pub schema: String,
    /// Facts that split series.
    pub split: Vec<String>,
    /// The entries in time order, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<HistoryEntryDocument>,
    /// The series, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<HistorySeriesDocument>,
    /// What was removed, by `prune`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<Pruned>,
}

/// One entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntryDocument {
    /// Its number.
    pub entry: i64,
    /// When the measuring began, in seconds since the Unix epoch.
    pub measured: f64,
    /// The commit; `null` if it is unknown.
    pub commit: Option<String>,
    /// When it was committed, in seconds since the Unix epoch.
    pub commit_time: Option<f64>,
    /// The name of its author; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_author: Option<String>,
    /// The first line of its message; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_title: Option<String>,
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Whether the working tree had changes that no commit has.
    pub dirty: bool,
    /// Tags that the user gave it.
    pub tags: Vec<String>,
    /// The machine, as far as it splits series: equal texts may be compared.
    pub fingerprint: String,
    /// What was known about the machine and its settings.
    pub facts: BTreeMap<String, String>,
    /// Whether its whole record is still kept.
    pub has_record: bool,
}

/// One series with its last value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistorySeriesDocument {
    /// Its number, by which `becalm changes` and `becalm history export` take it.
    pub series: i64,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values; empty for plain counts.
    pub unit: String,
    /// `lower` or `higher` is better.
    pub direction: String,
    /// Parameters of the benchmark.
    pub parameters: BTreeMap<String, String>,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// The branch.
    pub branch: String,
    /// Whether it is the main metric of the benchmark.
    pub main: bool,
    /// How many values it has.
    pub points: usize,
    /// Time of the first value, in seconds since the Unix epoch.
    pub first: Option<f64>,
    /// Time of the last value, in seconds since the Unix epoch.
    pub last: Option<f64>,
    /// The last value, in the unit.
    pub value: Option<f64>,
    /// `unstable` or `trend` if its level does not stay now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl HistoryDocument {
    /// Makes a document of entries.
    pub fn of_entries(split: Vec<String>, entries: &[Entry]) -> Self {
        let entries = entries.iter().map(HistoryEntryDocument::of).collect();
        Self { schema: HISTORY_SCHEMA.to_owned(), split, entries, ..Self::default() }
    }

    /// Makes a document of series.
    pub fn of_series(split: Vec<String>, series: Vec<HistorySeriesDocument>) -> Self {
        Self { schema: HISTORY_SCHEMA.to_owned(), split, series, ..Self::default() }
    }

    /// Makes a document of what was taken away.
    pub fn of_pruned(split: Vec<String>, pruned: Pruned) -> Self {
        let pruned = Some(pruned);
        Self { schema: HISTORY_SCHEMA.to_owned(), split, pruned, ..Self::default() }
    }
}

impl HistoryEntryDocument {
    /// Makes a document of an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            entry: entry.id.0,
            measured: entry.measured,
            commit: entry.commit.as_ref().map(|commit| commit.id.clone()),
            commit_time: entry.commit.as_ref().and_then(|commit| commit.time),
            commit_author: entry.commit.as_ref().and_then(|commit| commit.author.clone()),
            commit_title: entry.commit.as_ref().and_then(|commit| commit.title.clone()),
            branch: entry.branch.clone(),
            dirty: entry.dirty,
            tags: entry.tags.clone(),
            fingerprint: entry.fingerprint.clone(),
            facts: entry.facts.clone(),
            has_record: entry.has_document,
        }
    }
}

impl HistorySeriesDocument {
    /// Makes a document of a series with its points, of whose state nothing is known.
    pub fn of(series: &Series, points: &[Point]) -> Self {
        let key = &series.key;
        Self {
            series: series.id.0,
            benchmark: key.benchmark.clone(),
            metric: key.metric.clone(),
            unit: key.unit.to_string(),
            direction: key.direction.to_string(),
            parameters: key.parameters.iter().cloned().collect(),
            fingerprint: key.fingerprint.clone(),
            branch: key.branch.clone(),
            main: series.main,
            points: points.len(),
            first: points.first().map(|point| point.at),
            last: points.last().map(|point| point.at),
            value: points.last().map(|point| point.value),
            state: None,
        }
    }
}
