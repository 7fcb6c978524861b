//! Unary calls of gRPC to a real server, that of Python's grpcio, alone and in turns.

use std::process::Command;

use becalm_testkit::{self_made_certificate, skipped};
use serde_json::Value;

use crate::load::{Server, loaded};
use crate::real_harnesses::python_with;
use crate::servers::{compared, is_too_busy, runs};
use crate::support::{Measures as _, env};

/// A server of gRPC that knows no schema: what it says follows from the bytes of the message.
const GRPC: &str = "import concurrent.futures, sys, grpc
def say(message, context):
    if message == b'\\x0a\\x01\\xff':
        context.abort(grpc.StatusCode.NOT_FOUND, 'no such\\nthing')
    return b'hello ' + message
def more(message, context):
    yield b'one'
    yield b'two'
methods = {'Say': grpc.unary_unary_rpc_method_handler(say),
           'More': grpc.unary_stream_rpc_method_handler(more)}
server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler('test.Greeter', methods)])
place = '127.0.0.1:' + sys.argv[1]
if len(sys.argv) > 2:
    key, cert = (open(name, 'rb').read() for name in sys.argv[2:])
    port = server.add_secure_port(place, grpc.ssl_server_credentials([(key, cert)]))
    scheme = 'https'
else:
    port = server.add_insecure_port(place)
    scheme = 'http'
server.start()
print(f'{scheme}://127.0.0.1:{port}', flush=True)
server.wait_for_termination()
";

#[test]
fn a_real_server_of_grpc_is_called_with_and_without_tls() {
    let name = "a_real_server_of_grpc_is_called_with_and_without_tls";
    let Some(python) = python_with("grpc") else {
        return skipped(&format!("{name}: python3 has no grpcio"));
    };
    let env = env();
    env.write("server.py", GRPC);
    std::fs::write(env.work().join("known"), b"\x0a\x01a").unwrap();
    std::fs::write(env.work().join("unknown"), b"\x0a\x01\xff").unwrap();
    let start = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.arg("server.py").args(arguments).current_dir(env.work());
        Server::of(command)
    };
    let few = ["--grpc", "--rate", "50", "--duration", "1s"];
    let called = |server: &Server, method: &str, arguments: &[&str]| {
        let url = format!("{}/test.Greeter/{method}", server.url);
        loaded(&env, &url, &[&few[..], arguments].concat()).0
    };
    let right = |document: &Value| {
        assert_eq!(document["counts"]["errors"], 0, "{}", document["errors"]);
        assert_eq!(document["counts"]["unsent"], 0);
    };
    let plain = start(&["0"]);
    let document = called(&plain, "Say", &["--body-file", "known", "--expect-body", "hello \n"]);
    right(&document);
    let terms = &document["terms"];
    assert_eq!((&terms["grpc"], &terms["protocol"]), (&true.into(), &"HTTP/2".into()));
    assert_eq!((&terms["method"], &terms["body_bytes"]), (&"POST".into(), &3.into()));
    right(&called(&plain, "Say", &["--expect-exact-body", "hello "]));
    right(&called(&plain, "Say", &["--body-file", "unknown", "--expect-status", "5"]));
    let failed = |method: &str, arguments: &[&str]| {
        let document = called(&plain, method, arguments);
        assert_eq!(document["counts"]["answered"], 0);
        let error = &document["errors"][0];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (text("kind"), error["status"].as_u64(), text("example"))
    };
    let unknown = failed("Say", &["--body-file", "unknown"]);
    assert_eq!(unknown, ("grpc_status".to_owned(), Some(5), "no such thing".to_owned()));
    let (kind, status, _) = failed("Nothing", &[]);
    assert_eq!((kind.as_str(), status), ("grpc_status", Some(12)));
    let (kind, _, example) = failed("More", &[]);
    assert_eq!((kind.as_str(), example.as_str()), ("grpc_message", "2 messages"));
    // A mix, whose files are beside the one with the requests.
    env.write(
        "mix.jsonl",
        "{\"path\": \"/test.Greeter/Say\", \"body-file\": \"known\"}\n{\"path\": \"/test.Greeter/No\"}\n",
    );
    let document = called(&plain, "Say", &["--requests", "mix.jsonl"]);
    let names: Vec<&str> = document["mix"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["test.Greeter/Say", "test.Greeter/No"]);
    assert_eq!(document["mix"][0]["counts"]["errors"], 0);
    match self_made_certificate(&env.work(), "localhost") {
        Ok(()) => right(&called(&start(&["0", "key", "cert"]), "Say", &["--insecure"])),
        Err(why) => skipped(&format!("{name}: with TLS: {why}")),
    }
}

