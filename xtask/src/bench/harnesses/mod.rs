//! `cargo xtask bench harnesses`: `becalm compare --harness` with real harnesses from the registries.
//!
//! Every project below `xtask/harnesses` has the same ten benchmarks and two variants, of which the second does
//! 5 % more work in the fourth. A copy of the first variant against itself must show no difference, and the
//! second against the first that one and no other.

mod place;
mod projects;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::Table;
use serde_json::Value;

use self::place::Place;
use self::projects::{Built, PROJECTS, Project};
use self::verdicts::{Count, Verdicts};
use super::surroundings;
use crate::workspace::{Profile, build_becalm, target};

/// Compare with real benchmark harnesses: identical programs, and one of ten benchmarks that is 5 % slower
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which harnesses; all if none is named
    names: Vec<String>,

    /// Rounds of each comparison; without it compare's own rule decides
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,

    /// How often to compare
    #[arg(long, value_name = "N", default_value_t = 1)]
    repetitions: u32,

    /// Pass this on to becalm, such as `--harness-time 20ms`
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Option<String>,

    /// Give this to the harness itself, such as `--worker --loops=64`
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    harness_flags: Option<String>,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
}

/// How becalm ends with an answer for every benchmark, and without one for some.
const DECIDED: i32 = 0;
const UNDECIDED: i32 = 3;

/// Measures and prints the table, a row as soon as it is known and all at the end.
pub(crate) fn run(args: &Args) -> Result<()> {
    for name in &args.names {
        ensure!(PROJECTS.iter().any(|one| one.name == name), "there is no harness `{name}` here");
    }
    let becalm = match &args.becalm {
        Some(path) => path.canonicalize()?,
        None => build_becalm(Profile::Release)?,
    };
    let target = target()?;
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    let mut table = Table::new(&[
        "harness",
        "version",
        "rounds",
        "s/round",
        "A/A: different of 10",
        "A/B: found",
        "A/B: others",
        "ratio of the fourth",
    ]);
    for project in PROJECTS {
        if !args.names.is_empty() && !args.names.iter().any(|name| name == project.name) {
            continue;
        }
        let place = Place::new(project.name, &target.join("harnesses"));
        let row = (project.build)(&place)
            .and_then(|built| measured(project, &built, &place, &becalm, args));
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                println!("{}: left out: {error:#}", project.name);
                continue;
            }
        };
        println!("{}", row.join(" | "));
        table.rows.push(row);
    }
    println!("\n{}\nLoad at the end: {:.1}.", table.markdown(), surroundings::load());
    Ok(())
}

fn measured(
    project: &Project,
    built: &Built,
    place: &Place,
    becalm: &Path,
    args: &Args,
) -> Result<Vec<String>> {
    check_detected(project, built, place, becalm)?;
    let (mut same, mut different) = (Count::default(), Count::default());
    for _ in 0..args.repetitions {
        same.add(&compared(project, built, &built.copy, place, becalm, args)?);
        different.add(&compared(project, built, &built.slower, place, becalm, args)?);
    }
    Ok(vec![
        project.name.to_owned(),
        built.version.clone(),
        different.rounds(),
        format!(
            "{:.1}",
            (same.seconds + different.seconds) / (same.all_rounds + different.all_rounds)
        ),
        same.called(),
        format!("{}/{}", different.found, args.repetitions),
        different.others.to_string(),
        different.ratios.join(", "),
    ])
}

/// Fails unless becalm finds out by itself which harness it is.
fn check_detected(project: &Project, built: &Built, place: &Place, becalm: &Path) -> Result<()> {
    let record = place.scratch("detected.json");
    let mut command = place.command(becalm);
    command.args(["compare", "--quiet", "--harness", "auto", "--warmup", "0", "--rounds", "1"]);
    let record = record_of(command.args([&built.baseline, &built.copy]), &record)?;
    let name = record["conditions"]["harness"][0]["name"].as_str();
    let name = name.context("the record names no harness")?;
    ensure!(name == project.harness, "{} is taken for {name}", project.name);
    Ok(())
}

/// Compares the baseline with another command.
fn compared(
    project: &Project,
    built: &Built,
    other: &str,
    place: &Place,
    becalm: &Path,
    args: &Args,
) -> Result<Verdicts> {
    let record = place.scratch("compared.json");
    let mut command = place.command(becalm);
    command.args(["compare", "--quiet", "--harness", project.harness]);
    if let Some(rounds) = args.rounds {
        command.arg("--rounds").arg(rounds.to_string());
    }
    command.args(args.flags.iter().flat_map(|flags| flags.split(' ')));
    let started = Instant::now();
    let flags = args.harness_flags.as_deref().unwrap_or_default();
    let subjects = [&built.baseline, other].map(|subject| format!("{subject} {flags}"));
    let record = record_of(command.args(&subjects), &record)?;
    Verdicts::read(&record, project.fourth, started.elapsed().as_secs_f64())
}

/// Runs a comparison and returns what it saved.
fn record_of(command: &mut Command, place: &Path) -> Result<Value> {
    let output = command.arg("--export-json").arg(place).output()?;
    let code = output.status.code();
    let is_answer = code == Some(DECIDED) || code == Some(UNDECIDED);
    ensure!(is_answer, "{}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(serde_json::from_slice(&std::fs::read(place)?)?)
}
