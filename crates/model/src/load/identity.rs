//! What tells one load from another in a history: loads of different kinds are no runs of one series.

use std::fmt::Write as _;

use super::{
    ArchetypeTerms, Arrivals, LoadRequest, LoadTerms, Scenario, is_secret_header, rates_text,
};
use crate::{digest, whole};

/// What is different where loads are.
#[derive(Debug)]
struct Identity<'a> {
    rate: (&'static str, String),
    arrivals: Arrivals,
    method: &'a str,
    protocol: &'a str,
    new_connections: bool,
    unix_socket: Option<&'a str>,
    follow: u64,
    batch: Option<f64>,
    requests: Option<String>,
}

impl Identity<'_> {
    /// Returns the parameters of a series; what is usual is none.
    fn parameters(self) -> Vec<(String, String)> {
        let mut parameters = vec![(self.rate.0.to_owned(), self.rate.1)];
        let mut differs = |name: &str, value: &str, usual: &str| {
            if value != usual {
                parameters.push((name.to_owned(), value.to_owned()));
            }
        };
        differs("arrivals", arrivals_text(self.arrivals), arrivals_text(Arrivals::Poisson));
        differs("method", self.method, "GET");
        differs("protocol", self.protocol, "HTTP/1.1");
        let connections = if self.new_connections { "new" } else { "kept" };
        differs("connections", connections, "kept");
        differs("unix-socket", self.unix_socket.unwrap_or_default(), "");
        differs("follow", &self.follow.to_string(), "0");
        let batch = self.batch.map(|seconds| format!("{}ns", whole((seconds * 1e9).round())));
        differs("batch", batch.as_deref().unwrap_or_default(), "");
        differs("requests", self.requests.as_deref().unwrap_or_default(), "");
        parameters
    }
}

fn arrivals_text(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Poisson => "poisson",
        Arrivals::Even => "even",
        Arrivals::Replayed => "replayed",
    }
}

impl LoadTerms {
    /// Returns the parameters of the series of a load.
    pub(crate) fn series_parameters(&self) -> Vec<(String, String)> {
        // What an archetype makes of the capacity differs from time to time.
        let rate = match &self.archetype {
            Some(ArchetypeTerms { archetype, .. }) => ("archetype", archetype.to_string()),
            None => ("rate", rates_text(&self.stages)),
        };
        Identity {
            rate,
            arrivals: self.arrivals,
            method: &self.method,
            protocol: if self.grpc { "gRPC" } else { &self.protocol },
            new_connections: self.new_connections,
            unix_socket: self.unix_socket.as_deref(),
            follow: self.follow.unwrap_or(0),
            batch: self.batch,
            requests: self.requests_digest.clone(),
        }
        .parameters()
    }
}

impl Scenario {
    /// Returns the parameters of the series of servers under this load.
    pub fn series_parameters(&self) -> Vec<(String, String)> {
        let kinds = self.kinds();
        let protocol = match (self.grpc, self.http2) {
            (true, _) => "gRPC",
            (false, true) => "HTTP/2",
            (false, false) => "HTTP/1.1",
        };
        Identity {
            rate: ("rate", rates_text(&self.stages)),
            arrivals: self.arrivals,
            method: &kinds[0].method,
            protocol,
            new_connections: self.new_connections,
            unix_socket: self.unix_socket.as_deref(),
            follow: self.follow,
            batch: self.batch,
            requests: self.requests_digest(),
        }
        .parameters()
    }

