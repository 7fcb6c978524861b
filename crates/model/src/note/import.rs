//! What has to be known of files of other tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What has to be known of a file of another tool, or of several put together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImportNote {
    /// The only subject of a further file counts as that of the first.
    Pooled {
        /// Its name.
        subject: String,
        /// The name that it counts under.
        counts_as: String,
    },
    /// The only subject of each file has the same name and another command.
    CommandsDiffer {
        /// Its name.
        subject: String,
    },
    /// The only subject of each file has the same name and other parameters.
    ParametersDiffer {
        /// Its name.
        subject: String,
    },
    /// A metric has another unit or direction in another file.
    QuantitiesDiffer {
        /// Name of the metric.
        metric: String,
        /// Unit and direction in one file.
        one: String,
        /// Those in another.
        another: String,
    },
    /// A metric of the whole process that only a further file has, behind benchmarks.
    MetricLeftOut {
        /// Name of the metric.
        metric: String,
    },
    /// The files have another statistic of a metric, or one of them single values.
    StatisticsDiffer {
        /// Name of the metric.
        metric: String,
        /// The statistic in one file; absent for single values.
        one: Option<String>,
        /// That in another.
        another: Option<String>,
    },
    /// The files differ in a fact about machine or build.
    FactsDiffer {
        /// Name of the fact.
        fact: String,
        /// Its value in one file.
        one: String,
        /// That in another.
        another: String,
    },
}
