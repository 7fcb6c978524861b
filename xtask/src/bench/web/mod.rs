//! `cargo xtask bench web`: what the pages of a large history cost.
//!
//! A history of so many series is filled, on as many machines, in each of which one in twenty has a step. `becalm serve`
//! shows it, and several clients at once ask for every kind of page and for what `/api` has beside it, each time for another
//! one of its kind. With --idle, so many connections say nothing meanwhile. Then an entry is added, and the first page after it is timed. The server's peak memory is that of all
//! of this.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_kernel::{signal, wait};
use becalm_model::history::Commit;
use becalm_model::{Direction, Unit};
use becalm_stats::quantile::quantile;
use becalm_stats::{Rng, Sample};
use becalm_store::{Access, HistoryLocation, NewEntry, NewPoint, Origin, Store, open};

use super::surroundings;
use crate::workspace::{Profile, build_becalm};

/// Fill a large history, and measure its pages, their sizes and the memory of the server
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Series
    #[arg(long, value_name = "N", default_value_t = 5000)]
    series: usize,
    /// Points of each
    #[arg(long, value_name = "N", default_value_t = 200)]
    points: usize,
    /// Machines that share the series: each has its part of them, and entries of its own
    #[arg(long, value_name = "N", default_value_t = 5)]
    machines: usize,
    /// Clients at once
    #[arg(long, value_name = "N", default_value_t = 4)]
    clients: usize,
    /// Requests for each kind of page
    #[arg(long, value_name = "N", default_value_t = 200)]
    requests: usize,
    /// Connections that are open beside them and say nothing
    #[arg(long, value_name = "N", default_value_t = 0)]
    idle: usize,
    /// An empty database of PostgreSQL to be measured, too
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Measure this program [default: an optimised build of this one]
    #[arg(long, value_name = "FILE")]
    becalm: Option<PathBuf>,
}

/// Entries of each machine whose records are kept.
const RECORDS: usize = 10;

/// The kinds of pages: `{series}` and `{entry}` stand for numbers, `{page}` for one of the first pages.
const PAGES: &[&str] = &[
    "changes?page={page}",
    "changes?state=all&page={page}",
    "benchmarks?page={page}",
    "benchmarks?all=yes&page={page}",
    "benchmarks?search=case+{series}",
    "series/{series}",
    "series/{series}?by=time",
    "compare?page={page}",
    "compare?of=machines",
    "machines",
    "suites?page={page}",
    "entries?page={page}",
    "entry/{entry}",
    "record/{record}",
    "feed.atom",
    "badge.svg",
    "metrics",
    "health",
    "style.css",
];

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.machines > 0 && args.series >= args.machines, "each machine has a series");
    let becalm = match &args.becalm {
        Some(path) => path.canonicalize()?,
        None => build_becalm(Profile::Release)?,
    };
    println!("Machine: {}. Load: {:.1}.", surroundings::machine(), surroundings::load());
    println!(
        "{} points in {} series on {} machines; {} requests for each page, {} at once.",
        args.series * args.points,
        args.series,
        args.machines,
        args.requests,
        args.clients
    );
    let folder = tempfile::tempdir_in(".").context("a folder for the history")?;
    let file = folder.path().canonicalize()?.join("history.db");
    measure("SQLite", &file.display().to_string(), &becalm, args)?;
    if let Some(url) = &args.postgres {
        return measure("PostgreSQL", url, &becalm, args);
    }
    println!("\nPostgreSQL: not measured; --postgres URL names an empty database");
    Ok(())
}