    /// Returns a number that a scenario with other requests, or with times of another file, would not have; `None` where each
    /// request is a GET of the URL, without headers, at a rate. Where a file lies, what requests are called and secrets do not
    /// count.
    pub fn requests_digest(&self) -> Option<String> {
        let mut text = String::new();
        // Lengths tell where one part ends and the next one begins.
        let mut add = |part: &str| {
            let _ = write!(text, "{}:{part}", part.len());
        };
        for kind in self.kinds() {
            let LoadRequest { weight, method, path, headers, body, body_file, .. } = &kind;
            let is_plain = self.requests.is_empty()
                && method == "GET"
                && headers.iter().all(|(name, _)| is_secret_header(name))
                && body.is_none()
                && body_file.is_none();
            if is_plain {
                continue;
            }
            for part in [&weight.to_string(), method, path.as_deref().unwrap_or_default()] {
                add(part);
            }
            let headers = headers.iter().filter(|(name, _)| !is_secret_header(name));
            add(&headers.clone().count().to_string());
            for (name, value) in headers {
                add(&name.to_ascii_lowercase());
                add(value);
            }
            let in_file = body_file.as_ref().map(|one| one.digest.clone());
            add(&in_file.or(body.as_ref().map(|text| digest(text.as_bytes()))).unwrap_or_default());
        }
        let values = self.values.as_ref().map(|one| &one.digest);
        let times = self.replay.as_ref().map(|one| &one.digest);
        for (name, digest) in [("values", values), ("times", times)] {
            if let Some(digest) = digest {
                add(name);
                add(digest);
            }
        }
        (!text.is_empty()).then(|| digest(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LoadBody;
    use super::*;

    #[test]
    fn requests_that_differ_have_different_digests() {
        let text = |text: &str| Some(text.to_owned());
        let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let usual = Scenario::default;
        let file = LoadBody { file: "a".to_owned(), bytes: 1, digest: "1".to_owned() };
        let kind = |path: &str, weight| LoadRequest {
            name: path.to_owned(),
            weight,
            method: String::new(),
            path: Some(path.to_owned()),
            headers: Vec::new(),
            body: None,
            body_file: None,
            expected_status: Vec::new(),
            expected_body: None,
        };
        let scenarios = [
            usual(),
            Scenario { method: "PUT".to_owned(), ..usual() },
            Scenario { headers: header("Accept", "a"), ..usual() },
            Scenario { headers: header("Accept", "b"), ..usual() },
            Scenario { body: text("x"), ..usual() },
            Scenario { body: text("y"), ..usual() },
            Scenario { body_file: Some(file.clone()), ..usual() },
            Scenario { requests: vec![kind("/a", 1.0)], ..usual() },
            Scenario { requests: vec![kind("/a", 1.0), kind("/b", 1.0)], ..usual() },
            Scenario { requests: vec![kind("/a", 2.0), kind("/b", 1.0)], ..usual() },
        ];
        let mut digests: Vec<_> = scenarios.iter().map(Scenario::requests_digest).collect();
        assert_eq!(digests[0], None);
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), scenarios.len());
        // What does not count.
        let elsewhere = Scenario {
            body_file: Some(LoadBody { file: "b".to_owned(), ..file }),
            headers: header("authorization", "secret"),
            ..usual()
        };
        assert_eq!(elsewhere.requests_digest(), scenarios[6].requests_digest());
        let file = LoadBody { file: "c".to_owned(), bytes: 1, digest: digest(b"x") };
        let in_file = Scenario { body_file: Some(file), ..usual() };
        assert_eq!(in_file.requests_digest(), scenarios[4].requests_digest());
        let secret = Scenario { headers: header("Authorization", "a"), ..usual() };
        assert_eq!(secret.requests_digest(), None);
    }

    #[test]
    fn requests_that_are_gathered_have_other_times_and_are_another_series() {
        let of = |batch| {
            let scenario = Scenario { batch, ..Scenario::default() };
            scenario.series_parameters().into_iter().find(|(name, _)| name == "batch")
        };
        assert_eq!(of(None), None);
        for (batch, text) in [(0.0, "0ns"), (3e-7, "300ns"), (2e-4, "200000ns")] {
            assert_eq!(of(Some(batch)).map(|(_, value)| value), Some(text.to_owned()));
        }
    }
}
