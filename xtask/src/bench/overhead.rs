//! `cargo xtask bench overhead`: what becalm itself costs, beside its peers.
//!
//! Tools alternate in blocks of random order on /bin/true, so that ratios compare runs of the same
//! seconds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_kernel::wait::reap;
use becalm_stats::center::{mean, median};
use becalm_stats::median_interval::median_interval;
use becalm_stats::{Rng, Sample};
use serde_json::Value;

use super::stage::{Stage, Who};
use super::surroundings;
use crate::install;

/// Compare the cost of becalm with that of its peers, on /bin/true
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs of one long session; reported times are compared on blocks of a hundredth of it
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    runs: u32,

    /// Blocks of which the reported times are compared
    #[arg(long, value_name = "N", default_value_t = 50)]
    blocks: u32,

    /// Long sessions of each tool
    #[arg(long, value_name = "N", default_value_t = 3)]
    sessions: u32,

    /// Seed of the order of tools
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Another becalm, such as that of the last release, as one more tool
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,
}

/// Largest ratio of reported medians that we accept, against each peer.
const TIME_BAR: f64 = 1.05;
/// Largest ratio of wall times of a long session that we accept.
const SESSION_BAR: f64 = 1.1;
/// Largest peak memory of a long session that we accept.
const MEMORY_BAR: u64 = 64 << 20;

const MEBIBYTE: f64 = 1_048_576.0;

/// What is run: nothing.
const PROGRAM: &str = "/bin/true";

/// Runs before the timed ones of a short block, where the tool has such.
const WARMUP: &str = "5";

/// A tool that times a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Becalm,
    /// The becalm of `--against`.
    Other,
    Hyperfine,
    Perf,
}

/// What a tool reports of one run, in seconds.
#[derive(Debug, Clone, Copy)]
struct Reported {
    mean: f64,
    /// `perf stat` has none.
    median: Option<f64>,
}

/// Measures and prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let stage = Stage::new(args.against.as_deref())?;
    let mut rng = Rng::new(args.seed);
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    for &who in Who::all() {
        println!("## As {}\n", who.name());
        reported(&stage, who, args, &mut rng)?;
        sessions(&stage, who, args, &mut rng)?;
    }
    println!("Load at the end: {:.1}.", surroundings::load());
    Ok(())
}

/// Compares the times that tools report for a program that does nothing.
fn reported(stage: &Stage, who: Who, args: &Args, rng: &mut Rng) -> Result<()> {
    let mut tools = becalm_and_its_peers(args);
    if install::find("perf").is_some() && perf(stage, who, 2).is_ok() {
        tools.push(Tool::Perf);
    } else {
        println!("perf stat cannot be used here\n");
    }
    let runs = (args.runs / 100).max(10);
    // Per block, in the order of `tools`.
    let mut blocks: Vec<Vec<Reported>> = Vec::new();
    for _ in 0..args.blocks {
        let mut order: Vec<usize> = (0..tools.len()).collect();
        rng.shuffle(&mut order);
        let mut block = vec![None; tools.len()];
        for index in order {
            block[index] = Some(match tools[index] {
                Tool::Becalm => becalm(stage.becalm(who), runs)?,
                Tool::Other => becalm(stage.other_becalm(who), runs)?,
                Tool::Hyperfine => hyperfine(stage, who, runs)?,
                Tool::Perf => perf(stage, who, runs)?,
            });
        }
        blocks.push(block.into_iter().flatten().collect());
    }
    let mut table =
        Table::new(&[PROGRAM, "median us", "mean us", "becalm / it", "95 % interval", "bar"]);
    for (index, tool) in tools.iter().enumerate() {
        let over = |value: fn(&Reported) -> Option<f64>| -> Option<Sample> {
            let ratios = blocks.iter().map(|block| Some(value(&block[0])? / value(&block[index])?));
            Sample::new(ratios.collect::<Option<_>>()?).ok()
        };
        let all = |value: fn(&Reported) -> Option<f64>| {
            let values: Option<Vec<f64>> =
                blocks.iter().map(|block| value(&block[index])).collect();
            values
                .and_then(|values| Sample::new(values).ok())
                .map_or_else(|| "-".to_owned(), |values| format!("{:.1}", 1e6 * median(&values)))
        };
        // Means where a tool has no median.
        let ratios = over(|it| it.median).or_else(|| over(|it| Some(it.mean)));
        let (ratio, range) = ratios.map_or(("-".to_owned(), "-".to_owned()), |ratios| {
            let range = median_interval(&ratios, 0.95).map_or_else(
                || "too few blocks".to_owned(),
                |interval| format!("{:.3} to {:.3}", interval.low, interval.high),
            );
            (format!("{:.3}", median(&ratios)), range)
        });
        table.rows.push(vec![
            name(*tool).to_owned(),
            all(|it| it.median),
            all(|it| Some(it.mean)),
            ratio,
            range,
            if *tool == Tool::Becalm { "-".to_owned() } else { format!("<= {TIME_BAR}") },
        ]);
    }
    println!(
        "Reported time of a run: medians over {} blocks of {runs} runs; ratios are taken inside a \
         block, of medians, and of means for perf stat.\n\n{}",
        args.blocks,
        table.markdown()
    );
    Ok(())
}

