//! Shapes of pages over many series: what differs between two sides, machines, where the time of suites goes, and how projects
//! stand.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WebChangeCounts, WebPart};

/// All benchmarks of two commits, branches or machines beside each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebCompareDocument {
    /// `becalm/web-compare/1`.
    pub schema: String,
    /// What the sides are: `commits`, `branches` or `machines`.
    pub of: String,
    /// The first side: the beginning of the id of a commit, a branch, or the fingerprint of a machine; empty if none is chosen.
    pub before: String,
    /// The second side.
    pub after: String,
    /// Sides that could be chosen, the newest commits first.
    pub choices: Vec<WebChoiceDocument>,
    /// Which comparisons are listed: `different`, `undecided`, `same` or `all`.
    pub show: String,
    /// Words that name, metric, branch or machine have; empty lists all.
    pub search: String,
    /// The smallest relative difference that matters.
    pub margin: f64,
    /// Confidence of the intervals, and of all verdicts together.
    pub confidence: f64,
    /// How many comparisons there are by verdict, of those that the search lets through.
    pub counts: WebCompareCounts,
    /// Which part of the list this is.
    pub part: WebPart,
    /// The comparisons: decided ones first, within them those first that surely differ most.
    pub comparisons: Vec<WebComparisonDocument>,
}

/// A side of a comparison that could be chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebChoiceDocument {
    /// What the address has for it.
    pub value: String,
    /// What it is called.
    pub name: String,
}

/// How many comparisons there are by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebCompareCounts {
    /// The second side is better.
    pub faster: usize,
    /// The second side is worse.
    pub slower: usize,
    /// Their difference is within the margin.
    pub equivalent: usize,
    /// The values do not tell.
    pub inconclusive: usize,
    /// Only the first side has values.
    pub only_before: usize,
    /// Only the second side has values.
    pub only_after: usize,
}

/// One benchmark of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebComparisonDocument {
    /// The benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Unit of the values; empty for plain counts.
    pub unit: String,
    /// `lower` or `higher` is better.
    pub direction: String,
    /// The first side.
    pub before: WebSideDocument,
    /// The second side.
    pub after: WebSideDocument,
    /// Value of the second side over that of the first; `null` if that is 0.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio; `null` if the spread of the values is unknown.
    pub ratio_low: Option<f64>,
    /// Upper end.
    pub ratio_high: Option<f64>,
    /// `faster`, `slower`, `equivalent` or `inconclusive`, corrected for how many are compared.
    pub verdict: String,
    /// How far the interval is from no difference: the absolute logarithm of the end that is nearer, and 0 if it includes that.
    pub at_least: f64,
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebSideDocument {
    /// Number of the series.
    pub series: i64,
    /// The last of its entries that counts here.
    pub entry: i64,
    /// The branch.
    pub branch: String,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// Over how many entries.
    pub entries: usize,
    /// The median over them, in the unit of the metric.
    pub value: f64,
}

/// The machines of a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebMachinesDocument {
    /// `becalm/web-machines/1`.
    pub schema: String,
    /// Which part of the list this is.
    pub part: WebPart,
    /// The machines, those first that measured last.
    pub machines: Vec<WebMachineDocument>,
}

/// One machine, as far as it splits series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebMachineDocument {
    /// What its series have in common, as a short hash.
    pub fingerprint: String,
    /// The facts that split series.
    pub facts: BTreeMap<String, String>,
    /// What was measured there, by branch.
    pub branches: Vec<WebMachineBranchDocument>,
    /// The noise between entries over time, the newest last.
    pub noise: Vec<WebNoiseDocument>,
    /// Facts that do not split series and are not what they were, the newest first, of its last entries.
    pub turns: Vec<WebTurnDocument>,
    /// From how many of its last entries those are.
    pub of_entries: usize,
}

/// What a machine measured of a branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebMachineBranchDocument {
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Entries.
    pub entries: usize,
    /// Series of main metrics.
    pub series: usize,
    /// Place in time of the first entry, in seconds since the Unix epoch.
    pub first: f64,
    /// Place in time of the last one.
    pub last: f64,
}

/// How much values of neighbouring entries differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebNoiseDocument {
    /// Place in time of the first entry, in seconds since the Unix epoch.
    pub from: f64,
    /// Place in time of the last entry.
    pub until: f64,
    /// Over how many series.
    pub series: usize,
    /// The relative standard deviation of a value of the middle series.
    pub middle: f64,
    /// That of the series of which nine in ten have less.
    pub most: f64,
}

/// A fact that is not what it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebTurnDocument {
    /// The first entry with the new value.
    pub entry: i64,
    /// Its place in time, in seconds since the Unix epoch.
    pub time: f64,
    /// The fact.
    pub fact: String,
    /// The old value; empty if there was none.
    pub before: String,
    /// The new value; empty if there is none.
    pub after: String,
}

/// Where the time of suites goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebSuitesDocument {
    /// `becalm/web-suites/1`.
    pub schema: String,
    /// The branch whose benchmarks are listed.
    pub branch: String,
    /// The machine.
    pub fingerprint: String,
    /// What the last commit of each branch on each machine took, those first that measured last.
    pub suites: Vec<WebSuiteDocument>,
    /// Which part of the benchmarks this is.
    pub part: WebPart,
    /// The benchmarks of the branch and machine, those first that take longest.
    pub benchmarks: Vec<WebSuiteBenchmarkDocument>,
}

/// What the last commit of a branch took on a machine, in all of its entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebSuiteDocument {
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// The machine, as far as it splits series.
    pub fingerprint: String,
    /// The facts that split series.
    pub machine: BTreeMap<String, String>,
    /// The last entry.
    pub entry: i64,
    /// Its place in time, in seconds since the Unix epoch.
    pub time: f64,
    /// The benchmarks of the commit whose main metric is a time.
    pub benchmarks: usize,
    /// How long all of their runs took together, in seconds: median times number.
    pub seconds: f64,
}

/// What one benchmark takes of the time of its suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebSuiteBenchmarkDocument {
    /// Number of the series.
    pub series: i64,
    /// The benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// The median over the runs, in seconds.
    pub value: f64,
    /// How many runs.
    pub runs: u32,
    /// How long all runs took, in seconds.
    pub seconds: f64,
    /// Which share of the whole that is.
    pub share: f64,
    /// The last values of `seconds`, in time order.
    pub trend: Vec<f64>,
}

/// The projects of a server, of which each has a history of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebProjectsDocument {
    /// `becalm/web-projects/1`.
    pub schema: String,
    /// Those that the reader may read, in the order of the server's command line.
    pub projects: Vec<WebProjectDocument>,
    /// Of how many more the server does not know yet who may read them, because their histories could not be read since it
    /// started.
    pub unknown: usize,
}

/// One project.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebProjectDocument {
    /// Its name: the addresses of its pages begin with it.
    pub name: String,
    /// How it stands; `null` if its history cannot be read now.
    pub standing: Option<WebProjectStanding>,
}

/// How a project stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebProjectStanding {
    /// Entries of the history.
    pub entries: usize,
    /// Series that are watched: those of main metrics.
    pub series: usize,
    /// Its changes by the decision about them.
    pub counts: WebChangeCounts,
    /// Open changes that are confirmed and for the better.
    pub open_improvements: usize,
    /// Open changes that are not confirmed yet.
    pub open_pending: usize,
    /// When the last result was measured, in seconds since the Unix epoch.
    pub last: Option<f64>,
}