fn measure(name: &str, place: &str, becalm: &Path, args: &Args) -> Result<()> {
    let mut rng = Rng::new(28);
    let began = Instant::now();
    let mut history = Filled::new(place, args, &mut rng)?;
    println!("\n{name}: filled in {:.1} s", began.elapsed().as_secs_f64());
    let server = Serving::start(becalm, place)?;
    let began = Instant::now();
    let first = ask(&mut server.connect()?, "/")?;
    println!(
        "{name}: the first page of all after {:.2} s, {} bytes",
        began.elapsed().as_secs_f64(),
        first
    );

    // More than the server takes wait in the queue of the system, or are refused by it.
    let idle: Vec<TcpStream> =
        (0..args.idle).filter_map(|_| TcpStream::connect(&server.address).ok()).collect();
    if args.idle > 0 {
        println!("{name}: {} of {} idle connections are open", idle.len(), args.idle);
    }
    let mut table = Table::new(&["page", "p50", "p95", "largest", "bytes"]);
    let api = |page: &&&str| !page.contains('.') && !["metrics", "health"].contains(*page);
    let of_api = PAGES.iter().filter(api).map(|page| format!("api/{page}"));
    for page in PAGES.iter().map(|page| (*page).to_owned()).chain(of_api) {
        let (times, bytes) = load(&server, &page, args, &mut rng)?;
        let sample = Sample::new(times)?;
        let told = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
        table.rows.push(vec![
            page,
            told(quantile(&sample, 0.5)),
            told(quantile(&sample, 0.95)),
            told(sample.maximum()),
            bytes.to_string(),
        ]);
    }
    println!("\n{}", table.markdown());
    history.add(args, &mut rng)?;
    let began = Instant::now();
    ask(&mut server.connect()?, "/")?;
    println!(
        "{name}: the first page after another entry of {} values: {:.0} ms",
        args.series / args.machines,
        began.elapsed().as_secs_f64() * 1e3
    );
    let memory = server.stop()?;
    println!("{name}: the server's memory at most: {:.0} MB", memory as f64 / 1e6);
    Ok(())
}

/// A history while it is filled.
struct Filled {
    store: Store,
    /// The level of each series, and the point from which on it is another.
    levels: Vec<(f64, Option<usize>)>,
    entries: usize,
}

impl Filled {
    fn new(place: &str, args: &Args, rng: &mut Rng) -> Result<Self> {
        let level = |rng: &mut Rng| {
            let step = becalm_model::place(rng.uniform() * args.points as f64);
            (1e-3 * (1.0 + 100.0 * rng.uniform()), (rng.uniform() < 0.05).then_some(step))
        };
        let levels = (0..args.series).map(|_| level(rng)).collect();
        let store = open(&HistoryLocation::parse(place), Access::Write)?;
        let mut filled = Self { store, levels, entries: 0 };
        while filled.entries < args.points * args.machines {
            filled.add(args, rng)?;
        }
        Ok(filled)
    }

    /// Adds the entry that comes next.
    fn add(&mut self, args: &Args, rng: &mut Rng) -> Result<()> {
        let (at, machine) = (self.entries / args.machines, self.entries % args.machines);
        let keeps = at + RECORDS >= args.points;
        let entry = entry(at, machine, args, &self.levels, keeps, rng);
        self.store.add(&entry)?;
        self.entries += 1;
        Ok(())
    }
}

fn entry(
    at: usize,
    machine: usize,
    args: &Args,
    levels: &[(f64, Option<usize>)],
    keeps: bool,
    rng: &mut Rng,
) -> NewEntry {
    let point = |(case, (level, step)): (usize, &(f64, Option<usize>))| {
        let factor = if step.is_some_and(|step| at >= step) { 1.1 } else { 1.0 };
        NewPoint {
            benchmark: format!("module_{:02}.Suite.case {case}", case % 40),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            parameters: vec![("size".to_owned(), (case % 7 * 1000).to_string())],
            main: true,
            exact: false,
            value: level * factor * (1.0 + 0.01 * rng.normal()),
            error: Some(level * 0.004),
            runs: 10,
        }
    };
    let of_machine = levels.iter().enumerate().skip(machine).step_by(args.machines);
    let points = of_machine.map(point).collect();
    let time = 1.7e9 + 3600.0 * at as f64;
    let mut facts: BTreeMap<String, String> =
        (0..40).map(|fact| (format!("knob.number_{fact}"), "the value of it".to_owned())).collect();
    facts.insert("cpu_model".to_owned(), format!("A processor of kind {machine}"));
    facts.insert("kernel_release".to_owned(), "6.12.0".to_owned());
    let runs: Vec<String> = (0..30)
        .map(|round| {
            format!(
                "{{\"round\": {round}, \"order\": 0, \"wall_time\": {}}}",
                0.1 + 0.001 * rng.normal()
            )
        })
        .collect();
    let document = format!(
        "{{\"schema\": \"becalm/run/1\", \"confidence\": 0.95, \"subjects\": [{{\"name\": \"case\", \"command\": \
         [\"./case\"], \"runs\": [{}]}}]}}",
        runs.join(", ")
    );
    NewEntry {
        origin: Origin::Measurement,
        content: format!("{at} on {machine}"),
        measured: time + machine as f64,
        commit: Some(Commit { id: format!("{at:040x}"), time: Some(time) }),
        branch: "main".to_owned(),
        dirty: false,
        tags: vec!["nightly".to_owned()],
        facts,
        document: keeps.then_some(document),
        points,
    }
}

