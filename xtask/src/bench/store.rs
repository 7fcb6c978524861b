//! `cargo xtask bench store`: what a large history costs, in both databases.
//!
//! A history of so many entries is filled, each with a value for every series and a document that holds all
//! samples. Then three things are timed: adding the entry of one program (15 metrics), adding one of the whole
//! suite, and reading what finding changes needs: series, points, changes and what the detector left, in a
//! newly opened history. Every write is on disk before the next one begins.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Result, ensure};
use becalm_model::history::{ChangeState, Commit, FirstSeen, StoredChange};
use becalm_model::{Direction, Unit};
use becalm_stats::center::median;
use becalm_stats::{Rng, Sample};
use becalm_store::{
    Access, DetectorState, Found, HistoryLocation, NewEntry, NewPoint, Origin, SeriesFilter,
    Snapshot, Store, open,
};

use crate::workspace::scratch;

/// Fill a history and measure what adding and reading cost
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Entries, which is the number of points of each series
    #[arg(long, value_name = "N", default_value_t = 1000)]
    entries: usize,
    /// Series
    #[arg(long, value_name = "N", default_value_t = 1000)]
    series: usize,
    /// Runs behind each point
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: usize,
    /// An empty database of PostgreSQL to be measured too
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
}

/// How often each thing is timed.
const TIMES: usize = 30;

/// Metrics of one program.
const METRICS: usize = 15;

pub(crate) fn run(args: &Args) -> Result<()> {
    let samples = args.entries * args.series * args.runs;
    println!(
        "{samples} samples: {} series of {} points over {} runs",
        args.series, args.entries, args.runs
    );
    let folder = scratch()?;
    let file = folder.path().join("history.db");
    measure("SQLite", &HistoryLocation::File(file.clone()), args)?;
    let size = file.metadata()?.len() >> 20;
    println!("SQLite: the file has {size} MiB");
    if let Some(url) = &args.postgres {
        return measure("PostgreSQL", &HistoryLocation::parse(url), args);
    }
    println!("PostgreSQL: not measured; --postgres URL names an empty database");
    Ok(())
}

fn measure(name: &str, place: &HistoryLocation, args: &Args) -> Result<()> {
    let mut rng = Rng::new(1);
    let mut store = open(place, Access::Write)?;
    let began = Instant::now();
    for at in 0..args.entries {
        store.add(&entry(at, args.series, args.runs, &mut rng))?;
    }
    let each = began.elapsed().as_secs_f64() / args.entries as f64;
    println!("{name}: filled at {:.1} ms an entry of {} values", each * 1e3, args.series);
    find(&mut store)?;
    drop(store);

    let adding = |values: usize, from: usize, rng: &mut Rng| -> Result<Vec<f64>> {
        (0..TIMES)
            .map(|n| {
                let new = entry(args.entries + from + n, values, args.runs, rng);
                let began = Instant::now();
                // A process of its own adds a run, so the opening counts.
                open(place, Access::Write)?.add(&new)?;
                Ok(began.elapsed().as_secs_f64())
            })
            .collect()
    };
    let times = adding(METRICS, 0, &mut rng)?;
    told(name, &format!("add a run with {METRICS} values"), times)?;
    let times = adding(args.series, TIMES, &mut rng)?;
    told(name, &format!("add a run with {} values", args.series), times)?;

    let mut listing = Vec::new();
    let mut reading = Vec::new();
    let mut points = 0;
    for _ in 0..TIMES / 3 {
        let began = Instant::now();
        let mut store = open(place, Access::Read)?;
        let series = store.series(&SeriesFilter::default())?;
        let ids: Vec<_> = series.iter().map(|one| one.id).collect();
        store.changes(&ids)?;
        listing.push(began.elapsed().as_secs_f64());
        points = store.snapshot(&ids)?.points.iter().map(Vec::len).sum();
        reading.push(began.elapsed().as_secs_f64());
    }
    told(name, &format!("list the changes of {} series", args.series), listing)?;
    told(name, &format!("read all {points} points, changes and states"), reading)
}

fn told(name: &str, what: &str, times: Vec<f64>) -> Result<()> {
    let sample = Sample::new(times)?;
    let [middle, least, most] =
        [median(&sample), sample.minimum(), sample.maximum()].map(|seconds| seconds * 1e3);
    println!("{name}: {what}: {middle:.1} ms ({least:.1} to {most:.1} ms of {})", sample.len());
    Ok(())
}

/// Leaves two changes and a state in every series.
fn find(store: &mut Store) -> Result<()> {
    let series = store.series(&SeriesFilter::default())?;
    let ids: Vec<_> = series.iter().map(|one| one.id).collect();
    let Snapshot { points, seen, .. } = store.snapshot(&ids)?;
    let found: Vec<Found> = ids
        .iter()
        .zip(&points)
        .map(|(series, points)| {
            let change = |at: usize| StoredChange {
                entry: points[at].entry,
                last_before: points[at - 1].entry,
                before: 1.0,
                after: 1.1,
                ratio: 1.1,
                ratio_low: 1.05,
                ratio_high: 1.15,
                state: ChangeState::Confirmed,
                first_seen: FirstSeen { entry: points[at].entry, time: 1.0 },
                review: None,
            };
            let changes = [1, 2].map(|third| third * points.len() / 3);
            Found {
                series: *series,
                changes: changes.into_iter().filter(|at| *at > 0).map(change).collect(),
                moved: Vec::new(),
                detector: Some(DetectorState { version: 1, bytes: vec![7; 500] }),
            }
        })
        .collect();
    ensure!(store.put_changes(&found, &seen)?, "somebody else writes to this history");
    Ok(())
}

fn entry(at: usize, series: usize, runs: usize, rng: &mut Rng) -> NewEntry {
    let mut document = String::from("{\"schema\": \"becalm/run/1\", \"subjects\": [");
    let mut points = Vec::with_capacity(series);
    for one in 0..series {
        let value = 0.1 + 0.001 * rng.normal();
        for _ in 0..runs {
            let _ = write!(document, "{},", value + 0.001 * rng.normal());
        }
        points.push(NewPoint {
            benchmark: format!("benchmark {}", one / METRICS),
            metric: format!("metric {}", one % METRICS),
            unit: Unit::Second,
            direction: Direction::Lower,
            parameters: vec![("size".to_owned(), "10".to_owned())],
            main: one % METRICS == 0,
            exact: false,
            value,
            error: Some(0.001),
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
        });
    }
    document.push_str("0]}");
    let facts = ["cpu_model", "kernel_release", "governor", "mitigations", "memory_total"];
    NewEntry {
        origin: Origin::Measurement,
        content: format!("{at}"),
        measured: 1.7e9 + at as f64,
        commit: Some(Commit {
            time: Some(1.7e9 + 60.0 * at as f64),
            ..Commit::named(format!("{at:040x}"))
        }),
        branch: "main".to_owned(),
        dirty: false,
        tags: Vec::new(),
        facts: facts
            .iter()
            .map(|name| ((*name).to_owned(), "something".to_owned()))
            .collect::<BTreeMap<_, _>>(),
        document: Some(document),
        points,
    }
}
