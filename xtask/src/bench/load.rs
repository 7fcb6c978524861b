//! `cargo xtask bench load`: what generators of load say about servers of known truth.
//!
//! Two experiments with becalm's own server. One stall of 200 ms in the middle: 400 of the requests of a constant rate
//! wait for up to 200 ms, so that the percentiles follow from the schedule alone. And ten connections to a server that
//! takes 10 ms: they carry 1000 requests a second, whatever is asked for. Each generator that is installed is asked for
//! the same rate, as far as it knows one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_kernel::wait;
use serde_json::Value;

use super::surroundings;
use crate::install;
use crate::workspace::{Profile, build_becalm, run as run_command};

/// Compare what generators of load say about servers of known truth
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Seconds of each load; the stall is in the middle
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    seconds: u32,

    /// Requests in a second
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..))]
    rate: u32,

    /// How often each generator loads each server
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,

    /// How often becalm itself is stopped for 200 ms in the middle of a load
    #[arg(long, value_name = "N", default_value_t = 5)]
    stops: u32,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
}

/// Connections of those generators that have a fixed number.
const CONNECTIONS: u32 = 10;

/// Seconds of the stall.
const STALL: f64 = 0.2;

/// What a generator says, in seconds and requests in a second.
#[derive(Debug, Default, PartialEq)]
struct Said {
    rate: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    /// What it says about its own fidelity.
    remark: String,
}

/// A generator: its program, how it is asked, and how its answer is read.
struct Generator {
    name: &'static str,
    program: &'static str,
    arguments: fn(&Asked) -> String,
    read: fn(&str) -> Said,
}

struct Asked {
    url: String,
    seconds: u32,
    rate: u32,
    /// The most connections, where that is asked for.
    connections: Option<u32>,
}

impl Asked {
    fn connections(&self) -> u32 {
        self.connections.unwrap_or(CONNECTIONS)
    }
}

const GENERATORS: [Generator; 8] = [
    Generator {
        name: "becalm load",
        program: "becalm",
        arguments: |asked| {
            let Asked { url, seconds, rate, connections } = asked;
            let most = connections.map(|n| format!(" --connections {n}")).unwrap_or_default();
            format!("load {url} --rate {rate} --duration {seconds}s --arrivals even --json{most}")
        },
        read: read_becalm,
    },
    Generator {
        name: "wrk (as fast as it can)",
        program: "wrk",
        arguments: |asked| {
            format!("-t1 -c{} -d{}s --latency {}", asked.connections(), asked.seconds, asked.url)
        },
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after_time(text, "50%"),
            p99: after_time(text, "99%"),
            ..Said::default()
        },
    },
    Generator {
        name: "hey -q",
        program: "hey",
        arguments: |asked| {
            let (n, each) = (asked.connections(), asked.rate / asked.connections());
            format!("-c {n} -q {each} -z {}s {}", asked.seconds, asked.url)
        },
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after(text, "50% in"),
            p99: after(text, "99% in"),
            ..Said::default()
        },
    },
    Generator {
        name: "ab -k (as fast as it can)",
        program: "ab",
        arguments: |asked| {
            format!(
                "-k -q -c {} -t {} -n 100000000 {}",
                asked.connections(),
                asked.seconds,
                asked.url
            )
        },
        read: |text| Said {
            rate: after(text, "Requests per second:"),
            p50: after(text, "  50% ").map(|ms| ms * 1e-3),
            p99: after(text, "  99% ").map(|ms| ms * 1e-3),
            ..Said::default()
        },
    },
    Generator { name: "oha -q", program: "oha", arguments: |asked| oha(asked, ""), read: read_oha },
    Generator {
        name: "oha -q --latency-correction",
        program: "oha",
        arguments: |asked| oha(asked, " --latency-correction"),
        read: read_oha,
    },
    Generator {
        name: "vegeta attack -rate",
        program: "vegeta",
        arguments: |asked| {
            let Asked { url, seconds, rate, .. } = asked;
            let most = asked.connections.map(|n| format!(" -max-workers={n}")).unwrap_or_default();
            format!(
                "attack -rate={rate}/1s -duration={seconds}s{most} <<END | vegeta report -type=json\nGET {url}\nEND"
            )
        },
        read: read_vegeta,
    },
    Generator {
        name: "wrk2 -R",
        program: "wrk2",
        arguments: |asked| {
            let Asked { url, seconds, rate, .. } = asked;
            format!("-t1 -c{} -d{seconds}s -R{rate} --latency {url}", asked.connections())
        },
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after_time(text, "50.000%"),
            p99: after_time(text, "99.000%"),
            p999: after_time(text, "99.900%"),
            ..Said::default()
        },
    },
];

