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

/// Makes a token on the command line, and the line of a head that gives it.
fn token(env: &TestEnv, name: &str, may: &str) -> String {
    let made = env.run(["history", "token", "add", name, "--may", may]).exits_with(0);
    assert!(made.stderr.contains("cannot show it again"), "{}", made.stderr);
    made.stdout.trim().to_owned()
}

/// A record of becalm that began at this time.
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

#[test]
fn tokens_are_made_listed_and_revoked_and_shown_once() {
    let env = with_history();
    let secret = token(&env, "ci", "upload");
    assert!(secret.starts_with("becalm_"), "{secret}");
    let taken = env.run(["history", "token", "add", "ci", "--may", "read"]).exits_with(2).stderr;
    assert!(taken.contains("this name is already in use"), "{taken}");
    token(&env, "ada", "read,manage");
    let listed = env.run(["history", "token", "list"]).exits_with(0).stdout;
    assert!(
        listed.contains("ci: upload, made ") && listed.contains("ada: read,manage, made "),
        "{listed}"
    );
    assert!(!listed.contains(&secret), "{listed}");
    let _ = env.run(["history", "token", "revoke", "ci"]).exits_with(0);
    let listed = env.run(["history", "token", "list"]).exits_with(0).stdout;
    assert!(
        listed.lines().any(|line| line.starts_with("ci: ") && line.contains(", revoked ")),
        "{listed}"
    );
    let gone = env.run(["history", "token", "revoke", "ci"]).exits_with(2).stderr;
    assert!(gone.contains("there is no valid token"), "{gone}");
    // The file of the history has it nowhere.
    let bytes = std::fs::read(env.work().join(".becalm/history.db")).unwrap();
    assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
}

#[test]
fn results_are_sent_to_a_server_and_are_the_entries_that_they_would_be_here() {
    let here = with_history();
    here.write("r.json", record(1_700_000_500));
    let _ = here.run(["history", "add", "r.json", "--commit", "v1", "--tag", "x"]).exits_with(0);
    // The same on the other side of a server.
    let there = env();
    let secret = token(&there, "ci", "upload");
    let server = serve(&there, &[]);
    let path = here.write("token", &secret);
    let send = |arguments: &[&str]| {
        let fixed =
            ["history", "add", "--to", server.url.as_str(), "--token-file", path.to_str().unwrap()];
        here.run([&fixed, arguments].concat())
    };
    let said = send(&["h.csv"]).exits_with(0).stdout;
    assert_eq!(said.matches("added entry ").count(), 40, "{said}");
    let _ = send(&["r.json", "--commit", "v1", "--tag", "x"]).exits_with(0);
    let again = send(&["r.json", "--commit", "v1"]).exits_with(0);
    assert!(
        again.stdout.is_empty() && again.stderr.contains("already in the history as entry 41"),
        "{}",
        again.stderr
    );
    let exported = |env: &TestEnv| env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    assert_eq!(exported(&here), exported(&there));
    let listed = |env: &TestEnv| env.run(["history", "list", "--json"]).exits_with(0).stdout;
    assert_eq!(listed(&here), listed(&there));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_keeps_a_server_from_taking_results_is_said() {
    let env = with_history();
    env.write("r.json", record(1_700_000_500));
    let without =
        env.run(["history", "add", "r.json", "--to", "http://127.0.0.1:1/"]).exits_with(2).stderr;
    assert!(without.contains("accepts records only with a token"), "{without}");
    let reader = token(&env, "ada", "read");
    let server = serve(&env, &[]);
    let mut command = env.command(["history", "add", "r.json", "--to", &server.url]);
    command.env("BECALM_TOKEN", &reader);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(
        said.contains("status 403") && said.contains("right to upload") && !said.contains(&reader),
        "{said}"
    );
    for wrong in ["ftp://x", "http://me@x/", "http://x/?a"] {
        let _ = env.run(["history", "add", "r.json", "--to", wrong]).exits_with(2);
    }
    assert_eq!(server.end(), Some(0));
}

/// Kills the server so many times while clients send records, and looks at what is there afterwards: every record that was
/// acknowledged, whole, and none twice.
fn killed_while_records_arrive(times: u32) {
    let env = env();
    let secret = token(&env, "ci", "upload");
    let mut acknowledged: Vec<i64> = Vec::new();
    let mut sent = 0;
    for round in 0..times {
        let server = serve(&env, &[]);
        let at = server.url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let first = sent;
        sent += 40;
        // The server is killed after another number of answers each time.
        let until = round % 7;
        let (told, answers) = std::sync::mpsc::channel();
        let kept: Vec<i64> = std::thread::scope(|scope| {
            for client in 0..4 {
                let (at, secret, told) = (at.clone(), &secret, told.clone());
                scope.spawn(move || {
                    for record in (first + client..first + 40).step_by(4) {
                        match sent_record(&at, secret, 1_700_000_000 + record) {
                            Some(entry) => told.send(entry).unwrap(),
                            None => break,
                        }
                    }
                });
            }
            drop(told);
            let mut kept: Vec<i64> = answers.iter().take(until as usize).collect();
            // As with SIGKILL, which it is.
            drop(server);
            kept.extend(answers.iter());
            kept
        });
        acknowledged.extend(kept);
    }
    let listed = env.run(["history", "list", "--json"]).exits_with(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let entries = listed["entries"].as_array().unwrap();
    let there: std::collections::BTreeSet<i64> =
        entries.iter().map(|entry| entry["entry"].as_i64().unwrap()).collect();
    assert!(acknowledged.iter().all(|entry| there.contains(entry)), "{acknowledged:?} {there:?}");
    assert_eq!(there.len(), entries.len());
    for entry in entries {
        let shown = env
            .run(["history", "show", &entry["entry"].to_string(), "--json"])
            .exits_with(0)
            .stdout;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["started_at"].as_f64(), entry["measured"].as_f64());
    }
    let points = env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    assert_eq!(points.lines().count(), entries.len() + 1, "{points}");
}

/// Sends a record and returns its entry, if it was acknowledged.
fn sent_record(at: &str, secret: &str, began: u32) -> Option<i64> {
    let text = record(began);
    let mut stream = TcpStream::connect(at).ok()?;
    write!(
        stream,
        "POST /api/entries?measured={began} HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {secret}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .ok()?;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 201") {
        return None;
    }
    serde_json::from_str::<serde_json::Value>(body).ok()?["entry"].as_i64()
}

#[test]
fn a_server_that_is_killed_has_every_record_that_it_acknowledged() {
    killed_while_records_arrive(10);
}

#[test]
#[ignore = "the same 200 times, which takes minutes"]
fn a_server_that_is_killed_often_has_every_record_that_it_acknowledged() {
    killed_while_records_arrive(200);
}
