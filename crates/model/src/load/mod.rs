//! Load on a server: what was asked for, what came of it, and whether the generator can be trusted.
//!
//! Every value has the shape of its part of the document (`becalm load --json`) and serialises itself. Times are in
//! seconds.

mod archetype;
mod awake;
mod failure;
mod fidelity;
mod find;
mod identity;
mod latency;
mod objective;
mod rates;
mod request;
mod run_load;
mod scenario;
mod terms;

pub use awake::KeepAwake;
pub use failure::{Failed, FailureKind};
pub use fidelity::{
    Distrust, Fidelity, Gaps, GeneratorPlace, LOG_OF_INVALID_LOAD, Separation, ThreadUse, Trust,
};
pub use find::{
    FindAnswer, FindGenerator, FindLimit, FindWindow, LoadFindDocument, MissedShare, QuantileRange,
};
pub use latency::{Latency, LoadSecond, LoadSpread, QuantileValue};
pub use objective::{Objective, ObjectiveError, ObjectiveOf, ObjectiveResult};
pub use rates::{Rates, RatesError, rates_text};
pub use request::{
    Authentication, ExpectedBody, LoadBody, LoadReplay, LoadRequest, LoadValues, is_secret_header,
};
pub use run_load::{
    CPU_PER_REQUEST, ERROR_RATE, FEWEST_BEYOND, LoadTime, MAIN_METRIC, RunLoad, THROUGHPUT,
    USUAL_QUANTILES, is_metric, metrics,
};
pub use scenario::{LONGEST_BATCH, PORT, Scenario, ServerTerms};
pub use terms::{Archetype, ArchetypeTerms, Arrivals, LoadTerms, RequestTerms, Stage};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::MachineFacts;
use crate::wire::Worded;

/// One load on one server, as `becalm load --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRunDocument {
    /// `becalm/load/1`.
    pub schema: String,
    /// Version of becalm.
    pub becalm: String,
    /// Seconds since 1970.
    pub started_at: f64,
    /// The machine that sent.
    pub machine: MachineFacts,
    /// What was asked for.
    pub terms: LoadTerms,
    /// How many requests came how far.
    pub counts: LoadCounts,
    /// From the first due time until no request was in flight any more.
    pub elapsed: f64,
    /// Seconds from the first due time until the last expected answer, or to the end of the schedule if that is later:
    /// what the rate of the answers refers to. What is waited for in vain is not part of it. Absent in documents of
    /// earlier versions, whose rates refer to `elapsed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answering: Option<f64>,
    /// From the due time to the last byte of the answer.
    pub response: Latency,
    /// From the first byte of the request to the last byte of the answer.
    pub service: Latency,
    /// From the due time to the first byte of the request.
    pub lag: Latency,
    /// What failed, the most frequent first.
    pub errors: Vec<Failed>,
    /// The same for each kind of request; empty unless the load mixes several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<LoadPart>,
    /// Whether the generator kept to the schedule.
    pub fidelity: Fidelity,
    /// What is to be concluded from it; empty if no objective was given.
    pub objectives: Vec<ObjectiveResult>,
    /// The requests by the second in which they were due.
    pub seconds: Vec<LoadSecond>,
    /// How their response times are spread, second by second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<LoadSpread>,
    /// The signal that ended the load before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// The requests of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPart {
    /// Name of the kind.
    pub name: String,
    /// How many requests came how far; connections are not counted by kind.
    pub counts: LoadCounts,
    /// From the due time to the last byte of the answer.
    pub response: Latency,
    /// From the first byte of the request to the last byte of the answer.
    pub service: Latency,
}

/// How many requests came how far. `scheduled` is `answered + errors + unsent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCounts {
    /// Due times that came.
    pub scheduled: u64,
    /// Requests of which at least a byte was written.
    pub sent: u64,
    /// Requests with the expected answer.
    pub answered: u64,
    /// Requests that failed, by whatever fault; `errors` has them by kind.
    pub errors: u64,
    /// Requests that found all permitted connections in use, and waited for one.
    pub starved: u64,
    /// Requests that the server gave back unprocessed; they were sent once more.
    #[serde(default, skip_serializing_if = "scenario::is_zero")]
    pub given_back: u64,
    /// Requests that were never given to a connection.
    pub unsent: u64,
    /// Connections that were opened.
    pub connections: u64,
}

impl LoadRunDocument {
    /// Says whether the figures may be believed.
    pub fn is_valid(&self) -> bool {
        self.fidelity.verdict == Trust::Valid
    }

    /// Says whether every objective was reached.
    pub fn keeps_objectives(&self) -> bool {
        self.objectives.iter().all(|result| result.is_kept)
    }

    /// Returns the requests in a second that were due, until a signal ended the load if one did.
    pub fn rate_asked(&self) -> f64 {
        let Self { elapsed, terms, .. } = self;
        let duration = self.signal.map_or(terms.duration, |_| terms.duration.min(*elapsed));
        self.counts.scheduled as f64 / duration.max(f64::MIN_POSITIVE)
    }

    /// Returns the requests in a second that had the expected answer.
    pub fn rate_answered(&self) -> f64 {
        let answering = self.answering.unwrap_or(self.elapsed);
        self.counts.answered as f64 / answering.max(f64::MIN_POSITIVE)
    }
}

/// The reasons for distrust, each with its sentence.
pub type Reasons = Vec<Worded<Distrust>>;
