//! Shape of `[load.NAME]` in `becalm.toml`: a load that can be sent to servers by its name.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::suite_values::{SuiteDuration, SuiteValue};
use crate::load::{
    Arrivals, Authentication, ExpectedBody, KeepAwake, LONGEST_BATCH, LoadBody, LoadReplay,
    LoadRequest, LoadValues, Rates, RatesError, Scenario, Stage, is_secret_header,
};

/// A load. What it does not set is as `becalm load` has it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SuiteLoad {
    /// Requests per second: `2000`; `"100..2000"` rises; `"500,1000"` are phases of equal length, and
    /// `"100..2000:30s,2000:2m"` phases of these lengths.
    pub rate: Option<SuiteValue>,
    /// A file with the times at which requests are due, in seconds from the start, one on each line; in place of a rate.
    pub replay: Option<String>,
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
    /// A file with the body of each request, in place of `body`.
    pub body_file: Option<String>,
    /// Whether requests are unary calls of gRPC, whose serialised message is in `body-file`.
    pub grpc: Option<bool>,
    /// Statuses of a right answer; by default 200 to 399, and of gRPC 0.
    pub expect_status: Option<Statuses>,
    /// Text that the body of a right answer contains.
    pub expect_body: Option<String>,
    /// The whole body of a right answer.
    pub expect_exact_body: Option<String>,
    /// The most redirects to the same server that are followed for a request; by default none.
    pub follow: Option<u64>,
    /// Basic authentication: a file with `NAME:PASSWORD`, or `env:VARIABLE`.
    pub user: Option<String>,
    /// Authentication by a token: a file with it, or `env:VARIABLE`.
    pub bearer: Option<String>,
    /// Kinds of requests that are mixed. What they do not set, the load sets.
    pub requests: Option<Vec<SuiteRequest>>,
    /// A file of them, in place of `requests`.
    pub requests_file: Option<String>,
    /// A CSV file whose columns fill in `{NAME}` in paths, headers and bodies.
    pub values: Option<String>,
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
    /// A file with authorities that are trusted, too (PEM).
    pub cacert: Option<String>,
    /// Whether any certificate is good.
    pub insecure: Option<bool>,
    /// The socket that the requests go through, if it is not one of TCP; `{port}` in it is the port of the URL.
    pub unix_socket: Option<String>,
    /// Threads that send; by default half of the CPUs that the generator may use, at most 4.
    pub threads: Option<u64>,
    /// For how long requests that are due are gathered, to be sent together, at most `"0.9ms"`; by default each is sent
    /// when it is due, but by `becalm load` from a single CPU at 40,000 in a second and more.
    pub batch: Option<SuiteDuration>,
    /// Whether idle CPUs are kept awake while requests are sent: `auto`, the default, does so in a virtual machine.
    pub keep_awake: Option<KeepAwake>,
}

/// One kind of request of a load that mixes several.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SuiteRequest {
    /// Its name in the figures; method and path by default, and of gRPC the path.
    pub name: Option<String>,
    /// How often it is sent, beside the weights of the others; 1 by default.
    pub weight: Option<f64>,
    /// The method.
    pub method: Option<String>,
    /// Path and query, in place of those of the URL.
    pub path: Option<String>,
    /// Headers by name, beside those of the load.
    pub headers: Option<BTreeMap<String, String>>,
    /// The body.
    pub body: Option<String>,
    /// A file with the body, in place of `body`.
    pub body_file: Option<String>,
    /// Statuses of a right answer.
    pub expect_status: Option<Statuses>,
    /// Text that the body of a right answer contains.
    pub expect_body: Option<String>,
    /// The whole body of a right answer.
    pub expect_exact_body: Option<String>,
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

/// What is mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixOf {
    /// Requests of HTTP, called by method and path where they have no name.
    Requests,
    /// Unary calls of gRPC, called by service and method.
    Calls,
}

/// Why a load cannot be sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SuiteLoadError {
    /// It has no rate.
    #[error("the load has no rate; set one, such as rate=2000, or name a file with times: replay")]
    NoRate,
    /// The rate is none.
    #[error(transparent)]
    Rate(#[from] RatesError),
    /// A number or a time that has to be above zero is not.
    #[error("{0} must be above zero")]
    Zero(&'static str),
    /// Two settings contradict each other.
    #[error("{0} and {1} cannot be combined")]
    Both(&'static str, &'static str),
    /// A weight is none.
    #[error("the weight of `{0}` is not a number above zero")]
    Weight(String),
    /// Two requests have the same name.
    #[error("two requests are called `{0}`; give them names")]
    SameName(String),
    /// A header would bring a secret into records.
    #[error(
        "the header `{0}` would be in every record; use user or bearer, which name a file or a variable"
    )]
    SecretHeader(String),
    /// Requests would wait for the others of a batch so long that no load is valid.
    #[error(
        "batch may be at most 0.9ms: a longer one would be a lag that makes every load invalid"
    )]
    LongBatch,
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

