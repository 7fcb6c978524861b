//! `cargo xtask bench replay`: rules of decision on runs that were recorded on a real machine.
//!
//! The folder holds `harness.csv.gz` (one process run a row; interleaved pairs in random order, all
//! programs of a known amount of work) and `hyperfine.csv.gz` (one timed run of hyperfine a row, all
//! of A and then all of B). Every trial costs 34 executions in both.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::{Call, LEVEL, PerMille, RULES, Table, Tallies};
use becalm_stats::center::{mean, median};
use becalm_stats::decide::paired::{self, Observation};
use becalm_stats::{Sample, yuen};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::resolution::{Resolution, resolution};

/// Apply rules of decision to recorded runs: false alarms, power and resolution
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with harness.csv.gz and hyperfine.csv.gz
    dir: PathBuf,
}

/// Rounds of an interleaved trial, its warm-up included: that round was run like the others.
const ROUNDS: usize = 17;

/// Set-ups in the order of the tables, with what they stand for.
const SETUPS: &[(&str, &str)] = &[
    ("base", "without root"),
    ("pin_fifo_gap_noaslr", "with root"),
    ("noaslr", "address space layout fixed"),
    ("pin", "pinned"),
    ("pin_fifo", "pinned, FIFO"),
    ("pin_fifo_gap", "pinned, FIFO, rest after each run"),
];

/// Row of `harness.csv.gz`.
#[derive(Debug, Deserialize)]
struct HarnessRow {
    trial: u32,
    mode: String,
    cfg: String,
    kind: String,
    ratio: f64,
    which: String,
    pos: u8,
    t0_ns: u64,
    wall_ns: f64,
    u_us: f64,
    s_us: f64,
}

/// Row of `hyperfine.csv.gz`.
#[derive(Debug, Deserialize)]
struct HyperfineRow {
    trial: u32,
    kind: String,
    ratio: f64,
    which: String,
    wall_s: f64,
}

/// What both tools were given: the same 34 executions of a pair of programs.
struct Paired {
    setup: String,
    workload: String,
    ratio: PerMille,
    cpu: Vec<Observation>,
    wall: Vec<Observation>,
}

struct Sequential {
    workload: String,
    ratio: PerMille,
    baseline: Sample,
    candidate: Sample,
}

/// Prints all tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let paired = paired_trials(read(&args.dir.join("harness.csv.gz"))?)?;
    let sequential = sequential_trials(read(&args.dir.join("hyperfine.csv.gz"))?)?;
    println!(
        "{} comparisons in turns and {} one after the other, 34 executions each. Rates in percent with \
         their 95 % interval (Clopper and Pearson); power is a call in the right direction.\n",
        paired.len(),
        sequential.len()
    );
    let mut setups: Vec<&str> = SETUPS.iter().map(|(setup, _)| *setup).collect();
    for trial in &paired {
        if !setups.contains(&trial.setup.as_str()) {
            setups.push(&trial.setup);
        }
    }
    for setup in &setups {
        let trials: Vec<&Paired> = paired.iter().filter(|trial| trial.setup == *setup).collect();
        if !trials.is_empty() {
            let meaning = SETUPS.iter().find(|(name, _)| name == setup).map_or("", |found| found.1);
            println!("## In turns, {setup}: {meaning}\n\n{}", paired_table(&trials));
        }
    }
    println!("## One after the other: hyperfine\n\n{}", sequential_table(&sequential));
    println!("{}", resolution_text(&setups, &paired, &sequential));
    Ok(())
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    csv::Reader::from_reader(GzDecoder::new(file))
        .deserialize()
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {}", path.display()))
}

fn per_mille(ratio: f64) -> PerMille {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "around 1000")]
    let thousandths = (ratio * 1000.0).round() as PerMille;
    thousandths
}

fn grouped<T>(rows: Vec<T>, trial: impl Fn(&T) -> u32) -> BTreeMap<u32, Vec<T>> {
    let mut groups: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    for row in rows {
        groups.entry(trial(&row)).or_default().push(row);
    }
    groups
}

fn paired_trials(mut rows: Vec<HarnessRow>) -> Result<Vec<Paired>> {
    rows.retain(|row| row.mode == "ilv");
    let mut trials = Vec::new();
    for (trial, mut rows) in grouped(rows, |row| row.trial) {
        if rows.len() != 2 * ROUNDS {
            println!("trial {trial} is incomplete: {} of {} runs", rows.len(), 2 * ROUNDS);
            continue;
        }
        rows.sort_by_key(|row| row.t0_ns);
        let of = |value: fn(&HarnessRow) -> f64| -> Result<Vec<Observation>> {
            rows.chunks(2).map(|pair| observation(trial, pair, value)).collect()
        };
        trials.push(Paired {
            cpu: of(|row| row.u_us + row.s_us)?,
            wall: of(|row| row.wall_ns)?,
            setup: rows[0].cfg.clone(),
            workload: rows[0].kind.clone(),
            ratio: per_mille(rows[0].ratio),
        });
    }
    Ok(trials)
}