/// Compares wall time and peak memory of long sessions.
fn sessions(stage: &Stage, who: Who, args: &Args, rng: &mut Rng) -> Result<()> {
    let tools = becalm_and_its_peers(args);
    let mut seconds = vec![Vec::new(); tools.len()];
    let mut memory = vec![0_u64; tools.len()];
    for _ in 0..args.sessions {
        let mut order: Vec<usize> = (0..tools.len()).collect();
        rng.shuffle(&mut order);
        for index in order {
            let (took, peak) = session(&mut long_session(stage, who, tools[index], args.runs))?;
            seconds[index].push(took);
            memory[index] = memory[index].max(peak);
        }
    }
    let mut table = Table::new(&["session", "wall s", "peak MiB", "becalm / it", "bar"]);
    for (index, tool) in tools.iter().enumerate() {
        let ratios = seconds[0].iter().zip(&seconds[index]).map(|(a, b)| a / b).collect();
        let ratios = Sample::new(ratios)?;
        let range =
            format!("{:.3} ({:.3} to {:.3})", median(&ratios), ratios.minimum(), ratios.maximum());
        let kept = verdict(median(&ratios) <= SESSION_BAR);
        let is_peer = *tool != Tool::Becalm;
        table.rows.push(vec![
            name(*tool).to_owned(),
            format!("{:.2}", median(&Sample::new(seconds[index].clone())?)),
            format!("{:.1}", memory[index] as f64 / MEBIBYTE),
            if is_peer { range } else { "-".to_owned() },
            if is_peer { format!("<= {SESSION_BAR}: {kept}") } else { "-".to_owned() },
        ]);
    }
    println!(
        "{} runs in one session, {} sessions of each:\n\n{}\n\
         peak memory of becalm: {:.1} MiB, bar {:.0} MiB: {}\n",
        args.runs,
        args.sessions,
        table.markdown(),
        memory[0] as f64 / MEBIBYTE,
        MEMORY_BAR as f64 / MEBIBYTE,
        verdict(memory[0] <= MEMORY_BAR),
    );
    Ok(())
}

/// Returns the tools that make the same runs; becalm is the first.
fn becalm_and_its_peers(args: &Args) -> Vec<Tool> {
    let other = args.against.as_ref().map(|_| Tool::Other);
    [Tool::Becalm].into_iter().chain(other).chain([Tool::Hyperfine]).collect()
}

