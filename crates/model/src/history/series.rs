//! One metric of one benchmark over time.

use std::sync::Arc;

use super::entry::EntryId;
use crate::metric::{Direction, Unit};

/// Number of a series in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub i64);

/// What makes a series: values with equal keys may be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesKey {
    /// The benchmark: the name of a subject, and of the function inside it if there is one.
    pub benchmark: String,
    /// The metric: `wall_time`; `time` for what a function inside a harness is about, `B/op` beside it.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Parameters of the benchmark, sorted by name.
    pub parameters: Vec<(String, String)>,
    /// The machine, as far as it splits series: see [`super::Entry::fingerprint`].
    pub fingerprint: String,
    /// The branch; empty if it is unknown.
    pub branch: String,
}

/// One series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Its number.
    pub id: SeriesId,
    /// What makes it.
    pub key: SeriesKey,
    /// Whether it is what its benchmark is about, and no measure beside that.
    pub main: bool,
    /// Whether repeated runs of the same program give exactly the same value.
    pub exact: bool,
}

/// One value of a series: what one entry gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The entry.
    pub entry: EntryId,
    /// Its place in time; see [`super::Entry::at`]. Points of a series stand in this order, and those of
    /// the same time in the order of their entries.
    pub at: f64,
    /// The median over the runs of the entry, in the unit of the metric.
    pub value: f64,
    /// Standard error of `value` as the runs of the entry tell it, in the unit of the metric; `None` with a
    /// single run.
    pub error: Option<f64>,
    /// Over how many runs.
    pub runs: u32,
    /// The commit; points of one entry share it.
    pub commit: Option<Arc<str>>,
}

/// Returns the name of a benchmark with its parameters, as reports show it and rules name it: `sort size=1000`.
pub fn full_name<'a>(
    benchmark: &str,
    parameters: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> String {
    let mut name = benchmark.to_owned();
    for (parameter, value) in parameters {
        name.extend([" ", parameter, "=", value]);
    }
    name
}
