//! How long requests took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of a time of all requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Requests of which it is known.
    pub known: u64,
    /// Requests of which only a lower bound is known, because they were never sent or never answered.
    pub censored: u64,
    /// Mean of the known ones; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Quantiles of all requests, in rising order; the last one is the largest value.
    pub quantiles: Vec<QuantileValue>,
    /// All known values in nanoseconds: an `HdrHistogram` in its encoding V2, deflated, in base 64.
    pub histogram: String,
    /// The lower bounds of the others, in the same form; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored_histogram: Option<String>,
}

impl Latency {
    /// Returns this quantile, if it is one of those that were taken.
    pub fn quantile(&self, q: f64) -> Option<&QuantileValue> {
        self.quantiles.iter().find(|one| (one.q - q).abs() < 1e-9)
    }
}

/// One quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantileValue {
    /// Which one, from 0 to 1.
    pub q: f64,
    /// Its value.
    pub value: f64,
    /// Whether the value is a lower bound, because of requests that were never sent or never answered.
    pub at_least: bool,
}

/// How the response times of the answered requests that were due in one second are spread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSpread {
    /// Which second, from the start of the load.
    pub second: u64,
    /// Steps of a tenth of a decade that have requests, in rising order, each with how many: step `n` begins at
    /// 10^(n / 10) nanoseconds.
    pub steps: Vec<(u32, u64)>,
}

/// The requests that were due in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSecond {
    /// Which one, from the start of the load.
    pub second: u64,
    /// Requests that were due.
    pub scheduled: u64,
    /// Those with the expected answer.
    pub answered: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those that waited for a connection although none more was permitted.
    pub starved: u64,
    /// Those that were never given to a connection.
    pub unsent: u64,
    /// Median of the response time of the answered ones; absent if there are none, as are the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50: Option<f64>,
    /// Their 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99: Option<f64>,
    /// Their largest response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_max: Option<f64>,
    /// The 99th percentile of their service time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_p99: Option<f64>,
    /// The 99th percentile of the lag of what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_p99: Option<f64>,
    /// Its largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_max: Option<f64>,
}

impl LoadSecond {
    /// The titles of its columns in a table: its fields.
    pub const COLUMNS: [&str; 12] = [
        "second",
        "scheduled",
        "answered",
        "errors",
        "starved",
        "unsent",
        "response_p50",
        "response_p99",
        "response_max",
        "service_p99",
        "lag_p99",
        "lag_max",
    ];

    /// Returns its cells in a table: times in seconds to the nanosecond, empty if they are not known.
    pub fn cells(&self) -> [String; 12] {
        let count = |count: u64| count.to_string();
        let time = |time: Option<f64>| time.map_or_else(String::new, |time| format!("{time:.9}"));
        [
            count(self.second),
            count(self.scheduled),
            count(self.answered),
            count(self.errors),
            count(self.starved),
            count(self.unsent),
            time(self.response_p50),
            time(self.response_p99),
            time(self.response_max),
            time(self.service_p99),
            time(self.lag_p99),
            time(self.lag_max),
        ]
    }
}
