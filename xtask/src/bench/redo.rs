//! `cargo xtask bench redo`: what making disturbed rounds again does to the noise floor and to false alarms.
//!
//! A and B are one file. Each trial asks becalm twice on a machine that is disturbed on purpose, with
//! `--on-disturbance keep` and with `redo`, in random order, so that both see the same weather.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::{Call, Table, rate};
use becalm_stats::center::{mean, median};
use becalm_stats::mean_interval::mean_interval;
use becalm_stats::{Rng, Sample};
use serde::{Deserialize, Serialize};

use super::decide::trial::{Answer, ask_becalm};
use super::disturber::{Disturber, Kind};
use super::stage::{Stage, Who};
use super::surroundings;

/// Compare equal programs on a machine disturbed on purpose, with disturbed rounds kept and made again
///
/// Figures to publish take 200 trials for each way of disturbing, about an hour on two CPUs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Trials for each way of disturbing
    #[arg(long, value_name = "N", default_value_t = 20)]
    trials: u32,

    /// Start no further trial after this time
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,

    /// Decide on this metric: the CPU time of a program feels little of what others do, its wall time
    /// all of it
    #[arg(long, default_value = "auto")]
    metric: String,

    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Save every answer as CSV
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Ways of disturbing every CPU, by name.
const SETTINGS: [(&str, Option<Kind>); 3] = [
    ("as it is", None),
    ("a hog on each CPU", Some(Kind::Hog)),
    ("0.2 s of work a second on each CPU", Some(Kind::Spells)),
];

const CHOICES: [&str; 2] = ["keep", "redo"];

/// Of about 20 ms.
const WORKLOAD: (&str, u64) = ("mixed", 1_000);

/// What was said with one choice; a row of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    trial: u32,
    setting: String,
    choice: String,
    verdict: String,
    call: String,
    /// Half the interval of the log ratio; empty where it has no end.
    half_width: Option<f64>,
    rounds: u64,
    discarded: u64,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let stage = Stage::new(None)?;
    let (name, amount) = WORKLOAD;
    let program = stage.path("program/becalm");
    let line = format!("{} workload {name} --amount {amount}", program.display());
    let cpus = 0..u32::try_from(std::thread::available_parallelism()?.get())?;
    let mut rng = Rng::new(args.seed);
    let mut rows = Vec::new();
    let start = Instant::now();
    for trial in 0..args.trials {
        if args.minutes.is_some_and(|limit| start.elapsed() > Duration::from_secs(60 * limit)) {
            println!("{trial} of {} trials made; the time is up", args.trials);
            break;
        }
        let mut settings = SETTINGS;
        rng.shuffle(&mut settings);
        for (setting, kind) in settings {
            let disturb = |kind| cpus.clone().map(move |cpu| Disturber::start(kind, cpu)).collect();
            let _disturbers: Vec<Disturber> = kind.map_or(Ok(Vec::new()), disturb)?;
            let mut choices = CHOICES;
            rng.shuffle(&mut choices);
            for choice in choices {
                let arguments = [
                    ["--margin", "0"],
                    ["--rounds", "20"],
                    ["--metric", &args.metric],
                    ["--on-disturbance", choice],
                ]
                .concat();
                let programs = [line.clone(), line.clone()];
                let answer =
                    ask_becalm(stage.becalm(Who::User), &programs, &arguments, choice.to_owned());
                rows.push(row(trial, setting, answer));
            }
        }
        println!("trial {} of {}", trial + 1, args.trials);
    }
    if let Some(file) = &args.out {
        let mut out = csv::Writer::from_path(file)
            .with_context(|| format!("cannot write {}", file.display()))?;
        for row in &rows {
            out.serialize(row)?;
        }
        out.flush()?;
    }
    println!("\n{}", surroundings::machine());
    println!("Metric: {}.", args.metric);
    println!("{}", table(&rows)?);
    Ok(())
}

fn row(trial: u32, setting: &str, answer: Answer) -> Row {
    let half_width = answer.low.zip(answer.high).map(|(low, high)| (high / low).ln() / 2.0);
    Row {
        trial,
        setting: setting.to_owned(),
        choice: answer.rule,
        verdict: answer.verdict,
        call: answer.call.word().to_owned(),
        half_width: half_width.filter(|half| half.is_finite()),
        rounds: answer.rounds,
        discarded: answer.discarded,
        seconds: answer.seconds,
    }
}

/// Returns the table: a row for each setting and choice, and the noise floors as ratios inside trials.
fn table(rows: &[Row]) -> Result<String> {
    let mut table = Table::new(&[
        "machine",
        "disturbed rounds",
        "false alarms, %",
        "noise floor, median, %",
        "noise floor, redo / keep",
        "rounds discarded",
        "s",
    ]);
    for (setting, _) in SETTINGS {
        for choice in CHOICES {
            let of = |choice: &str| -> Vec<&Row> {
                rows.iter().filter(|row| row.setting == setting && row.choice == choice).collect()
            };
            let all: Vec<&Row> =
                of(choice).into_iter().filter(|row| row.verdict != "error").collect();
            ensure!(!all.is_empty(), "no trial of {setting}, {choice} gave an answer");
            let alarms = all.iter().filter(|row| Call::from_word(&row.call) != Call::Neither);
            let sample = |value: fn(&Row) -> f64| {
                Sample::new(all.iter().map(|row| value(row)).collect()).context("no values")
            };
            let floors = all.iter().filter_map(|row| row.half_width).map(f64::exp_m1).collect();
            table.rows.push(vec![
                setting.to_owned(),
                choice.to_owned(),
                rate(alarms.count() as u64, all.len() as u64),
                Sample::new(floors)
                    .map_or("-".to_owned(), |floors| format!("{:.2}", 100.0 * median(&floors))),
                if choice == "redo" { ratio(&of("keep"), &of("redo")) } else { String::new() },
                format!("{:.1}", mean(&sample(|row| row.discarded as f64)?)),
                format!("{:.1}", mean(&sample(|row| row.seconds)?)),
            ]);
        }
    }
    Ok(table.markdown())
}

/// Returns the geometric mean of the ratio of noise floors with its 95 % interval, over the trials in which
/// both are known.
fn ratio(keep: &[&Row], redo: &[&Row]) -> String {
    let pairs = keep.iter().flat_map(|kept| {
        redo.iter().filter(|again| again.trial == kept.trial).filter_map(|again| {
            let (kept, again) = (kept.half_width?, again.half_width?);
            (kept > 0.0 && again > 0.0).then(|| (again / kept).ln())
        })
    });
    let logs: Vec<f64> = pairs.collect();
    Sample::new(logs).ok().and_then(|logs| mean_interval(&logs, 0.95)).map_or(
        "-".to_owned(),
        |interval| {
            let [low, middle, high] =
                [interval.low, interval.estimate, interval.high].map(f64::exp);
            format!("{middle:.3} [{low:.3}, {high:.3}]")
        },
    )
}
