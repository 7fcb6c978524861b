//! A load as it is asked for, before it is known where it goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Arrivals, Authentication, ExpectedBody, KeepAwake, LoadBody, LoadReplay, LoadRequest,
    LoadValues, Stage,
};

/// A load that can be sent to several servers alike. Times are in seconds.
#[expect(clippy::struct_excessive_bools, reason = "documents have these as they are")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scenario {
    /// The rate over time; empty for times from a file.
    pub stages: Vec<Stage>,
    /// The file with the due times, in place of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<LoadReplay>,
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
    /// The file with the body of each request, in place of `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_file: Option<LoadBody>,
    /// Whether requests are unary calls of gRPC: the body is a message, and a right answer has one, and a status of gRPC.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub grpc: bool,
    /// Statuses of a right answer; empty: any from 200 to 399, and of gRPC 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_status: Vec<u16>,
    /// The body of a right answer; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_body: Option<ExpectedBody>,
    /// Kinds of requests that are mixed; empty for one kind, which the fields above describe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<LoadRequest>,
    /// What fills in `{NAME}` in paths, headers and bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<LoadValues>,
    /// On whose behalf requests are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// The most redirects that are followed for a request.
    #[serde(skip_serializing_if = "is_zero")]
    pub follow: u64,
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
    /// A file with authorities that are trusted, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<String>,
    /// The socket that the requests go through, if it is not one of TCP; `{port}` in it is the port of the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,
    /// Threads that send; absent for half of the CPUs that the generator may use, at most 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// For how long requests that are due are gathered, to be sent together; absent where the rate decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<f64>,
    /// Whether idle CPUs are kept awake meanwhile.
    #[serde(skip_serializing_if = "KeepAwake::is_auto")]
    pub keep_awake: KeepAwake,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The longest batch of requests that are sent together, in seconds: with what a wake-up is late, a longer one would be a
/// lag of more than a millisecond, which makes every load invalid.
pub const LONGEST_BATCH: f64 = 0.9e-3;

impl Default for Scenario {
    /// Returns one without a rate, and otherwise what `becalm load` does where nothing else is asked for.
    fn default() -> Self {
        Self {
            stages: Vec::new(),
            replay: None,
            arrivals: Arrivals::Poisson,
            warmup: 1.0,
            method: String::new(),
            headers: Vec::new(),
            body: None,
            body_file: None,
            grpc: false,
            expected_status: Vec::new(),
            expected_body: None,
            requests: Vec::new(),
            values: None,
            authentication: None,
            follow: 0,
            time_limit: 10.0,
            connections: 1000,
            new_connections: false,
            http2: false,
            streams: 100,
            insecure: false,
            cacert: None,
            unix_socket: None,
            threads: None,
            batch: None,
            keep_awake: KeepAwake::Auto,
        }
    }
}

impl Scenario {
    /// Returns for how long requests are due.
    pub fn duration(&self) -> f64 {
        let of_stages = || self.stages.iter().map(|stage| stage.seconds).sum();
        self.replay.as_ref().map_or_else(of_stages, |times| times.seconds)
    }

    /// Returns how many requests are due, on average.
    pub fn requests(&self) -> f64 {
        let of_stages = || self.stages.iter().map(Stage::requests).sum();
        self.replay.as_ref().map_or_else(of_stages, |times| times.requests as f64)
    }

    /// Returns the highest rate; of times from a file the mean one.
    pub fn highest_rate(&self) -> f64 {
        let of_stages = || self.stages.iter().map(Stage::highest).fold(0.0, f64::max);
        self.replay.as_ref().map_or_else(of_stages, LoadReplay::rate)
    }

    /// Returns whether idle CPUs are kept awake. By default they are not for a load that is always fast enough to do that
    /// itself: there it is no more on time with it (measured at 20,000 and 60,000 requests in a second), and costs more.
    pub fn keep_awake(&self) -> KeepAwake {
        const FAST: f64 = 20_000.0;
        let lowest = |stage: &Stage| stage.from.min(stage.to);
        let is_fast = match &self.replay {
            Some(times) => times.rate() >= FAST,
            None => !self.stages.is_empty() && self.stages.iter().all(|one| lowest(one) >= FAST),
        };
        match self.keep_awake {
            KeepAwake::Auto if is_fast => KeepAwake::Off,
            wish => wish,
        }
    }

