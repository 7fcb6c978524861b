//! Servers in turns, on the loopback. No assertion depends on how busy the machine is: where it is too busy for a load to be
//! believed, a test is skipped and says so.

use becalm_model::wire::json_schema;
use becalm_testkit::{CommandOutput, TestEnv, skipped};
use serde_json::Value;

use crate::load::Server;
use crate::real_servers::{has_python, nginx};
use crate::support::{Measures as _, env, json};

const URL: &str = "http://127.0.0.1:{port}/";

/// A load whose answers take so long that a lag of some milliseconds is nothing beside it.
const LOAD: &str = "rate=40,duration=500ms,warmup=0s";

/// The built-in server with that service time.
fn built_in() -> String {
    let program = env!("CARGO_BIN_EXE_becalm");
    format!("{program} workload serve --service 200ms --workers 50 --port {{port}}")
}

/// Says whether the machine was too busy for the loads of a test to be believed.
pub(crate) fn is_too_busy(test: &str, output: &CommandOutput) -> bool {
    let is_busy = output.status.code() == Some(4) && output.stderr.contains("the load was invalid");
    if is_busy {
        skipped(&format!("{test}: this machine is too busy: {}", output.stderr));
    }
    is_busy
}

pub(crate) fn runs(record: &Value) -> Vec<&Value> {
    let subjects = record["subjects"].as_array().unwrap();
    subjects.iter().flat_map(|subject| subject["runs"].as_array().unwrap()).collect()
}

/// Compares two servers and returns the saved record, after checking what holds for each.
pub(crate) fn compared(test: &str, env: &TestEnv, arguments: &[&str]) -> Option<Value> {
    let output = env.run([&["compare", "--export-json", "r.json"], arguments].concat());
    if is_too_busy(test, &output) {
        return None;
    }
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(3), "{code:?} {}", output.stderr);
    let record = env.record("r.json");
    let schema = json_schema("record").unwrap();
    jsonschema::validate(&schema, &record).unwrap_or_else(|error| panic!("{error}"));
    for run in runs(&record) {
        let load = &run["load"];
        assert!(load["counts"]["answered"].as_u64().unwrap() > 0, "{load}");
        assert!(!load["response"]["histogram"].as_str().unwrap().is_empty());
        assert!(run["metrics"]["response_p99"].as_f64().unwrap() > 0.0);
        assert_eq!(run["exit_code"], 0);
    }
    let main = &record["comparisons"][0];
    assert_eq!((&main["metric"], &main["primary"]), (&"response_p99".into(), &true.into()));
    Some(record)
}

#[test]
fn servers_are_compared_in_turns_and_everything_else_reads_the_record() {
    let env = env();
    let server = built_in();
    let arguments = ["--load", LOAD, "--url", URL, "--rounds", "3", &server, &server];
    let test = "servers_are_compared_in_turns";
    let Some(record) = compared(test, &env, &arguments) else { return };
    assert_eq!(record["terms"]["runs"]["load"]["text"], LOAD);
    let all = runs(&record);
    assert_eq!(all.len(), 6);
    for round in 0..3 {
        let seeds: Vec<&Value> = all
            .iter()
            .filter(|run| run["round"] == round)
            .map(|run| &run["load"]["seed"])
            .collect();
        assert_eq!((seeds.len(), seeds[0]), (2, seeds[1]));
    }
    // 200 ms of service are the least that a request can take.
    assert!(all.iter().all(|run| run["metrics"]["service_p99"].as_f64().unwrap() >= 0.199));
    assert!(all.iter().all(|run| run["metrics"]["cpu_per_request"].as_f64().is_some()));
    for command in
        ["show r.json", "stats r.json", "export r.json -o r.xml", "export r.json -o r.csv"]
    {
        let _ = env.run(command.split(' ')).exits_with(0);
    }
    let same = env.run(["diff", "r.json", "r.json"]);
    assert!(same.stdout.contains("response_p99"), "{}", same.stdout);
    let other = env.run(["compare", "--resume", "r.json", "--load", "rate=7", "--rounds", "4"]);
    assert_eq!(other.status.code(), Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("--load cannot be combined with --resume"), "{}", other.stderr);
    let more = env.run(["compare", "--resume", "r.json", "--rounds", "4"]);
    if !is_too_busy(test, &more) {
        assert_eq!(runs(&env.record("r.json")).len(), 8, "{}", more.stderr);
    }
}

