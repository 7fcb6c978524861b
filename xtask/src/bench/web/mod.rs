//! `cargo xtask bench web`: what the pages of a large history cost.
//!
//! A history of so many series is filled, on as many machines, in each of which one in twenty has a step. `becalm serve`
//! shows it, and several clients at once ask for every kind of page and for what `/api` has beside it, each time for another
//! one of its kind. With --idle, so many connections say nothing meanwhile. Then an entry is added, and the first page after
//! it is timed. Last, a browser opens the front page as a phone would. The server's peak memory is that of all of this.

mod filled;
mod phone;
mod serving;

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_stats::quantile::quantile;
use becalm_stats::{Rng, Sample};
use becalm_testkit::{PostgresServer, postgres};

use super::surroundings;
use crate::workspace::{Profile, build_becalm, scratch};
use filled::{Filled, RECORDS};
use serving::{Serving, ask};

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
    /// Databases to be measured, separated by commas
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',', default_values = ["sqlite", "postgresql"])]
    database: Vec<DatabaseName>,
    /// An empty database of PostgreSQL [default: one of a server that is started for this, if it is installed]
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Measure this program [default: an optimised build of this one]
    #[arg(long, value_name = "FILE")]
    becalm: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DatabaseName {
    Sqlite,
    Postgresql,
}

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
    "icon.svg",
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
    for database in &args.database {
        match database {
            DatabaseName::Sqlite => {
                let folder = scratch()?;
                let file = folder.path().canonicalize()?.join("history.db");
                measure("SQLite", &file.display().to_string(), &becalm, args)?;
            }
            DatabaseName::Postgresql => match args.postgres.clone().map_or_else(own_database, Ok) {
                Ok(url) => measure("PostgreSQL", &url, &becalm, args)?,
                Err(why) => println!("\nPostgreSQL: not measured: {why}"),
            },
        }
    }
    Ok(())
}

/// Returns an empty database of a server that ends with this process.
fn own_database() -> Result<String, &'static str> {
    postgres().map(PostgresServer::database)
}

fn measure(name: &str, place: &str, becalm: &Path, args: &Args) -> Result<()> {
    let mut rng = Rng::new(28);
    let began = Instant::now();
    let mut history = Filled::new(place, args, &mut rng)?;
    println!("\n{name}: filled in {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let server = Serving::start(becalm, place)?;
    println!("{name}: the server is ready after {:.2} s", began.elapsed().as_secs_f64());
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
    phone::visit(name, &server.address)?;
    let memory = server.stop()?;
    println!("{name}: the server's memory at most: {:.0} MB", memory as f64 / 1e6);
    Ok(())
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
