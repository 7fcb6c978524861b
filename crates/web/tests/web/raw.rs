//! Requests that nobody's browser sends.

use std::sync::LazyLock;
use std::time::Duration;

use becalm_series::{EntryFilter, Right};
use becalm_web::{Limits, Server};
use proptest::prelude::*;

use super::support::{Bench, HOSTILE, exchange, get_with, without_own_scripts};

struct Target {
    bench: Bench,
    server: Server,
    token: String,
}

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let bench = Bench::with_a_change();
    let token = bench.token("all", &[Right::Read, Right::Upload, Right::Manage]);
    let short = Duration::from_millis(100);
    let limits = Limits { record: 4096, head: short, arrival: short, ..Limits::default() };
    let server = bench.serve_limited(None, true, limits);
    Target { bench, server, token }
});

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("GET".to_owned()),
        Just("POST".to_owned()),
        Just("HEAD".to_owned()),
        "[A-Z]{1,12}",
        "\\PC{0,3}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "/",
        "/changes",
        "/changes/1@16",
        "/series/1",
        "/series/2",
        "/benchmarks",
        "/compare",
        "/machines",
        "/suites",
        "/entries",
        "/entry/1",
        "/record/1",
        "/feed.atom",
        "/badge.svg",
        "/metrics",
        "/health",
        "/api/changes",
        "/api/series/1",
        "/api/entries",
        "/api/compare",
        "/api/openapi.json",
        "/api/schema/record",
    ]);
    let name = prop::sample::select(vec![
        "page", "state", "branch", "search", "by", "of", "before", "after", "show", "fields",
        "machine", "commit", "tag", "measured", "origin", "record", "all",
    ]);
    let value = prop_oneof![
        Just(String::new()),
        Just("1".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("%00%0d%0aX:%20y".to_owned()),
        Just("'%20OR%201=1;--".to_owned()),
        Just("../../../etc/passwd".to_owned()),
        "[a-zA-Z0-9%+&=.-]{0,40}",
    ];
    let query = prop::collection::vec((name, value), 0..4).prop_map(|parts| {
        let parts: Vec<String> =
            parts.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
    });
    prop_oneof![
        6 => (known, query).prop_map(|(path, query)| format!("{path}{query}")),
        1 => "/[!-~]{0,60}",
        1 => "\\PC{0,20}",
    ]
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Content-Type: application/x-www-form-urlencoded".to_owned()),
        Just("Content-Type: application/json".to_owned()),
        Just("Transfer-Encoding: chunked".to_owned()),
        Just("Expect: 100-continue".to_owned()),
        Just("Upgrade: h2c".to_owned()),
        Just("Origin: http://evil.example".to_owned()),
        Just("Authorization: Basic !!!".to_owned()),
        "Content-Length: [0-9]{1,22}",
        "Cookie: [!-~]{0,40}",
        "[A-Za-z-]{1,20}: [ -~]{0,40}",
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 0..200),
        Just(b"{\"schema\": \"becalm/run/1\", \"confidence\": 0.95, \"subjects\": []}".to_vec()),
        Just(b"token=x&seen=open&decision=dismiss&reason=y".to_vec()),
        "[{}\\[\\]\":,a-z0-9. ]{0,100}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_is_sent_is_answered_or_refused_and_changes_nothing(
        method in method(),
        path in path(),
        fields in prop::collection::vec(field(), 0..4),
        body in body(),
        is_known in any::<bool>(),
        says_length in any::<bool>(),
    ) {
        let Target { bench, server, token } = &*TARGET;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", server.at());
        for field in &fields {
            head.push_str(field);
            head.push_str("\r\n");
        }
        if is_known {
            head.push_str(token);
        }
        if says_length {
            head = format!("{head}Content-Length: {}\r\n", body.len());
        }
        head.push_str("Connection: close\r\n\r\n");
        let sent = [head.as_bytes(), &body].concat();
        if let Some(reply) = exchange(server.at(), &sent) {
            prop_assert!(reply.status != 500 && reply.status != 503, "{head:?}: {reply:?}");
            if reply.status == 200 && !is_known {
                // Without a token there is nothing but whether the server works.
                prop_assert!(reply.body == "ok\n" || reply.body.is_empty(), "{head:?}: {reply:?}");
            }
            let kind = reply.header("content-type");
            if kind.starts_with("text/html") && !path.contains("record") {
                prop_assert!(!without_own_scripts(&reply.body).contains("<script") && !reply.body.contains(HOSTILE), "{head:?}");
            }
        }
        // None of these is a record or a form of this server.
        prop_assert_eq!(bench.store().entries(&EntryFilter::default()).unwrap().len(), 30);
        prop_assert_eq!(get_with(server, "/health", "").status, 200);
    }
}
