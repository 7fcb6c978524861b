//! Shapes of what the pages of `becalm serve` show; `/api` answers with the same.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangePointDocument, HistoryEntryDocument, HistorySeriesDocument, SeriesStateDocument,
    SpreadChangeDocument,
};

/// Which part of a long list this is. Pages count from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebPart {
    /// The page.
    pub page: usize,
    /// How many there are; at least 1.
    pub pages: usize,
    /// How many items all of them have.
    pub items: usize,
}

/// The changes of the history, those that matter most first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebChangesDocument {
    /// `becalm/web-changes/1`.
    pub schema: String,
    /// Which are listed: `open`, `acknowledged`, `dismissed` or `all`.
    pub state: String,
    /// The branch, if those of one are listed.
    pub branch: Option<String>,
    /// Branches of the history, sorted.
    pub branches: Vec<String>,
    /// Which part of the list this is.
    pub part: WebPart,
    /// How many changes there are by state, of this branch or of all.
    pub counts: WebChangeCounts,
    /// How many series are watched.
    pub series: usize,
    /// How many are not, because they are of other metrics than the main one of their benchmark.
    #[serde(default)]
    pub unwatched: usize,
    /// How many entries the history has.
    pub entries: usize,
    /// Confirmed changes first, then pending ones; within both, those first whose interval excludes the largest change.
    /// Parts of an unstable series are not among them, nor in `counts`.
    pub changes: Vec<WebChangeDocument>,
    /// Series of this branch, or of all, that are unstable or on a trend now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<SeriesStateDocument>,
    /// Branches, of this one or all, with entries that do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<WebUncountedDocument>,
}

/// The entries of a branch that do not count: no page but those of entries has their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebUncountedDocument {
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Of commits that the branch lost when it was rewritten.
    pub lost: usize,
    /// Of commits that are newer than the branch is in the clone of the server.
    #[serde(default, skip_serializing_if = "crate::note::is_zero")]
    pub newer: usize,
    /// Of branches that were merged into it.
    pub merged: usize,
    /// Of a working tree with changes that no commit has, and not among the others.
    pub changed: usize,
}

/// How many changes there are by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebChangeCounts {
    /// Nobody decided about them.
    pub open: usize,
    /// They are real and known.
    pub acknowledged: usize,
    /// They are not real, or do not matter.
    pub dismissed: usize,
    /// Open ones that are confirmed and for the worse.
    pub open_regressions: usize,
}

/// One change with what a reader needs to judge it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebChangeDocument {
    /// The change; its `history` is always there.
    pub change: ChangePointDocument,
    /// What it is at least, by its interval: the absolute logarithm of the end that is nearer to no change, and 0 if the
    /// interval includes that; `null` where the old level is 0. The list is in this order, those with `null` first.
    pub at_least: Option<f64>,
    /// When the entry with which it was first seen has its place, in seconds since the Unix epoch.
    pub seen: f64,
    /// How many entries come after the last commit that surely has the old level, up to the first that surely has the new one.
    pub entries_between: usize,
    /// Values around it, in time order.
    pub trend: Vec<f64>,
    /// Index of the first value of the new level among them.
    pub trend_at: usize,
    /// The facts that split series, of its machine.
    pub machine: BTreeMap<String, String>,
    /// The command that was measured, if the record is kept and has one.
    pub command: Option<Vec<String>>,
    /// The flags with which `becalm compare` and `becalm bisect` decide on the same metric, measured in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Who wrote the first commit with a value of the new level; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The first line of its message; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// One series: a part of its points, and its changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebSeriesDocument {
    /// `becalm/web-series/1`.
    pub schema: String,
    /// The series.
    pub series: HistorySeriesDocument,
    /// The facts that split series, of its machine.
    pub machine: BTreeMap<String, String>,
    /// What the picture has from left to right: `order` of the entries, or `time`.
    pub by: String,
    /// Which part of the points this is; the first page has the newest.
    pub part: WebPart,
    /// The points of this part, in time order.
    pub points: Vec<WebPointDocument>,
    /// The levels between the confirmed changes of the whole series.
    pub levels: Vec<WebLevelDocument>,
    /// The changes of the whole series, in time order.
    pub changes: Vec<WebChangeDocument>,
    /// Where its level does not stay, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<SeriesStateDocument>,
    /// Where it got noisier or quieter, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<SpreadChangeDocument>,
    /// Series of the same benchmark and metric on other machines and branches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<WebElsewhereDocument>,
    /// The whole series in columns of equal numbers of points: smallest and largest value of each. Empty if the points are
    /// all here.
    pub overview: Vec<[f64; 2]>,
    /// The whole series, for a picture that can be enlarged.
    #[serde(default)]
    pub whole: WebWholeDocument,
    /// The newest values of entries that do not count, by rising number of the entry; their `index` is 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<WebPointDocument>,
}