fn observation(
    trial: u32,
    pair: &[HarnessRow],
    value: fn(&HarnessRow) -> f64,
) -> Result<Observation> {
    let of = |which: &str| {
        let row = pair.iter().find(|row| row.which == which);
        row.with_context(|| format!("a pair of trial {trial} has no run of {which}"))
    };
    let (baseline, candidate) = (of("A")?, of("B")?);
    ensure!(baseline.pos != candidate.pos, "a pair of trial {trial} has no order");
    ensure!(
        value(baseline) > 0.0 && value(candidate) > 0.0,
        "a run of trial {trial} took no time, of which there is no logarithm"
    );
    Ok(Observation {
        baseline: value(baseline).ln(),
        candidate: value(candidate).ln(),
        candidate_first: candidate.pos == 0,
        pace: [0.0; 2],
    })
}

fn sequential_trials(rows: Vec<HyperfineRow>) -> Result<Vec<Sequential>> {
    let mut trials = Vec::new();
    for (trial, rows) in grouped(rows, |row| row.trial) {
        let of = |which: &str| {
            let times = rows.iter().filter(|row| row.which == which).map(|row| row.wall_s);
            Sample::new(times.collect()).with_context(|| format!("{which} of trial {trial}"))
        };
        trials.push(Sequential {
            baseline: of("A")?,
            candidate: of("B")?,
            workload: rows[0].kind.clone(),
            ratio: per_mille(rows[0].ratio),
        });
    }
    Ok(trials)
}

fn by_becalm(rounds: &[Observation]) -> Call {
    paired::estimate(rounds, LEVEL)
        .map_or(Call::Neither, |found| Call::of_interval(found.low, found.high, 0.0))
}

fn by_yuen(rounds: &[Observation]) -> Call {
    Sample::new(log_ratios(rounds))
        .and_then(|ratios| yuen(&ratios, 0.2, 0.95))
        .map_or(Call::Neither, |test| Call::of(test.p <= LEVEL, test.trimmed_mean.estimate))
}

fn log_ratios(rounds: &[Observation]) -> Vec<f64> {
    rounds.iter().map(Observation::log_ratio).collect()
}

fn paired_table(trials: &[&Paired]) -> String {
    let mut tallies = Tallies::default();
    // In the order of workloads, whatever comes first in the file.
    let mut trials = trials.to_vec();
    trials.sort_by(|a, b| a.workload.cmp(&b.workload));
    for trial in trials {
        for (rule, call) in [
            ("becalm, CPU time", by_becalm(&trial.cpu)),
            ("becalm, wall time", by_becalm(&trial.wall)),
            ("paired Yuen, CPU time", by_yuen(&trial.cpu)),
            ("paired Yuen, wall time", by_yuen(&trial.wall)),
        ] {
            tallies.count(rule, &trial.workload, trial.ratio, call);
        }
    }
    tallies.table()
}

fn sequential_table(trials: &[Sequential]) -> String {
    let mut tallies = Tallies::default();
    let mut trials: Vec<&Sequential> = trials.iter().collect();
    trials.sort_by(|a, b| a.workload.cmp(&b.workload));
    for trial in trials {
        for (name, rule) in RULES {
            let call = rule(&trial.baseline, &trial.candidate);
            tallies.count(name, &trial.workload, trial.ratio, call);
        }
    }
    tallies.table()
}

/// Smallest slowdown found with 80 % power, and how many times smaller it is than the peers'.
fn resolution_text(setups: &[&str], paired: &[Paired], sequential: &[Sequential]) -> String {
    let alike = || sequential.iter().filter(|trial| trial.ratio == 1000);
    let errors = |centre: fn(&Sample) -> f64| -> Vec<f64> {
        alike().map(|trial| (centre(&trial.candidate) / centre(&trial.baseline)).ln()).collect()
    };
    let hyperfine = resolution(&errors(mean));
    let benchstat = resolution(&errors(median));
    let mut table = Table::new(&[
        "estimator",
        "n",
        "resolution %",
        "median error %",
        "hyperfine / this",
        "benchstat / this",
    ]);
    let mut row = |name: String, n: usize, found: Option<Resolution>| {
        let Some(found) = found else { return };
        let over = |peer: Option<Resolution>| {
            peer.map_or_else(|| "-".to_owned(), |it| format!("{:.1}", it.smallest / found.smallest))
        };
        table.rows.push(vec![
            name,
            n.to_string(),
            format!("{:.2}", 100.0 * found.smallest),
            format!("{:.2}", 100.0 * found.median_error),
            over(hyperfine),
            over(benchstat),
        ]);
    };
    row("hyperfine, ratio of means".to_owned(), alike().count(), hyperfine);
    row("hyperfine's times, ratio of medians (benchstat)".to_owned(), alike().count(), benchstat);
    for setup in setups {
        let alike: Vec<&Paired> =
            paired.iter().filter(|trial| trial.setup == *setup && trial.ratio == 1000).collect();
        for (metric, rounds) in [
            ("CPU time", (|trial| &trial.cpu) as fn(&Paired) -> &[Observation]),
            ("wall time", |trial| &trial.wall),
        ] {
            let centre = |trial: &&Paired| Some(paired::estimate(rounds(trial), LEVEL)?.centre);
            let errors: Vec<f64> = alike.iter().filter_map(centre).collect();
            row(format!("becalm, {setup}, {metric}"), errors.len(), resolution(&errors));
        }
    }
    format!(
        "## Resolution\n\nSmallest slowdown found with 80 % power by the estimate, the critical \
         value being the one with 5 % false alarms on identical programs; and the median size of \
         the error there.\n\n{}",
        table.markdown()
    )
}