#[test]
fn servers_that_run_already_are_given_by_url() {
    let env = env();
    let slow = ["--service", "200ms", "--workers", "50"];
    let (one, two) = (Server::start(&env, &slow), Server::start(&env, &slow));
    let load = format!("{LOAD},keep-awake=spin");
    let arguments = ["--load", &load, "--rounds", "2", &one.url, &two.url];
    let Some(record) = compared("servers_that_run_already", &env, &arguments) else { return };
    assert!(
        !record["conditions"]["awake"].as_str().unwrap().is_empty(),
        "{}",
        record["conditions"]
    );
    assert_eq!(record["subjects"][0]["command"][0], one.url.as_str());
    assert!(runs(&record).iter().all(|run| run["metrics"]["cpu_per_request"].is_null()));
}

#[test]
fn a_server_is_a_benchmark_of_a_suite() {
    let env = env();
    let program = env!("CARGO_BIN_EXE_becalm");
    env.write(
        "becalm.toml",
        format!(
            "version = 1\n[load.calm]\nrate = 40\nduration = '500ms'\nwarmup = '0s'\nurl = '{URL}'\n\
             [benchmark.server]\nload = 'calm'\nrounds = 2\nwarmup = 0\nmetrics = ['response_p50', 'cpu_per_request']\n\
             command = ['{program}', 'workload', 'serve', '--service', '200ms', '--workers', '50', '--port', '{{port}}']\n",
        ),
    );
    let output = env.run(["run", "--suite", "--export-json", "s.json"]);
    if output.stderr.contains("the load was invalid") {
        return skipped("a_server_is_a_benchmark_of_a_suite: this machine is too busy");
    }
    assert_eq!(output.status.code(), Some(0), "{}", output.stderr);
    let record = env.record("s.json");
    assert_eq!(runs(&record).len(), 2);
    assert_eq!(record["subjects"][0]["suite"]["metrics"][0]["name"], "response_p50");
    assert!(output.stdout.contains("response_p50"), "{}", output.stdout);
}