    /// Returns the rate of the requests before those that count: that of the first stage, or the mean one of times from a
    /// file, but no more requests than these; `None` if there are no such requests.
    pub fn warm_up_rate(&self) -> Option<f64> {
        if self.warmup <= 0.0 {
            return None;
        }
        match &self.replay {
            Some(times) => Some(times.rate().min(times.requests as f64 / self.warmup)),
            None => self.stages.first().map(Stage::highest),
        }
    }

    /// Returns how many requests take longer than a quantile, on average.
    pub fn requests_beyond(&self, q: f64) -> f64 {
        self.requests() * (1.0 - q)
    }
}

impl Scenario {
    /// Returns two settings that contradict each other, as they are named on the command line and in `becalm.toml`.
    pub fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let has_text = |body: &Option<String>| body.as_ref().is_some_and(|text| !text.is_empty());
        let sets_method = |method: &str| !matches!(method, "" | "POST");
        let has_both = |body: bool, file: &Option<LoadBody>| body && file.is_some();
        let kinds = || self.requests.iter();
        [
            // A connection of HTTP/2 has places for several requests.
            (self.http2 && self.new_connections, ("http2", "new-connections")),
            (
                has_both(self.body.is_some(), &self.body_file)
                    || kinds().any(|one| has_both(one.body.is_some(), &one.body_file)),
                ("body", "body-file"),
            ),
            (self.insecure && self.cacert.is_some(), ("insecure", "cacert")),
            (self.grpc && self.follow > 0, ("grpc", "follow")),
            (
                self.grpc
                    && (sets_method(&self.method) || kinds().any(|one| sets_method(&one.method))),
                ("grpc", "method"),
            ),
            // A text is no serialised message, but nothing is the one without any field.
            (
                self.grpc && (has_text(&self.body) || kinds().any(|one| has_text(&one.body))),
                ("grpc", "body"),
            ),
        ]
        .into_iter()
        .find_map(|(is_so, names)| is_so.then_some(names))
    }

    /// Returns the kinds of requests, each with everything that the load sets for all of them; one without a name where
    /// nothing is mixed.
    pub fn kinds(&self) -> Vec<LoadRequest> {
        let all = LoadRequest {
            name: String::new(),
            weight: 1.0,
            method: self.method.clone(),
            path: None,
            headers: self.headers.clone(),
            body: self.body.clone(),
            body_file: self.body_file.clone(),
            expected_status: self.expected_status.clone(),
            expected_body: self.expected_body.clone(),
        };
        // Every call of gRPC is a POST, whether or not its message has a byte.
        let all = if self.grpc { LoadRequest { method: "POST".to_owned(), ..all } } else { all };
        if self.requests.is_empty() {
            return vec![all.with_its_method()];
        }
        self.requests.iter().map(|one| one.over(&all).with_its_method()).collect()
    }
}

