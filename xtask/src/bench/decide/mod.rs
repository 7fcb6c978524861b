//! `cargo xtask bench decide`: false alarms and power on real processes of this machine.
//!
//! A and B are one file, a copy of becalm; B does 0, 1, 2 or 5 % more work. (Two byte-identical copies
//! of a file are not the same program: one was 0.3 % slower on the mixed workload for a whole session,
//! presumably because they lie in other pages of memory.) Each
//! trial asks every tool in random order, so that all see the same weather; trials of all ratios and
//! workloads are shuffled by a seed. Becalm with 16 rounds and hyperfine make 34 executions each.

pub(super) mod trial;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use becalm_calibrate::decisions::{PerMille, Row, Summary, cases};
use becalm_stats::Rng;

use super::stage::Stage;
use super::surroundings;

/// Compare decisions of becalm and hyperfine on programs of known work
///
/// 30 trials per ratio (10 of each workload) are a taste; for figures to publish make 200:
/// `cargo xtask bench decide --trials 200 --out trials.csv`, about two hours on a quiet machine. It
/// may be interrupted: the same command goes on where it was.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Trials per true ratio, shared among three workloads
    #[arg(long, value_name = "N", default_value_t = 30)]
    trials: u32,

    /// Start no further trial after this time
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,

    /// Seed of the sequence of trials
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Save the tables as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Append each trial to a CSV file, and go on after the trials that it has
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Measure nothing; print the tables of a file written by --out
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["trials", "minutes", "seed", "out", "same", "against"]
    )]
    summarise: Option<PathBuf>,

    /// Make only the trials whose programs do the same work: false alarms
    #[arg(long)]
    same: bool,

    /// Another becalm, such as that of the last release, which is asked in every trial too
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,
}

/// The ratio of programs that do the same work.
const SAME: PerMille = 1000;

/// Measures, or reads what was measured, and prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let rows = match &args.summarise {
        Some(file) => read(file)?,
        None => measure(args)?,
    };
    let summary = Summary::of(&rows);
    println!("{}", summary.text());
    if let Some(file) = &args.json {
        fs::write(file, serde_json::to_string_pretty(&summary.json())? + "\n")
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn measure(args: &Args) -> Result<Vec<Row>> {
    let mut rows = match &args.out {
        Some(file) if file.exists() => read(file)?,
        _ => Vec::new(),
    };
    let done = rows.iter().filter(|row| row.seed == args.seed).map(|row| row.trial + 1).max();
    let mut out = args.out.as_deref().map(append_to).transpose()?;
    let cases = cases(args.trials, args.seed);
    let stage = Stage::new(args.against.as_deref())?;
    let machine = surroundings::machine();
    let start = Instant::now();
    for (trial, case) in (0_u32..).zip(&cases).skip(done.unwrap_or(0) as usize) {
        if args.same && case.ratio != SAME {
            continue;
        }
        if args.minutes.is_some_and(|limit| start.elapsed() > Duration::from_secs(60 * limit)) {
            println!("{trial} of {} trials made; the time is up", cases.len());
            break;
        }
        // Of its own seed, so that a trial is the same after an interruption.
        let mut rng = Rng::new(args.seed ^ (u64::from(trial) << 32));
        let answers = trial::ask_all(&stage, *case, &mut rng)?;
        let load = surroundings::load();
        println!(
            "trial {} of {}: {} x {:.2}, load {load:.1}: {}",
            trial + 1,
            cases.len(),
            case.workload,
            f64::from(case.ratio) / 1000.0,
            answers.iter().map(|answer| answer.verdict.as_str()).collect::<Vec<_>>().join(", ")
        );
        let new = answers.into_iter().map(|answer| Row {
            seed: args.seed,
            trial,
            workload: case.workload.to_owned(),
            ratio: case.ratio,
            rule: answer.rule,
            call: answer.call.word().to_owned(),
            verdict: answer.verdict,
            metric: answer.metric,
            estimate: answer.estimate,
            low: answer.low,
            high: answer.high,
            rounds: answer.rounds,
            seconds: answer.seconds,
            load,
            machine: machine.clone(),
        });
        let first = rows.len();
        rows.extend(new);
        if let Some(out) = &mut out {
            for row in &rows[first..] {
                out.serialize(row)?;
            }
            // A trial at a time, so that an interruption leaves whole trials.
            out.flush()?;
        }
    }
    Ok(rows)
}

fn read(file: &Path) -> Result<Vec<Row>> {
    csv::Reader::from_path(file)
        .with_context(|| format!("cannot open {}", file.display()))?
        .deserialize()
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {}", file.display()))
}

fn append_to(file: &Path) -> Result<csv::Writer<File>> {
    let is_new = fs::metadata(file).map_or(true, |facts| facts.len() == 0);
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("cannot open {}", file.display()))?;
    // Room for a whole trial, which is then written at once.
    let mut builder = csv::WriterBuilder::new();
    builder.has_headers(is_new).buffer_capacity(1 << 16);
    Ok(builder.from_writer(opened))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_back_and_a_second_opening_appends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trials.csv");
        let row = Row {
            seed: 1,
            trial: 2,
            workload: "mixed".to_owned(),
            ratio: 1020,
            rule: "becalm, root".to_owned(),
            call: "slower".to_owned(),
            verdict: "slower".to_owned(),
            metric: "wall_time".to_owned(),
            estimate: Some(1.02),
            low: None,
            high: Some(1.03),
            rounds: 16,
            seconds: 0.9,
            load: 0.5,
            machine: "x, 2 CPUs".to_owned(),
        };
        for _ in 0..2 {
            let mut out = append_to(&file).unwrap();
            out.serialize(&row).unwrap();
            out.flush().unwrap();
        }
        let rows = read(&file).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].low, rows[1].estimate, rows[1].ratio), (None, Some(1.02), 1020));
    }
}