/// The most kinds of requests: each has histograms of its own.
const MOST_KINDS: u64 = 1000;

/// Bodies in files, by the names of the files as a load has them.
pub type LoadBodies = BTreeMap<String, LoadBody>;

/// What is in the files that a load names.
#[derive(Debug, Clone, Default)]
pub struct LoadFiles<'a> {
    /// Its requests, in place of its own.
    pub requests: Option<&'a [SuiteRequest]>,
    /// What fills them in.
    pub values: Option<LoadValues>,
    /// When they are due, in place of a rate.
    pub replay: Option<LoadReplay>,
    /// Bodies.
    pub bodies: LoadBodies,
}

fn body_file(name: Option<&String>, bodies: &LoadBodies) -> Option<LoadBody> {
    name.map(|name| bodies.get(name).expect("every file was read").clone())
}

fn expected_body(
    contains: Option<&String>,
    is: Option<&String>,
) -> Result<Option<ExpectedBody>, SuiteLoadError> {
    match (contains, is) {
        (Some(_), Some(_)) => Err(SuiteLoadError::Both("expect-body", "expect-exact-body")),
        (Some(text), None) => Ok(Some(ExpectedBody::Contains(text.clone()))),
        (None, text) => Ok(text.cloned().map(ExpectedBody::Is)),
    }
}

impl Statuses {
    fn listed(given: Option<&Self>) -> Vec<u16> {
        match given {
            None => Vec::new(),
            Some(Self::One(one)) => vec![*one],
            Some(Self::Several(all)) => all.clone(),
        }
    }
}

impl SuiteRequest {
    fn request(&self, of: MixOf, bodies: &LoadBodies) -> Result<LoadRequest, SuiteLoadError> {
        let method = self.method.clone().unwrap_or_default();
        let path = self.path.as_deref().unwrap_or("/");
        let usual_name = || match (of, &self.method, &self.body, &self.body_file) {
            (MixOf::Calls, ..) => path.trim_start_matches('/').to_owned(),
            (MixOf::Requests, Some(method), ..) => format!("{method} {path}"),
            (MixOf::Requests, None, None, None) => format!("GET {path}"),
            (MixOf::Requests, None, ..) => format!("POST {path}"),
        };
        let name = self.name.clone().unwrap_or_else(usual_name);
        let weight = self.weight.unwrap_or(1.0);
        if !(weight.is_finite() && weight > 0.0) {
            return Err(SuiteLoadError::Weight(name));
        }
        Ok(LoadRequest {
            name,
            weight,
            method,
            path: self.path.clone(),
            headers: self.headers.clone().unwrap_or_default().into_iter().collect(),
            body: self.body.clone(),
            body_file: body_file(self.body_file.as_ref(), bodies),
            expected_status: Statuses::listed(self.expect_status.as_ref()),
            expected_body: expected_body(
                self.expect_body.as_ref(),
                self.expect_exact_body.as_ref(),
            )?,
        })
    }

    /// Returns the requests of a mix. `bodies` has what is in its files.
    pub fn mix(
        these: &[Self],
        of: MixOf,
        bodies: &LoadBodies,
    ) -> Result<Vec<LoadRequest>, SuiteLoadError> {
        if these.len() as u64 > MOST_KINDS {
            return Err(SuiteLoadError::TooMany {
                name: "the number of requests",
                most: MOST_KINDS,
            });
        }
        let mut names = BTreeSet::new();
        let mut all = Vec::new();
        for one in these {
            let request = one.request(of, bodies)?;
            if !names.insert(request.name.clone()) {
                return Err(SuiteLoadError::SameName(request.name));
            }
            all.push(request);
        }
        Ok(all)
    }
}

fn seconds(time: Option<SuiteDuration>, usual: f64) -> f64 {
    time.map_or(usual, |SuiteDuration(time)| time.as_secs_f64())
}

fn above_zero(name: &'static str, value: f64) -> Result<f64, SuiteLoadError> {
    if value > 0.0 { Ok(value) } else { Err(SuiteLoadError::Zero(name)) }
}

impl SuiteLoad {
    fn batch(&self) -> Result<Option<f64>, SuiteLoadError> {
        let batch = self.batch.map(|SuiteDuration(time)| time.as_secs_f64());
        if batch.is_some_and(|batch| batch > LONGEST_BATCH) {
            return Err(SuiteLoadError::LongBatch);
        }
        Ok(batch)
    }