/// Returns the command of a session of so many runs.
fn long_session(stage: &Stage, who: Who, tool: Tool, runs: u32) -> Command {
    let count = runs.to_string();
    let mut command = match tool {
        Tool::Becalm => stage.becalm(who),
        Tool::Other => stage.other_becalm(who),
        Tool::Hyperfine | Tool::Perf => stage.hyperfine(who),
    };
    match tool {
        Tool::Becalm | Tool::Other => command.args(["run", "--rounds", &count, "--", PROGRAM]),
        Tool::Hyperfine | Tool::Perf => command.args(["-N", "--runs", &count, PROGRAM]),
    };
    command
}

/// Runs a command without a terminal and returns its wall time and peak memory.
fn session(command: &mut Command) -> Result<(f64, u64)> {
    let start = Instant::now();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (status, used) = reap(i32::try_from(child.id())?)?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok((start.elapsed().as_secs_f64(), used.max_rss))
}

fn becalm(mut command: Command, runs: u32) -> Result<Reported> {
    command.args(["run", "--json", "--warmup", WARMUP, "--rounds", &runs.to_string()]);
    command.args(["--", PROGRAM]);
    let record: Value = serde_json::from_str(&succeed(&mut command)?.0)?;
    let runs = record["subjects"][0]["runs"].as_array().context("becalm printed no runs")?;
    let measured = runs.iter().filter(|run| run["warmup"] != true);
    summary(measured.filter_map(|run| run["wall_time"].as_f64()).collect())
}

fn hyperfine(stage: &Stage, who: Who, runs: u32) -> Result<Reported> {
    let export = stage.path("home/overhead.json");
    // A file of the other user could not be written again.
    let _ = std::fs::remove_file(&export);
    let mut command = stage.hyperfine(who);
    command.args(["-N", "--warmup", WARMUP, "--style", "none", "--runs", &runs.to_string()]);
    command.arg("--export-json").arg(&export).arg(PROGRAM);
    succeed(&mut command)?;
    let export: Value = serde_json::from_str(&std::fs::read_to_string(&export)?)?;
    let times = export["results"][0]["times"].as_array().context("hyperfine exported no times")?;
    summary(times.iter().filter_map(Value::as_f64).collect())
}

fn perf(stage: &Stage, who: Who, runs: u32) -> Result<Reported> {
    let mut command = stage.command(who, Path::new("perf"));
    command.args(["stat", "--repeat", &runs.to_string(), PROGRAM]).env("LC_ALL", "C");
    let (_, talk) = succeed(&mut command)?;
    let mean = elapsed(&talk).context("perf stat printed no elapsed time")?;
    Ok(Reported { mean, median: None })
}

/// Reads `0.000512 +- 0.000003 seconds time elapsed`.
fn elapsed(talk: &str) -> Option<f64> {
    let line = talk.lines().find(|line| line.contains("seconds time elapsed"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn summary(seconds: Vec<f64>) -> Result<Reported> {
    let seconds = Sample::new(seconds)?;
    Ok(Reported { mean: mean(&seconds), median: Some(median(&seconds)) })
}

/// Returns standard output and standard error of a command that succeeds.
fn succeed(command: &mut Command) -> Result<(String, String)> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?} ended with {}: {}", output.status, talk.trim());
    Ok((String::from_utf8(output.stdout)?, talk))
}

fn name(tool: Tool) -> &'static str {
    match tool {
        Tool::Becalm => "becalm run",
        Tool::Other => "the other becalm",
        Tool::Hyperfine => "hyperfine -N",
        Tool::Perf => "perf stat -r",
    }
}

fn verdict(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "MISSED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elapsed_time_of_perf_is_read() {
        let talk = " Performance counter stats for '/bin/true' (2 runs):\n\n\
                    0.44 msec task-clock # 0.5 CPUs utilized ( +-  3.06% )\n\n\
                    \u{20}          0.0008410 +- 0.0000123 seconds time elapsed  ( +-  1.46% )\n";
        assert_eq!(elapsed(talk), Some(0.000_841));
        assert_eq!(elapsed("nothing"), None);
    }
}
