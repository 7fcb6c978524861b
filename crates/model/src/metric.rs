//! What is recorded per run.

use std::fmt;

/// Unit of a metric's values. Times are always kept in seconds and sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Second => f.write_str("s"),
            Self::Byte => f.write_str("B"),
            Self::Count => Ok(()),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Which way a metric gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Less is better, as for time.
    Lower,
    /// More is better, as for throughput.
    Higher,
}

/// One thing that is recorded for every run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// The name used on the command line, in JSON and in reports.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Whether repeated runs of the same program give exactly the same value, so that any
    /// difference is real.
    pub exact: bool,
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

impl Metric {
    /// Makes a metric of which less is better and which is not exact.
    pub fn lower(name: &str, unit: Unit) -> Self {
        Self { name: name.to_owned(), unit, direction: Direction::Lower, exact: false }
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
