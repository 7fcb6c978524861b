//! A load as it is asked for, before it is known where it goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrivals, Stage};

/// A load that can be sent to several servers alike. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scenario {
    /// The rate over time.
    pub stages: Vec<Stage>,
    /// How the due times follow each other.
    pub arrivals: Arrivals,
    /// For how long requests at the first rate are sent before those that count.
    pub warmup: f64,
    /// The method; empty for `GET`, or `POST` with a body.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// Names and values of headers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body of each request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Statuses of a right answer; empty: any from 200 to 399.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_status: Vec<u16>,
    /// After how long without the end of an answer a request has failed.
    pub time_limit: f64,
    /// The most connections at the same time.
    pub connections: u64,
    /// Whether each request opens a connection of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_connections: bool,
    /// Whether HTTP/2 is spoken.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub http2: bool,
    /// The most requests at the same time on one connection of HTTP/2.
    pub streams: u64,
    /// Whether any certificate is good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// The socket that the requests go through, if it is not one of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,
    /// Threads that send; absent for half of the CPUs that the generator may use, at most 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
}

impl Default for Scenario {
    /// Returns one without a rate, and otherwise what `becalm load` does where nothing else is asked for.
    fn default() -> Self {
        Self {
            stages: Vec::new(),
            arrivals: Arrivals::Poisson,
            warmup: 1.0,
            method: String::new(),
            headers: Vec::new(),
            body: None,
            expected_status: Vec::new(),
            time_limit: 10.0,
            connections: 1000,
            new_connections: false,
            http2: false,
            streams: 100,
            insecure: false,
            unix_socket: None,
            threads: None,
        }
    }
}

impl Scenario {
    /// Makes the rate over time: so many requests in a second, from the first number to the second one, in stages of
    /// equal length.
    pub fn at_rates(rates: &[(f64, f64)], duration: f64) -> Vec<Stage> {
        let seconds = duration / rates.len().max(1) as f64;
        rates.iter().map(|&(from, to)| Stage { seconds, from, to }).collect()
    }

    /// Returns for how long requests are due.
    pub fn duration(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }

    /// Returns how many requests are due, on average.
    pub fn requests(&self) -> f64 {
        self.stages.iter().map(Stage::requests).sum()
    }

    /// Returns the highest rate.
    pub fn highest_rate(&self) -> f64 {
        self.stages.iter().map(|stage| stage.from.max(stage.to)).fold(0.0, f64::max)
    }

    /// Returns how many requests take longer than a quantile, on average.
    pub fn requests_beyond(&self, q: f64) -> f64 {
        self.requests() * (1.0 - q)
    }
}

/// Servers that are loaded in turns: what a session does with a subject in place of waiting for its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTerms {
    /// The load as the user wrote it: `rate=2000,duration=5s`, or the name of one in `becalm.toml`.
    pub text: String,
    /// What that means.
    pub scenario: Scenario,
    /// Where the requests go, with `{port}` in place of a port that becalm chooses; absent where the subjects are URLs
    /// of servers that run already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What shows that a server is ready: a URL that answers, a port, or a part of a line that it prints; absent: the
    /// URL of the load answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Whether each server is started once, for the whole session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_share_the_time_and_have_the_requests_of_their_area() {
        let stages = Scenario::at_rates(&[(100.0, 100.0), (100.0, 300.0)], 10.0);
        let scenario = Scenario { stages, ..Scenario::default() };
        assert!((scenario.duration() - 10.0).abs() < 1e-9);
        assert!((scenario.requests() - 1500.0).abs() < 1e-9);
        assert!((scenario.highest_rate() - 300.0).abs() < 1e-9);
        assert!((scenario.requests_beyond(0.99) - 15.0).abs() < 1e-9);
    }

    #[test]
    fn terms_that_say_little_are_read() {
        let read: ServerTerms = serde_json::from_str(
            r#"{"text": "rate=5", "scenario": {"stages": [{"seconds": 1, "from": 5, "to": 5}]}}"#,
        )
        .unwrap();
        assert_eq!(read.scenario.connections, Scenario::default().connections);
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<ServerTerms>(&written).unwrap(), read);
    }
}
