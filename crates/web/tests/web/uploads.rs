//! Records that programs send.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use becalm_series::{EntryFilter, Right};
use becalm_testkit::wait_until;
use becalm_web::{Limits, Server};
use serde_json::Value;

use super::support::{Bench, Reply, exchange, get_with, request};

const ADDRESS: &str = "/api/entries?commit=abc123&commit-time=1795000000&branch=main&tag=nightly";

/// A record that began at this time.
fn record(began: u32) -> String {
    let runs: Vec<String> = (0..10)
        .map(|round| {
            format!(
                "{{\"round\": {round}, \"order\": 0, \"wall_time\": {}}}",
                1.0 + f64::from(round) / 100.0
            )
        })
        .collect();
    format!(
        "{{\"schema\": \"becalm/run/1\", \"started_at\": {began}, \"confidence\": 0.95, \"subjects\": \
         [{{\"name\": \"sort\", \"command\": [\"sort\"], \"runs\": [{}]}}]}}",
        runs.join(", ")
    )
}

fn send(server: &Server, token: &str, text: &str) -> Reply {
    let more = format!("{token}Content-Type: application/json\r\n");
    request(server, "POST", ADDRESS, &more, text)
}

#[test]
fn a_record_that_is_sent_is_an_entry_and_sent_twice_it_is_the_same() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    let json = |reply: &Reply| -> Value { serde_json::from_str(&reply.body).unwrap() };
    let first = send(&server, &token, &record(1_795_000_001));
    assert_eq!(first.status, 201, "{}", first.body);
    let expected = serde_json::json!({"schema": "becalm/web-upload/1", "entry": 1, "outcome": "added", "values": 1});
    assert_eq!(json(&first), expected);
    let again = send(&server, &token, &record(1_795_000_001));
    assert_eq!(
        (again.status, &json(&again)["outcome"], &json(&again)["entry"]),
        (200, &Value::from("known"), &Value::from(1))
    );
    let other = send(&server, &token, &record(1_795_000_002));
    assert_eq!(json(&other)["entry"], 2);
    let entries = bench.store().entries(&EntryFilter::default()).unwrap();
    assert_eq!(entries.len(), 2);
    let commit = entries[0].commit.as_ref().unwrap();
    assert_eq!((commit.id.as_str(), commit.time), ("abc123", Some(1_795_000_000.0)));
    assert_eq!((entries[0].branch.as_str(), entries[0].tags[0].as_str()), ("main", "nightly"));
    assert_eq!(bench.store().document(entries[0].id).unwrap(), Some(record(1_795_000_001)));
}

#[test]
fn a_record_without_words_about_it_is_at_its_own_time() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    let reply =
        request(&server, "POST", "/api/entries?record=drop", &token, &record(1_795_000_001));
    assert_eq!(reply.status, 201, "{}", reply.body);
    let entry = bench.store().entries(&EntryFilter::default()).unwrap().remove(0);
    assert_eq!((entry.measured, entry.commit, entry.has_document), (1_795_000_001.0, None, false));
}

#[test]
fn nobody_adds_anything_without_the_right_to() {
    let bench = Bench::with_a_change();
    let [reader, uploader] = [("ada", Right::Read), ("ci", Right::Upload)]
        .map(|(name, right)| bench.token(name, &[right]));
    let server = bench.serve();
    let wrong = "Authorization: Bearer becalm_0123456789abcdef\r\n";
    for (who, token, status) in
        [("nobody", "", 401), ("wrong", wrong, 401), ("reader", &reader, 403)]
    {
        assert_eq!(send(&server, token, &record(1)).status, status, "{who}");
    }
    assert_eq!(bench.entries(), 30);
    // Since there is one for reading, nobody reads without, and who may only upload does not.
    for (token, status) in [("", 401), (wrong, 401), (&uploader, 403), (&reader, 200)] {
        assert_eq!(get_with(&server, "/", token).status, status, "{token}");
    }
    assert_eq!(get_with(&server, "/health", "").status, 200);
    // And who only reads is not asked to decide.
    assert!(!get_with(&server, "/", &reader).body.contains("<form method=\"post\""));
    let token = bench.token("admin", &[Right::Read, Right::Manage]);
    let server = bench.serve();
    assert!(get_with(&server, "/", &token).body.contains("<form method=\"post\""));
}

#[test]
fn on_loopback_everybody_looks_but_nobody_adds_without_a_token() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    assert_eq!(get_with(&server, "/entries", "").status, 200);
    let reply = send(&server, "", &record(1));
    assert_eq!((reply.status, reply.header("content-type")), (401, "application/json"));
    assert_eq!(send(&server, &token, &record(1)).status, 201);
    let read_only = bench.serve_with(None, false);
    assert_eq!(send(&read_only, &token, &record(2)).status, 405);
    assert_eq!(bench.entries(), 1);
}

