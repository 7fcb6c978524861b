//! `cargo xtask bench warmup`: records the iterations of small programs in JMH, Java, Node and Python, with how long
//! each waited for a CPU, alone and beside neighbours that come and go.
//!
//! The recording is what `crates/calibrate/tests/calibration/steady` judges. A program is recorded several times on
//! a quiet stage (real-time class: nobody takes its CPU), which says what the program does by itself, and several
//! times on each noisy one. Programs take turns, so that a recording that is broken off is even.

mod neighbours;
mod programs;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use becalm_stats::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;

use self::neighbours::Neighbours;
use self::programs::{Iteration, PROGRAMS, Program};
use super::surroundings;
use crate::install;

/// Record the iterations of programs that warm up, beside neighbours that come and go
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Add the series to this file, a compressed part for each round
    #[arg(long, value_name = "FILE")]
    output: PathBuf,

    /// Iterations of each series
    #[arg(long, value_name = "N", default_value_t = 500)]
    iterations: usize,

    /// Record this round of all programs only, from 1; may be given again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=ROUNDS.len() as u64))]
    round: Vec<u64>,
}

/// Who else is on the CPUs while a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nobody takes its CPU: it is in the real-time class.
    Quiet,
    /// Whoever is on the machine anyway.
    Mild,
    /// Neighbours that come and go.
    Bursts,
    /// Neighbours that come once, for a part of the time.
    Passing,
    /// Neighbours all the time.
    Busy,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Mild => "mild",
            Self::Bursts => "bursts",
            Self::Passing => "passing",
            Self::Busy => "busy",
        }
    }
}

/// The stages in the order in which every program goes through them.
const ROUNDS: [Stage; 19] = {
    use Stage::{Bursts, Busy, Mild, Passing, Quiet};
    [
        Quiet, Bursts, Passing, Mild, Quiet, Busy, Bursts, Passing, Quiet, Mild, Bursts, Busy,
        Quiet, Passing, Bursts, Mild, Quiet, Busy, Passing,
    ]
};

/// Records all and adds each round to the file, so that one that is broken off loses no other.
pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(install::is_root(), "the quiet stage needs root, for the real-time class (chrt)");
    let place = programs::build_java()?;
    for (number, stage) in (1..).zip(ROUNDS) {
        if !args.round.is_empty() && !args.round.contains(&number) {
            continue;
        }
        let mut rng = Rng::new(number);
        let mut text = String::new();
        for program in PROGRAMS {
            let load = surroundings::load();
            match record(program, stage, &place, args.iterations, &mut rng) {
                Ok(series) => text += &line(program, stage, load, &series),
                Err(error) => println!("{} {}: {error:#}", program.language, program.name),
            }
        }
        append(&args.output, &text)
            .with_context(|| format!("cannot write {}", args.output.display()))?;
        println!("round {number}: {} ({:.1})", stage.name(), surroundings::load());
    }
    Ok(())
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let file = File::options().create(true).append(true).open(path)?;
    let mut part = GzEncoder::new(file, Compression::best());
    part.write_all(text.as_bytes())?;
    part.finish().map(drop)
}

fn record(
    program: &Program,
    stage: Stage,
    place: &Path,
    iterations: usize,
    rng: &mut Rng,
) -> Result<Vec<Iteration>> {
    let mut subject = program.command(place, iterations, stage == Stage::Quiet);
    let neighbours = Neighbours::start(stage, rng);
    let output = programs::run(&mut subject);
    drop(neighbours);
    let series = program.read(&output?)?;
    ensure!(series.len() == iterations, "{} iterations instead of {iterations}", series.len());
    Ok(series)
}

/// A line of language, program, stage and load, then microseconds of each iteration, `+` waited for a CPU. Four digits
/// of each time: more is noise, and does not compress.
fn line(program: &Program, stage: Stage, load: f64, series: &[Iteration]) -> String {
    let head = format!("{} {} {} {load:.1}:", program.language, program.name, stage.name());
    let mut line = series.iter().fold(head, |mut line, one| {
        line.push(' ');
        line.push_str(&four_digits(1e6 * one.seconds));
        if one.waited > 0.0 {
            line.push('+');
            line.push_str(&four_digits(1e6 * one.waited));
        }
        line
    });
    line.push('\n');
    line
}

fn four_digits(value: f64) -> String {
    let decimals = match value {
        1000.0.. => 0,
        100.0..1000.0 => 1,
        10.0..100.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
