//! Subjects that are servers: the load of the terms as the runner needs it.

mod contents;
mod numbers;

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use becalm_load::{
    Bodies, Contents, Plan, RequestError, Requests, Schedule, Target, TargetError, Template,
    Wanted, Way, ask, load_while, run_load, threads_here, value_of_run,
};
use becalm_model::load::{
    self, ERROR_RATE, FEWEST_BEYOND, LoadTime, MAIN_METRIC, Scenario, ServerTerms, Stage,
    THROUGHPUT, USUAL_QUANTILES,
};
use becalm_model::terms::{Primary, RunTerms};
use becalm_model::{Metric, Note, SessionNote};
use becalm_runner::Interrupt;
use becalm_runner::rounds::{Call, Client, PORT, Ready, Sent, ServerStart, Serving, Values};

pub use contents::{
    ContentsError, body_files, contents_of, read_body, read_mix, read_times, read_values,
};
pub(crate) use contents::{place_body, read_bodies, read_requests};
pub(crate) use numbers::Numbers;

/// Why servers cannot be loaded so.
#[derive(Debug, thiserror::Error)]
pub enum ServerTermsError {
    /// It is not known where the requests go.
    #[error("`{0}` is not a URL, and --url does not say where the requests go")]
    NoUrl(String),
    /// The URL is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A file of the load is of no use.
    #[error(transparent)]
    Contents(#[from] ContentsError),
    /// A port is chosen of which a server does not hear.
    #[error("--url contains {{port}}, but `{0}` does not, so the server cannot know its port")]
    UnusedPort(String),
    /// A line shows that a server is ready, and becalm does not see what it prints.
    #[error(
        "--ready waits for a line with `{line}`, and with --output {output} becalm does not see what a server prints: \
         leave out --output, or give a URL or a port to --ready"
    )]
    UnseenLine {
        /// The part of a line.
        line: String,
        /// Where the output goes.
        output: String,
    },
    /// Something that is about programs that end.
    #[error("{0} cannot be combined with --load: a server runs until becalm stops it")]
    NotForServers(&'static str),
    /// Something that is about servers alone.
    #[error("{0} needs --load")]
    OnlyForServers(&'static str),
}

/// Returns what is done with a server of these terms. `command` is that of the subject; a URL means a running server.
/// `numbers` is for all servers that are compared with each other.
pub(crate) fn serving(
    terms: &ServerTerms,
    command: &[String],
    env: &[String],
    quantiles: &[f64],
    numbers: &Rc<Numbers>,
) -> Result<Serving, ServerTermsError> {
    let shown = || command.join(" ");
    let has_port = |text: &str| text.contains(PORT);
    let given = command.first().filter(|word| command.len() == 1 && is_url(word));
    let (url, start) = match (given, &terms.url) {
        (Some(url), _) => (url.clone(), ServerStart::IsThere),
        (None, None) => return Err(ServerTermsError::NoUrl(shown())),
        (None, Some(url)) => {
            let knows = command.iter().chain(env).any(|text| has_port(text));
            if has_port(url) && !knows {
                return Err(ServerTermsError::UnusedPort(shown()));
            }
            let ready = ready(terms.ready.as_deref());
            let start =
                if terms.keep { ServerStart::Once(ready) } else { ServerStart::EachRun(ready) };
            (url.clone(), start)
        }
    };
    let is_new = matches!(start, ServerStart::EachRun(_));
    let generator = Generator {
        numbers: (!is_new).then(|| Rc::clone(numbers)),
        contents: contents_of(&terms.scenario, Bodies::new())?,
        scenario: terms.scenario.clone(),
        quantiles: quantiles.to_vec(),
        metrics: load::metrics(quantiles),
    };
    // What is wrong with it is said before the first server starts.
    let filled = |text: &str| text.replace(PORT, "1");
    let target = generator.target(&filled(&url))?;
    generator.requests(&target)?;
    if let ServerStart::Once(Ready::Answers(Some(other)))
    | ServerStart::EachRun(Ready::Answers(Some(other))) = &start
    {
        generator.target_beside(&filled(other), &target)?;
    }
    let keep_awake = terms.scenario.keep_awake();
    Ok(Serving { client: Rc::new(generator), url, start, keep_awake })
}

/// Says whether a word is a URL of a server.
pub fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

fn ready(text: Option<&str>) -> Ready {
    match text {
        None => Ready::Answers(None),
        Some(url) if is_url(url) => Ready::Answers(Some(url.to_owned())),
        Some(port) if port == PORT || port.parse::<u16>().is_ok() => {
            Ready::Listens(port.to_owned())
        }
        Some(line) => Ready::Prints(line.to_owned()),
    }
}

/// Returns the part of a line that shows that a server is ready, if it is one that does.
pub(crate) fn awaited_line(text: Option<&str>) -> Option<String> {
    match ready(text) {
        Ready::Prints(line) => Some(line),
        Ready::Answers(_) | Ready::Listens(_) => None,
    }
}

/// Returns the quantiles that a load gives: those that are named, and the usual ones that it has requests for.
pub(crate) fn quantiles(scenario: &Scenario, named: &[String]) -> Vec<f64> {
    let named = named.iter().filter_map(|name| LoadTime::of_metric(name)).map(|(_, q)| q);
    let main = LoadTime::of_metric(MAIN_METRIC).map(|(_, q)| q);
    let mut all: Vec<f64> = USUAL_QUANTILES
        .into_iter()
        .filter(|q| scenario.requests_beyond(*q) >= FEWEST_BEYOND)
        .chain(named)
        .chain(main)
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Returns a note for each quantile that decides and beyond which a run has few requests.
pub(crate) fn notes(runs: &RunTerms, primary: &Primary) -> Vec<Note> {
    let (Some(terms), Primary::Named(names)) = (&runs.load, primary) else { return Vec::new() };
    let few = |name: &String| {
        let (_, q) = LoadTime::of_metric(name)?;
        let beyond = terms.scenario.requests_beyond(q);
        // What is missing of a request is no reason for a word.
        (beyond + 0.5 < FEWEST_BEYOND).then(|| {
            SessionNote::FewBeyondQuantile {
                metric: name.clone(),
                beyond: becalm_model::whole(beyond.round()),
                needed: becalm_model::whole(FEWEST_BEYOND),
                seconds: terms.scenario.duration() * FEWEST_BEYOND / beyond.max(f64::MIN_POSITIVE),
            }
            .into()
        })
    };
    names.iter().filter_map(few).collect()
}

/// Sends the load of a scenario.
#[derive(Debug)]
struct Generator {
    scenario: Scenario,
    /// Where the numbers of requests go on from window to window; nothing for a server that has one window.
    numbers: Option<Rc<Numbers>>,
    contents: Contents,
    quantiles: Vec<f64>,
    metrics: Vec<Metric>,
}

impl Generator {
    fn target(&self, url: &str) -> Result<Target, TargetError> {
        Target::new(url, self.contents.way(&self.scenario, url))
    }

    /// Returns where another URL than that of the load leads. What is at the same host and port is reached as the load
    /// is; everything else without the socket, over HTTP/1.1.
    fn target_beside(&self, url: &str, of_load: &Target) -> Result<Target, TargetError> {
        if of_load.has_place_of(url) {
            return self.target(url);
        }
        let Way { trusted, .. } = self.contents.way(&self.scenario, url);
        Target::new(url, Way { trusted, ..Way::default() })
    }

    /// Sends one request.
    fn ask_for(
        &self,
        target: Target,
        requests: Requests,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let patience = patience.min(Duration::from_secs_f64(self.scenario.time_limit));
        ask(target, requests, patience, interrupt).map_err(|error| error.to_string())
    }

    fn requests(&self, target: &Target) -> Result<Requests, RequestError> {
        Requests::of(target, &self.scenario, &self.contents)
    }

    /// Returns what is sent before the requests that count.
    fn warm_up_schedule(&self, seed: u64) -> Option<(Schedule, u64)> {
        let rate = self.scenario.warm_up_rate()?;
        // Other times than those that count.
        let seed = !seed;
        let stage = Stage { seconds: self.scenario.warmup, from: rate, to: rate };
        Some((Schedule::new(vec![stage], self.scenario.arrivals, seed), seed))
    }

    /// Returns when the requests of a window are due that count, and the numbers of the first one of all and of the first of
    /// these.
    fn window(&self, seed: u64) -> (Schedule, [u64; 2]) {
        let schedule = self.contents.schedule(&self.scenario, seed);
        let before = self.warm_up_schedule(seed).map_or(0, |(before, _)| before.count() as u64);
        let requests = || before + schedule.clone().count() as u64;
        let first = match &self.numbers {
            Some(numbers) => numbers.first_of(seed, requests),
            None => numbers::FIRST,
        };
        (schedule, [first, first + before])
    }

    fn plan(
        &self,
        call: &Call<'_>,
        schedule: Schedule,
        seed: u64,
        first: u64,
    ) -> Result<Plan, String> {
        let scenario = &self.scenario;
        let target = self.target(call.url).map_err(|error| error.to_string())?;
        let requests = self.requests(&target).map_err(|error| error.to_string())?;
        Ok(Plan {
            target,
            requests: requests.with_seed(seed).starting_at(first),
            schedule,
            highest_rate: scenario.highest_rate(),
            time_limit: Duration::from_secs_f64(scenario.time_limit),
            connections: becalm_model::place(scenario.connections as f64),
            streams: becalm_model::place(scenario.streams as f64),
            new_connections: scenario.new_connections,
            threads: becalm_model::place(scenario.threads.unwrap_or_else(threads_here) as f64),
            own_cpus: call.own_cpus,
            // What becalm adds to the times of both servers hides a difference between them.
            batch: Some(Duration::from_secs_f64(scenario.batch.unwrap_or(0.0))),
            pause: None,
        })
    }
}

/// Turns the answer to "does it go on?" into what a load takes.
fn flow(goes_on: bool) -> ControlFlow<()> {
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl Client for Generator {
    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn ask(&self, url: &str, patience: Duration, interrupt: &Interrupt) -> Result<(), String> {
        let target = self.target(url).map_err(|error| error.to_string())?;
        let requests = self.requests(&target).map_err(|error| error.to_string())?;
        self.ask_for(target, requests, patience, interrupt)
    }

    fn get(
        &self,
        url: &str,
        of_load: &str,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let of_load = self.target(of_load).map_err(|error| error.to_string())?;
        let target = self.target_beside(url, &of_load).map_err(|error| error.to_string())?;
        let plain = Template::new(&target, Wanted::default()).map_err(|error| error.to_string())?;
        self.ask_for(target, plain.into(), patience, interrupt)
    }

    fn is_taken(&self, url: &str) -> bool {
        self.target(url).is_ok_and(|target| target.is_taken())
    }

    fn warm_up(&self, call: Call<'_>) -> Result<(), String> {
        let Some((schedule, seed)) = self.warm_up_schedule(call.seed) else { return Ok(()) };
        let (_, [first, _]) = self.window(call.seed);
        let plan = self.plan(&call, schedule, seed, first)?;
        load_while(plan, call.interrupt, &mut |_| flow((call.goes_on)()))
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn load(&self, call: Call<'_>) -> Result<Sent, String> {
        let Scenario { time_limit, connections, .. } = self.scenario;
        let (schedule, [_, first]) = self.window(call.seed);
        let plan = self.plan(&call, schedule, call.seed, first)?;
        let loaded = load_while(plan, call.interrupt, &mut |_| flow((call.goes_on)()))
            .map_err(|error| error.to_string())?;
        let (load, distrust) = run_load(&loaded, call.seed, connections);
        let mut values = Values::default();
        for time in [LoadTime::Response, LoadTime::Service] {
            for q in &self.quantiles {
                values.add(&time.metric(*q), value_of_run(&loaded, time, *q, time_limit));
            }
        }
        values.add(ERROR_RATE, load.error_rate());
        values.add(THROUGHPUT, load.throughput());
        Ok(Sent { load, values, distrust })
    }
}

#[cfg(test)]
mod runs;

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;
    use becalm_load::serve::Listening;
    use becalm_model::load::{Arrivals, Stage};
    use becalm_model::terms::Terms;

    use crate::metrics::metrics;

    fn scenario(requests: f64) -> Scenario {
        let stages = vec![Stage { seconds: 1.0, from: requests, to: requests }];
        Scenario { stages, ..Scenario::default() }
    }

    fn terms(url: Option<&str>) -> ServerTerms {
        ServerTerms {
            text: "rate=1".to_owned(),
            scenario: scenario(1.0),
            url: url.map(str::to_owned),
            ready: None,
            keep: false,
        }
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn quantiles_are_those_with_requests_beyond_them_and_those_that_are_asked_for() {
        let asked = |requests, names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            quantiles(&scenario(requests), &names)
        };
        assert_eq!(asked(2_000.0, &[]), [0.5, 0.9, 0.99]);
        assert_eq!(asked(20_000.0, &[]), [0.5, 0.9, 0.99, 0.999]);
        // The main one is there, with a note.
        assert_eq!(asked(100.0, &[]), [0.5, 0.99]);
        assert_eq!(
            asked(2_000.0, &["service_p95", "throughput", "response_p99"]),
            [0.5, 0.9, 0.95, 0.99]
        );
    }

    #[test]
    fn a_window_that_is_too_short_for_its_quantile_is_noted_with_one_that_is_not() {
        let runs = |requests| RunTerms {
            load: Some(Box::new(ServerTerms { scenario: scenario(requests), ..terms(None) })),
            ..RunTerms::default()
        };
        let of =
            |requests, name: &str| notes(&runs(requests), &Primary::Named(vec![name.to_owned()]));
        assert_eq!(of(2_000.0, "response_p99"), []);
        assert_eq!(of(500.0, "throughput"), []);
        let [
            Note::Session(SessionNote::FewBeyondQuantile {
                beyond: 5, needed: 20, seconds, ..
            }),
        ] = &of(500.0, "response_p99")[..]
        else {
            panic!("{:?}", of(500.0, "response_p99"))
        };
        assert!((seconds - 4.0).abs() < 1e-6);
    }

    #[test]
    fn a_url_is_a_server_that_is_there_and_a_command_is_one_that_is_started() {
        let start = |url, command: &str| {
            serving(&terms(url), &words(command), &[], &[0.5], &Rc::default())
                .map(|serving| serving.start)
        };
        assert_eq!(start(None, "http://127.0.0.1:1/a").unwrap(), ServerStart::IsThere);
        let url = Some("http://127.0.0.1:{port}/");
        assert_eq!(
            start(url, "./s --port {port}").unwrap(),
            ServerStart::EachRun(Ready::Answers(None))
        );
        assert!(matches!(start(None, "./s"), Err(ServerTermsError::NoUrl(_))));
        assert!(matches!(start(url, "./s"), Err(ServerTermsError::UnusedPort(_))));
        assert!(matches!(
            start(Some("ftp://x/"), "./s"),
            Err(ServerTermsError::Target(TargetError::Scheme(_)))
        ));
        let env = ["PORT={port}".to_owned()];
        assert!(serving(&terms(url), &words("./s"), &env, &[0.5], &Rc::default()).is_ok());
    }

    /// A generator of this scenario that has read no files.
    fn generator(scenario: Scenario) -> Generator {
        Generator {
            scenario,
            numbers: None,
            contents: Contents::default(),
            quantiles: Vec::new(),
            metrics: Vec::new(),
        }
    }

    #[test]
    fn what_shows_that_a_server_is_ready_is_seen_before_the_first_one_starts() {
        let serving = |ready: &str| {
            let url = Some("http://127.0.0.1:{port}/");
            let terms = ServerTerms { ready: Some(ready.to_owned()), ..terms(url) };
            serving(&terms, &words("./s {port}"), &[], &[0.5], &Rc::default())
        };
        assert!(matches!(serving("http://"), Err(ServerTermsError::Target(_))));
        serving("http://127.0.0.1:{port}/health").unwrap();
    }

    #[test]
    fn another_url_is_got_plainly_and_as_the_load_only_at_the_same_place() {
        let scenario = Scenario {
            method: "POST".to_owned(),
            body: Some("{counter}".to_owned()),
            expected_status: vec![201],
            http2: true,
            ..scenario(1.0)
        };
        let load = generator(scenario);
        let of_load = load.target("http://127.0.0.1:1/call").unwrap();
        let protocol = |url: &str| load.target_beside(url, &of_load).unwrap().protocol;
        assert_eq!(protocol("http://127.0.0.1:1/health"), becalm_load::Protocol::Http2);
        assert_eq!(protocol("http://127.0.0.1:2/health"), becalm_load::Protocol::Http1);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/health?a", listener.local_addr().unwrap());
        let got = std::thread::spawn(move || {
            loop {
                // One connection only shows that somebody listens.
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                if !line.is_empty() {
                    stream.write_all(b"HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n").unwrap();
                    return line;
                }
            }
        });
        let (patience, interrupt) = (Duration::from_secs(60), Interrupt::new().unwrap());
        load.get(&url, "http://127.0.0.1:1/call", patience, &interrupt).unwrap();
        assert_eq!(got.join().unwrap(), "GET /health?a HTTP/1.1\r\n");
    }

    #[test]
    fn servers_at_sockets_of_unix_have_one_each() {
        let socket = Some("/run/s-{port}.sock".to_owned());
        let load = generator(Scenario { unix_socket: socket, ..scenario(1.0) });
        let path = |url: &str| match load.target(url).unwrap().at() {
            Listening::Unix(path) => path.display().to_string(),
            Listening::Tcp(address) => address.to_string(),
        };
        assert_eq!(path("http://localhost:4711/"), "/run/s-4711.sock");
        assert_eq!(path("http://localhost/"), "/run/s-80.sock");
    }

    #[test]
    fn a_line_that_nobody_sees_shows_nothing() {
        let with = |ready: &str, output: &str| {
            let load = ServerTerms { ready: Some(ready.to_owned()), ..terms(None) };
            let output = output.to_owned();
            let runs = RunTerms { load: Some(Box::new(load)), output, ..RunTerms::default() };
            metrics(&Terms { runs, ..Terms::default() }).map(drop)
        };
        with("listening", "null").unwrap();
        for output in ["inherit", "server.log"] {
            let error = with("listening", output).unwrap_err().to_string();
            assert!(error.contains(output) && error.contains("leave out --output"), "{error}");
            with("{port}", output).unwrap();
            with("http://x/", output).unwrap();
        }
    }

    /// The numbers of the first requests of windows with these seeds: before those that count, and of those.
    fn numbered(numbers: Option<&Rc<Numbers>>, seeds: &[u64]) -> Vec<[u64; 2]> {
        let scenario = Scenario { arrivals: Arrivals::Even, warmup: 0.5, ..scenario(10.0) };
        let generator = Generator { numbers: numbers.cloned(), ..generator(scenario) };
        seeds.iter().map(|seed| generator.window(*seed).1).collect()
    }

    #[test]
    fn a_server_that_stays_gets_further_numbers_in_each_window_and_so_does_the_other_one() {
        let numbers = Rc::default();
        // Ten requests after five.
        let one = numbered(Some(&numbers), &[7, 8]);
        assert_eq!(one, [[1, 6], [16, 21]]);
        // A window is repeated with the same requests.
        assert_eq!(numbered(Some(&numbers), &[7, 7, 8, 9]), [one[0], one[0], one[1], [31, 36]]);
        // The other server had no window 9 before its window 10, and misses no number for it.
        assert_eq!(numbered(Some(&numbers), &[10])[0], [46, 51]);
        assert_eq!(numbered(Some(&numbers), &[10])[0], [46, 51]);
        // One that is new has seen nothing but the request that it was ready for.
        assert_eq!(numbered(None, &[7, 8]), [[1, 6], [1, 6]]);
    }

    #[test]
    fn ready_is_a_url_a_port_or_a_line() {
        assert_eq!(ready(None), Ready::Answers(None));
        assert_eq!(ready(Some("{port}")), Ready::Listens("{port}".to_owned()));
        assert_eq!(ready(Some("8080")), Ready::Listens("8080".to_owned()));
        assert_eq!(ready(Some("http://x/h")), Ready::Answers(Some("http://x/h".to_owned())));
        assert_eq!(ready(Some("listening")), Ready::Prints("listening".to_owned()));
    }
}