/// A server that runs.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(becalm: &Path, place: &str) -> Result<Self> {
        let mut command = Command::new(becalm);
        command.args(["serve", "--listen", "127.0.0.1:0", "--store", place]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("its output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        let address = address.with_context(|| format!("{line:?} names no server"))?.to_owned();
        Ok(Self { child, address })
    }

    fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), host: self.address.clone() })
    }

    /// Ends it, and returns how much memory it had at most, in bytes.
    fn stop(mut self) -> Result<u64> {
        const INTERRUPT: i32 = 2;
        signal::send(self.child.id(), INTERRUPT)?;
        // Its last words go nowhere.
        drop(self.child.stdout.take());
        let (_, used) = wait::reap(i32::try_from(self.child.id())?)?;
        Ok(used.max_rss)
    }
}

/// A connection that stays open from one request to the next.
struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// Asks for a path, and returns the bytes of the answer.
fn ask(connection: &mut Connection, path: &str) -> Result<usize> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", connection.host);
    connection.stream.get_mut().write_all(head.as_bytes())?;
    let mut length = None;
    let mut line = String::new();
    connection.stream.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "{path}: {}", line.trim());
    loop {
        line.clear();
        connection.stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse()?);
        }
    }
    let mut body = vec![0; length.context("an answer without a length")?];
    connection.stream.read_exact(&mut body)?;
    Ok(body.len())
}

/// Asks for pages of a kind, with several clients at once; returns the seconds of each and the most bytes.
fn load(server: &Serving, page: &str, args: &Args, rng: &mut Rng) -> Result<(Vec<f64>, usize)> {
    let each = args.requests.div_ceil(args.clients.max(1));
    let paths: Vec<Vec<String>> = (0..args.clients.max(1))
        .map(|_| (0..each).map(|_| path(page, args, rng)).collect())
        .collect();
    let asked: Result<Vec<(Vec<f64>, usize)>> = thread::scope(|scope| {
        let clients: Vec<_> = paths
            .iter()
            .map(|paths| {
                scope.spawn(move || -> Result<(Vec<f64>, usize)> {
                    let mut connection = server.connect()?;
                    let (mut times, mut bytes) = (Vec::new(), 0);
                    for path in paths {
                        let mut began = Instant::now();
                        let answered = ask(&mut connection, path).or_else(|_| {
                            // The server ends a connection after a minute.
                            connection = server.connect()?;
                            began = Instant::now();
                            ask(&mut connection, path)
                        })?;
                        bytes = bytes.max(answered);
                        times.push(began.elapsed().as_secs_f64());
                    }
                    Ok((times, bytes))
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("it does not panic")).collect()
    });
    let asked = asked?;
    let bytes = asked.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    Ok((asked.into_iter().flat_map(|(times, _)| times).collect(), bytes))
}

/// Returns an address of a kind.
fn path(page: &str, args: &Args, rng: &mut Rng) -> String {
    let entries = args.points * args.machines;
    let kept = (RECORDS * args.machines).min(entries);
    let number = |of: usize, rng: &mut Rng| (1 + rng.below(of)).to_string();
    // Every kind has three pages here, and of changes those that have steps.
    let pages = (args.series / 20 / 20).clamp(1, 3);
    format!("/{page}")
        .replace("{series}", &number(args.series, rng))
        .replace("{entry}", &number(entries, rng))
        .replace("{record}", &(entries - rng.below(kept)).to_string())
        .replace("{page}", &number(pages, rng))
}
