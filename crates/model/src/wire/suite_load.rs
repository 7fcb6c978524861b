//! Shape of `[load.NAME]` in `becalm.toml`: a load that can be sent to servers by its name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::suite_values::{SuiteDuration, SuiteValue};
use crate::load::{Arrivals, RatesError, Scenario, parse_rates};

/// A load. What it does not set is as `becalm load` has it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SuiteLoad {
    /// Requests per second: `2000`; `"100..2000"` rises; `"500,1000"` are steps of equal length.
    pub rate: Option<SuiteValue>,
    /// For how long requests are due, such as `"10s"`.
    pub duration: Option<SuiteDuration>,
    /// For how long requests are sent before those that count; by default `"1s"`.
    pub warmup: Option<SuiteDuration>,
    /// How requests follow each other: `poisson` or `even`.
    pub arrivals: Option<SuiteArrivals>,
    /// Where the requests go, with `{port}` in place of a port that becalm chooses.
    pub url: Option<String>,
    /// What shows that a server is ready: a URL that answers, a port, or a part of a line that it prints.
    pub ready: Option<String>,
    /// The method; `GET`, or `POST` with a body.
    pub method: Option<String>,
    /// Headers by name.
    pub headers: Option<BTreeMap<String, String>>,
    /// The body of each request.
    pub body: Option<String>,
    /// Statuses of a right answer; by default 200 to 399.
    pub expect_status: Option<Statuses>,
    /// After how long without the end of an answer a request has failed; by default `"10s"`.
    pub timeout: Option<SuiteDuration>,
    /// The most connections at the same time; by default 1000.
    pub connections: Option<u64>,
    /// Whether each request opens a connection of its own.
    pub new_connections: Option<bool>,
    /// Whether HTTP/2 is spoken.
    pub http2: Option<bool>,
    /// The most requests at the same time on one connection of HTTP/2; by default 100.
    pub streams: Option<u64>,
    /// Whether any certificate is good.
    pub insecure: Option<bool>,
    /// The socket that the requests go through, if it is not one of TCP.
    pub unix_socket: Option<String>,
    /// Threads that send; by default half of the CPUs that the generator may use, at most 4.
    pub threads: Option<u64>,
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuiteArrivals {
    /// At random, as independent users come.
    Poisson,
    /// Evenly.
    Even,
}

/// One status, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Statuses {
    /// One.
    One(u16),
    /// Several.
    Several(Vec<u16>),
}

/// Why a load cannot be sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SuiteLoadError {
    /// It has no rate.
    #[error("the load has no rate; set one, such as rate=2000")]
    NoRate,
    /// The rate is none.
    #[error(transparent)]
    Rate(#[from] RatesError),
    /// A number or a time that has to be above zero is not.
    #[error("{0} must be above zero")]
    Zero(&'static str),
    /// A number is larger than becalm can serve.
    #[error("{name} may be at most {most}")]
    TooMany {
        /// What.
        name: &'static str,
        /// The largest.
        most: u64,
    },
}

/// For how long requests are due where nothing else is said, in seconds.
const DURATION: f64 = 5.0;

impl SuiteLoad {
    /// Returns the load, with what it does not set.
    pub fn scenario(&self) -> Result<Scenario, SuiteLoadError> {
        let usual = Scenario::default();
        let SuiteValue(rate) = self.rate.as_ref().ok_or(SuiteLoadError::NoRate)?;
        let seconds = |time: Option<SuiteDuration>, usual: f64| {
            time.map_or(usual, |SuiteDuration(time)| time.as_secs_f64())
        };
        let above_zero = |name, value: f64| {
            if value > 0.0 { Ok(value) } else { Err(SuiteLoadError::Zero(name)) }
        };
        let from_one = |name, value: u64, most: u64| match value {
            0 => Err(SuiteLoadError::Zero(name)),
            value if value > most => Err(SuiteLoadError::TooMany { name, most }),
            value => Ok(value),
        };
        let duration = above_zero("duration", seconds(self.duration, DURATION))?;
        Ok(Scenario {
            stages: Scenario::at_rates(&parse_rates(rate)?, duration),
            arrivals: match self.arrivals {
                Some(SuiteArrivals::Even) => Arrivals::Even,
                Some(SuiteArrivals::Poisson) | None => Arrivals::Poisson,
            },
            warmup: seconds(self.warmup, usual.warmup),
            method: self.method.clone().unwrap_or_default(),
            headers: self.headers.clone().unwrap_or_default().into_iter().collect(),
            body: self.body.clone(),
            expected_status: match &self.expect_status {
                None => Vec::new(),
                Some(Statuses::One(one)) => vec![*one],
                Some(Statuses::Several(all)) => all.clone(),
            },
            time_limit: above_zero("timeout", seconds(self.timeout, usual.time_limit))?,
            connections: from_one(
                "connections",
                self.connections.unwrap_or(usual.connections),
                100_000,
            )?,
            new_connections: self.new_connections.unwrap_or(false),
            http2: self.http2.unwrap_or(false),
            streams: from_one("streams", self.streams.unwrap_or(usual.streams), 1000)?,
            insecure: self.insecure.unwrap_or(false),
            unix_socket: self.unix_socket.clone(),
            threads: self.threads.map(|threads| from_one("threads", threads, 64)).transpose()?,
        })
    }
}
