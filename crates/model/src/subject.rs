//! One thing to be measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// A command to be measured, with the name that reports use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name in reports and JSON; unique within a record.
    pub name: String,
    /// Program and arguments, after parameters were filled in. Never empty.
    pub command: Vec<String>,
    /// Values of `--parameter-list` and `--parameter-scan` for this subject, in order.
    pub parameters: Vec<(String, String)>,
}

/// What a suite says of a subject, for those who judge what was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SubjectTerms {
    /// Name of the benchmark; several subjects share it where it has parameters.
    pub benchmark: String,
    /// Words that it is chosen by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Smallest relative change that matters; absent where nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// What it is about, the most important first; empty where nobody said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricTerms>,
}

/// What a suite says of one metric of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricTerms {
    /// Its name, or that of a measure of benchmarks such as `B/op`.
    pub name: String,
    /// Smallest relative change that matters, if it is another one than that of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

impl SubjectTerms {
    /// Returns the smallest relative change of a metric that matters.
    pub fn margin_of(&self, metric: &Metric) -> Option<f64> {
        let named = |one: &&MetricTerms| metric.is_called(&one.name);
        self.metrics.iter().find(named).and_then(|one| one.margin).or(self.margin)
    }
}

/// How long a suite takes, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteOutlook {
    /// How many benchmarks there are.
    pub benchmarks: usize,
    /// How many of them are known to end in time, by their budget or by their pace.
    pub limited: usize,
    /// Seconds that those take at most.
    pub at_most: f64,
    /// Seconds that they are likely to take; `None` before anything was run.
    pub about: Option<f64>,
}
