//! The whole engine against servers that behave in every way, on this machine's loopback.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;

use becalm_model::load::{
    Arrivals, Distrust, ExpectedBody, FailureKind, LoadRequest, Rates, Scenario,
};

mod grpc;
mod http2;
mod local;

use super::*;
use crate::serve::{Busy, Listening, Options, Server, ServiceTime};
use crate::values::Values;

/// Twenty requests within 20 ms.
fn few() -> Schedule {
    Schedule::of_times((0..20).map(|n| n * 1_000_000).collect())
}

pub(super) fn plan(target: Target, schedule: Schedule) -> Plan {
    let requests = Template::new(&target, Wanted::default()).unwrap().into();
    Plan {
        target,
        requests,
        schedule,
        highest_rate: 1000.0,
        time_limit: Duration::from_secs(20),
        connections: 10,
        streams: 4,
        new_connections: false,
        threads: 1,
        own_cpus: false,
        batch: None,
        pause: None,
    }
}

fn run(plan: Plan) -> Loaded {
    accounted(load(plan, &Interrupt::new().unwrap(), &mut |_| {}).unwrap())
}

/// The same with the times kept as on a machine with one CPU, or with more.
fn run_kept_by(keeper: Keeper, plan: Plan) -> Loaded {
    let (interrupt, mut on) = (Interrupt::new().unwrap(), |_: &Live<'_>| ControlFlow::Continue(()));
    accounted(load_kept_by(keeper, plan, SECOND, &interrupt, &mut on).unwrap())
}

/// Asserts that every request is counted, and once.
fn accounted(loaded: Loaded) -> Loaded {
    let counts = loaded.total.counts;
    assert_eq!(counts.scheduled, counts.answered + counts.errors + counts.unsent, "{counts:?}");
    assert_eq!(loaded.total.response.len(), counts.scheduled);
    let by_second: u64 = loaded.seconds.iter().map(|second| second.figures.scheduled).sum();
    assert_eq!(by_second, counts.scheduled);
    loaded
}

/// A server that treats each connection in this way, in a thread of its own, for as long as the test lasts.
fn server(treat: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let treat = Arc::new(treat);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let treat = Arc::clone(&treat);
            std::thread::spawn(move || treat(stream));
        }
    });
    address
}

