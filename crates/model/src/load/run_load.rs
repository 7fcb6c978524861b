//! What was sent to a server in one run of a session, and the metrics that follow from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Distrust, Failed, Gaps, Latency, LoadCounts, LoadPart, LoadSecond, ObjectiveResult, ThreadUse,
};
use crate::Direction;
use crate::metric::{Metric, Unit};
use crate::words::words;

/// The load of one run: everything that its percentiles can be asked from later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunLoad {
    /// Seed of the due times, which all runs of a round share.
    pub seed: u64,
    /// How many requests came how far.
    pub counts: LoadCounts,
    /// Seconds from the first due time until no request was under way any more.
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Failed>,
    /// The same for each kind of request; empty unless the load mixes several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<LoadPart>,
    /// What the threads of the generator used; the one that keeps the time is the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadUse>,
    /// Gaps between requests, scheduled and actual; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// Whether the generator was at fault, so that the figures are not the server's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invalid: bool,
    /// Whether the objectives of a load of `becalm load` were met; a comparison has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveResult>,
    /// The requests by the second in which they were due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<LoadSecond>,
    /// Why earlier loads of this run were not believed and were repeated: the reasons of each, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Vec<Distrust>>,
}

/// Which time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadTime {
    /// From the due time to the last byte of the answer.
    Response,
    /// From the first byte of the request to the last byte of the answer.
    Service,
}

words! { LoadTime { Response = "response", Service = "service" } }

/// Name of the share of the requests without the expected answer.
pub const ERROR_RATE: &str = "error_rate";
/// Name of the expected answers in a second.
pub const THROUGHPUT: &str = "throughput";
/// Name of the CPU time of the server for each expected answer, in seconds.
pub const CPU_PER_REQUEST: &str = "cpu_per_request";

/// Name of the metric that decides where nothing else is asked for.
pub const MAIN_METRIC: &str = "response_p99";

/// Quantiles that are recorded without being asked for, as far as a load has requests for them.
pub const USUAL_QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Requests that have to take longer than a quantile for it to mean something: of fewer, single ones decide where it lies.
pub const FEWEST_BEYOND: f64 = 20.0;

impl LoadTime {
    /// Returns the name of the metric that is a quantile of this time: `response_p99`, `service_p99.9`.
    pub fn metric(self, q: f64) -> String {
        // Without the digits that only a double has.
        format!("{}_p{}", self.name(), (q * 1e9).round() / 1e7)
    }

    /// Reads such a name.
    pub fn of_metric(name: &str) -> Option<(Self, f64)> {
        let (time, percent) = name.split_once("_p")?;
        let time = [Self::Response, Self::Service].into_iter().find(|one| one.name() == time)?;
        if !percent.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let percent = percent.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 100.0)?;
        // As a literal would be: 99.9 / 100 is not 0.999.
        Some((time, (percent * 1e7).round() / 1e9))
    }
}

/// Says whether a load records a metric of this name.
pub fn is_metric(name: &str) -> bool {
    [ERROR_RATE, THROUGHPUT, CPU_PER_REQUEST].contains(&name) || LoadTime::of_metric(name).is_some()
}

/// Returns the metrics of runs of servers: quantiles of both times, what failed, what was answered, and what it cost.
pub fn metrics(quantiles: &[f64]) -> Vec<Metric> {
    let times = [LoadTime::Response, LoadTime::Service];
    let mut metrics: Vec<Metric> = times
        .into_iter()
        .flat_map(|time| {
            quantiles.iter().map(move |q| Metric::lower(&time.metric(*q), Unit::Second))
        })
        .collect();
    metrics.push(Metric::lower(ERROR_RATE, Unit::Count));
    metrics.push(Metric {
        direction: Direction::Higher,
        ..Metric::lower(THROUGHPUT, Unit::Named("1/s".to_owned()))
    });
    metrics.push(Metric::lower(CPU_PER_REQUEST, Unit::Second));
    metrics
}

impl RunLoad {
    /// Returns the share of the requests without the expected answer.
    pub fn error_rate(&self) -> f64 {
        1.0 - self.counts.answered as f64 / self.counts.scheduled.max(1) as f64
    }

    /// Returns the expected answers in a second.
    pub fn throughput(&self) -> f64 {
        self.counts.answered as f64 / self.answering().max(f64::MIN_POSITIVE)
    }

    /// Returns the seconds in which there were answers.
    pub fn answering(&self) -> f64 {
        self.answering.unwrap_or(self.elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_names_that_can_be_read_back() {
        for (time, q, name) in [
            (LoadTime::Response, 0.5, "response_p50"),
            (LoadTime::Response, 0.99, "response_p99"),
            (LoadTime::Service, 0.999, "service_p99.9"),
            (LoadTime::Service, 0.9999, "service_p99.99"),
        ] {
            assert_eq!(time.metric(q), name);
            assert_eq!(LoadTime::of_metric(name), Some((time, q)));
        }
        for name in
            ["response", "response_p", "response_p0", "response_p100", "lag_p99", "response_pin"]
        {
            assert_eq!(LoadTime::of_metric(name), None, "{name}");
        }
        assert_eq!(LoadTime::of_metric(MAIN_METRIC), Some((LoadTime::Response, 0.99)));
        assert!(is_metric("throughput") && is_metric("service_p75") && !is_metric("wall_time"));
    }

    #[test]
    fn more_answers_are_better_and_everything_else_is_better_when_less() {
        let metrics = metrics(&[0.5, 0.99]);
        let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "response_p50",
                "response_p99",
                "service_p50",
                "service_p99",
                "error_rate",
                "throughput",
                "cpu_per_request"
            ]
        );
        let higher: Vec<_> =
            metrics.iter().filter(|one| one.direction == Direction::Higher).collect();
        assert_eq!(higher.len(), 1);
        assert_eq!(higher[0].name, THROUGHPUT);
    }
}
