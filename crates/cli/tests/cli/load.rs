//! `becalm load` and `becalm workload serve`, on the loopback. No assertion depends on how busy the machine is: whether a
//! load is valid does.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use becalm_model::wire::json_schema;
use becalm_testkit::TestEnv;
use serde_json::Value;

use crate::support::{Measures as _, env, json, wait_until};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) url: String,
}

impl Server {
    /// Starts the built-in one and waits until it listens.
    pub(crate) fn start(env: &TestEnv, arguments: &[&str]) -> Self {
        Self::of(env.command([&["workload", "serve"], arguments].concat()))
    }

    /// Starts one that prints its URL once it listens.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }

    /// Ends it as a user would, and returns its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Loads a server, and returns the document, after checking what holds for every load.
pub(crate) fn loaded(env: &TestEnv, url: &str, arguments: &[&str]) -> (Value, i32) {
    let output = env.run([&["load", url, "--json"], arguments].concat());
    let document = json(&output.stdout);
    let schema = json_schema("load").unwrap();
    jsonschema::validate(&schema, &document).unwrap_or_else(|error| panic!("{error}"));
    let count = |name: &str| document["counts"][name].as_u64().unwrap();
    assert_eq!(count("scheduled"), count("answered") + count("errors") + count("unsent"));
    let response = &document["response"];
    let known = response["known"].as_u64().unwrap() + response["censored"].as_u64().unwrap();
    assert_eq!(known, count("scheduled"));
    (document, output.status.code().unwrap_or(-1))
}

/// Returns the exit code of a load that is valid, or not because of how busy this machine is.
fn expected(document: &Value, if_valid: i32) -> i32 {
    if document["fidelity"]["verdict"] == "valid" { if_valid } else { 4 }
}

#[test]
fn a_load_is_printed_saved_and_judged() {
    let env = env();
    let server = Server::start(&env, &["--service", "1ms", "--workers", "4"]);
    let arguments = "--rate 200 --duration 1s --arrivals even --export-json l.json --export-hdr l.hlog \
                     --export-csv l.csv --export-html l.html --export-markdown l.md";
    let (document, code) =
        loaded(&env, &server.url, &arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code, expected(&document, 0));
    assert_eq!(document["counts"]["answered"], 200);
    assert_eq!(document["terms"]["arrivals"], "even");
    let quantiles = document["service"]["quantiles"].as_array().unwrap();
    assert!(quantiles[0]["value"].as_f64().unwrap() >= 0.001, "{quantiles:?}");
    assert_eq!(json(&env.read("l.json")), document);
    assert!(env.read("l.hlog").contains("Tag=service,"));
    assert_eq!(env.read("l.csv").lines().count(), 2);
    assert!(env.read("l.html").contains("load-spectrum"));
    assert!(env.read("l.md").contains("| p99 |"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_saved_load_is_read_wherever_results_are() {
    let env = env();
    let server = Server::start(&env, &["--service", "100us"]);
    // Enough requests for a 90th percentile.
    let (mut document, _) = loaded(&env, &server.url, &["--rate", "400", "--duration", "1s"]);
    // Whether this machine was too busy is not what is tested here.
    document["fidelity"]["verdict"] = "valid".into();
    document["fidelity"]["reasons"] = Value::Array(Vec::new());
    env.write("load.json", document.to_string());
    let shown = |arguments: &[&str]| {
        let output = env.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", output.stderr);
        output.stdout
    };
    let all = shown(&["show", "load.json"]);
    assert!(all.contains("lag") && all.contains("p90"), "{all}");
    let mut later = document.clone();
    later["elapsed"] = (2.0 * document["elapsed"].as_f64().unwrap()).into();
    env.write("later.json", later.to_string());
    let compared = shown(&["diff", "load.json", "later.json"]);
    assert!(compared.contains("throughput"), "{compared}");
    later["terms"]["stages"][0]["to"] = 401.into();
    env.write("later.json", later.to_string());
    let compared = shown(&["diff", "load.json", "later.json"]);
    assert!(compared.contains("400..401"), "{compared}");
    let sent = &document["counts"]["sent"];
    let k6 = json(&shown(&["export", "load.json", "--to", "k6-summary"]));
    assert_eq!(k6["metrics"]["iterations"]["count"], *sent);
    let log = shown(&["export", "load.json", "--to", "hdr-log"]);
    let started = document["started_at"].as_f64().unwrap();
    assert!(log.contains(&format!("#[StartTime: {started:.3} ")), "{log}");
    assert!(shown(&["export", "load.json", "--to", "csv"]).contains("throughput"));
    assert!(shown(&["history", "add", "load.json"]).contains("6 values"));
    // One value decides nothing yet.
    let gate = env.run(["gate", "load.json"]);
    assert_eq!(gate.status.code(), Some(3), "{}", gate.stderr);
    assert!(gate.stdout.contains("rate=400"), "{}", gate.stdout);

    document["fidelity"]["verdict"] = "invalid".into();
    document["fidelity"]["reasons"] = serde_json::json!([
        {"kind": "busy_pacer", "share": 0.9, "limit": 0.7, "text": "no CPU time"},
    ]);
    env.write("invalid.json", document.to_string());
    let invalid = shown(&["show", "invalid.json"]);
    assert!(invalid.contains("90 %"), "{invalid}");
    let kept = env.run(["history", "add", "invalid.json"]);
    assert!(kept.stderr.contains("no value that could be kept"), "{}", kept.stderr);
    assert!(kept.stderr.contains("no CPU time"), "{}", kept.stderr);
    let compared = shown(&["diff", "load.json", "invalid.json"]);
    assert!(compared.contains("no subject and metric in common"), "{compared}");
}

#[test]
fn an_objective_is_kept_or_missed() {
    let env = env();
    let server = Server::start(&env, &[]);
    let objectives = ["--objective", "max < 1h", "--objective", "p50 < 1ns"];
    let (document, code) = loaded(
        &env,
        &server.url,
        &[&["--rate", "100", "--duration", "1s"], &objectives[..]].concat(),
    );
    assert_eq!(code, expected(&document, 1));
    let kept = |index: usize| document["objectives"][index]["is_kept"].as_bool().unwrap();
    assert_eq!((kept(0), kept(1)), (true, false));
}

/// Searches, and returns the document and the exit code.
fn searched(env: &TestEnv, url: &str, arguments: &str) -> (Value, i32) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = env.run([&["load", url, "--json", "--find"], &arguments[..]].concat());
    let document = json(&output.stdout);
    let schema = json_schema("load-find").unwrap();
    jsonschema::validate(&schema, &document).unwrap_or_else(|error| panic!("{error}"));
    (document, output.status.code().unwrap_or(-1))
}

#[test]
fn a_search_answers_or_says_why_it_does_not_and_every_window_is_in_its_document() {
    let env = env();
    let server = Server::start(&env, &["--service", "1ms", "--workers", "4"]);
    let (document, code) = searched(
        &env,
        &server.url,
        "p50<1h --rate 20..80 --max-time 8s --export-html f.html --export-markdown f.md --export-json f.json",
    );
    // Every rate meets it, so the highest rate is that of the range, or that of a generator without a CPU.
    let answer = document["answer"]["kind"].as_str().unwrap();
    assert!(["at_least", "unresolved", "nothing"].contains(&answer), "{document}");
    assert_eq!(code, if answer == "nothing" { 4 } else { 3 });
    let windows = document["windows"].as_array().unwrap();
    assert!(!windows.is_empty());
    for window in windows {
        assert!((20.0..=80.0).contains(&window["rate"].as_f64().unwrap()), "{window}");
    }
    assert_eq!(json(&env.read("f.json")), document);
    assert!(env.read("f.html").contains("requests/s"));
    assert!(env.read("f.md").contains("requests/s"));
    let shown = env.run(["show", "f.json"]).exits_with(0).stdout;
    assert!(shown.contains("p50<1h") && shown.contains("requests/s"), "{shown}");
}

#[test]
fn a_server_that_misses_the_objective_at_every_rate_is_below_the_range() {
    let env = env();
    let server = Server::start(&env, &["--service", "5ms", "--workers", "100"]);
    let (document, code) = searched(&env, &server.url, "p50<1ns --rate 50..200 --max-time 40s");
    let answer = document["answer"]["kind"].as_str().unwrap();
    assert!(["below", "nothing"].contains(&answer), "{}", document["answer"]);
    assert_eq!(code, if answer == "below" { 1 } else { 4 });
}

#[test]
fn a_search_for_a_server_that_is_not_there_ends_at_once() {
    let env = env();
    let server = Server::start(&env, &[]);
    let url = server.url.clone();
    drop(server);
    let (document, code) = searched(&env, &url, "p99<20ms");
    assert_eq!((code, document["windows"].as_array().unwrap().len()), (4, 1));
    assert_eq!(document["windows"][0]["errors"][0]["kind"], "refused");
    let output = env.run(["load", &url, "--find", "errors < 1%"]).exits_with(4);
    let expected = ["gave no expected answer", "connection refused"];
    assert!(expected.iter().all(|words| output.stdout.contains(words)), "{}", output.stdout);
}

#[test]
fn bodies_headers_and_sockets_of_unix() {
    let env = env();
    let socket = env.work().join("socket");
    let socket = socket.to_str().unwrap();
    let server = Server::start(&env, &["--unix-socket", socket, "--busy", "cpu"]);
    let through = ["--unix-socket", socket, "-d", "abc", "-H", "X-Test: 1", "--rate", "50"];
    let rest = ["--duration", "1s", "--new-connections"];
    let (document, _) = loaded(&env, "http://localhost/", &[&through[..], &rest].concat());
    assert_eq!(document["counts"]["errors"], 0, "{}", document["errors"]);
    assert_eq!(document["terms"]["method"], "POST");
    assert_eq!(document["counts"]["connections"], document["counts"]["scheduled"]);
    assert_eq!(server.end(), Some(0));
    assert!(!Path::new(socket).exists());
}

#[test]
fn times_of_a_file_are_replayed() {
    let env = env();
    env.write("times", "0.2\n0.1\n0.1\n");
    let server = Server::start(&env, &[]);
    let (document, _) = loaded(&env, &server.url, &["--replay", "times"]);
    assert_eq!(document["counts"]["answered"], 3);
    assert_eq!(document["terms"]["arrivals"], "replayed");
    assert!(document["elapsed"].as_f64().unwrap() >= 0.2);
}

#[test]
fn a_server_that_is_not_there_is_told_by_kind() {
    // The port of a server that has just ended.
    let env = env();
    let server = Server::start(&env, &[]);
    let url = server.url.clone();
    drop(server);
    let (document, code) = loaded(&env, &url, &["--rate", "100", "--duration", "500ms"]);
    assert_eq!(code, 4);
    assert_eq!(document["errors"][0]["kind"], "refused");
    assert_eq!(document["counts"]["answered"], 0);
}

#[test]
fn a_server_that_is_killed_under_load_is_told_by_kind() {
    let env = env();
    let mut server = Server::start(&env, &["--service", "1ms"]);
    let mut command =
        env.command(["load", &server.url, "--rate", "200", "--duration", "4s", "--json"]);
    let load = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // It has connections when it has more files than a server without.
    let busy = || {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/schedstat", load.id())).unwrap_or_default();
        let ran: u64 = stat.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        let fds = std::fs::read_dir(format!("/proc/{}/fd", server.process.id()))
            .map_or(0, Iterator::count);
        ran > 0 && fds > 12
    };
    wait_until("the server has connections", busy);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    let output = load.wait_with_output().unwrap();
    let document = json(std::str::from_utf8(&output.stdout).unwrap());
    let kinds: Vec<&str> = document["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"refused"), "{kinds:?}");
    assert!(kinds.iter().all(|kind| ["refused", "closed"].contains(kind)), "{kinds:?}");
}

#[test]
fn a_signal_ends_a_load_and_its_figures_are_printed() {
    let env = env();
    let server = Server::start(&env, &[]);
    let mut command =
        env.command(["load", &server.url, "--rate", "100", "--duration", "1h", "--json"]);
    let load = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let names = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", load.id())).into_iter().flatten();
        tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
    };
    wait_until("it sends", || names().any(|name| name.trim_end() == "sender 1"));
    let pid = load.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let document = json(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(document["signal"], 2);
    assert!(document["elapsed"].as_f64().unwrap() < 1800.0);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let check = |arguments: &[&str], word: &str| {
        let output = env().run([&["load"], arguments].concat()).exits_with(2);
        assert!(output.stderr.contains(word), "{}", output.stderr);
    };
    check(&["http://127.0.0.1/"], "--rate");
    check(&["ftp://127.0.0.1/", "--rate", "1"], "http://");
    check(&["http://127.0.0.1/", "--rate", "fast"], "100..2000");
    check(&["http://127.0.0.1/", "--rate", "1", "-H", "x"], "Name: value");
    check(&["http://127.0.0.1/", "--rate", "1", "--objective", "p99"], "p99 < 20ms");
    check(&["http://127.0.0.1/", "--rate", "1", "-X", "G T"], "not a method");
    check(&["http://127.0.0.1/", "--rate", "1", "--expect-status", "7"], "not a status");
    check(&["http://127.0.0.1/", "--find", "max < 1s"], "largest");
    check(&["http://127.0.0.1/", "--find", "p99 < 1s", "--rate", "100"], "100..5000");
    check(&["http://127.0.0.1/", "--rate", "1", "--max-time", "1m"], "--find");
    check(&["http://127.0.0.1/", "--find", "p99 < 1s", "--max-time", "1s"], "too short");
    check(&["http://127.0.0.1/", "--rate", "5:1s,6:2s", "--duration", "3s"], "how long each phase");
    check(&["--demo", "--connections", "5"], "--connections");
    let output = env().run(["workload", "serve", "--stall", "1s", "--stall-every", "1s"]);
    assert!(output.exits_with(2).stderr.contains("no worker would ever work"));
}

#[test]
fn a_mix_with_values_and_a_secret_has_figures_by_name_and_no_secret_in_any_file() {
    let env = env();
    env.write(
        "mix.jsonl",
        "{\"path\": \"/{id}\", \"weight\": 3}\n{\"name\": \"buy\", \"body\": \"{counter}\"}\n",
    );
    env.write("ids.csv", "id\n1\n2\n");
    env.write("token", "s3cret\n");
    let server = Server::start(&env, &[]);
    let arguments = "--requests mix.jsonl --values ids.csv --bearer token --expect-exact-body .. --rate 100 --duration 1s \
                     --seed 5 --export-json l.json --export-html l.html --export-markdown l.md";
    let (document, _) =
        loaded(&env, &server.url, &arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(document["counts"]["errors"], 0, "{}", document["errors"]);
    let mix = document["mix"].as_array().unwrap();
    let names: Vec<&str> = mix.iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["GET /{id}", "buy"]);
    let scheduled: u64 = mix.iter().map(|part| part["counts"]["scheduled"].as_u64().unwrap()).sum();
    assert_eq!(document["counts"]["scheduled"], scheduled);
    assert_eq!(document["terms"]["authentication"]["bearer"], "token");
    for file in ["l.json", "l.html", "l.md"] {
        let text = env.read(file);
        assert!(text.contains("buy") && !text.contains("s3cret"), "{file}");
    }
}

#[test]
fn a_scenario_is_that_of_becalm_toml_and_flags_change_it() {
    let env = env();
    let server = Server::start(&env, &[]);
    env.write(
        "becalm.toml",
        format!(
            "version = 1\n[load.shop]\nurl = '{}'\nrate = 50\nduration = '1s'\narrivals = 'even'\n\
             [[load.shop.requests]]\npath = '/a'\n[[load.shop.requests]]\npath = '/b'\n",
            server.url
        ),
    );
    let load = |arguments: &[&str]| {
        let output = env.run([&["load", "--json", "--scenario", "shop"], arguments].concat());
        json(&output.stdout)
    };
    let document = load(&[]);
    assert_eq!(document["counts"]["answered"], 50);
    assert_eq!(document["terms"]["requests"].as_array().unwrap().len(), 2);
    let document = load(&["--rate", "20", "--expect-body", "elsewhere"]);
    assert_eq!(document["counts"]["scheduled"], 20);
    assert_eq!(document["errors"][0]["kind"], "body");
    env.write(
        "becalm.toml",
        "version = 1\n[load.shop]\nrate = 1\nurl = 'http://127.0.0.1:{port}/'\n",
    );
    let output = env.run(["load", "--scenario", "shop"]).exits_with(2);
    assert!(output.stderr.contains("only `compare --load` fills in"), "{}", output.stderr);
}

#[test]
fn a_scenario_has_phases_or_the_times_of_a_file_and_a_socket_by_port() {
    let env = env();
    let socket = env.work().join("socket-7");
    let _server = Server::start(&env, &["--unix-socket", socket.to_str().unwrap()]);
    env.write("times", "0.2\n0\n0.1\n");
    env.write(
        "becalm.toml",
        "version = 1\n[load.phases]\nurl = 'http://localhost:7/'\nunix-socket = 'socket-{port}'\narrivals = 'even'\n\
         rate = '10..30:500ms,40:1s'\n[load.times]\nurl = 'http://localhost:7/'\nunix-socket = 'socket-{port}'\n\
         replay = 'times'\n",
    );
    let load = |name: &str, arguments: &[&str]| {
        let output = env.run([&["load", "--json", "--scenario", name], arguments].concat());
        let document = json(&output.stdout);
        let stages = document["terms"]["stages"].as_array().unwrap().len();
        (document["counts"]["answered"].as_u64().unwrap(), stages, document)
    };
    let (answered, stages, document) = load("phases", &[]);
    assert_eq!((answered, stages), (50, 2));
    assert_eq!(document["terms"]["unix_socket"], "socket-7");
    let (answered, stages, document) = load("times", &[]);
    assert_eq!((answered, stages, &document["terms"]["arrivals"]), (3, 0, &"replayed".into()));
    // A rate takes the place of the times.
    let (answered, stages, _) = load("times", &["--rate", "20", "--arrivals", "even"]);
    assert_eq!((answered, stages), (4, 1));
    let output = env.run(["load", "--scenario", "times", "--duration", "1s"]).exits_with(2);
    assert!(output.stderr.contains("so --duration cannot change them"), "{}", output.stderr);
    let output = env.run(["load", "--scenario", "times", "--find", "p99 < 1s"]).exits_with(2);
    assert!(output.stderr.contains("replays the times"), "{}", output.stderr);
}

#[test]
fn the_cpus_of_the_generator_are_those_that_are_asked_for_and_the_report_has_them() {
    let env = env();
    let server = Server::start(&env, &[]);
    let few = ["--rate", "20", "--duration", "500ms"];
    let (document, _) = loaded(&env, &server.url, &few);
    let place = &document["fidelity"]["place"];
    // The server has no CPUs of its own, and is a process of this user.
    assert!(["shared", "apart"].contains(&place["kind"].as_str().unwrap()), "{place}");
    assert_eq!(place["server"], "becalm");
    let cpus = place["cpus"].as_str().unwrap();
    let first = cpus.split([',', '-']).next().unwrap();
    let (document, _) = loaded(&env, &server.url, &[&few[..], &["--cpus", first]].concat());
    let place = &document["fidelity"]["place"];
    assert_eq!((place["kind"].as_str(), place["cpus"].as_str()), (Some("chosen"), Some(first)));
    let output = env.run(["load", &server.url, "--rate", "1", "--cpus", "8000"]).exits_with(2);
    assert!(output.stderr.contains("--cpus: becalm may not use"), "{}", output.stderr);
}

#[test]
fn cpus_are_kept_awake_where_that_is_asked_for_and_the_report_has_them() {
    let env = env();
    let server = Server::start(&env, &[]);
    let few = ["--rate", "20", "--duration", "500ms"];
    let (document, _) = loaded(&env, &server.url, &[&few[..], &["--keep-awake", "spin"]].concat());
    let place = &document["fidelity"]["place"];
    assert!(!place["awake"].as_str().unwrap().is_empty(), "{place}");
    let (document, _) = loaded(&env, &server.url, &[&few[..], &["--keep-awake", "off"]].concat());
    assert!(document["fidelity"]["place"]["awake"].is_null(), "{document}");
    env.write(
        "becalm.toml",
        format!(
            "version = 1\n[load.shop]\nrate = 20\nkeep-awake = 'spin'\nurl = '{}'\n",
            server.url
        ),
    );
    let output = env.run(["load", "--scenario", "shop", "--duration", "500ms"]);
    assert!(output.stdout.contains("awake."), "{}", output.stdout);
}

#[test]
fn requests_are_gathered_where_that_is_asked_for() {
    let env = env();
    let server = Server::start(&env, &[]);
    let few = ["--rate", "20", "--duration", "500ms"];
    let (document, _) = loaded(&env, &server.url, &few);
    assert!(document["fidelity"]["batch"].is_null(), "{document}");
    let batch = ["--batch", "500us"];
    let (document, _) = loaded(&env, &server.url, &[&few[..], &batch].concat());
    assert_eq!(document["fidelity"]["batch"], 5e-4);
    assert_eq!(document["terms"]["batch"], 5e-4);
    let output = env.run(["load", &server.url, "--rate", "20", "--batch", "2ms"]).exits_with(2);
    assert!(output.stderr.contains("the longest batch is 0.9ms"), "{}", output.stderr);
}

#[test]
fn the_demonstration_fits_a_screen() {
    let output = env().run(["load", "--demo", "--duration", "1s"]).exits_with(0);
    assert!(output.stdout.lines().count() <= 24, "{}", output.stdout);
    for word in ["by arithmetic", "over 5 connections", "lag, between the two"] {
        assert!(output.stdout.contains(word), "{word}: {}", output.stdout);
    }
    let output = env().run(["load", "--demo", "--rate", "5"]).exits_with(2);
    assert!(output.stderr.contains("--rate"), "{}", output.stderr);
}

#[test]
fn an_archetype_is_a_share_of_what_the_server_can_do() {
    let env = env();
    let server = Server::start(&env, &["--service", "20ms", "--workers", "2"]);
    let (document, _) = loaded(&env, &server.url, &["--archetype", "latency", "--duration", "1s"]);
    let found = &document["terms"]["archetype"];
    assert_eq!(found["archetype"], "latency");
    // Two workers of 20 ms give 100 answers in a second at most, of which the load asks for 40 %.
    let capacity = found["capacity"].as_f64().unwrap();
    assert!(capacity > 0.0 && capacity <= 101.0, "{found}");
    let rate = document["terms"]["stages"][0]["from"].as_f64().unwrap();
    assert!((rate / capacity - 0.4).abs() < 1e-9, "{rate} {capacity}");
    let output = env.run(["load", &server.url, "--archetype", "enterprise"]).exits_with(2);
    assert!(output.stderr.contains("--requests"), "{}", output.stderr);
}
