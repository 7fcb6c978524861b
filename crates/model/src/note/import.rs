//! What the reader has to know about files of other tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the reader has to know about a file of another tool, or of several put together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// A benchmark failed, and has no values.
    Failed {
        /// Its name.
        benchmark: String,
        /// What the tool says of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A benchmark was not run.
    NotRun {
        /// Its name.
        benchmark: String,
        /// What the tool says of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A benchmark has no results, whyever.
    NoResults {
        /// Its name.
        benchmark: String,
    },
    /// A process of a benchmark crashed, and has no values.
    Crashed {
        /// Its name.
        benchmark: String,
    },
    /// A statistic stands in the place of single values, which the file does not have.
    StandsIn {
        /// Which one.
        statistic: String,
        /// Whether it does so of every benchmark.
        of_every: bool,
    },
    /// A benchmark has fewer values than it had rounds.
    FewerValues {
        /// Its name.
        benchmark: String,
        /// How many values.
        values: usize,
        /// How many rounds.
        rounds: f64,
    },
    /// Each iteration of a benchmark does the work several times.
    Batches {
        /// Its name.
        benchmark: String,
        /// How many times, as the file says it.
        units: String,
    },
    /// Values of a metric differ that the file calls exact.
    NotExactAfterAll {
        /// Name of the metric.
        metric: String,
    },
    /// A threshold was crossed that the tool was given.
    ThresholdCrossed {
        /// The threshold.
        expression: String,
        /// Name of the metric.
        metric: String,
    },
    /// A baseline is left out where it is a copy.
    CopyLeftOut {
        /// Its name.
        baseline: String,
    },
    /// Processes that only calibrated count as warm-up.
    Calibrations {
        /// How many.
        processes: usize,
    },
    /// Something else that is known of the tool or its file.
    Known {
        /// What.
        what: ImportFact,
    },
}

/// What is known of a tool or its file and says the same of whatever it measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportFact {
    /// Values that are NaN or infinite are left out.
    NoNumbers,
    /// Values too large to be numbers are left out.
    TooLarge,
    /// The file tells neither units nor directions.
    NoUnits,
    /// The file tells no directions, which are guessed by the units.
    DirectionsGuessed,
    /// The file does not tell which counters are rates, of which more is better.
    CountersGuessed,
    /// The file does not tell which values are of which process.
    ProcessesUnknown,
    /// A debugger was attached.
    Debugger,
    /// The benchmarks were built without optimisation.
    NotOptimised,
    /// The benchmark library was built for debugging.
    DebugLibrary,
    /// ASV puts the samples of all processes together.
    AsvSamples,
    /// ASV does not tell the direction of tracked values.
    AsvTracked,
    /// A table of parameters that ASV printed was cut off, and is left out.
    AsvTables,
    /// What criterion prints is a slope.
    CriterionSlope,
    /// Files of criterion that name benchmarks are missing.
    CriterionNames,
    /// hyperfine measures one command after the other.
    HyperfineOrder,
    /// hyperfine gives the largest memory of all commands so far.
    HyperfineMemory,
    /// Without forks JMH runs everything in its own process.
    JmhNoForks,
    /// JMH times calls inside iterations.
    JmhSamples,
    /// k6 gives aggregates without directions.
    K6Aggregates,
    /// Latencies count from when a request was sent.
    LatencyFromSending,
    /// Latencies count from when a request was due.
    LatencyFromDue,
    /// Latencies count from when a request was sent, and values that nobody measured are added.
    LatencyFilledIn,
    /// Latencies of becalm's own log count from different times.
    LatencyByTag,
    /// The file does not say from when latencies count.
    LatencyStartUnknown,
}