/// Reads a request, which has no body; says whether there was one.
fn read_request(stream: &mut impl std::io::Read) -> bool {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => read.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Treats every request of a connection in this way.
fn each(answer: &'static [u8]) -> impl Fn(TcpStream) + Send + Sync {
    move |mut stream| while read_request(&mut stream) && stream.write_all(answer).is_ok() {}
}

fn target(address: SocketAddr) -> Target {
    Target::new(&format!("http://{address}/"), Way::default()).unwrap()
}

/// Asserts that all twenty requests fail in this way, and that no more than one way is listed.
#[track_caller]
fn all_fail(plan: Plan, kind: FailureKind, status: Option<u16>) {
    let loaded = run(plan);
    let failed = loaded.total.failed();
    let kinds: Vec<_> = failed.iter().map(|one| (one.kind, one.status, one.count)).collect();
    assert_eq!(kinds, [(kind, status, 20)], "{failed:?}");
    assert_eq!(loaded.total.counts.answered, 0);
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn every_request_of_a_schedule_is_answered_and_counted_once() {
    let address = server(each(OK));
    for (keeper, threads) in [(Keeper::Pacer, 1), (Keeper::Pacer, 3), (Keeper::Sender, 1)] {
        let loaded = run_kept_by(keeper, Plan { threads, ..plan(target(address), few()) });
        let counts = loaded.total.counts;
        assert_eq!((counts.answered, counts.sent), (20, 20));
        assert_eq!(loaded.senders.len(), threads);
        assert_eq!(loaded.pacer.is_some(), keeper == Keeper::Pacer);
        assert!((loaded.gaps.mean - 0.001).abs() < 1e-9, "{:?}", loaded.gaps);
        assert!(loaded.elapsed >= Duration::from_millis(19));
        assert!(counts.connections >= 1 && counts.connections <= 10, "{counts:?}");
    }
}

#[test]
fn requests_that_are_gathered_are_sent_after_they_are_due_and_all_of_them() {
    let address = server(each(OK));
    // Ten within a tenth of a millisecond, twice.
    let times = || (0..20).map(|n| n / 10 * 1_000_000 + n % 10 * 10_000).collect();
    for keeper in [Keeper::Pacer, Keeper::Sender] {
        let plan = plan(target(address), Schedule::of_times(times()));
        let batch = Some(Duration::from_millis(1));
        let loaded = run_kept_by(keeper, Plan { batch, own_cpus: true, ..plan });
        assert_eq!(loaded.total.counts.answered, 20);
        assert_eq!((loaded.batch, loaded.spin), (Duration::from_millis(1), Duration::ZERO));
        // They are written together, but the stamps of each are its own: no time is below zero, or it would be huge.
        let lag = loaded.total.lag.quantile(1.0).unwrap().value;
        let response = loaded.total.response.quantile(1.0).unwrap().value;
        assert!(lag <= response && response < 1e6, "{lag} {response}");
    }
}

#[test]
fn a_single_thread_gathers_requests_of_high_rates_unless_the_plan_says_otherwise() {
    let plan = |highest_rate, batch| Plan {
        highest_rate,
        batch,
        ..plan(target(([127, 0, 0, 1], 1).into()), few())
    };
    let gathered = |keeper, rate, batch| batch_of(keeper, &plan(rate, batch));
    assert_eq!(gathered(Keeper::Sender, 60e3, None), 200_000);
    assert_eq!(gathered(Keeper::Sender, 20e3, None), 0);
    assert_eq!(gathered(Keeper::Pacer, 60e3, None), 0);
    for keeper in [Keeper::Pacer, Keeper::Sender] {
        assert_eq!(gathered(keeper, 60e3, Some(Duration::ZERO)), 0);
        assert_eq!(gathered(keeper, 5.0, Some(Duration::from_millis(1))), 1_000_000);
    }
}

#[test]
fn each_request_can_have_a_connection_of_its_own() {
    let address = server(each(OK));
    let mut plan = plan(target(address), few());
    plan.new_connections = true;
    plan.requests = Template::new(&plan.target, Wanted::default()).unwrap().closing().into();
    let counts = run(plan).total.counts;
    assert_eq!((counts.answered, counts.connections), (20, 20));
}

#[test]
fn a_server_that_refuses_is_told_as_that() {
    // Nobody listens at the port of a listener that is gone.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    all_fail(plan(target(address), few()), FailureKind::Refused, None);
    let each = Plan { new_connections: true, ..plan(target(address), few()) };
    all_fail(each, FailureKind::Refused, None);
}

#[test]
fn a_socket_that_is_not_there_is_told_as_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let way = Way { unix_socket: Some(folder.path().join("none")), ..Way::default() };
    let target = Target::new("http://localhost/", way).unwrap();
    all_fail(plan(target, few()), FailureKind::Unreachable, None);
}

#[test]
fn a_server_that_closes_early_is_told_as_that() {
    let at_once = server(drop);
    all_fail(plan(target(at_once), few()), FailureKind::Closed, None);
    let after_request = server(|mut stream| {
        read_request(&mut stream);
    });
    all_fail(plan(target(after_request), few()), FailureKind::Closed, None);
    let in_the_body = server(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf");
    });
    all_fail(plan(target(in_the_body), few()), FailureKind::Closed, None);
}