    fn authentication(&self) -> Result<Option<Authentication>, SuiteLoadError> {
        match (&self.user, &self.bearer) {
            (Some(_), Some(_)) => Err(SuiteLoadError::Both("user", "bearer")),
            (Some(place), None) => Ok(Some(Authentication::Basic(place.clone()))),
            (None, place) => Ok(place.clone().map(Authentication::Bearer)),
        }
    }

    /// Returns the rate over time.
    fn stages(&self) -> Result<Vec<Stage>, SuiteLoadError> {
        let SuiteValue(rate) = self.rate.as_ref().ok_or(SuiteLoadError::NoRate)?;
        let (rates, given): (Rates, _) = (rate.parse()?, self.duration);
        if rates.seconds().is_some() && given.is_some() {
            return Err(SuiteLoadError::Both("a rate with the length of each phase", "duration"));
        }
        let duration = above_zero("duration", seconds(given, DURATION))?;
        Ok(rates.stages(duration))
    }

    /// Returns when requests are due in a file, in place of a rate.
    fn replayed(&self, times: LoadReplay) -> Result<Scenario, SuiteLoadError> {
        let others = [
            ("rate", self.rate.is_some()),
            ("duration", self.duration.is_some()),
            ("arrivals", self.arrivals.is_some()),
        ];
        match others.into_iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(SuiteLoadError::Both("replay", name)),
            None => Ok(Scenario {
                replay: Some(times),
                arrivals: Arrivals::Replayed,
                ..Scenario::default()
            }),
        }
    }

    /// Returns the load, with what it does not set, and with what is in its files.
    pub fn scenario(&self, files: LoadFiles<'_>) -> Result<Scenario, SuiteLoadError> {
        if self.requests.is_some() && self.requests_file.is_some() {
            return Err(SuiteLoadError::Both("requests", "requests-file"));
        }
        let LoadFiles { requests, values, replay, bodies } = files;
        let requests = requests.or(self.requests.as_deref()).unwrap_or_default();
        let grpc = self.grpc.unwrap_or(false);
        let of = if grpc { MixOf::Calls } else { MixOf::Requests };
        let requests = SuiteRequest::mix(requests, of, &bodies)?;
        let headers: Vec<(String, String)> =
            self.headers.clone().unwrap_or_default().into_iter().collect();
        let all_headers = headers.iter().chain(requests.iter().flat_map(|one| &one.headers));
        if let Some((name, _)) = all_headers.into_iter().find(|(name, _)| is_secret_header(name)) {
            return Err(SuiteLoadError::SecretHeader(name.clone()));
        }
        let usual = match replay {
            Some(times) => self.replayed(times)?,
            None => Scenario { stages: self.stages()?, ..Scenario::default() },
        };
        let from_one = |name, value: u64, most: u64| match value {
            0 => Err(SuiteLoadError::Zero(name)),
            value if value > most => Err(SuiteLoadError::TooMany { name, most }),
            value => Ok(value),
        };
        let scenario = Scenario {
            stages: usual.stages,
            replay: usual.replay,
            arrivals: match self.arrivals {
                Some(SuiteArrivals::Even) => Arrivals::Even,
                Some(SuiteArrivals::Poisson) => Arrivals::Poisson,
                None => usual.arrivals,
            },
            warmup: seconds(self.warmup, usual.warmup),
            method: self.method.clone().unwrap_or_default(),
            headers,
            body: self.body.clone(),
            body_file: body_file(self.body_file.as_ref(), &bodies),
            grpc,
            expected_status: Statuses::listed(self.expect_status.as_ref()),
            expected_body: expected_body(
                self.expect_body.as_ref(),
                self.expect_exact_body.as_ref(),
            )?,
            requests,
            values,
            authentication: self.authentication()?,
            follow: self.follow.unwrap_or(0),
            time_limit: above_zero("timeout", seconds(self.timeout, usual.time_limit))?,
            connections: from_one(
                "connections",
                self.connections.unwrap_or(usual.connections),
                100_000,
            )?,
            new_connections: self.new_connections.unwrap_or(false),
            http2: self.http2.unwrap_or(false) || grpc,
            streams: from_one("streams", self.streams.unwrap_or(usual.streams), 1000)?,
            insecure: self.insecure.unwrap_or(false),
            cacert: self.cacert.clone(),
            unix_socket: self.unix_socket.clone(),
            threads: self.threads.map(|threads| from_one("threads", threads, 64)).transpose()?,
            batch: self.batch()?,
            keep_awake: self.keep_awake.unwrap_or_default(),
        };
        match scenario.contradiction() {
            Some((one, other)) => Err(SuiteLoadError::Both(one, other)),
            None => Ok(scenario),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(more: &str) -> Result<Scenario, String> {
        let value = format!(r#"{{"rate": "5", {more}}}"#);
        let load: SuiteLoad = serde_json::from_str(&value).map_err(|error| error.to_string())?;
        let body = LoadBody { file: "m".to_owned(), bytes: 1, digest: "1".to_owned() };
        let bodies = [("m".to_owned(), body)].into();
        let files = LoadFiles { bodies, ..LoadFiles::default() };
        load.scenario(files).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rate_or_a_file_says_when_requests_are_due() {
        let replay = || LoadReplay {
            file: "t".to_owned(),
            requests: 2,
            seconds: 1.0,
            digest: "1".to_owned(),
        };
        let of = |text: &str, replay: Option<LoadReplay>| {
            let load: SuiteLoad = serde_json::from_str(&format!("{{{text}}}")).unwrap();
            load.scenario(LoadFiles { replay, ..LoadFiles::default() })
        };
        let phases = of(r#""rate": "5:1s,6:2s""#, None).unwrap();
        assert!((phases.duration() - 3.0).abs() < 1e-9);
        let both = of(r#""rate": "5:1s,6:2s", "duration": "3s""#, None);
        assert!(matches!(both, Err(SuiteLoadError::Both(..))));
        let times = of(r#""replay": "t""#, Some(replay())).unwrap();
        assert_eq!((times.replay, times.arrivals), (Some(replay()), Arrivals::Replayed));
        for other in [r#""rate": "5""#, r#""duration": "3s""#, r#""arrivals": "even""#] {
            assert!(of(other, Some(replay())).unwrap_err().to_string().contains("replay"));
        }
        assert_eq!(of("", None), Err(SuiteLoadError::NoRate));
    }

    #[test]
    fn requests_have_names_weights_and_expectations() {
        let scenario = read(
            r#""requests": [{"path": "/a"}, {"name": "b", "weight": 3, "body": "x", "expect-exact-body": "y"}],
               "expect-body": "ok", "follow": 2, "bearer": "env:TOKEN""#,
        )
        .unwrap();
        let names: Vec<(&str, f64)> =
            scenario.requests.iter().map(|one| (one.name.as_str(), one.weight)).collect();
        assert_eq!(names, [("GET /a", 1.0), ("b", 3.0)]);
        assert_eq!(scenario.requests[1].expected_body, Some(ExpectedBody::Is("y".to_owned())));
        assert_eq!(scenario.expected_body, Some(ExpectedBody::Contains("ok".to_owned())));
        assert_eq!(scenario.authentication, Some(Authentication::Bearer("env:TOKEN".to_owned())));
        assert_eq!(scenario.follow, 2);
    }

    #[test]
    fn calls_of_grpc_are_sent_over_http2_and_their_messages_are_in_files() {
        let requests = r#""requests": [{"path": "/a.B/C", "body-file": "m"}, {"path": "/a.B/D"}]"#;
        let scenario = read(&format!(r#""grpc": true, {requests}"#)).unwrap();
        assert!(scenario.grpc && scenario.http2);
        let kinds = scenario.kinds();
        assert_eq!(kinds[0].body_file.as_ref().map(|body| body.bytes), Some(1));
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["a.B/C", "a.B/D"]);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let check = |more: &str, word: &str| {
            let error = read(more).unwrap_err();
            assert!(error.contains(word), "{error}");
        };
        check(r#""user": "a", "bearer": "b""#, "user and bearer");
        check(r#""expect-body": "a", "expect-exact-body": "b""#, "cannot be combined");
        check(r#""requests": [], "requests-file": "b""#, "requests-file");
        check(
            r#""requests": [{"path": "/a"}, {"path": "/a"}]"#,
            "two requests are called `GET /a`",
        );
        check(r#""requests": [{"path": "/a", "weight": 0}]"#, "weight of `GET /a`");
        check(r#""requests": [{"pathh": "/a"}]"#, "pathh");
        check(r#""headers": {"authorization": "Bearer x"}"#, "would be in every record");
        check(r#""requests": [{"headers": {"Authorization": "x"}}]"#, "would be in every record");
        check(r#""body": "a", "body-file": "m""#, "body and body-file");
        check(r#""grpc": true, "body": "{}""#, "grpc and body");
        check(r#""http2": true, "new-connections": true"#, "http2 and new-connections");
        check(r#""batch": "1ms""#, "batch may be at most 0.9ms");
        assert_eq!(read(r#""batch": 0"#).unwrap().batch, Some(0.0));
    }
}
