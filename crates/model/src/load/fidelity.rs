//! Whether the generator did what it was to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reasons;
use crate::CpuSet;
use crate::wire::read_worded;

/// What begins a line of a log of histograms that says why its load is invalid; it ends with `]`.
pub const LOG_OF_INVALID_LOAD: &str = "#[becalm: invalid: ";

/// Whether the figures are those of the server, or also those of the generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fidelity {
    /// The verdict.
    pub verdict: Trust,
    /// Why it is `invalid`; empty if it is not.
    #[serde(deserialize_with = "read_worded")]
    pub reasons: Reasons,
    /// Above this 99th percentile of the lag the load is invalid.
    pub lag_limit: f64,
    /// The highest of the quantiles whose response time is free of lag, by the rule of the verdict; absent if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_to: Option<f64>,
    /// 99th percentile of the time from a due time until the generator took it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pickup_p99: Option<f64>,
    /// How long before a due time the pacer stopped sleeping and only looked at the clock.
    pub spin: f64,
    /// For how long requests that were due were gathered, at most, to be sent together; absent where each was sent when it
    /// was due.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub batch: f64,
    /// Gaps between requests, scheduled and actual.
    pub gaps: Gaps,
    /// What the threads of the generator used; the pacer is the first one, if it has a thread of its own.
    pub threads: Vec<ThreadUse>,
    /// On which CPUs they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<GeneratorPlace>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_nothing(seconds: &f64) -> bool {
    *seconds <= 0.0
}

/// On which CPUs the threads of the generator were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorPlace {
    /// The CPUs that they could use.
    pub cpus: CpuSet,
    /// Whether the server could use them, too.
    #[serde(flatten)]
    pub separation: Separation,
    /// The CPUs, of them and of the server, that becalm kept awake; absent where they could stop when they had nothing to
    /// do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awake: Option<CpuSet>,
}

/// Whether generator and server had CPUs of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Separation {
    /// The user chose the CPUs of the generator.
    Chosen,
    /// The generator kept off the cores of the server.
    Apart {
        /// Name of the server's process.
        server: String,
        /// The CPUs that it may use.
        server_cpus: CpuSet,
    },
    /// The server may use every core that the generator may use.
    Shared {
        /// Name of the server's process.
        server: String,
        /// The CPUs that it may use.
        server_cpus: CpuSet,
    },
    /// The server is not reached over the loopback.
    Elsewhere,
    /// Nobody is visible who listens there.
    Hidden,
    /// The kernel refused the CPUs.
    Refused {
        /// What it says.
        error: String,
    },
}

/// Whether figures can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// They can.
    Valid,
    /// They cannot.
    Invalid,
}

/// Why figures cannot be believed. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Distrust {
    /// The generator itself was late.
    LateGenerator {
        /// 99th percentile of the lag.
        lag_p99: f64,
        /// The most it may be.
        limit: f64,
        /// Share of the time in which the most delayed thread of the generator waited for a CPU; absent if the kernel
        /// does not count it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited: Option<f64>,
    },
    /// Requests waited because no more connections were permitted.
    PoolTooSmall {
        /// Requests that waited.
        starved: u64,
        /// Requests that were due.
        scheduled: u64,
        /// The most connections that were permitted.
        connections: u64,
        /// 99th percentile of the lag.
        lag_p99: f64,
        /// The most it may be.
        limit: f64,
    },
    /// Requests waited for connections that were being opened.
    SlowConnecting {
        /// 99th percentile of the lag.
        lag_p99: f64,
        /// The most it may be.
        limit: f64,
        /// Connections that were opened.
        connections: u64,
    },
    /// Requests were never sent.
    Unsent {
        /// How many.
        requests: u64,
        /// Requests that were due.
        scheduled: u64,
    },
    /// Connections could not be opened, because the machine of the generator had no local port or descriptor for them.
    Exhausted {
        /// Requests that failed for it.
        requests: u64,
        /// Requests that were due.
        scheduled: u64,
    },
    /// The thread that keeps the time had too little of it.
    BusyPacer {
        /// Share of the time that it used its CPU.
        share: f64,
        /// The most it may be.
        limit: f64,
    },
}

impl Distrust {
    /// Returns the cause alone, as the end of a sentence.
    pub fn in_words(&self) -> &'static str {
        match self {
            Self::LateGenerator { .. } => "becalm itself sent requests late",
            Self::PoolTooSmall { .. } => "requests waited for a free connection",
            Self::SlowConnecting { .. } => "requests waited for connections to be opened",
            Self::Unsent { .. } => "requests were never sent, because no connection became free",
            Self::Exhausted { .. } => {
                "becalm had no local port or descriptor for further connections"
            }
            Self::BusyPacer { .. } => "the thread that keeps the time had no CPU time to spare",
        }
    }
}

/// Gaps between one request and the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// Mean gap.
    pub mean: f64,
    /// Standard deviation of the scheduled gaps over their mean: 1 for arrivals at random, 0 for even ones.
    pub scheduled_variation: f64,
    /// The same of the gaps with which the requests were taken up.
    pub actual_variation: f64,
}

/// What a thread of the generator used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUse {
    /// Its name.
    pub name: String,
    /// Share of the time that it used a CPU.
    pub cpu: f64,
    /// Share of the time that it was ready and waited for a CPU; absent if the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<f64>,
}
