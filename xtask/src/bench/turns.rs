//! `cargo xtask bench turns`: what `becalm compare --load` says about servers of which it is known how they compare.
//!
//! The built-in server answers after a fixed time, so one whose time is longer by a share has percentiles that are higher
//! by nearly that share. Each trial is a whole comparison; which of the two servers is the baseline alternates. Trials of
//! all shares take turns, until there are enough of them or the time is over.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use becalm_calibrate::decisions::Table;
use becalm_calibrate::rate::clopper_pearson;
use serde_json::Value;

use super::surroundings;
use crate::workspace::{Profile, build_becalm};

/// Compare servers of which it is known how they compare
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Comparisons of each share
    #[arg(long, value_name = "N", default_value_t = 20)]
    trials: u32,

    /// Start no further comparison after this time
    #[arg(long, value_name = "MIN", default_value_t = 20)]
    minutes: u64,

    /// The load, as `becalm compare --load` takes it
    #[arg(long, value_name = "LOAD", default_value = "rate=1000,duration=2s,warmup=300ms")]
    load: String,

    /// Seconds that a comparison may take
    #[arg(long, value_name = "S", default_value_t = 60)]
    max_time: u32,

    /// The metric that decides
    #[arg(long, value_name = "NAME", default_value = "response_p99")]
    metric: String,

    /// The server: `built-in`, `python` with a thread for each connection, or `nginx`; equal ones alone for the others
    #[arg(long, value_name = "NAME", default_value = "built-in")]
    server: String,

    /// Microseconds that the built-in server takes
    #[arg(long, value_name = "US", default_value_t = 5000)]
    service: u32,

    /// By how many percent one server is slower; 0 for equal ones
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "0,10")]
    slower: Vec<u32>,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
}

/// Answers of the comparisons of one share.
#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    trials: u64,
    /// That the slower server is slower.
    right: u64,
    /// That it is faster; with equal servers any difference.
    wrong: u64,
    equivalent: u64,
    inconclusive: u64,
    /// Without a verdict, because becalm did not believe its loads.
    not_measured: u64,
    rounds: u64,
    seconds: f64,
}

/// How a comparison ended.
struct Ended {
    verdict: Option<String>,
    rounds: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => build_becalm(Profile::Release)?,
    };
    let folder = tempfile::tempdir()?;
    println!("Machine: {}. Load: {:.1}.", surroundings::machine(), surroundings::load());
    println!("{} on {}, {}", args.metric, args.server, args.load);
    let began = Instant::now();
    let mut counts = vec![Counted::default(); args.slower.len()];
    'trials: for trial in 0..args.trials {
        for (percent, counted) in args.slower.iter().zip(&mut counts) {
            if began.elapsed() > Duration::from_secs(60 * args.minutes) {
                break 'trials;
            }
            let is_turned = trial % 2 == 1;
            let server = |more| args.command(&becalm, folder.path(), more);
            let mut servers = [server(0)?, server(*percent)?];
            if is_turned {
                servers.reverse();
            }
            let start = Instant::now();
            let ended = args.compare(&becalm, folder.path(), &servers)?;
            counted.seconds += start.elapsed().as_secs_f64();
            counted.count(&ended, *percent > 0, is_turned);
            println!(
                "{percent} %: {}, {} rounds",
                ended.verdict.as_deref().unwrap_or("not measured"),
                ended.rounds
            );
        }
    }
    println!("\n{}", table(&args.slower, &counts));
    Ok(())
}

impl Args {
    /// Returns the command of a server that is slower by so many percent.
    fn command(&self, becalm: &Path, folder: &Path, percent: u32) -> Result<String> {
        match self.server.as_str() {
            "built-in" => {
                let service = u64::from(self.service) * u64::from(100 + percent) / 100;
                let becalm = becalm.display();
                Ok(format!(
                    "{becalm} workload serve --service {service}us --workers 500 --port {{port}}"
                ))
            }
            _ if percent > 0 => bail!("only the built-in server can be made slower"),
            "python" => {
                let script = folder.join("server.py");
                std::fs::write(&script, PYTHON)?;
                Ok(format!("python3 {} {{port}}", script.display()))
            }
            "nginx" => {
                let script = folder.join("serve");
                std::fs::write(&script, NGINX)?;
                Ok(format!("sh {} {} {{port}}", script.display(), folder.display()))
            }
            other => bail!("there is no server `{other}`: use built-in, python or nginx"),
        }
    }