#[test]
fn calls_of_grpc_that_make_no_sense_are_refused_before_anything_is_sent() {
    let check = |arguments: &str, word: &str| {
        let base = ["load", "--grpc", "--rate", "1"];
        let output = env().run([&base[..], &arguments.split(' ').collect::<Vec<_>>()].concat());
        assert!(output.exits_with(2).stderr.contains(word), "{arguments}");
    };
    check("http://127.0.0.1/", "package.Service/Method");
    check("http://127.0.0.1/a.B/C -d {}", "--body");
    check("http://127.0.0.1/a.B/C -X GET", "--method");
    check("http://127.0.0.1/a.B/C --follow 1", "--follow");
    check("http://127.0.0.1/a.B/C --new-connections", "--new-connections");
    check("http://127.0.0.1/a.B/C --expect-status 200", "gRPC");
}

#[test]
fn servers_of_grpc_are_compared_by_a_load_of_the_file_and_are_a_benchmark_of_it() {
    let test = "servers_of_grpc_are_compared_by_a_load_of_the_file_and_are_a_benchmark_of_it";
    let Some(python) = python_with("grpc") else {
        return skipped(&format!("{test}: python3 has no grpcio"));
    };
    let env = env();
    // As slow as a lag of some milliseconds is nothing beside.
    let slow = GRPC.replace("    return b'hello", "    time.sleep(0.2)\n    return b'hello");
    let slow = slow.replace("import concurrent", "import time, concurrent");
    env.write("server.py", slow.replace("Executor(4)", "Executor(50)"));
    env.write("message", "\n\u{1}a");
    let load = |file: &str| {
        format!(
            "version = 1\n[load.say]\nrate = 40\nduration = '500ms'\nwarmup = '0s'\ngrpc = true\n\
             body-file = '{file}'\nexpect-exact-body = \"hello \\n\\u0001a\"\n\
             url = 'http://127.0.0.1:{{port}}/test.Greeter/Say'\n\
             [benchmark.say]\nload = 'say'\nrounds = 2\nwarmup = 0\n\
             command = '{python} server.py {{port}}'\n"
        )
    };
    env.write("becalm.toml", load("message"));
    let server = format!("{python} server.py {{port}}");
    let arguments = ["--load", "say", "--rounds", "2", &server, &server];
    if let Some(record) = compared(test, &env, &arguments) {
        assert_eq!(runs(&record).len(), 4);
        let scenario = &record["terms"]["runs"]["load"]["scenario"];
        assert_eq!((&scenario["grpc"], &scenario["body_file"]["bytes"]), (&true.into(), &3.into()));
        assert!(runs(&record).iter().all(|run| run["metrics"]["error_rate"] == 0.0));
        // Another message would be another load.
        env.write("message", "\n\u{1}b");
        let more = env.run(["compare", "--resume", "r.json", "--rounds", "3"]);
        assert_eq!(more.status.code(), Some(2), "{}", more.stderr);
        assert!(more.stderr.contains("message has changed"), "{}", more.stderr);
        env.write("message", "\n\u{1}a");
    }
    let output = env.run(["run", "--suite", "--export-json", "s.json"]);
    if !is_too_busy(test, &output) {
        assert_eq!(output.status.code(), Some(0), "{}", output.stderr);
        assert_eq!(runs(&env.record("s.json")).len(), 2);
    }
    env.write("becalm.toml", load("missing"));
    let output = env.run([&["compare"], &arguments[..]].concat()).exits_with(2);
    assert!(output.stderr.contains("missing"), "{}", output.stderr);
}
