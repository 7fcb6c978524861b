//! The whole engine against servers that behave in every way, on this machine's loopback.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;

use becalm_model::load::FailureKind;

use super::*;
use crate::serve::{Busy, Listening, Options, Server, ServiceTime};

/// Twenty requests within 20 ms.
fn few() -> Schedule {
    Schedule::of_times((0..20).map(|n| n * 1_000_000).collect())
}

fn plan(target: Target, schedule: Schedule) -> Plan {
    let request = Template::new(&target, Wanted::default()).unwrap();
    Plan {
        target,
        request,
        schedule,
        highest_rate: 1000.0,
        time_limit: Duration::from_secs(20),
        connections: 10,
        streams: 4,
        new_connections: false,
        threads: 1,
    }
}

fn run(plan: Plan) -> Loaded {
    let loaded = load(plan, &Interrupt::new().unwrap(), &mut |_| {}).unwrap();
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
fn read_request(stream: &mut TcpStream) -> bool {
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
    for threads in [1, 3] {
        let loaded = run(Plan { threads, ..plan(target(address), few()) });
        let counts = loaded.total.counts;
        assert_eq!((counts.answered, counts.sent), (20, 20));
        assert_eq!(loaded.threads.len(), threads + 1);
        assert!(loaded.elapsed >= Duration::from_millis(19));
        assert!(counts.connections >= 1 && counts.connections <= 10, "{counts:?}");
    }
}

#[test]
fn each_request_can_have_a_connection_of_its_own() {
    let address = server(each(OK));
    let mut plan = plan(target(address), few());
    plan.new_connections = true;
    plan.request = plan.request.closing();
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
    plan.request = Template::new(&plan.target, wanted).unwrap();
    assert_eq!(run(plan).total.counts.answered, 20);
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
fn a_signal_ends_a_load_whatever_the_server_does() {
    let address = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let interrupt = Interrupt::new().unwrap();
    let hour = Schedule::of_times(vec![0, 3_600_000_000_000]);
    let plan = Plan { time_limit: Duration::from_secs(3600), ..plan(target(address), hour) };
    let loaded = load(plan, &interrupt, &mut |_| interrupt.raise(15)).unwrap();
    let failed = loaded.total.failed();
    assert_eq!(loaded.total.counts.scheduled, 1, "{failed:?}");
    assert_eq!(failed[0].kind, FailureKind::Abandoned);
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
