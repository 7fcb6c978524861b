//! `becalm compare --load` on pairs of servers of which we know whether they differ.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use becalm_calibrate::decisions::{Call, Table};
use becalm_calibrate::rate::clopper_pearson;

use super::super::decide::trial::ask_becalm;
use super::Args;
use crate::install;

/// Two servers that take turns.
pub(super) struct Pair {
    /// What answers.
    program: &'static str,
    name: &'static str,
    /// The commands, with `{port}`; `{folder}` is filled in.
    servers: [&'static str; 2],
    load: &'static str,
    metric: &'static str,
}

/// Those that are equal. A load has enough requests for the quantile: 2000 for p99.
pub(super) const EQUAL: [Pair; 3] = [
    Pair {
        program: "becalm",
        name: "becalm's server and itself",
        servers: ["sh {folder}/becalm.sh {port} exponential:2ms"; 2],
        load: "rate=4000,duration=500ms,warmup=100ms",
        metric: "response_p99",
    },
    Pair {
        program: "nginx",
        name: "nginx and itself",
        servers: ["sh {folder}/nginx.sh {port}"; 2],
        load: "rate=4000,duration=500ms,warmup=100ms",
        metric: "response_p99",
    },
    Pair {
        program: "python3",
        name: "a threaded Python server and itself",
        servers: ["python3 {folder}/server.py {port}"; 2],
        load: "rate=2500,duration=800ms,warmup=200ms",
        metric: "response_p99",
    },
];

/// Those that differ.
pub(super) const DIFFERENT: [Pair; 2] = [
    Pair {
        program: "becalm",
        name: "all times 10 % longer: p99",
        servers: [
            "sh {folder}/becalm.sh {port} exponential:2ms",
            "sh {folder}/becalm.sh {port} exponential:2.2ms",
        ],
        load: "rate=2000,duration=1s,warmup=200ms",
        metric: "response_p99",
    },
    Pair {
        program: "becalm",
        name: "all times 2 % longer: p50",
        servers: ["sh {folder}/becalm.sh {port} 5ms", "sh {folder}/becalm.sh {port} 5.1ms"],
        load: "rate=1000,duration=500ms,warmup=200ms",
        metric: "response_p50",
    },
];

/// Starts becalm's server, whose random times differ from start to start.
fn of_becalm(becalm: &Path) -> String {
    format!(
        "exec '{}' workload serve --workers 64 --seed $$ --service $2 --port $1\n",
        becalm.display()
    )
}

/// Answers 6 bytes, each request in a thread of its own.
const PYTHON: &str = r#"import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// Starts nginx in the foreground at a port.
const NGINX: &str = r#"folder=$(dirname "$0")/nginx-$1
mkdir -p "$folder"
cat > "$folder/conf" <<END
daemon off; pid pid; error_log stderr; worker_processes 1; events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000000; server { listen 127.0.0.1:$1; location / { return 200 ok; } } }
END
exec nginx -e stderr -p "$folder" -c conf
"#;

/// Compares each pair, `args.repeat` times, and says how often becalm claims a difference.
pub(super) fn compare(becalm: &Path, args: &Args, pairs: &[Pair]) -> Result<String> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("server.py"), PYTHON)?;
    std::fs::write(folder.path().join("nginx.sh"), NGINX)?;
    std::fs::write(folder.path().join("becalm.sh"), of_becalm(becalm))?;
    let longest = format!("{}s", args.max_time);
    let titles =
        ["servers", "comparisons", "a difference claimed", "at 95 %", "not measured", "median s"];
    let mut table = Table::new(&titles);
    let is_there = |pair: &&Pair| {
        let is_wanted = args.with.is_empty() || args.with.iter().any(|one| one == pair.program);
        is_wanted && (pair.program == "becalm" || install::find(pair.program).is_some())
    };
    for pair in pairs.iter().filter(is_there) {
        let place = folder.path().display().to_string();
        let programs = pair.servers.map(|line| line.replace("{folder}", &place));
        let (mut claimed, mut times) = (0, Vec::new());
        for number in 1..=args.repeat {
            let seed = number.to_string();
            let arguments = [
                &["--load", pair.load, "--metric", pair.metric][..],
                &["--url", "http://127.0.0.1:{port}/"],
                &["--max-time", &longest, "--seed", &seed],
            ];
            let rule = format!("{}, {number}", pair.name);
            let answer = ask_becalm(Command::new(becalm), &programs, &arguments.concat(), rule);
            println!("{}: {} after {:.0} s", answer.rule, answer.verdict, answer.seconds);
            if answer.verdict != "error" {
                claimed += u64::from(answer.call != Call::Neither);
                times.push(answer.seconds);
            }
        }
        times.sort_by(f64::total_cmp);
        let Some(median) = times.get(times.len() / 2) else { continue };
        let measured = times.len() as u64;
        let share = clopper_pearson(claimed, measured, 0.95);
        table.rows.push(vec![
            pair.name.to_owned(),
            measured.to_string(),
            claimed.to_string(),
            format!("{:.1} to {:.1} %", share.low * 100.0, share.high * 100.0),
            (u64::from(args.repeat) - measured).to_string(),
            format!("{median:.0}"),
        ]);
    }
    Ok(table.markdown())
}
