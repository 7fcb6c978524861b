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
    // The reason of a refusal arrives, also where the record is more than what fits between client and server.
    let mut large: serde_json::Value =
        serde_json::from_str(&record(1_700_000_600)).expect("it is a document");
    large["machine"]["facts"]["note"] = "x".repeat(8 << 20).into();
    env.write("large.json", large.to_string());
    for file in ["r.json", "large.json"] {
        let mut command = env.command(["history", "add", file, "--to", &server.url]);
        command.env("BECALM_TOKEN", &reader);
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        assert!(
            said.contains("status 403")
                && said.contains("right to upload")
                && !said.contains(&reader),
            "{file}: {said}"
        );
    }
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

/// Two projects of SQLite in a folder: `sort` with a regression, `search` empty but for a token.
fn with_projects() -> (TestEnv, String) {
    let env = with_history();
    let made = ["history", "token", "add", "ci", "--may", "upload", "--store", "search.db"];
    let token = env.run(made).exits_with(0).stdout.trim().to_owned();
    (env, token)
}

#[test]
fn several_projects_are_served_below_their_names_and_take_results_there() {
    let (env, token) = with_projects();
    let projects = ["--project", "sort=.becalm/history.db", "--project", "search=search.db"];
    let server = serve(&env, &[&projects[..], &["--title", "our benchmarks"]].concat());
    let page = get(&server, "/", "");
    assert!(page.contains("our benchmarks") && page.contains("href=\"search/\""), "{page}");
    assert!(get(&server, "/sort/", "").contains("1\u{a0}regression, confirmed and open"));
    env.write("r.json", record(1_700_000_500));
    let send = |to: &str| {
        let mut command = env.command(["history", "add", "r.json", "--to"]);
        let done = command.arg(format!("{}{to}", server.url)).env("BECALM_TOKEN", &token).output();
        let done = done.unwrap();
        (
            done.status.code(),
            String::from_utf8(done.stdout).unwrap(),
            String::from_utf8(done.stderr).unwrap(),
        )
    };
    let (code, added, said) = send("search");
    assert!(code == Some(0) && added.starts_with("added entry 1: "), "{said}");
    // One that is not of this project, and one that the user forgot.
    let (code, _, said) = send("sort/");
    assert!(code == Some(4) && said.contains("status 401"), "{said}");
    let (code, _, said) = send("");
    assert!(
        code == Some(4) && said.contains("status 404") && said.contains("--to URL/NAME"),
        "{said}"
    );
    assert!(get(&server, "/search/entry/1", "").contains("wall_time"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_project_that_cannot_be_read_is_said_and_the_others_are_served() {
    let (env, _) = with_projects();
    let mut command =
        env.command(["serve", "--listen", "127.0.0.1:0", "--project", "sort=.becalm/history.db"]);
    command.args(["--project", "gone=gone.db"]);
    // What the environment says is for commands without projects.
    command.env("BECALM_STORE", "elsewhere.db");
    let server = Server::of(command);
    assert!(get(&server, "/sort/", "").starts_with("HTTP/1.1 200 "));
    assert!(get(&server, "/gone/", "").starts_with("HTTP/1.1 503 "));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn projects_that_cannot_be_are_refused_without_their_passwords() {
    let (env, _) = with_projects();
    let url = "postgresql://me:secret@127.0.0.1:1/x";
    for (projects, why) in [
        (vec!["a=search.db", "a=other.db"], "--project a: the name is given twice"),
        (vec!["api=search.db"], "--project api: addresses of the server begin with this name"),
        (vec!["metrics=search.db"], "addresses of the server begin with this name"),
        (vec!["a b=search.db"], "--project a b: a name has up to 63 letters"),
        (vec!["..=search.db"], "a name has up to 63 letters"),
        (vec!["=search.db"], "a name has up to 63 letters"),
        (vec!["search.db"], "--project must have the form NAME=PLACE"),
        (vec!["a="], "--project must have the form NAME=PLACE"),
        (
            vec!["postgresql://me:secret@127.0.0.1:1/x?schema=a"],
            "--project must have the form NAME=PLACE",
        ),
        (
            vec![&format!("a={url}?schema=a%22b")],
            "--project a: this PostgreSQL URL cannot contain a history: schema must have",
        ),
        (vec![&format!("a={url}?schema=public")], "the schema public is not for becalm alone"),
    ] {
        let given = projects.iter().flat_map(|one| ["--project", one]);
        let arguments: Vec<&str> =
            ["serve", "--listen", "127.0.0.1:0"].into_iter().chain(given).collect();
        let said = env.run(&arguments).exits_with(2).stderr;
        assert!(said.contains(why) && !said.contains("secret"), "{projects:?}: {said}");
    }
    let both = ["serve", "--store", "search.db", "--project", "a=search.db"];
    let said = env.run(both).exits_with(2).stderr;
    assert!(said.contains("--store and --project cannot be combined"), "{said}");
}

#[test]
fn a_schema_is_a_part_of_the_place_for_every_command() {
    let url = match becalm_testkit::postgres() {
        Ok(server) => server.database(),
        Err(why) => return becalm_testkit::skipped(why),
    };
    let env = env();
    env.write("r.json", record(1_700_000_500));
    let [one, two] = ["one", "two"].map(|schema| format!("{url}?schema={schema}"));
    let absent = env.run(["history", "list", "--store", &one]).exits_with(4).stderr;
    assert!(absent.contains("?schema=one yet"), "{absent}");
    let _ = env.run(["history", "add", "r.json", "--store", &one]).exits_with(0);
    // What a file says, and what the environment says.
    env.write("becalm.toml", format!("version = 1\n[history]\nstore = \"{one}\"\n"));
    let listed = env.run(["history", "list"]).exits_with(0).stdout;
    assert!(listed.contains("sort") || listed.lines().count() > 1, "{listed}");
    let mut command = env.command(["history", "list"]);
    let other = command.env("BECALM_STORE", &two).output().unwrap();
    assert!(String::from_utf8(other.stderr).unwrap().contains("?schema=two yet"));
    let token = env
        .run(["history", "token", "add", "ci", "--may", "upload", "--store", &two])
        .exits_with(0);
    let token = token.stdout.trim().to_owned();
    let projects = [format!("one={one}"), format!("two={two}")];
    let server = serve(&env, &["--project", &projects[0], "--project", &projects[1]]);
    let mut command = env.command(["history", "add", "r.json", "--to"]);
    let sent =
        command.arg(format!("{}two", server.url)).env("BECALM_TOKEN", &token).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    assert!(get(&server, "/two/entry/1", "").starts_with("HTTP/1.1 200 "));
    assert_eq!(server.end(), Some(0));
}