/// The same benchmark and metric on another machine or branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebElsewhereDocument {
    /// Number of the series.
    pub series: i64,
    /// The branch.
    pub branch: String,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// The facts that split series, of its machine.
    pub machine: BTreeMap<String, String>,
    /// The last value that counts, in the unit of the metric.
    pub value: f64,
    /// Its place in time, in seconds since the Unix epoch.
    pub last: f64,
}

/// The points of a whole series, one list for each of their fields. If they are very many, only the smallest and the largest
/// of columns of neighbours: their `index` tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebWholeDocument {
    /// Places among the points of the series, counted from 0.
    pub index: Vec<usize>,
    /// Entries.
    pub entry: Vec<i64>,
    /// Places in time, in seconds since the Unix epoch.
    pub time: Vec<f64>,
    /// Values, in the unit of the metric.
    pub value: Vec<f64>,
}

/// One value of a series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebPointDocument {
    /// Its place among the points of the series, counted from 0.
    pub index: usize,
    /// The entry that it is of.
    pub entry: i64,
    /// Its place in time, in seconds since the Unix epoch.
    pub time: f64,
    /// The commit; `null` if it is unknown.
    pub commit: Option<String>,
    /// The median over the runs of the entry, in the unit of the metric.
    pub value: f64,
    /// Its standard error, in the unit of the metric; `null` with a single run.
    pub error: Option<f64>,
    /// Over how many runs.
    pub runs: u32,
}

/// The level of a series between two changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebLevelDocument {
    /// Its first point, counted from 0.
    pub first: usize,
    /// Its last point.
    pub last: usize,
    /// The median of its points, in the unit of the metric.
    pub level: f64,
    /// Lower end of the 95 % interval of the median; `null` with fewer than 6 points.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// Benchmarks with their last values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebBenchmarksDocument {
    /// `becalm/web-benchmarks/1`.
    pub schema: String,
    /// Words that name, metric, branch or machine have; empty lists all.
    pub search: String,
    /// Whether series beside the main metric of their benchmark are listed, too.
    pub all: bool,
    /// Which part of the list this is.
    pub part: WebPart,
    /// How many of the last values of each series are given.
    pub of_entries: usize,
    /// The series, by name.
    pub benchmarks: Vec<WebBenchmarkDocument>,
}

/// One series with its last values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebBenchmarkDocument {
    /// The series; `points` counts those of the last entries.
    pub series: HistorySeriesDocument,
    /// The facts that split series, of its machine.
    pub machine: BTreeMap<String, String>,
    /// Its last values, in time order.
    pub trend: Vec<f64>,
    /// Its last change that was not dismissed.
    pub last_change: Option<ChangePointDocument>,
}

/// The entries of the history, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebEntriesDocument {
    /// `becalm/web-entries/1`.
    pub schema: String,
    /// Which part of the list this is.
    pub part: WebPart,
    /// The entries.
    pub entries: Vec<HistoryEntryDocument>,
    /// Which of these do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<i64>,
}

/// One entry with its values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebEntryDocument {
    /// `becalm/web-entry/1`.
    pub schema: String,
    /// The entry.
    pub entry: HistoryEntryDocument,
    /// Facts whose change begins other series.
    pub split: Vec<String>,
    /// Which part of the values this is.
    pub part: WebPart,
    /// The values, by name of the benchmark.
    pub values: Vec<WebEntryValueDocument>,
}

/// One value of an entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebEntryValueDocument {
    /// Number of the series.
    pub series: i64,
    /// The benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Unit of the value; empty for plain counts.
    pub unit: String,
    /// The median over the runs, in the unit.
    pub value: f64,
    /// Its standard error, in the unit; `null` with a single run.
    pub error: Option<f64>,
    /// Over how many runs.
    pub runs: u32,
}

/// What became of an uploaded record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebUploadDocument {
    /// `becalm/web-upload/1`.
    pub schema: String,
    /// Number of the entry that it is.
    pub entry: i64,
    /// `added`; `completed` if only some of its values were new; `known` if it was there already and nothing was changed.
    pub outcome: String,
    /// How many values were added.
    pub values: usize,
}