/// What stands for the port of a server in URLs, commands and paths of sockets.
pub const PORT: &str = "{port}";

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
    use super::super::Rates;
    use super::*;

    #[test]
    fn a_load_that_is_always_fast_keeps_cpus_awake_by_itself() {
        let of = |stages: &[(f64, f64)], keep_awake| {
            let stage = |(from, to): &(f64, f64)| Stage { seconds: 1.0, from: *from, to: *to };
            let stages = stages.iter().map(stage).collect();
            Scenario { stages, keep_awake, ..Scenario::default() }.keep_awake()
        };
        let (auto, fast) = (KeepAwake::Auto, (20e3, 60e3));
        assert_eq!(of(&[fast], auto), KeepAwake::Off);
        // Those of a search are not known before.
        for some_slow in [&[][..], &[fast, (100.0, 100.0)], &[(1.0, 60e3)]] {
            assert_eq!(of(some_slow, auto), auto);
        }
        assert_eq!(of(&[fast], KeepAwake::Spin), KeepAwake::Spin);
    }

    #[test]
    fn stages_share_the_time_and_have_the_requests_of_their_area() {
        let rates: Rates = "100,100..300".parse().unwrap();
        let scenario = Scenario { stages: rates.stages(10.0), ..Scenario::default() };
        assert!((scenario.duration() - 10.0).abs() < 1e-9);
        assert!((scenario.requests() - 1500.0).abs() < 1e-9);
        assert!((scenario.highest_rate() - 300.0).abs() < 1e-9);
        assert!((scenario.requests_beyond(0.99) - 15.0).abs() < 1e-9);
    }

    #[test]
    fn times_of_a_file_have_a_mean_rate() {
        let (file, digest) = ("t".to_owned(), "1".to_owned());
        let replay = LoadReplay { file, requests: 300, seconds: 3.0, digest };
        let scenario = Scenario { replay: Some(replay), ..Scenario::default() };
        let figures = [scenario.duration(), scenario.requests(), scenario.highest_rate()];
        assert_eq!((figures, scenario.warm_up_rate()), ([3.0, 300.0, 100.0], Some(100.0)));
        // A burst is no rate for a second.
        let mut burst = scenario;
        burst.replay.as_mut().unwrap().seconds = 1e-6;
        assert_eq!(burst.warm_up_rate(), Some(300.0));
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

    fn body() -> LoadBody {
        LoadBody { file: "m.bin".to_owned(), bytes: 3, digest: "1".to_owned() }
    }

    #[test]
    fn settings_that_contradict_each_other_are_named() {
        let text = |text: &str| Some(text.to_owned());
        let grpc = Scenario { grpc: true, http2: true, ..Scenario::default() };
        let of_kind = |kind: LoadRequest| Scenario { requests: vec![kind], ..grpc.clone() };
        for (scenario, names) in [
            (Scenario { body: text("x"), ..Scenario::default() }, None),
            (Scenario { http2: true, new_connections: true, ..Scenario::default() }, Some("http2")),
            (
                Scenario { body: text(""), body_file: Some(body()), ..Scenario::default() },
                Some("body"),
            ),
            (grpc.clone(), None),
            (Scenario { body_file: Some(body()), method: "POST".to_owned(), ..grpc.clone() }, None),
            (Scenario { body: text(""), ..grpc.clone() }, None),
            (Scenario { body: text("{}"), ..grpc.clone() }, Some("grpc")),
            (Scenario { method: "GET".to_owned(), ..grpc.clone() }, Some("grpc")),
            (Scenario { follow: 1, ..grpc.clone() }, Some("grpc")),
            (of_kind(request("a")), None),
            (of_kind(LoadRequest { body: text("{}"), ..request("a") }), Some("grpc")),
            (of_kind(LoadRequest { method: "PUT".to_owned(), ..request("a") }), Some("grpc")),
        ] {
            assert_eq!(scenario.contradiction().map(|(one, _)| one), names, "{scenario:?}");
        }
    }

    #[test]
    fn a_call_of_grpc_is_a_post_and_a_request_without_a_message_has_that_of_the_load() {
        let own = LoadRequest { body: Some(String::new()), ..request("own") };
        let scenario = Scenario {
            grpc: true,
            body_file: Some(body()),
            requests: vec![request("a"), own],
            ..Scenario::default()
        };
        let kinds = scenario.kinds();
        assert!(kinds.iter().all(|kind| kind.method == "POST"));
        assert_eq!((&kinds[0].body_file, &kinds[1].body_file), (&Some(body()), &None));
        let empty = Scenario { grpc: true, ..Scenario::default() };
        assert_eq!(empty.kinds()[0].method, "POST");
    }

    fn request(name: &str) -> LoadRequest {
        let [mut one] = <[_; 1]>::try_from(Scenario::default().kinds()).unwrap();
        (one.name, one.method) = (name.to_owned(), String::new());
        one
    }

    #[test]
    fn a_load_without_a_mix_has_one_kind() {
        let kind = |body: Option<&str>| {
            let body = body.map(str::to_owned);
            Scenario { body, ..Scenario::default() }.kinds().remove(0).method
        };
        assert_eq!((kind(None).as_str(), kind(Some("x")).as_str()), ("GET", "POST"));
    }

    #[test]
    fn what_a_request_does_not_set_the_load_sets() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let own = LoadRequest {
            path: Some("/a".to_owned()),
            headers: vec![header("accept", "text/html")],
            expected_status: vec![404],
            ..request("own")
        };
        let deleted = LoadRequest { method: "DELETE".to_owned(), ..request("deleted") };
        let scenario = Scenario {
            headers: vec![header("Accept", "*/*"), header("X", "1")],
            body: Some("all".to_owned()),
            expected_status: vec![200],
            expected_body: Some(ExpectedBody::Is("ok".to_owned())),
            requests: vec![own, deleted],
            ..Scenario::default()
        };
        let kinds = scenario.kinds();
        assert_eq!(kinds[0].headers, [header("X", "1"), header("accept", "text/html")]);
        assert_eq!((kinds[0].method.as_str(), kinds[0].body.as_deref()), ("POST", Some("all")));
        assert_eq!(
            (&kinds[0].expected_status, &kinds[1].expected_status),
            (&vec![404], &vec![200])
        );
        assert_eq!(kinds[0].expected_body, scenario.expected_body);
        assert_eq!((kinds[1].method.as_str(), &kinds[1].body), ("DELETE", &None));
    }
}