#[test]
fn what_does_not_serve_is_named_by_kind() {
    let env = env();
    let said = |command: &str, flags: &[&str]| {
        let base = ["compare", "--load", LOAD, "--rounds", "1", "--url"];
        let output = env.run([&base[..], flags, &[command, command]].concat());
        assert_eq!(output.status.code(), Some(4), "{}", output.stderr);
        output.stderr
    };
    let early = said("sh -c 'echo no port >&2; exit 7' {port}", &[URL]);
    assert!(early.contains("exited with code 7 before it was ready"), "{early}");
    assert!(early.contains("no port"), "{early}");
    // Somebody else is at its place.
    let other = Server::start(&env, &[]);
    let taken = said("sleep 1000", &[&other.url]);
    assert!(taken.contains("something else already listens at"), "{taken}");
    // It listens, and answers with what nobody wants.
    let program = env!("CARGO_BIN_EXE_becalm");
    let wrong = format!("{program} workload serve --port {{port}}");
    let load = ["--ready", "{port}"];
    let output = env.run(
        [
            &[
                "compare",
                "--load",
                "rate=40,duration=500ms,warmup=0s,expect-status=418",
                "--url",
                URL,
            ],
            &load[..],
            &["--rounds", "1", &wrong, &wrong],
        ]
        .concat(),
    );
    assert_eq!(output.status.code(), Some(4), "{}", output.stderr);
    assert!(output.stderr.contains("gave none of"), "{}", output.stderr);
    assert!(output.stderr.contains("status 200"), "{}", output.stderr);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_starts() {
    let env = env();
    let refused = |arguments: &[&str]| {
        let output = env.run([&["compare"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", output.stderr);
        output.stderr
    };
    let ab = ["./a --port {port}", "./b --port {port}"];
    let with = |flags: &[&'static str]| [flags, &ab].concat();
    assert!(refused(&with(&["--url", URL])).contains("--url needs --load"));
    assert!(refused(&with(&["--load", "5"])).contains("--url does not say where"));
    assert!(refused(&with(&["--load", "rat=5"])).contains("did you mean `rate`?"));
    assert!(refused(&with(&["--load", "5", "--url", "ftp://x/"])).contains("http://"));
    assert!(
        refused(&with(&["--load", "checkout", "--url", URL]))
            .contains("no becalm.toml here or above")
    );
    assert!(
        refused(&["--load", "5", "--url", URL, "true", "true"]).contains("does not, so the server")
    );
    let timeout = refused(&with(&["--load", "5", "--url", URL, "--timeout", "1s"]));
    assert!(timeout.contains("timeout=1s"), "{timeout}");
    let read = refused(&with(&["--load", "5", "--url", URL, "--metric", "t=(x)"]));
    assert!(read.contains("cannot be combined with --load"), "{read}");
    // Which metrics there are is known once the programs are found.
    let found = ["true --port {port}", "true {port}"];
    let unknown = ["--load", "5", "--url", URL, "--metric", "respose_p99"];
    let metric = refused(&[&unknown[..], &found].concat());
    assert!(metric.contains("respose_p99"), "{metric}");
}

/// A server of Python with a thread for each connection.
const PYTHON: &str = "import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        time.sleep(0.2)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *_):
        pass
# Where more connections are opened at once than wait to be accepted, the system tries again after a second.
http.server.ThreadingHTTPServer.request_queue_size = 100
print('listening', flush=True)
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Answer).serve_forever()
";

#[test]
fn servers_that_stay_get_the_same_requests_and_none_of_them_twice() {
    let test = "servers_that_stay_get_the_same_requests_and_none_of_them_twice";
    if !has_python() {
        return skipped(&format!("{test}: python3 is not installed"));
    }
    let env = env();
    let logging = PYTHON.replace(
        "        time.sleep(0.2)",
        "        with open(sys.argv[2], 'a') as log:\n            log.write(self.path + '\\n')\n        time.sleep(1)",
    );
    env.write("server.py", logging);
    env.write(
        "becalm.toml",
        format!(
            "version = 1\n[load.numbered]\nrate = 20\nduration = '500ms'\nwarmup = '200ms'\nurl = '{URL}'\n\
             [[load.numbered.requests]]\npath = '/{{counter}}'\n"
        ),
    );
    let servers = ["one", "two"].map(|log| format!("python3 server.py {{port}} {log}"));
    let arguments =
        ["--load", "numbered", "--keep-servers", "--rounds", "2", &servers[0], &servers[1]];
    let Some(record) = compared(test, &env, &arguments) else { return };
    if runs(&record).iter().any(|run| !run["load"]["repeated"].is_null()) {
        // One that is repeated repeats its requests.
        return skipped(&format!("{test}: this machine is too busy"));
    }
    let [one, two] = ["one", "two"].map(|log| {
        let mut numbers: Vec<u64> =
            env.read(log).lines().map(|path| path[1..].parse().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    });
    assert_eq!(one, two);
    // The first one showed that the server was ready.
    assert!(one.iter().copied().eq(1..=one.len() as u64), "{one:?}");
    let counted: u64 =
        runs(&record).iter().map(|run| run["load"]["counts"]["scheduled"].as_u64().unwrap()).sum();
    assert!(2 * one.len() as u64 > counted);
}

#[test]
fn other_servers_than_ours() {
    let env = env();
    env.write("server.py", PYTHON);
    let configuration = format!(
        "daemon off; pid {0}/nginx.pid; error_log stderr; worker_processes 1; events {{}} http {{ access_log off; \
         server {{ listen 127.0.0.1:PORT; location / {{ return 200 ok; }} }} }}",
        env.work().display()
    );
    env.write("nginx.conf", &configuration);
    let serve = nginx().map(|nginx| {
        let serve = format!(
            "sed s/PORT/$1/ nginx.conf > $1.conf; exec {nginx} -e stderr -p . -c $PWD/$1.conf"
        );
        env.script("serve", &serve);
        "./serve {port}"
    });
    let python = has_python().then_some("python3 server.py {port}");
    for (program, server) in [("python3", python), ("nginx", serve)] {
        let Some(server) = server else {
            skipped(&format!("other_servers_than_ours: {program} is not installed"));
            continue;
        };
        let arguments =
            ["--load", LOAD, "--url", URL, "--keep-servers", "--rounds", "2", server, server];
        let Some(record) = compared("other_servers_than_ours", &env, &arguments) else { continue };
        assert_eq!(runs(&record).len(), 4, "{program}");
        let json = json(&env.read("r.json"));
        assert_eq!(json["terms"]["runs"]["load"]["keep"], true);
    }
}