#[test]
fn a_token_that_was_revoked_soon_counts_no_more() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    assert_eq!(send(&server, &token, &record(1)).status, 201);
    assert!(bench.store().revoke_token("ci", 2.0).unwrap());
    wait_until("it is refused", || send(&server, &token, &record(1)).status == 401);
}

#[test]
fn what_is_no_record_or_too_large_leaves_nothing() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let limits = Limits { record: 4096, ..Limits::default() };
    let server = bench.serve_limited(None, true, limits);
    let large = " ".repeat(5000);
    let deep = "[".repeat(4000);
    for (what, text, status) in [
        ("nothing", "", 400),
        ("no JSON", "no JSON", 400),
        ("another document", "{\"schema\": \"becalm/changes/1\"}", 400),
        ("a newer one", "{\"schema\": \"becalm/run/99\"}", 400),
        (
            "without values",
            "{\"schema\": \"becalm/run/1\", \"confidence\": 0.95, \"subjects\": []}",
            400,
        ),
        ("deep", &deep, 400),
        ("large", &large, 413),
    ] {
        let reply = send(&server, &token, text);
        assert_eq!(reply.status, status, "{what}: {}", reply.body);
        assert!(reply.body.starts_with("{\"error\": "), "{what}: {}", reply.body);
    }
    // It does not say how long it is.
    let head = format!(
        "POST {ADDRESS} HTTP/1.1\r\nHost: {}\r\n{token}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        server.at()
    );
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(4096));
    let reply = exchange(server.at(), format!("{head}{chunk}{chunk}0\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(reply.status, 413, "{}", reply.body);
    let mut bytes = format!(
        "{}Content-Length: 2\r\n\r\n",
        head.replace("Transfer-Encoding: chunked\r\n", "").trim_end_matches("\r\n")
    )
    .into_bytes();
    bytes.splice(bytes.len() - 4.., *b"\r\n\r\n");
    bytes.extend([0xff, 0xfe]);
    let reply = exchange(server.at(), &bytes);
    assert!(reply.is_none_or(|reply| reply.status == 400));
    assert_eq!(bench.entries(), 0);
    assert_eq!(send(&server, &token, &record(1)).status, 201);
}

#[test]
fn half_a_record_is_none_whether_its_client_waits_or_goes() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let limits = Limits { arrival: Duration::from_millis(100), ..Limits::default() };
    let server = bench.serve_limited(None, true, limits);
    let text = record(1);
    let half = |stream: &mut TcpStream| {
        let head = format!(
            "POST {ADDRESS} HTTP/1.1\r\nHost: {}\r\n{token}Content-Length: {}\r\nConnection: close\r\n\r\n",
            server.at(),
            text.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
    };
    let mut waiting = TcpStream::connect(server.at()).unwrap();
    half(&mut waiting);
    let mut gone = TcpStream::connect(server.at()).unwrap();
    half(&mut gone);
    drop(gone);
    let mut said = String::new();
    waiting.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let _ = waiting.read_to_string(&mut said);
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    assert_eq!(bench.entries(), 0);
    assert_eq!(send(&server, &token, &text).status, 201);
}

#[test]
fn several_that_send_the_same_at_once_make_one_entry() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..12)
            .map(|at| {
                scope.spawn({
                    let (server, token) = (&server, &token);
                    move || send(server, token, &record(1 + at % 3)).status
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(201), of(200)), (3, 9), "{statuses:?}");
    assert_eq!(bench.entries(), 3);
}

#[test]
fn what_is_said_about_a_record_is_checked_before_it_is_kept() {
    let bench = Bench::empty();
    let token = bench.token("ci", &[Right::Upload]);
    let server = bench.serve();
    for query in ["commti=a", "commit=a%0Ab", "measured=yesterday", "origin=moon"] {
        let reply = request(&server, "POST", &format!("/api/entries?{query}"), &token, &record(1));
        assert_eq!(reply.status, 400, "{query}: {}", reply.body);
    }
    // A browser that knows a token sends it with the form of any page.
    let of_site = |more: &str| {
        let reply = request(&server, "POST", ADDRESS, &format!("{token}{more}"), &record(1));
        reply.status
    };
    assert_eq!(of_site("Origin: http://evil.example\r\n"), 400);
    assert_eq!(of_site("Sec-Fetch-Site: cross-site\r\n"), 400);
    let wrong = request(&server, "DELETE", "/api/entries", &token, "");
    assert_eq!(wrong.status, 403, "{}", wrong.body);
    assert_eq!(bench.entries(), 0);
}
