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
    /// What `ratio` of a change is of: `median` or `mean`.
    #[serde(default)]
    pub size: String,
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
    /// Where the level of a series does not stay, by series and index. Some of the changes are parts of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<SeriesStateDocument>,
}

/// A stretch of a series whose level does not stay. Changes that were confirmed in it are parts of it: they keep their
/// places and what was decided about them, and no gate fails because of parts of an unstable series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesStateDocument {
    /// `unstable`: it goes back and forth between levels, or wanders. `trend`: it moves slowly from one level to another.
    pub state: String,
    /// Of a trend in a history `regression` or `improvement`; otherwise `change`.
    pub kind: String,
    /// First value that is of it, counted from 0 in its series.
    pub start: usize,
    /// Last value that is known to be of it.
    pub end: usize,
    /// Whether it is so still; it is over when the level has stayed for 100 values.
    pub current: bool,
    /// Of a trend the level before; of an unstable series the lowest level.
    pub from: f64,
    /// Of a trend the level after, as far as it was seen; of an unstable series the highest level.
    pub to: f64,
    /// `to` over `from`; `null` where `from` is not above 0.
    pub ratio: Option<f64>,
    /// The first value of each change that is a part of it, counted from 0 in its series.
    pub changes: Vec<usize>,
    /// Where it is in a history; `null` for a series from a file.
    pub history: Option<StateInHistoryDocument>,
}

/// Where a stretch whose level does not stay is in a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateInHistoryDocument {
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
    /// First entry that is of it.
    pub entry: i64,
    /// Its commit; `null` if it is unknown.
    pub commit: Option<String>,
    /// The commit of the last value that is known to be of it.
    pub end_commit: Option<String>,
    /// The ids of its parts. To acknowledge the last part of a trend is to accept the level to which it led.
    pub changes: Vec<String>,
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

/// The kinds of changes of spread.
pub const NOISIER: &str = "noisier";
/// See [`NOISIER`].
pub const QUIETER: &str = "quieter";

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
    /// Mean of the same values before.
    pub mean_before: f64,
    /// Mean of the same values after.
    pub mean_after: f64,
    /// The modes of these values, if those before or those after have two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<ModesOfChangeDocument>,
    /// New level over old level: by Hodges and Lehmann, or of the means where that was asked for; `null` where the old level
    /// is 0.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub ratio_high: Option<f64>,
    /// `confirmed`, or `pending`: it may vanish with the next runs.
    pub state: String,
    /// `regression`, `improvement`, or `change` where nobody knows which way is better.
    pub kind: String,
    /// `unstable` or `trend` if it is a part of such a stretch of its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Where it is in a history; `null` for a series from a file.
    pub history: Option<ChangeInHistoryDocument>,
}

/// Two modes of the values around a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModesOfChangeDocument {
    /// Centre of the lower mode, in the unit of the metric.
    pub lower: f64,
    /// Centre of the upper mode.
    pub upper: f64,
    /// Share of the values before that are in the upper mode.
    pub upper_share_before: f64,
    /// The same after.
    pub upper_share_after: f64,
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
