//! What is recorded per run.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::as_text::as_text;
use crate::words::words;

/// Unit of a metric's values. Times are always kept in seconds and sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Seconds.
    Second,
    /// Bytes.
    Byte,
    /// A plain number of events.
    Count,
    /// A unit named by the user.
    Named(String),
}

impl Unit {
    /// Reads the short name that [`fmt::Display`] writes; anything else is a named unit.
    pub fn from_name(name: &str) -> Self {
        match name {
            "s" => Self::Second,
            "B" => Self::Byte,
            "" => Self::Count,
            other => Self::Named(other.to_owned()),
        }
    }

    /// Returns its short name, which is empty for a plain number.
    pub fn name(&self) -> &str {
        match self {
            Self::Second => "s",
            Self::Byte => "B",
            Self::Count => "",
            Self::Named(name) => name,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Unit {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(Self::from_name(name))
    }
}

as_text!(Unit);

/// Which way a metric gets better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Less is better, as for time.
    #[default]
    Lower,
    /// More is better, as for throughput.
    Higher,
}

words! { Direction { Lower = "lower", Higher = "higher" } }

/// A direction as a metric of a record has it in JSON: whether more is better.
mod higher_is_better {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Direction;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn serialize<S: Serializer>(one: &Direction, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bool(*one == Direction::Higher)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Direction, D::Error> {
        Ok(if bool::deserialize(from)? { Direction::Higher } else { Direction::Lower })
    }
}

/// One thing that is recorded for every run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// The name used on the command line, in JSON and in reports.
    pub name: String,
    /// Unit of the values; empty for plain counts.
    pub unit: Unit,
    /// Whether more is better.
    #[serde(default, rename = "higher_is_better", with = "higher_is_better")]
    #[schemars(with = "bool")]
    pub direction: Direction,
    /// Whether repeated runs of the same program give exactly the same value, so that any
    /// difference is real.
    #[serde(default)]
    pub exact: bool,
    /// The function inside a harness that this was measured of; absent if it is of the whole
    /// process. Metrics of benchmarks stand behind all others in a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// Which statistic of many values each value is, such as `median`, if the tool that measured
    /// gives no single ones; such values are never tested as if they were raw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<String>,
}

/// Name of the elapsed time from release to exit, in seconds.
pub const WALL_TIME: &str = "wall_time";
/// Name of the user + system CPU time of the process and its waited-for children, in seconds.
pub const CPU_TIME: &str = "cpu_time";
/// Name of the CPU time in user mode, in seconds.
pub const USER_TIME: &str = "user_time";
/// Name of the CPU time in the kernel, in seconds.
pub const SYSTEM_TIME: &str = "system_time";
/// Name of the largest resident set of the process or any waited-for child, in bytes.
pub const MAX_RSS: &str = "max_rss";

/// Name of the CPU time under the name that perf users know: equal to [`CPU_TIME`], in seconds.
pub const TASK_CLOCK: &str = "task_clock";
/// Name of the number of switches to another task.
pub const CONTEXT_SWITCHES: &str = "context_switches";
/// Name of the number of page faults, with and without I/O.
pub const PAGE_FAULTS: &str = "page_faults";
/// Name of the number of moves from one CPU to another.
pub const CPU_MIGRATIONS: &str = "cpu_migrations";
/// Name of the number of cycles of the processor.
pub const CYCLES: &str = "cycles";
/// Name of the number of instructions that were completed.
pub const INSTRUCTIONS: &str = "instructions";
/// Name of the number of accesses to the last level of the cache.
pub const CACHE_REFERENCES: &str = "cache_references";
/// Name of the number of these accesses that missed.
pub const CACHE_MISSES: &str = "cache_misses";
/// Name of the number of branches that were completed.
pub const BRANCHES: &str = "branches";
/// Name of the number of branches whose target was predicted wrongly.
pub const BRANCH_MISSES: &str = "branch_misses";

/// Name of the energy that the processor packages used meanwhile, for everybody, in joules.
pub const ENERGY: &str = "energy";

/// Names of the counters that runs record without being asked, as far as the machine has them.
pub const COUNTERS: [&str; 11] = [
    TASK_CLOCK,
    CONTEXT_SWITCHES,
    PAGE_FAULTS,
    CPU_MIGRATIONS,
    CYCLES,
    INSTRUCTIONS,
    CACHE_REFERENCES,
    CACHE_MISSES,
    BRANCHES,
    BRANCH_MISSES,
    ENERGY,
];

/// What the names of figures begin with that are of a model of the processor and not of the processor.
pub const SIMULATED: &str = "simulated_";

/// Names of the metrics that every run has.
pub const ALWAYS: [&str; 5] = [WALL_TIME, CPU_TIME, USER_TIME, SYSTEM_TIME, MAX_RSS];

/// Says whether becalm records a metric of this name by itself; all others are read from the
/// subjects' output because the user asked for them.
pub fn is_builtin(name: &str) -> bool {
    ALWAYS.contains(&name) || COUNTERS.contains(&name) || name.starts_with(SIMULATED)
}

impl Metric {
    /// Makes a metric of which less is better and which is not exact.
    pub fn lower(name: &str, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            direction: Direction::Lower,
            exact: false,
            benchmark: None,
            statistic: None,
        }
    }

    /// Says whether this is what its benchmark is about, and no measure beside it.
    pub fn is_main(&self) -> bool {
        self.benchmark.as_deref() == Some(self.name.as_str())
    }

    /// Says whether `name` is the name of this metric, or that of the measure of a benchmark that it is: `B/op` of
    /// `BenchmarkSort B/op`.
    pub fn is_called(&self, name: &str) -> bool {
        let beside = self.benchmark.as_ref().and_then(|one| self.name.strip_prefix(one.as_str()));
        self.name == name || beside.and_then(|rest| rest.strip_prefix(' ')) == Some(name)
    }

    /// Says whether values of this metric and of another can be put beside each other, whatever their names are.
    pub fn is_same_quantity(&self, other: &Self) -> bool {
        self.unit == other.unit && self.direction == other.direction
    }

    /// Returns unit and direction in words: `ops/s, more is better`. A count has no unit.
    pub fn quantity(&self) -> String {
        let better = match self.direction {
            Direction::Lower => "less",
            Direction::Higher => "more",
        };
        format!("{}, {better} is better", self.unit)
    }

    /// Returns the metrics that every run has, in the order in which [`crate::Run::values`]
    /// starts: wall, CPU, user and system time, and the largest resident set.
    pub fn always() -> Vec<Self> {
        vec![
            Self::lower(WALL_TIME, Unit::Second),
            Self::lower(CPU_TIME, Unit::Second),
            Self::lower(USER_TIME, Unit::Second),
            Self::lower(SYSTEM_TIME, Unit::Second),
            Self::lower(MAX_RSS, Unit::Byte),
        ]
    }
}
