//! `becalm serve` and `history publish`: what the command line adds to the pages, which have tests of their own.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use becalm_testkit::TestEnv;

use crate::load::Server;
use crate::support::env;

/// A history of another tool with a step, and one entry that becalm measured.
fn with_history() -> TestEnv {
    let env = env();
    let mut table = "time,commit,latency\n".to_owned();
    for i in 0..40 {
        let level = if i < 20 { 100.0 } else { 120.0 };
        let noise = f64::from((i * 7919 + 13) % 101) / 30.0;
        let _ = writeln!(table, "{},c{i:03},{}", 1_700_000_000 + 3600 * i, level + noise);
    }
    env.write("h.csv", table);
    let _ = env.run(["history", "add", "h.csv"]).exits_with(0);
    env
}

fn serve(env: &TestEnv, arguments: &[&str]) -> Server {
    Server::of(env.command([&["serve", "--listen", "127.0.0.1:0"], arguments].concat()))
}

fn get(server: &Server, path: &str, more: &str) -> String {
    let at = server.url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).unwrap();
    let mut stream = TcpStream::connect(at).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\n{more}Connection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_history_is_served_until_the_server_is_told_to_end() {
    let env = with_history();
    let server = serve(&env, &["--title", "my benchmarks"]);
    let page = get(&server, "/", "");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(
        page.contains("my benchmarks") && page.contains("1\u{a0}regression, confirmed and open"),
        "{page}"
    );
    let record = get(&server, "/record/40", "");
    assert!(record.starts_with("HTTP/1.1 200 OK\r\n") && record.contains("latency"), "{record}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_token_is_in_a_file_or_in_the_environment_and_guards_everything() {
    let env = with_history();
    let path = env.write("token", "0123456789abcdef\n");
    let right = "Authorization: Bearer 0123456789abcdef\r\n";
    let with_file = serve(&env, &["--token-file", path.to_str().unwrap()]);
    let mut command = env.command(["serve", "--listen", "127.0.0.1:0"]);
    command.env("BECALM_SERVE_TOKEN", "0123456789abcdef");
    for server in [with_file, Server::of(command)] {
        assert!(get(&server, "/", "").starts_with("HTTP/1.1 401 "));
        assert!(get(&server, "/", right).starts_with("HTTP/1.1 200 "));
        assert_eq!(server.end(), Some(0));
    }
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let env = env();
    let absent = env.run(["serve"]).exits_with(4).stderr;
    assert!(absent.contains("there is no history at"), "{absent}");
    let env = with_history();
    let open = env.run(["serve", "--listen", "0.0.0.0:0"]).exits_with(2).stderr;
    assert!(
        open.contains("listens only on loopback addresses") && open.contains("--token-file"),
        "{open}"
    );
    env.write("short", "secret");
    let short = env.run(["serve", "--token-file", "short"]).exits_with(2).stderr;
    assert!(short.contains("fewer than 16 characters"), "{short}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let taken = env.run(["serve", "--listen", &at]).exits_with(4).stderr;
    assert!(taken.contains("cannot listen on"), "{taken}");
}

#[test]
fn a_history_is_published_as_files() {
    let env = with_history();
    let said = env.run(["history", "publish", "site", "--records", "2"]).exits_with(0);
    assert_eq!(said.stdout, "site/index.html\n");
    assert!(said.stderr.contains("2 of whole records"), "{}", said.stderr);
    let site = env.work().join("site");
    let front = std::fs::read_to_string(site.join("index.html")).unwrap();
    assert!(front.contains("1\u{a0}regression, confirmed and open"), "{front}");
    for file in ["series/1.html", "entry/1.html", "record/40.html", "style.css", "feed.atom"] {
        assert!(site.join(file).is_file(), "{file}");
    }
    assert!(!site.join("record/1.html").exists());
}
