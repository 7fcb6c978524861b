//! Shape of `becalm.toml`: the benchmarks of a repository, and how each is measured.
//!
//! Nothing here is filled in or checked beyond its shape: what a benchmark does not set comes from
//! `[defaults]`, and what that does not set from the command line.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::suite_load::SuiteLoad;
use super::suite_values::{SuiteDuration, SuiteValue};
use crate::{Direction, parse_share};

/// Version of the format that this becalm reads.
pub const SUITE_VERSION: u32 = 1;

/// A whole `becalm.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteDocument {
    /// Version of the format: 1.
    pub version: u32,
    /// Defaults for every benchmark. Variables of `env` are added to those of a benchmark;
    /// everything else is replaced by what the benchmark sets.
    #[serde(default)]
    pub defaults: SuiteBenchmark,
    /// The benchmarks, by name.
    #[serde(default)]
    pub benchmark: BTreeMap<String, SuiteBenchmark>,
    /// Loads that servers are compared under, by name.
    #[serde(default)]
    pub load: BTreeMap<String, SuiteLoad>,
    /// Where results are kept over time, and what makes a series of them.
    #[serde(default)]
    pub history: SuiteHistory,
    /// The rules by which a change of level in a history is a change.
    #[serde(default)]
    pub changes: SuiteChanges,
    /// When `becalm gate` fails.
    #[serde(default)]
    pub gate: SuiteGate,
}

/// When `becalm gate` fails.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuiteGate {
    /// Largest relative change for the worse that passes, such as `2%`.
    pub margin: Option<SuiteShare>,
    /// Which changes of level in the history fail; by default those that are confirmed.
    pub changes: Option<SuiteGateChanges>,
    /// Rules for single benchmarks, metrics, or metrics of benchmarks: by name, the latter as
    /// `BENCHMARK/METRIC`.
    pub rules: BTreeMap<String, SuiteGateRule>,
}

/// The rule for one benchmark or metric.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuiteGateRule {
    /// Largest relative change for the worse that passes.
    pub margin: Option<SuiteShare>,
    /// Largest value that passes, in a unit of the metric: `250ms`, `12MiB`.
    pub max: Option<SuiteValue>,
    /// Smallest value that passes.
    pub min: Option<SuiteValue>,
    /// Which changes of level fail.
    pub changes: Option<SuiteGateChanges>,
}

/// Which changes of level make a gate fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuiteGateChanges {
    /// Those that are confirmed.
    Confirmed,
    /// Also those that are pending.
    Pending,
    /// None: all pass.
    None,
}

/// The rules by which a change of level in a history is a change.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SuiteChanges {
    /// Smallest relative change of level to report, such as `2%`.
    pub margin: Option<SuiteShare>,
    /// The same for single benchmarks and metrics, by name.
    pub margins: BTreeMap<String, SuiteShare>,
    /// Share of unchanged series of 500 runs in which a change may be confirmed, from 0.1 % to 10 %.
    pub false_alarms: Option<SuiteShare>,
    /// What the size of a change is, which margins are held against; by default the median.
    pub size: Option<SuiteSize>,
}

/// What the size of a change of level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuiteSize {
    /// What is typical: the shift of the medians.
    Median,
    /// What all runs take together: the ratio of the means.
    Mean,
}

/// The history of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuiteHistory {
    /// A file, from the folder of this one, or a PostgreSQL URL. Without it `.becalm/history.db` at the top of
    /// the repository.
    pub store: Option<String>,
    /// The branch that is used if none is named; by default the main branch, as git says: that of the remote, else the one
    /// that `init.defaultBranch` names, else the only one, `main` or `master`.
    pub branch: Option<String>,
    /// Facts that split series: values that differ in one of them are never compared.
    pub split: Option<Vec<String>>,
    /// Facts whose change is reported beside a series.
    pub annotate: Option<Vec<String>>,
}

/// One benchmark, or the defaults for all of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SuiteBenchmark {
    /// What is run: one line, which becalm splits into words like a shell without running one, or a
    /// list of words. `{NAME}` is replaced by a value of the parameter of that name, here and in
    /// `filter`, `env`, `folder`, `input` and the commands around the runs.
    pub command: Option<SuiteCommand>,
    /// The harness that the command is a program of, which times benchmarks of its own: `auto`, or
    /// a name that `becalm run --harness` accepts.
    pub harness: Option<String>,
    /// Which benchmarks of the harness to run, in the harness's own syntax.
    pub filter: Option<String>,
    /// How long each benchmark of the harness may be timed in one process, such as `100ms`.
    pub harness_time: Option<SuiteDuration>,
    /// The load that is sent to it, which is a server: the name of one of this file, or `rate=2000,duration=5s`.
    pub load: Option<String>,
    /// Parameters with their values: every combination is measured, under the name `NAME size=10`.
    pub parameters: Option<BTreeMap<String, Vec<SuiteValue>>>,
    /// The main metrics of the benchmark: metrics that becalm records (`wall_time`, `max_rss`,
    /// `instructions`), or that are read from its output; with a harness the measures of its
    /// benchmarks, such as `B/op`.
    #[serde(deserialize_with = "metrics")]
    #[schemars(with = "Option<Vec<MetricSchema>>")]
    pub metrics: Option<Vec<SuiteMetric>>,
    /// Variables that it sees in addition to those of becalm.
    pub env: Option<BTreeMap<String, SuiteValue>>,
    /// The folder that it starts in, from that of this file.
    pub folder: Option<String>,
    /// Command (run with `sh -c`) once before the warm-up.
    pub setup: Option<String>,
    /// Command before each run.
    pub prepare: Option<String>,
    /// Command after each run.
    pub conclude: Option<String>,
    /// Command once after the last run, even if one failed.
    pub cleanup: Option<String>,
    /// File for its standard input, from its folder.
    pub input: Option<String>,
    /// Time after which a run is ended, such as `30s`.
    pub timeout: Option<SuiteDuration>,
    /// Runs before the measured ones.
    pub warmup: Option<u32>,
    /// Time for its measured runs, such as `10s`: no further one starts after it.
    pub budget: Option<SuiteDuration>,
    /// Measured runs; a maximum if there is a budget too.
    #[schemars(range(min = 1))]
    pub rounds: Option<u32>,
    /// Smallest relative change that matters, such as `2%`.
    pub margin: Option<SuiteShare>,
    /// Tags, by which `--tag` chooses it.
    pub tags: Option<Vec<String>>,
}