fn oha(asked: &Asked, more: &str) -> String {
    let Asked { url, seconds, rate, .. } = asked;
    format!("--no-tui -q {rate} -c {} -z {seconds}s{more} {url}", asked.connections())
}

/// Measures and prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => build_becalm(Profile::Release)?,
    };
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    let (rate, seconds) = (f64::from(args.rate), f64::from(args.seconds));
    let stalled = rate * STALL;
    // Those that wait do so for 0 to 200 ms, evenly; the longest share of all requests begins there.
    let truth = |share: f64| (STALL * (1.0 - share * rate * seconds / stalled)).max(0.0) * 1e3;
    println!(
        "One stall of {:.0} ms; truth: p99 {:.0} ms, p99.9 {:.0} ms.\n",
        STALL * 1e3,
        truth(0.01),
        truth(0.001)
    );
    let half = format!("{}ms", args.seconds * 500);
    let stall = ["--workers", "8", "--service", "50us", "--stall", "200ms", "--stall-after", &half];
    println!("{}", table(&becalm, args, &stall, None)?);
    println!("A server of 10 ms and {CONNECTIONS} connections: no more than 1000 in a second.\n");
    let slow = ["--workers", "1000", "--service", "10ms"];
    println!("{}", table(&becalm, args, &slow, Some(CONNECTIONS))?);
    println!("{}\n", stopped(&becalm, args)?);
    let missing: Vec<&str> = GENERATORS.iter().map(|one| one.program).collect();
    let missing =
        missing.into_iter().filter(|name| *name != "becalm" && install::find(name).is_none());
    let mut missing: Vec<&str> = missing.collect();
    missing.dedup();
    if !missing.is_empty() {
        println!("Not installed: {}.", missing.join(", "));
    }
    println!("Load at the end: {:.1}.", surroundings::load());
    Ok(())
}

/// Loads a server with every generator that is there.
fn table(becalm: &Path, args: &Args, server: &[&str], connections: Option<u32>) -> Result<String> {
    let titles =
        ["generator", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "CPU us/request", "says"];
    let mut table = Table::new(&titles);
    for generator in &GENERATORS {
        let program = match generator.program {
            "becalm" => Some(becalm.to_owned()),
            name => install::find(name),
        };
        let Some(program) = program else { continue };
        for _ in 0..args.repeat {
            // A new one each time: its stall comes once.
            let server = Server::start(becalm, server)?;
            let (seconds, rate) = (args.seconds, args.rate);
            let asked = Asked { url: server.url.clone(), seconds, rate, connections };
            let (text, cpu) = output(&program, &(generator.arguments)(&asked))?;
            let said = (generator.read)(&text);
            let shown = |value: Option<f64>, factor: f64, digits: usize| {
                value.map_or("-".to_owned(), |value| format!("{:.digits$}", value * factor))
            };
            let requests = said.rate.map(|rate| rate * f64::from(args.seconds));
            let each = requests.filter(|n| *n > 0.0).map(|n| cpu / n);
            table.rows.push(vec![
                generator.name.to_owned(),
                shown(said.rate, 1.0, 0),
                shown(said.p50, 1e3, 2),
                shown(said.p99, 1e3, 1),
                shown(said.p999, 1e3, 1),
                shown(each, 1e6, 1),
                said.remark,
            ]);
        }
    }
    Ok(table.markdown())
}

/// Stops becalm for a moment in the middle of loads, and says how often it blamed itself.
fn stopped(becalm: &Path, args: &Args) -> Result<String> {
    const SECONDS: u32 = 3;
    let server = Server::start(becalm, &["--workers", "8", "--service", "50us"])?;
    let asked =
        Asked { url: server.url.clone(), seconds: SECONDS, rate: args.rate, connections: None };
    let (mut late, mut invalid) = (0, 0);
    for _ in 0..args.stops {
        let mut command = Command::new(becalm);
        command.args((GENERATORS[0].arguments)(&asked).split_whitespace());
        let generator = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let signal = |name: &str| -> Result<()> {
            run_command(Command::new("kill").args([name, &generator.id().to_string()]))
        };
        std::thread::sleep(Duration::from_secs(SECONDS.into()) / 2);
        signal("-STOP")?;
        std::thread::sleep(Duration::from_secs_f64(STALL));
        signal("-CONT")?;
        let output = generator.wait_with_output()?;
        let said = read_becalm(&String::from_utf8_lossy(&output.stdout));
        late += u32::from(said.remark.contains("late"));
        invalid += u32::from(said.remark.starts_with("invalid"));
    }
    let (times, rate) = (args.stops, args.rate);
    Ok(format!(
        "becalm stopped for 200 ms in {times} loads of {rate}/s: it blamed its own lag in {late}, and called {invalid} invalid."
    ))
}

