//! `cargo xtask bench trace`: what a trace costs, whether it keeps up, and what it finds.
//!
//! The cost is that of `becalm noise trace` itself: traced and untraced runs of one command in the same
//! rounds. Whether it keeps up is seen on a subject that does little else than switch between two
//! threads. What it finds of a disturbance that is made on purpose is told by the tests that make it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::surroundings;
use crate::workspace::{Profile, build_becalm, capture, cargo};

/// Measure what a trace costs on a workload in the core, count lost events at 10,000 switches a second,
/// and say what is found of disturbances that are made on purpose
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rounds of the workload, each with one traced and one untraced run
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u32,

    /// Amount of the workload; the default takes roughly 80 ms
    #[arg(long, value_name = "N", default_value_t = 40_000)]
    amount: u32,

    /// Runs of the subject that switches, one second each
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: u32,

    /// Times that each disturbance is made
    #[arg(long, value_name = "N", default_value_t = 10)]
    repeats: u32,

    /// Be the subject: switch this many times between two threads
    #[arg(long, value_name = "N", hide = true)]
    switch: Option<u32>,
}

/// Largest ratio of traced to untraced runs that we accept.
const BAR: f64 = 1.01;

/// Smallest share of an injected time that has to be found under its name.
const FOUND: f64 = 0.95;

/// Switches a second, of both threads together.
const RATE: u32 = 10_000;

/// Switches without a pause.
const BURST: u32 = 100;

/// Measures and prints what came of it.
pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(n_switches) = args.switch {
        return switch(n_switches);
    }
    let becalm = build_becalm(Profile::Release)?;
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    cost(&becalm, args)?;
    keeping_up(&becalm, args.runs)?;
    naming(args.repeats)?;
    println!("\nLoad at the end: {:.1}.", surroundings::load());
    Ok(())
}

fn cost(becalm: &Path, args: &Args) -> Result<()> {
    let program = becalm.to_str().context("the path of becalm is not UTF-8")?;
    let amount = args.amount.to_string();
    let rounds = args.rounds.to_string();
    let workload = [program, "workload", "compute", "--amount", &amount];
    let traced = trace(becalm, &[&["--rounds", &rounds, "--"], &workload[..]].concat())?;
    let cost = &traced["cost"];
    let number = |name: &str| cost[name].as_f64().with_context(|| format!("no {name} of the cost"));
    let (ratio, low, high) = (number("ratio")?, number("ratio_low")?, number("ratio_high")?);
    println!(
        "Cost on `workload compute`: {} {:+.2} % ({:+.2} % to {:+.2} %), {} rounds; bar: less than \
         +{:.0} %",
        cost["metric"].as_str().unwrap_or("?"),
        (ratio - 1.0) * 100.0,
        (low - 1.0) * 100.0,
        (high - 1.0) * 100.0,
        cost["rounds"],
        (BAR - 1.0) * 100.0,
    );
    println!("Events there: {}, lost: {}", traced["events"], traced["lost"]);
    Ok(())
}

fn keeping_up(becalm: &Path, runs: u32) -> Result<()> {
    let own = std::env::current_exe()?;
    let own = own.to_str().context("the path of xtask is not UTF-8")?;
    let (runs, switches) = (runs.to_string(), RATE.to_string());
    let subject = ["bench", "trace", "--switch", &switches];
    // Both threads on one CPU, so that each gives way to the other.
    let last = std::thread::available_parallelism()?.get() - 1;
    let last = last.to_string();
    let flags = ["--no-cost", "--rounds", &runs, "--affinity", &last, "--", own];
    let traced = trace(becalm, &[&flags[..], &subject].concat())?;
    let wall: f64 = list(&traced["runs"]).filter_map(|run| run["wall"].as_f64()).sum();
    let n_runs = list(&traced["runs"]).count();
    ensure!(n_runs > 0, "no run was traced");
    println!(
        "At {RATE} switches in {:.2} s a run: {} events in {n_runs} runs, {} lost; bar: none",
        wall / n_runs as f64,
        traced["events"],
        traced["lost"],
    );
    Ok(())
}

/// Lets the tests of the trace make their disturbances, and sums up what was found of each.
fn naming(repeats: u32) -> Result<()> {
    let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..repeats {
        let tests = ["test", "--quiet", "--package", "becalm-lab", "--test", "trace", "--"];
        let said = capture(&mut cargo(&[&tests[..], &["--nocapture"]].concat()))?;
        for (name, share) in said.lines().filter_map(share) {
            shares.entry(name.replace('_', " ")).or_default().push(share);
        }
    }
    println!("\nFound of what was injected (bar: {:.0} %):", FOUND * 100.0);
    for (name, mut found) in shares {
        found.sort_by(f64::total_cmp);
        let enough = found.iter().filter(|share| **share >= FOUND).count();
        println!(
            "- {name}: median {:.1} %, {:.1} to {:.1} %; {enough} of {} reach the bar",
            found[found.len() / 2] * 100.0,
            found[0] * 100.0,
            found[found.len() - 1] * 100.0,
            found.len(),
        );
    }
    Ok(())
}

/// What a test says of a disturbance: `NAME: FOUND s of INJECTED s`.
fn share(line: &str) -> Option<(&str, f64)> {
    let (name, rest) = line.split_once(": ")?;
    let (found, injected) = rest.strip_suffix(" s")?.split_once(" s of ")?;
    let (found, injected): (f64, f64) = (found.parse().ok()?, injected.parse().ok()?);
    Some((name, found / injected))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn trace(becalm: &Path, arguments: &[&str]) -> Result<Value> {
    let output = Command::new(becalm)
        .args(["noise", "trace", "--json", "--quiet"])
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {}", becalm.display()))?;
    ensure!(
        output.status.success(),
        "becalm noise trace: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Switches between two threads that wait for each other, at the rate.
fn switch(n_switches: u32) -> Result<()> {
    let (there, at_there) = mpsc::channel::<()>();
    let (back, at_back) = mpsc::channel::<()>();
    let other =
        std::thread::spawn(move || while at_there.recv().is_ok() && back.send(()).is_ok() {});
    let start = Instant::now();
    let mut done = 0;
    while done < n_switches {
        for _ in 0..BURST / 2 {
            there.send(())?;
            at_back.recv()?;
        }
        done += BURST;
        let due = Duration::from_secs(u64::from(done)) / RATE;
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    drop(there);
    // It ends with the channel, and has nothing to fail with.
    let _ = other.join();
    Ok(())
}