/// A command: one line, or words.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum SuiteCommand {
    /// A line that is yet to be split.
    Line(String),
    /// Program and arguments.
    Words(Vec<String>),
}

/// One main metric of a benchmark.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteMetric {
    /// Its name.
    pub name: String,
    /// Regular expression that finds it in the output: the first group is the value, and of several
    /// matches the last counts.
    #[serde(default)]
    pub regex: Option<String>,
    /// JSON pointer that finds it in the output.
    #[serde(default)]
    pub pointer: Option<String>,
    /// Unit of what is read; `s` and `B` are shown in multiples.
    #[serde(default)]
    pub unit: Option<String>,
    /// Which way what is read gets better.
    #[serde(default)]
    pub better: Option<Direction>,
    /// Whether repeated runs give exactly the same value.
    #[serde(default)]
    pub exact: Option<bool>,
    /// Smallest relative change of it that matters.
    #[serde(default)]
    pub margin: Option<SuiteShare>,
}

/// A share: `2%` or 0.02.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
pub struct SuiteShare(#[schemars(with = "ShareSchema")] pub f64);

/// What the types that are read by hand look like, for the schema alone.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum MetricSchema {
    Name(String),
    Described(SuiteMetric),
}

#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum ShareSchema {
    Percent(String),
    Fraction(f64),
}

// An untagged enum would say of a wrong value only that it matches no variant: these are read by hand, so
// that the message names what was expected, and keeps the place of a wrong key inside.

impl<'de> Deserialize<'de> for SuiteCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Command;
        impl<'de> Visitor<'de> for Command {
            type Value = SuiteCommand;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command: a line in quotes, or a list of words")
            }

            fn visit_str<E: Error>(self, line: &str) -> Result<SuiteCommand, E> {
                Ok(SuiteCommand::Line(line.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<SuiteCommand, A::Error> {
                let mut command = Vec::new();
                while let Some(SuiteValue(word)) = words.next_element()? {
                    command.push(word);
                }
                Ok(SuiteCommand::Words(command))
            }
        }
        deserializer.deserialize_any(Command)
    }
}

impl<'de> Deserialize<'de> for SuiteShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Share;
        impl Visitor<'_> for Share {
            type Value = SuiteShare;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share of less than one, such as \"2%\" or 0.02")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SuiteShare, E> {
                self.visit_f64(parse_share(text).map_err(E::custom)?)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<SuiteShare, E> {
                #[expect(clippy::cast_precision_loss, reason = "what is not 0 is refused")]
                self.visit_f64(number as f64)
            }

            fn visit_f64<E: Error>(self, share: f64) -> Result<SuiteShare, E> {
                if (0.0..1.0).contains(&share) {
                    Ok(SuiteShare(share))
                } else {
                    Err(E::custom(format!("{share} is not a share from 0 to less than 1")))
                }
            }
        }
        deserializer.deserialize_any(Share)
    }
}

/// A metric by its name alone, or with all its settings.
struct MetricEntry(SuiteMetric);

impl<'de> Deserialize<'de> for MetricEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = MetricEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a metric, or a table such as { name = \"rate\", regex = '(\\d+)/s' }")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<MetricEntry, E> {
                Ok(MetricEntry(SuiteMetric::named(name)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MetricEntry, A::Error> {
                SuiteMetric::deserialize(MapAccessDeserializer::new(map)).map(MetricEntry)
            }
        }
        deserializer.deserialize_any(Entry)
    }
}

fn metrics<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<SuiteMetric>>, D::Error> {
    let entries = Vec::<MetricEntry>::deserialize(deserializer)?;
    Ok(Some(entries.into_iter().map(|MetricEntry(metric)| metric).collect()))
}

impl SuiteMetric {
    /// Returns a metric with a name only.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            regex: None,
            pointer: None,
            unit: None,
            better: None,
            exact: None,
            margin: None,
        }
    }
}
