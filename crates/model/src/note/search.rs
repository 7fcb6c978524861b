//! What the reader has to know about a bisection, a plan, and files that are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// What the reader has to know about a bisection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BisectNote {
    /// The ends are the same program.
    SameEnds,
    /// The ends do not differ so that a search makes sense.
    EndsAlike {
        /// What is said of them by metric, the first few.
        verdicts: Vec<(Verdict, String)>,
        /// After this many rounds.
        rounds: u32,
    },
    /// The ends differ in several metrics.
    EndsAlsoDiffer {
        /// Names of the others.
        metrics: Vec<String>,
        /// Name of the one that is followed.
        followed: String,
    },
    /// The metric that is followed.
    Follows {
        /// Its name.
        metric: String,
    },
    /// There is more than one change.
    SeveralChanges {
        /// Commits whose level is that of neither end.
        strays: Vec<Stray>,
    },
}

/// A commit whose level is that of neither end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stray {
    /// Its full id.
    pub commit: String,
    /// Its value, where the metric is exact; else the change from the good end, as a share.
    pub level: f64,
    /// Whether the metric is exact.
    pub exact: bool,
}

/// What is not compared of two files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiffNote {
    /// A metric has another unit or direction in each.
    OtherQuantity {
        /// Its name.
        metric: String,
        /// Unit and direction in the old file.
        old: String,
        /// Those in the new one.
        new: String,
    },
    /// Something is in one of the two only.
    InOneFile {
        /// What it is.
        what: Compared,
        /// In which file.
        file: Age,
        /// Their names.
        names: Vec<String>,
    },
}

/// What is compared of two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// A benchmark.
    Benchmark,
    /// A subject.
    Subject,
}

/// One of two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Age {
    /// The first.
    Old,
    /// The second.
    New,
}

/// What the reader has to know about a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanNote {
    /// The record has other subjects too.
    OtherSubjects {
        /// Name of the one that is planned for.
        planned: String,
        /// How many others.
        others: usize,
    },
    /// Runs have too few iterations to show whether they settle.
    TooFewIterations,
    /// Some runs have no steady state.
    NeverSteady,
    /// Runs were disturbed.
    Disturbed {
        /// How many.
        runs: usize,
        /// Of how many.
        of: usize,
        /// Whether they count all the same.
        count: bool,
    },
    /// What a value inside a process costs is unknown.
    CostInside,
    /// The pilot has little of the highest level.
    RoughPilot {
        /// How much.
        of_highest: usize,
    },
}