/// The server; it ends with this.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(becalm: &Path, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(becalm);
        command.args(["workload", "serve"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut url = String::new();
        let out = process.stdout.take().context("it was asked for")?;
        BufReader::new(out).read_line(&mut url)?;
        let server = Self { process, url: url.trim().to_owned() };
        ensure!(!server.url.is_empty(), "`becalm workload serve` does not listen");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns what a program prints, and the CPU time that it used; what follows it is read by a shell. How it ends is its own
/// affair: it may well judge.
fn output(program: &Path, arguments: &str) -> Result<(String, f64)> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("\"$0\" {arguments}")).arg(program);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    child.stdout.take().context("it was asked for")?.read_to_string(&mut text)?;
    let (_, used) = wait::reap(i32::try_from(child.id())?)?;
    Ok((text, used.cpu_time()))
}

fn read_becalm(text: &str) -> Said {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let quantile = |name: &str, q: f64| {
        let all = document[name]["quantiles"].as_array()?;
        all.iter().find(|one| one["q"] == q)?["value"].as_f64()
    };
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let rate = number(&document["counts"]["answered"]) / number(&document["elapsed"]).max(1e-9);
    let lag = quantile("lag", 0.99).unwrap_or(0.0) * 1e3;
    let reasons = document["fidelity"]["reasons"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<&str> = reasons.iter().filter_map(|reason| reason["kind"].as_str()).collect();
    let verdict = document["fidelity"]["verdict"].as_str().unwrap_or("nothing");
    Said {
        rate: Some(rate),
        p50: quantile("response", 0.5),
        p99: quantile("response", 0.99),
        p999: quantile("response", 0.999),
        remark: format!("{verdict} {} (lag p99 {lag:.2} ms)", kinds.join(", ")).replace("  ", " "),
    }
}

fn read_oha(text: &str) -> Said {
    Said {
        rate: after(text, "Requests/sec:"),
        p50: after(text, "50.00% in"),
        p99: after(text, "99.00% in"),
        p999: after(text, "99.90% in"),
        ..Said::default()
    }
}

fn read_vegeta(text: &str) -> Said {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let nanoseconds = |name: &str| Some(document["latencies"][name].as_f64()? * 1e-9);
    Said {
        rate: document["throughput"].as_f64(),
        p50: nanoseconds("50th"),
        p99: nanoseconds("99th"),
        ..Said::default()
    }
}

/// Returns the number after a label.
fn after(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The same with a unit: `1.25ms`.
fn after_time(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    let word = rest.split_whitespace().next()?;
    becalm_model::parse_duration(word).ok().map(|time| time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_each_generator_are_found() {
        let wrk = "  Latency Distribution\n     50%   40.00us\n     99%   94.12ms\nRequests/sec: 104000.12\n";
        let read = |name: &str, text: &str| {
            let generator = GENERATORS.iter().find(|one| one.name.starts_with(name)).unwrap();
            let Said { rate, p50, p99, .. } = (generator.read)(text);
            [rate, p50, p99].map(|value| becalm_model::whole((value.unwrap() * 1e6).round()))
        };
        assert_eq!(read("wrk (", wrk), [104_000_120_000, 40, 94_120]);
        let hey = "  Requests/sec:\t1955.5\n  50% in 0.0001 secs\n  99% in 0.0004 secs\n";
        assert_eq!(read("hey", hey), [1_955_500_000, 100, 400]);
        let ab = "Requests per second:    2000.00 [#/sec] (mean)\n  50%      1\n  99%      4\n 100%      9\n";
        assert_eq!(read("ab", ab), [2_000_000_000, 1000, 4000]);
        let vegeta = r#"{"latencies": {"50th": 150000, "99th": 100000000}, "throughput": 1999.5}"#;
        assert_eq!(read("vegeta", vegeta), [1_999_500_000, 150, 100_000]);
        let oha = "  Requests/sec: 1999.7\n  50.00% in 0.0001 sec\n  99.00% in 0.1 sec\n";
        assert_eq!(read("oha", oha), [1_999_700_000, 100, 100_000]);
    }

    #[test]
    fn becalms_verdict_is_in_the_table() {
        let text = r#"{"counts": {"answered": 100}, "elapsed": 2.0,
            "response": {"quantiles": [{"q": 0.5, "value": 0.001}, {"q": 0.99, "value": 0.1}]},
            "lag": {"quantiles": [{"q": 0.99, "value": 0.002}]},
            "fidelity": {"verdict": "invalid", "reasons": [{"kind": "unsent"}]}}"#;
        let said = read_becalm(text);
        assert_eq!((said.rate, said.p99), (Some(50.0), Some(0.1)));
        assert_eq!(said.remark, "invalid unsent (lag p99 2.00 ms)");
    }
}
