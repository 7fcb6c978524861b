//! What tools that put load on a server have in common: a latency with percentiles, a rate of requests, errors.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, parameters_of, single};

/// One load while it is read. What a tool does not tell is left out.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// The URL, or another name.
    pub(super) name: String,
    /// Parameters by name: how many connections and the like.
    pub(super) parameters: Vec<(&'static str, String)>,
    /// Which statistic of the latency stands for it, in seconds.
    pub(super) latency: Option<(&'static str, f64)>,
    /// Figures of the latency, in seconds.
    pub(super) figures: Vec<(String, f64)>,
    /// Requests per second.
    pub(super) requests: Option<f64>,
    /// Bytes per second.
    pub(super) transfer: Option<f64>,
    /// What else was counted: name, direction and value.
    pub(super) counts: Vec<(&'static str, Direction, f64)>,
}

impl Load {
    /// Says whether nothing of it is known.
    pub(super) fn is_empty(&self) -> bool {
        self.latency.is_none() && self.requests.is_none()
    }

    /// Keeps a figure of the latency.
    pub(super) fn figure(&mut self, name: impl Into<String>, seconds: Option<f64>) {
        self.figures.extend(seconds.map(|seconds| (name.into(), seconds)));
    }

    /// Lets the first of these figures that there is stand for the latency.
    pub(super) fn stands_for_latency(&mut self, figures: [&'static str; 2]) {
        self.latency = figures.into_iter().find_map(|wanted| {
            let figure = self.figures.iter().find(|(name, _)| name == wanted);
            figure.map(|(_, value)| (wanted, *value))
        });
    }

    /// Adds it to a record as one process.
    pub(super) fn add(self, imported: &mut Imported) {
        if self.is_empty() {
            return;
        }
        let mut parameters =
            parameters_of([("url", if self.name.contains("://") { &self.name } else { "" })]);
        parameters
            .extend(self.parameters.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let subject = imported.with_parameters(&self.name, parameters);
        let mut parts: Vec<Part> = Vec::new();
        if let Some((statistic, seconds)) = self.latency {
            let metric = imported.benchmark("latency", "", Unit::Second, Direction::Lower);
            imported.stand_in(metric, statistic);
            let figures = self.figures.into_iter().map(|(name, value)| (name, Some(value)));
            imported.summary(subject, metric, figures);
            parts.push(single(metric, seconds));
        }
        for (name, unit, rate) in
            [("requests", "requests/s", self.requests), ("transfer", "B/s", self.transfer)]
        {
            if let Some(rate) = rate {
                let unit = Unit::Named(unit.to_owned());
                parts.push(single(imported.benchmark(name, "", unit, Direction::Higher), rate));
            }
        }
        for (name, direction, count) in self.counts {
            parts.push(single(imported.benchmark(name, "", Unit::Count, direction), count));
        }
        imported.parts(subject, parts);
    }
}
