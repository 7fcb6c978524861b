//! What was asked for.

use super::{Authentication, ExpectedBody, LoadValues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked for, settled before the first request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTerms {
    /// Where the requests went.
    pub url: String,
    /// The socket that they went through, if it was not one of TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: String,
    /// The most requests at the same time on one connection of HTTP/2; absent for HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// The method.
    pub method: String,
    /// Bytes of each request's body, or message.
    pub body_bytes: u64,
    /// Whether requests were unary calls of gRPC.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grpc: bool,
    /// Statuses of a right answer; empty: any from 200 to 399, and of gRPC 0.
    pub expected_status: Vec<u16>,
    /// The body of a right answer; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_body: Option<ExpectedBody>,
    /// Kinds of requests that were mixed; empty for one kind, which the fields above describe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestTerms>,
    /// What filled in `{NAME}` in paths, headers and bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<LoadValues>,
    /// On whose behalf requests were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// The most redirects that were followed for a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<u64>,
    /// A number that other requests, bodies, values or times of a file would not have; absent where each request is a GET
    /// of the URL without headers of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_digest: Option<String>,
    /// How the rate over time was found, if it is that of an archetype.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archetype: Option<ArchetypeTerms>,
    /// How the due times follow each other.
    pub arrivals: Arrivals,
    /// The rate over time; empty for times from a file.
    pub stages: Vec<Stage>,
    /// By how much chance decided.
    pub seed: u64,
    /// For how long requests were due.
    pub duration: f64,
    /// After how long without the end of an answer a request failed.
    pub time_limit: f64,
    /// The most connections at the same time.
    pub connections: u64,
    /// Whether each request opened a connection of its own.
    pub new_connections: bool,
    /// Threads that sent.
    pub threads: u64,
    /// For how long requests that were due were gathered, to be sent together, if that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<f64>,
}

/// One kind of request of a load that mixes several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTerms {
    /// Its name.
    pub name: String,
    /// How often it was sent, beside the weights of the others.
    pub weight: f64,
    /// The method.
    pub method: String,
    /// Path and query, as they were written.
    pub path: String,
    /// Bytes of the body, or message, before `{NAME}` was filled in.
    pub body_bytes: u64,
}

/// How due times follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At random, as independent users come: gaps are exponential.
    Poisson,
    /// Evenly.
    Even,
    /// As a file had them.
    Replayed,
}

/// A stretch of time in which the rate is constant or changes linearly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// How long it is.
    pub seconds: f64,
    /// Requests in a second at its beginning.
    pub from: f64,
    /// Requests in a second at its end.
    pub to: f64,
}

impl Stage {
    /// Returns how many requests are due in its first `seconds`, on average.
    pub fn requests_until(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        self.from.mul_add(seconds, slope * seconds * seconds / 2.0)
    }

    /// Returns its highest rate.
    pub fn highest(&self) -> f64 {
        self.from.max(self.to)
    }

    /// Returns how many requests are due in it, on average.
    pub fn requests(&self) -> f64 {
        self.requests_until(self.seconds)
    }
}

/// What kind of service a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Archetype {
    /// A worker in the background that is hardly used.
    Idle,
    /// A service whose users wait for each answer.
    Latency,
    /// A worker that is kept busy.
    Throughput,
    /// An application with several kinds of requests, whose load rises and falls in the course of a day.
    Enterprise,
}

crate::words::words! {
    Archetype { Idle = "idle", Latency = "latency", Throughput = "throughput", Enterprise = "enterprise" }
}

/// How an archetype was turned into a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArchetypeTerms {
    /// Which one.
    pub archetype: Archetype,
    /// Answers in a second that the server gave when each connection sent the next request at once.
    pub capacity: f64,
    /// Over how many connections it gave them.
    pub connections: u64,
}
