//! `cargo xtask bench history`: what a large history of ASV costs.
//!
//! A folder of results is written, of as many commits and benchmarks as asked for, in the form of ASV's version 2 with
//! the statistics that it keeps: with the defaults 6 million values, as the history of `SciPy` has. becalm adds it to an
//! empty history, and looks for changes in all of its series. What is written is removed at the end, unless --folder
//! names a place for it.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use becalm_kernel::wait::reap;
use becalm_stats::Rng;

use super::surroundings;
use crate::workspace::{Profile, build_becalm, scratch};

/// Add a large history of ASV, and measure time, memory and disk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Commits
    #[arg(long, value_name = "N", default_value_t = 214)]
    commits: usize,

    /// Benchmarks of each commit
    #[arg(long, value_name = "N", default_value_t = 700)]
    benchmarks: usize,

    /// Combinations of parameters of each benchmark
    #[arg(long, value_name = "N", default_value_t = 40)]
    combinations: usize,

    /// Write the files there and leave them; files that are there are used again
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Measure this program [default: an optimised build of this one]
    #[arg(long, value_name = "FILE")]
    becalm: Option<PathBuf>,
}

/// Measures and prints a table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => build_becalm(Profile::Release)?,
    };
    let scratch = scratch()?;
    let folder = args.folder.clone().unwrap_or_else(|| scratch.path().join("results"));
    if !folder.join("benchmarks.json").exists() {
        write(&folder, args)?;
    }
    let bytes: u64 = files(&folder)?;
    let values = args.commits * args.benchmarks * args.combinations;
    println!("Machine: {}. Load: {:.1}.", surroundings::machine(), surroundings::load());
    println!("{values} values in {} files of {:.0} MB.\n", args.commits, bytes as f64 / 1e6);
    let store = scratch.path().join("history.db");
    let run = |name: &str, words: &[&str]| -> Result<()> {
        let mut command = Command::new(&becalm);
        command.args(words).arg("--store").arg(&store).stdout(Stdio::null());
        let (seconds, memory) = timed(&mut command)?;
        let disk = ["", "-wal"].map(|end| {
            let mut path = store.clone().into_os_string();
            path.push(end);
            fs::metadata(path).map_or(0, |found| found.len())
        });
        println!(
            "{name}: {seconds:.1} s, {:.0} MB of memory, {:.0} MB of store",
            memory as f64 / 1e6,
            disk.iter().sum::<u64>() as f64 / 1e6
        );
        Ok(())
    };
    let place = folder.display().to_string();
    run("history add", &["history", "add", &place])?;
    run("history add, all known", &["history", "add", &place])?;
    run("changes", &["changes"])?;
    run("changes again", &["changes"])?;
    println!("\nLoad at the end: {:.1}.", surroundings::load());
    Ok(())
}

/// Runs a command to its end; returns seconds and the peak of its memory in bytes.
fn timed(command: &mut Command) -> Result<(f64, u64)> {
    let started = Instant::now();
    let child = command.spawn()?;
    let (status, used) = reap(i32::try_from(child.id())?)?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok((started.elapsed().as_secs_f64(), used.max_rss))
}

fn files(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            files(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}

/// Writes results as `asv run` does: a file of each commit in the folder of a machine.
fn write(folder: &Path, args: &Args) -> Result<()> {
    let machine = folder.join("bench-1");
    fs::create_dir_all(&machine)?;
    let name = |at: usize| format!("module_{:02}.Suite{:02}.time_case_{at:04}", at % 40, at % 90);
    fs::write(
        machine.join("machine.json"),
        r#"{"arch": "x86_64", "cpu": "a", "machine": "bench-1", "num_cpu": "8", "os": "Linux", "ram": "32 GB", "version": 1}"#,
    )?;
    let mut rng = Rng::new(27);
    let levels: Vec<f64> = (0..args.benchmarks * args.combinations)
        .map(|_| 1e-6 * (1.0 + 1000.0 * rng.uniform()))
        .collect();
    // A hundredth of the series changes once.
    let steps: Vec<Option<usize>> = levels
        .iter()
        .map(|_| {
            let at = rng.uniform() * args.commits as f64;
            (rng.uniform() < 0.01).then_some(becalm_model::place(at))
        })
        .collect();
    for commit in 0..args.commits {
        let id = format!("{:08x}{:032x}", commit * 7919 + 1, commit);
        let date = 1_400_000_000_000_u64 + 86_400_000 * commit as u64;
        let mut out = BufWriter::new(fs::File::create(
            machine.join(format!("{}-virtualenv-py3.11.json", &id[..8])),
        )?);
        write!(
            out,
            "{{\"commit_hash\": \"{id}\", \"env_name\": \"virtualenv-py3.11\", \"date\": {date}, \"params\": {{\"arch\": \
             \"x86_64\", \"cpu\": \"a\", \"machine\": \"bench-1\", \"num_cpu\": \"8\", \"os\": \"Linux\", \"ram\": \"32 GB\", \
             \"python\": \"3.11\"}}, \"python\": \"3.11\", \"requirements\": {{}}, \"env_vars\": {{}}, \"result_columns\": \
             [\"result\", \"params\", \"version\", \"started_at\", \"duration\", \"stats_ci_99_a\", \"stats_ci_99_b\", \
             \"stats_q_25\", \"stats_q_75\", \"stats_number\", \"stats_repeat\", \"samples\", \"profile\"], \"results\": {{"
        )?;
        for benchmark in 0..args.benchmarks {
            let first = benchmark * args.combinations;
            let values: Vec<f64> = (first..first + args.combinations)
                .map(|at| {
                    let level =
                        if steps[at].is_some_and(|step| commit >= step) { 1.2 } else { 1.0 };
                    level * levels[at] * (1.0 + 0.02 * rng.normal())
                })
                .collect();
            let all = |factor: f64| {
                let texts: Vec<String> =
                    values.iter().map(|value| format!("{:.5e}", value * factor)).collect();
                texts.join(", ")
            };
            let whole = |number: &str| vec![number; args.combinations].join(", ");
            let sizes: Vec<String> =
                (0..args.combinations).map(|at| format!("\"{}\"", at * 10)).collect();
            write!(
                out,
                "{}\"{}\": [[{}], [[{}]], \"{:064x}\", {date}, 1.5, [{}], [{}], [{}], [{}], [{}], [{}]]",
                if benchmark > 0 { ", " } else { "" },
                name(benchmark),
                all(1.0),
                sizes.join(", "),
                benchmark,
                all(0.98),
                all(1.02),
                all(0.99),
                all(1.01),
                whole("100"),
                whole("10"),
            )?;
        }
        write!(out, "}}, \"durations\": {{}}, \"version\": 2}}")?;
        out.flush()?;
    }
    let described: Vec<String> = (0..args.benchmarks)
        .map(|at| {
            format!(
                "\"{0}\": {{\"name\": \"{0}\", \"type\": \"time\", \"unit\": \"seconds\", \"param_names\": [\"n\"]}}",
                name(at)
            )
        })
        .collect();
    fs::write(
        folder.join("benchmarks.json"),
        format!("{{{}, \"version\": 2}}", described.join(", ")),
    )?;
    Ok(())
}