    fn compare(&self, becalm: &Path, folder: &Path, servers: &[String; 2]) -> Result<Ended> {
        let record = folder.join("r.json");
        let _ = std::fs::remove_file(&record);
        let time = format!("{}s", self.max_time);
        let output = Command::new(becalm)
            .args(["compare", "--url", "http://127.0.0.1:{port}/", "--load", &self.load])
            .args(["--metric", &self.metric, "--max-time", &time, "--min-rounds", "6"])
            .args(["-n", "a", "-n", "b", "--export-json"])
            .arg(&record)
            .args(servers)
            .output()
            .context("cannot start becalm")?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0 | 3) => {}
            Some(4) if said.contains("the load was invalid") => {
                return Ok(Ended { verdict: None, rounds: 0 });
            }
            other => bail!("becalm ended with {other:?}: {said}"),
        }
        let text = std::fs::read_to_string(&record)?;
        let record: Value = serde_json::from_str(&text)?;
        let main = &record["comparisons"][0];
        ensure!(main["primary"] == true, "the first comparison does not decide");
        Ok(Ended {
            verdict: main["verdict"].as_str().map(str::to_owned),
            rounds: main["rounds"].as_u64().unwrap_or(0),
        })
    }
}

impl Counted {
    fn count(&mut self, ended: &Ended, differs: bool, is_turned: bool) {
        self.trials += 1;
        self.rounds += ended.rounds;
        let right = if is_turned { "faster" } else { "slower" };
        match ended.verdict.as_deref() {
            None => self.not_measured += 1,
            Some("equivalent") => self.equivalent += 1,
            Some("inconclusive") => self.inconclusive += 1,
            Some(verdict) if differs && verdict == right => self.right += 1,
            Some(_) => self.wrong += 1,
        }
    }
}

fn table(slower: &[u32], counts: &[Counted]) -> String {
    let mut table = Table::new(&[
        "slower by",
        "comparisons",
        "found",
        "wrong",
        "equivalent",
        "inconclusive",
        "not measured",
        "rounds",
        "seconds",
        "95 % interval",
    ]);
    for (percent, one) in slower.iter().zip(counts) {
        let judged = one.trials - one.not_measured;
        let counts_of = if *percent > 0 { one.right } else { one.wrong };
        let interval = clopper_pearson(counts_of, judged.max(1), 0.95);
        let each = |sum: f64| format!("{:.1}", sum / one.trials.max(1) as f64);
        table.rows.push(vec![
            format!("{percent} %"),
            one.trials.to_string(),
            one.right.to_string(),
            one.wrong.to_string(),
            one.equivalent.to_string(),
            one.inconclusive.to_string(),
            one.not_measured.to_string(),
            each(one.rounds as f64),
            each(one.seconds),
            format!(
                "{} {:.1} .. {:.1} %",
                if *percent > 0 { "found" } else { "wrong" },
                100.0 * interval.low,
                100.0 * interval.high
            ),
        ]);
    }
    table.markdown()
}

/// A server with a thread for each connection.
const PYTHON: &str = "import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Answer).serve_forever()
";

/// Starts nginx in a folder, at a port.
const NGINX: &str = r#"cd "$1"
cat > "$2.conf" <<END
daemon off; pid $1/$2.pid; error_log stderr; worker_processes 1; events {}
http { access_log off; server { listen 127.0.0.1:$2; location / { return 200 ok; } } }
END
exec nginx -e stderr -p . -c "$PWD/$2.conf"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_by_what_is_true() {
        let mut counted = Counted::default();
        let mut count = |verdict: Option<&str>, differs, is_turned| {
            let ended = Ended { verdict: verdict.map(str::to_owned), rounds: 8 };
            counted.count(&ended, differs, is_turned);
        };
        count(Some("slower"), true, false);
        count(Some("faster"), true, true);
        count(Some("slower"), true, true);
        count(Some("faster"), false, false);
        count(Some("equivalent"), false, false);
        count(None, false, false);
        assert_eq!((counted.right, counted.wrong, counted.equivalent), (2, 2, 1));
        assert_eq!((counted.not_measured, counted.trials, counted.rounds), (1, 6, 48));
        assert!(table(&[10], &[counted]).contains("found"));
    }
}