#[test]
fn a_server_that_answers_garbage_is_told_as_that() {
    let address = server(each(b"220 mail.example ESMTP\r\n\r\n"));
    all_fail(plan(target(address), few()), FailureKind::Garbage, None);
    let chunks = server(each(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
    all_fail(plan(target(chunks), few()), FailureKind::Garbage, None);
}

#[test]
fn a_server_that_hangs_costs_the_time_limit_and_no_more() {
    let address = server(|stream| {
        // Until the other end goes away.
        let mut stream = stream;
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let time_limit = Duration::from_secs(1);
    let plan = Plan { time_limit, connections: 20, ..plan(target(address), few()) };
    all_fail(plan, FailureKind::TimedOut, None);
}

#[test]
fn a_wrong_status_is_an_error_unless_it_is_expected() {
    const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    let address = server(each(BUSY));
    all_fail(plan(target(address), few()), FailureKind::Status, Some(503));
    let mut plan = plan(target(address), few());
    let wanted = Wanted { expected: vec![503], ..Wanted::default() };
    plan.requests = Template::new(&plan.target, wanted).unwrap().into();
    assert_eq!(run(plan).total.counts.answered, 20);
}

/// A plan for what a scenario asks for.
fn asking(address: SocketAddr, scenario: &Scenario, contents: &Contents) -> Plan {
    let plan = plan(target(address), few());
    let requests = Requests::of(&plan.target, scenario, contents).unwrap().with_seed(1);
    Plan { requests, new_connections: scenario.new_connections, ..plan }
}

#[test]
fn a_wrong_body_is_an_error_however_fast_it_came() {
    let address = server(each(OK));
    let of = |expected| {
        let scenario = Scenario { expected_body: Some(expected), ..Scenario::default() };
        asking(address, &scenario, &Contents::default())
    };
    all_fail(of(ExpectedBody::Is("o".to_owned())), FailureKind::Body, None);
    all_fail(of(ExpectedBody::Contains("okay".to_owned())), FailureKind::Body, None);
    for right in [ExpectedBody::Is("ok".to_owned()), ExpectedBody::Contains("k".to_owned())] {
        assert_eq!(run(of(right)).total.counts.answered, 20);
    }
}

/// Reads a request with its body; returns its first line, its headers and its body.
fn read_all(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let mut byte = [0];
    let mut wanted = usize::MAX;
    while read.len() < wanted {
        match stream.read(&mut byte) {
            Ok(1) => read.push(byte[0]),
            _ => return None,
        }
        if wanted == usize::MAX && read.ends_with(b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read).to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| {
                rest.split("\r\n").next().and_then(|length| length.parse::<usize>().ok())
            });
            wanted = read.len() + length.unwrap_or(0);
        }
    }
    Some(String::from_utf8_lossy(&read).into_owned())
}

/// A server that keeps what it was asked and answers what a test says.
fn keeping(
    answer: impl Fn(&str) -> &'static [u8] + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&asked);
    let address = server(move |mut stream| {
        while let Some(request) = read_all(&mut stream) {
            let bytes = answer(&request);
            keep.lock().unwrap().push(request);
            if stream.write_all(bytes).is_err() || bytes.starts_with(b"HTTP/1.0") {
                return;
            }
        }
    });
    (address, asked)
}

#[test]
fn a_mix_has_its_kinds_its_values_and_its_secret_and_figures_of_each_kind() {
    let (address, asked) = keeping(|_| OK);
    let kind = |name: &str, weight: f64| LoadRequest {
        name: name.to_owned(),
        weight,
        ..Scenario::default().kinds().remove(0)
    };
    let list = LoadRequest { path: Some("/list".to_owned()), ..kind("list", 3.0) };
    let add = LoadRequest {
        path: Some("/add?id={id}".to_owned()),
        method: "POST".to_owned(),
        body: Some("{\"n\": {counter}}".to_owned()),
        expected_status: vec![201],
        ..kind("add", 1.0)
    };
    let scenario = Scenario { requests: vec![list, add], ..Scenario::default() };
    let contents = Contents {
        values: Values::of_csv("id\n7\n8\n").unwrap().into(),
        authorization: Some(bearer_authorization("s3cret")),
        ..Contents::default()
    };
    let mut loads = Vec::new();
    for threads in [1, 2] {
        let loaded = run(Plan { threads, ..asking(address, &scenario, &contents) });
        let [(list, of_list), (add, of_add)] = &loaded.mix[..] else { panic!("{:?}", loaded.mix) };
        assert_eq!((list.as_str(), add.as_str()), ("list", "add"));
        let counts = (of_list.counts.scheduled, of_add.counts.scheduled);
        assert_eq!(counts.0 + counts.1, 20);
        assert!(counts.0 > counts.1 && counts.1 > 0, "{counts:?}");
        // One is answered as expected, and the other with another status.
        assert_eq!((of_list.counts.answered, of_add.counts.errors), counts);
        assert_eq!(of_list.response.len() + of_add.response.len(), loaded.total.response.len());
        let mut requests = std::mem::take(&mut *asked.lock().unwrap());
        requests.sort_unstable();
        loads.push(requests);
    }
    // The same seed sends the same, whoever sends it.
    assert_eq!(loads[0], loads[1]);
    let posts: Vec<&String> = loads[0].iter().filter(|one| one.starts_with("POST")).collect();
    for post in posts {
        let number: u64 = post.rsplit_once(": ").unwrap().1.trim_end_matches('}').parse().unwrap();
        let id = if number % 2 == 1 { 7 } else { 8 };
        assert!(post.starts_with(&format!("POST /add?id={id} HTTP/1.1")), "{post}");
    }
    assert!(loads[0].iter().all(|one| one.contains("authorization: Bearer s3cret\r\n")));
}

#[test]
fn redirects_are_followed_only_when_asked_to_the_same_server_and_so_many() {
    const FOUND: &[u8] = b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";
    const ONCE: &[u8] = b"HTTP/1.0 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";
    const AWAY: &[u8] =
        b"HTTP/1.1 302 Found\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n";
    let following = |address, follow, new_connections| {
        let scenario = Scenario { follow, new_connections, ..Scenario::default() };
        asking(address, &scenario, &Contents::default())
    };
    let is_there = |request: &str| request.starts_with("GET /there ");
    let (address, asked) = keeping(move |request| if is_there(request) { OK } else { FOUND });
    // A redirect is an answer.
    assert_eq!(run(following(address, 0, false)).total.counts.answered, 20);
    assert_eq!(asked.lock().unwrap().len(), 20);
    let loaded = run(following(address, 1, false));
    assert_eq!((loaded.total.counts.answered, asked.lock().unwrap().len()), (20, 60));
    assert_eq!(run(following(address, 1, true)).total.counts.answered, 20);
    // A connection that ends after the redirect is no failure.
    let (closes, _) = keeping(move |request| if is_there(request) { OK } else { ONCE });
    let counts = run(following(closes, 1, false)).total.counts;
    assert_eq!(counts.answered, 20);
    assert!(counts.connections >= 20, "{counts:?}");
    let (circle, _) = keeping(|_| FOUND);
    all_fail(following(circle, 3, false), FailureKind::Redirect, Some(302));
    let (away, asked) = keeping(|_| AWAY);
    all_fail(following(away, 3, false), FailureKind::Redirect, Some(302));
    assert_eq!(asked.lock().unwrap().len(), 20);
}

#[test]
fn a_server_that_begins_to_fail_under_load_is_told_by_number() {
    // Ten answers, then 503.
    let answered = Mutex::new(0);
    let address = server(move |mut stream| {
        while read_request(&mut stream) {
            let mut answered = answered.lock().unwrap();
            *answered += 1;
            let answer: &[u8] = if *answered <= 10 {
                OK
            } else {
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
            };
            let _ = stream.write_all(answer);
        }
    });
    let loaded = run(plan(target(address), few()));
    assert_eq!(loaded.total.counts.answered, 10);
    assert_eq!(loaded.total.failed()[0].status, Some(503));
    // Half of the requests never had a right answer, however fast the wrong one came.
    assert_eq!(loaded.total.response.quantile_or_never(0.51), None);
}

#[test]
fn a_server_that_keeps_no_connection_open_is_served_by_new_ones() {
    let address = server(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    let counts = run(plan(target(address), few())).total.counts;
    assert_eq!(counts.answered, 20, "{counts:?}");
    assert!(counts.connections >= 20, "{counts:?}");
}

#[test]
fn requests_wait_for_a_connection_and_are_counted_as_starved() {
    // All at once over one connection.
    let address = server(each(OK));
    let at_once = Schedule::of_times(vec![0; 20]);
    let counts = run(Plan { connections: 1, ..plan(target(address), at_once) }).total.counts;
    assert_eq!(counts.answered, 20);
    assert!(counts.starved >= 1, "{counts:?}");
    assert_eq!(counts.connections, 1);
}

#[test]
fn what_no_connection_was_free_for_in_time_is_unsent() {
    let address = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let time_limit = Duration::from_millis(200);
    let at_once = Schedule::of_times(vec![0; 20]);
    let plan = Plan { connections: 1, time_limit, ..plan(target(address), at_once) };
    let counts = run(plan).total.counts;
    // The first one hangs until its limit; of the others some may still be tried after it.
    assert!(counts.unsent >= 1 && counts.errors >= 1, "{counts:?}");
}

#[test]
fn a_pause_of_the_generator_is_put_down_to_the_generator() {
    let address = server(each(OK));
    let pause = Pause { begins: Duration::from_millis(5), length: Duration::from_millis(200) };
    for keeper in [Keeper::Pacer, Keeper::Sender] {
        let paused = Plan { pause: Some(pause), ..plan(target(address), few()) };
        let loaded = run_kept_by(keeper, paused);
        let judged = loaded.judged(10);
        assert!(matches!(judged.reasons[..], [Distrust::LateGenerator { .. }]), "{judged:?}");
        // Most of the twenty were due in the pause, and none of them is answered before its end.
        assert!(loaded.total.response.quantile(0.9).unwrap().value >= 0.1);
    }
}

#[test]
fn a_signal_ends_a_load_whatever_the_server_does() {
    let address = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    for keeper in [Keeper::Pacer, Keeper::Sender] {
        let interrupt = Interrupt::new().unwrap();
        let hour = Schedule::of_times(vec![0, 3_600_000_000_000]);
        let plan = Plan { time_limit: Duration::from_secs(3600), ..plan(target(address), hour) };
        let loaded = load_kept_by(keeper, plan, SECOND, &interrupt, &mut |_| {
            interrupt.raise(15);
            ControlFlow::Continue(())
        });
        let loaded = loaded.unwrap();
        let failed = loaded.total.failed();
        assert_eq!(loaded.total.counts.scheduled, 1, "{failed:?}");
        assert_eq!(failed[0].kind, FailureKind::Abandoned);
    }
}

#[test]
fn a_load_ends_when_who_is_told_how_it_goes_says_so() {
    let address = server(each(OK));
    let hour = Schedule::of_times(vec![0, 3_600_000_000_000]);
    let loaded = load_while(plan(target(address), hour), &Interrupt::new().unwrap(), &mut |_| {
        ControlFlow::Break(())
    });
    assert_eq!(loaded.unwrap().total.counts.scheduled, 1);
}

#[test]
fn the_server_of_known_truth_answers_no_earlier_than_it_is_to() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = Listening::Tcp("127.0.0.1:0".parse().unwrap());
    for at in [tcp, Listening::Unix(folder.path().join("socket"))] {
        for busy in [Busy::Sleep, Busy::Cpu] {
            let service = ServiceTime::Fixed(0.002);
            let (at, answer_bytes) = (at.clone(), 100);
            let (workers, stalls, seed) = (2, None, 1);
            let options = Options { at, service, workers, stalls, busy, answer_bytes, seed };
            let server = Server::start(&options).unwrap();
            let unix_socket = match server.at() {
                Listening::Unix(path) => Some(path.clone()),
                Listening::Tcp(_) => None,
            };
            for (protocol, answered) in [(Protocol::Http1, 20), (Protocol::Http2, 40)] {
                let unix_socket = unix_socket.clone();
                let way = Way { unix_socket, protocol, ..Way::default() };
                let target = Target::new(&server.url(), way).unwrap();
                let loaded = run(plan(target, few()));
                assert_eq!(loaded.total.counts.answered, 20, "{:?}", loaded.total.failed());
                assert_eq!(server.answered(), answered);
                let least = loaded.total.service.quantile(0.001).unwrap().value;
                assert!(least >= 0.002, "{least}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the socket is gone");
}

#[test]
fn the_wait_for_requests_that_fail_is_no_part_of_the_time_of_the_answers() {
    const SECOND: u64 = 1_000_000_000;
    let seconds = |elapsed, last, scheduled| {
        let elapsed = Duration::from_secs(elapsed);
        answering(elapsed, last * SECOND, scheduled * SECOND).as_secs()
    };
    // One request hangs; answers are late; a signal ends the load.
    assert_eq!([seconds(12, 2, 2), seconds(12, 5, 2), seconds(1, 0, 30)], [2, 5, 1]);
    let stages = "10,1".parse::<Rates>().unwrap().stages(3.0);
    assert_eq!(Schedule::new(stages, Arrivals::Poisson, 1).length(), 3 * SECOND);
    assert_eq!(Schedule::of_times(vec![7, 9, 8]).length(), 9);
}

#[test]
fn failures_of_http2_have_the_same_kinds() {
    let way = || Way { protocol: Protocol::Http2, ..Way::default() };
    let target = |address| Target::new(&format!("http://{address}/"), way()).unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    all_fail(plan(target(nobody), few()), FailureKind::Refused, None);
    all_fail(plan(target(server(drop)), few()), FailureKind::Closed, None);
    // An answer of HTTP/1.1 has no frames. It may come before a request is sent, or after.
    let other = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    all_fail(plan(target(other), few()), FailureKind::Garbage, None);
    let hangs = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let time_limit = Duration::from_secs(1);
    let plan = Plan { time_limit, ..plan(target(hangs), few()) };
    all_fail(plan, FailureKind::TimedOut, None);
}

#[test]
fn one_connection_of_http2_carries_several_requests_at_a_time() {
    let at = Listening::Tcp("127.0.0.1:0".parse().unwrap());
    let (service, workers) = (ServiceTime::Fixed(0.05), 20);
    let (busy, answer_bytes, stalls, seed) = (Busy::Sleep, 10, None, 1);
    let options = Options { at, service, workers, stalls, busy, answer_bytes, seed };
    let server = Server::start(&options).unwrap();
    let way = Way { protocol: Protocol::Http2, ..Way::default() };
    let target = Target::new(&server.url(), way).unwrap();
    let at_once = Schedule::of_times(vec![0; 20]);
    let counts = run(Plan { connections: 1, streams: 20, ..plan(target, at_once) }).total.counts;
    assert_eq!((counts.answered, counts.connections), (20, 1));
}

#[test]
fn a_server_without_tls_is_told_as_that() {
    let target = |address| Target::new(&format!("https://{address}/"), Way::default()).unwrap();
    let address = server(|mut stream| {
        let _ = stream.write_all(OK);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    all_fail(plan(target(address), few()), FailureKind::Tls, None);
    // One that says nothing.
    let hangs = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let time_limit = Duration::from_secs(1);
    all_fail(Plan { time_limit, ..plan(target(hangs), few()) }, FailureKind::TimedOut, None);
}
