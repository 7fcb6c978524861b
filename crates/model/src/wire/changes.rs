//! Shape of what `becalm changes --json` prints.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Change points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesDocument {
    /// `becalm/changes/1`.
    pub schema: String,
    /// `becalm`, `otava` or `edpelt`.
    pub engine: String,
    /// How many series were examined.
    pub series: usize,
    /// Those that have too few values for any change to be confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFewValues>,
    /// The changes of level, by series and index.
    pub changes: Vec<ChangePointDocument>,
    /// Where a series got noisier or quieter around its level, by series and index. These are no changes of level: no gate
    /// fails because of one, and there is nothing to decide about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<SpreadChangeDocument>,
}

/// One change of spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadChangeDocument {
    /// First value of the new spread, counted from 0 in its series.
    pub index: usize,
    /// First and last place at which the new spread may have begun instead.
    pub earliest: usize,
    /// See `earliest`.
    pub latest: usize,
    /// `noisier` or `quieter`.
    pub kind: String,
    /// Standard deviation from value to value before, in the unit of the metric.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// Where it is in a history; `null` for a series from a file.
    pub history: Option<SpreadInHistoryDocument>,
}

/// Where a change of spread is in a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadInHistoryDocument {
    /// Number of the series.
    pub series: i64,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the standard deviations.
    pub unit: String,
    /// Parameters of the benchmark.
    pub parameters: BTreeMap<String, String>,
    /// The branch.
    pub branch: String,
    /// First entry with the new spread.
    pub entry: i64,
    /// Its commit; `null` if it is unknown.
    pub commit: Option<String>,
    /// The last commit that surely has the old spread.
    pub after_commit: Option<String>,
    /// The first commit that surely has the new spread.
    pub until_commit: Option<String>,
}

/// Series that have too few values for any change to be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TooFewValues {
    /// How many series.
    pub series: usize,
    /// Most values that one of them has.
    pub most: usize,
    /// How many values a series needs.
    pub needed: usize,
}

/// One change of level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangePointDocument {
    /// First value of the new level, counted from 0 in its series.
    pub index: usize,
    /// First and last place at which the new level may have begun instead.
    pub earliest: usize,
    /// See `earliest`.
    pub latest: usize,
    /// The old level: median of at most 100 values before, in the unit of the metric.
    pub before: f64,
    /// The new level: median of at most 100 values after.
    pub after: f64,
    /// New level over old level, by Hodges and Lehmann; `null` where the old level is 0.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub ratio_high: Option<f64>,
    /// `confirmed`, or `pending`: it may vanish with the next runs.
    pub state: String,
    /// `regression`, `improvement`, or `change` where nobody knows which way is better.
    pub kind: String,
    /// Where it is in a history; `null` for a series from a file.
    pub history: Option<ChangeInHistoryDocument>,
}

/// Where a change is in a history, and what is known about it there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeInHistoryDocument {
    /// Its id, for `becalm changes dismiss` and others: series and entry.
    pub id: String,
    /// Number of the series.
    pub series: i64,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the levels.
    pub unit: String,
    /// Parameters of the benchmark.
    pub parameters: BTreeMap<String, String>,
    /// The branch.
    pub branch: String,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// First entry of the new level.
    pub entry: i64,
    /// Its commit; `null` if it is unknown.
    pub commit: Option<String>,
    /// The last commit that surely has the old level; the change happened after it.
    pub after_commit: Option<String>,
    /// The first commit that surely has the new level.
    pub until_commit: Option<String>,
    /// The entry with which the change was first seen.
    pub first_seen_entry: i64,
    /// When becalm first reported it, by the clock, in seconds since the Unix epoch; the present
    /// time if it is not saved.
    pub first_seen: f64,
    /// `open`, `acknowledged` or `dismissed`.
    pub review: String,
    /// Why it was dismissed.
    pub reason: Option<String>,
    /// Who decided.
    pub by: Option<String>,
    /// When, in seconds since the Unix epoch.
    pub decided: Option<f64>,
}
