//! `cargo xtask bench load`: what generators of load say about servers of known truth.
//!
//! Two experiments with becalm's own server. One stall of 200 ms in the middle: 400 of the requests of a constant rate
//! wait for up to 200 ms, so that the percentiles follow from the schedule alone. And ten connections to a server that
//! takes 10 ms: they carry 1000 requests a second, whatever is asked for. Each generator that is installed is asked for
//! the same rate, as far as it knows one. Then becalm is stopped in the middle of loads, and all of them are asked for high
//! rates from one CPU (`speed.rs`). Only when it is asked for, becalm loads with and without CPUs that are kept awake
//! (`awake.rs`), searches a rate that is known (`find.rs`), and compares servers that are equal or differ by a known amount
//! (`servers.rs`).

mod awake;
mod find;
mod peers;
mod servers;
mod speed;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_kernel::wait::{self, Usage};

use self::peers::{Asked, CONNECTIONS, GENERATORS, Generator, read_becalm};
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

    /// How often each generator loads each server, or becalm searches or compares
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,

    /// How long becalm compares two servers at most, in seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    max_time: u32,

    /// How often becalm itself is stopped for 200 ms in the middle of a load
    #[arg(long, value_name = "N", default_value_t = 5)]
    stops: u32,

    /// Experiments in place of all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Experiment>,

    /// Programs in place of all that are installed
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    with: Vec<String>,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Experiment {
    /// A server that stalls once
    Stall,
    /// A server that is too slow for ten connections
    Pool,
    /// Loads in which becalm is stopped
    Stops,
    /// High rates from one CPU
    Speed,
    /// Loads with and without CPUs that are kept awake
    Awake,
    /// The highest rate that meets an objective, of a queue whose answer is known
    Find,
    /// Comparisons of servers with themselves
    Equal,
    /// Comparisons of servers that differ by a known amount
    Different,
}

/// Seconds of the stall.
const STALL: f64 = 0.2;

/// Measures and prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => build_becalm(Profile::Release)?,
    };
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    let runs = |one| args.only.is_empty() || args.only.contains(&one);
    if runs(Experiment::Stall) {
        println!("{}", stall(&becalm, args)?);
    }
    if runs(Experiment::Pool) {
        println!(
            "A server of 10 ms and {CONNECTIONS} connections: no more than 1000 in a second.\n"
        );
        let slow = ["--workers", "1000", "--service", "10ms"];
        println!("{}", table(&becalm, args, &slow, Some(CONNECTIONS))?);
    }
    if runs(Experiment::Stops) {
        println!("{}\n", stopped(&becalm, args)?);
    }
    if runs(Experiment::Speed) {
        println!("{}", speed::table(&becalm, args)?);
    }
    if args.only.contains(&Experiment::Awake) {
        println!("{}", awake::table(&becalm, args)?);
    }
    if args.only.contains(&Experiment::Find) {
        println!("{}\n", find::searches(&becalm, args)?);
    }
    for (one, pairs) in
        [(Experiment::Equal, &servers::EQUAL[..]), (Experiment::Different, &servers::DIFFERENT)]
    {
        if args.only.contains(&one) {
            println!("{}", servers::compare(&becalm, args, pairs)?);
        }
    }
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

/// Loads a server that stalls in the middle of each load.
fn stall(becalm: &Path, args: &Args) -> Result<String> {
    let (rate, seconds) = (f64::from(args.rate), f64::from(args.seconds));
    let stalled = rate * STALL;
    // Those that wait do so for 0 to 200 ms, evenly; the longest share of all requests begins there.
    let truth = |share: f64| (STALL * (1.0 - share * rate * seconds / stalled)).max(0.0) * 1e3;
    let half = format!("{}ms", args.seconds * 500);
    let stall = ["--workers", "8", "--service", "50us", "--stall", "200ms", "--stall-after", &half];
    Ok(format!(
        "One stall of {:.0} ms; truth: p99 {:.0} ms, p99.9 {:.0} ms.\n\n{}",
        STALL * 1e3,
        truth(0.01),
        truth(0.001),
        table(becalm, args, &stall, None)?
    ))
}

/// Returns the generators that are there, with their programs.
fn generators<'a>(becalm: &Path, args: &Args) -> impl Iterator<Item = (&'a Generator, PathBuf)> {
    let is_wanted = |name: &str| args.with.is_empty() || args.with.iter().any(|one| one == name);
    let wanted = GENERATORS.iter().filter(move |one| is_wanted(one.program));
    wanted.filter_map(|generator| {
        let program = match generator.program {
            "becalm" => Some(becalm.to_owned()),
            name => install::find(name),
        };
        Some((generator, program?))
    })
}

/// Loads a server with every generator that is there.
fn table(becalm: &Path, args: &Args, server: &[&str], connections: Option<u32>) -> Result<String> {
    let titles =
        ["generator", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "CPU us/request", "says"];
    let mut table = Table::new(&titles);
    for (generator, program) in generators(becalm, args) {
        for _ in 0..args.repeat {
            // A new one each time: its stall comes once.
            let server = Server::start(becalm, server)?;
            let (seconds, rate) = (args.seconds, args.rate);
            let asked = Asked { url: server.url.clone(), seconds, rate, connections, more: "" };
            let (text, used) = output(&program, &(generator.arguments)(&asked))?;
            let said = (generator.read)(&text);
            let requests = said.rate.map(|rate| rate * f64::from(args.seconds));
            let each = requests.filter(|n| *n > 0.0).map(|n| used.cpu_time() / n);
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
    let asked = Asked {
        url: server.url.clone(),
        seconds: SECONDS,
        rate: args.rate,
        connections: None,
        more: "",
    };
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

/// Returns a number as it is shown; a dash if there is none.
fn shown(value: Option<f64>, factor: f64, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{:.digits$}", value * factor))
}

/// Returns what a program prints, and what it used; what follows it is read by a shell. How it ends is its own
/// affair: it may well judge.
fn output(program: &Path, arguments: &str) -> Result<(String, Usage)> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("\"$0\" {arguments}")).arg(program);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    child.stdout.take().context("it was asked for")?.read_to_string(&mut text)?;
    let (_, used) = wait::reap(i32::try_from(child.id())?)?;
    Ok((text, used))
}
