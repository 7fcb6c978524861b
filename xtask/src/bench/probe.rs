//! `cargo xtask bench probe`: the order of the CPUs by `becalm noise probe` and by cyclictest.
//!
//! cyclictest (package rt-tests) sleeps and measures how late it wakes; the probe reads the clock and
//! measures what is missing. What takes a CPU away makes both worse, so that they must agree which CPU
//! is the worst. Each CPU in turn is disturbed, beside rounds in which none is; the two alternate in
//! random order.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use becalm_calibrate::decisions::Table;
use becalm_model::CpuSet;
use becalm_stats::Rng;
use serde_json::Value;

use super::disturber::{Disturber, Kind};
use super::surroundings;
use crate::install;
use crate::workspace::{Profile, build_becalm, capture};

/// Compare the order of the CPUs with that of cyclictest
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rounds, each with every CPU disturbed once, and none
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: u32,

    /// Seconds for each CPU, of both tools
    #[arg(long, value_name = "S", default_value_t = 2)]
    seconds: u32,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,

    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How often the probe is asked.
const ATTEMPTS: u32 = 30;

/// Microseconds between two wake-ups of cyclictest.
const INTERVAL_US: u32 = 500;

/// What a CPU looks like to both.
#[derive(Debug, Clone, Copy)]
struct Seen {
    cpu: u32,
    /// Share of its time that the probe says is lost.
    lost: f64,
    tier: u64,
    /// How late cyclictest woke, in microseconds, on average.
    late: f64,
}

/// Measures and prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let cyclictest = install::find("cyclictest")
        .context("cyclictest is not here; the Debian package rt-tests has it")?;
    ensure!(install::is_root(), "cyclictest needs root to be a real-time task");
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => build_becalm(Profile::Release)?,
    };
    let cpus = allowed()?;
    ensure!(cpus.len() > 1, "there is no order of one CPU");
    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    let mut rng = Rng::new(args.seed);
    let mut table =
        Table::new(&["disturbed", "cpu", "lost %", "tier", "cyclictest mean us", "worst"]);
    let (mut same, mut right, mut disturbed_rounds, mut told_apart, mut same_apart) =
        (0, 0, 0, 0, 0);
    for _ in 0..args.rounds {
        let mut victims: Vec<Option<u32>> = cpus.iter().map(|cpu| Some(cpu.0)).collect();
        victims.push(None);
        rng.shuffle(&mut victims);
        for victim in victims {
            let seen = both(&becalm, &cyclictest, &cpus, victim, args, &mut rng)?;
            let worst = |key: fn(&Seen) -> f64| {
                seen.iter().max_by(|a, b| key(a).total_cmp(&key(b))).map_or(0, |one| one.cpu)
            };
            let (ours, theirs) = (worst(|one| one.lost), worst(|one| one.late));
            match victim {
                Some(victim) => {
                    disturbed_rounds += 1;
                    right += u32::from(ours == victim);
                    same += u32::from(ours == theirs);
                }
                None if seen.iter().any(|one| one.tier > 0) => {
                    told_apart += 1;
                    same_apart += u32::from(ours == theirs);
                }
                None => {}
            }
            for one in &seen {
                let mark = |worst: u32, name: &str| (worst == one.cpu).then(|| name.to_owned());
                let marks = [mark(ours, "probe"), mark(theirs, "cyclictest")];
                table.rows.push(vec![
                    victim.map_or("none".to_owned(), |cpu| cpu.to_string()),
                    one.cpu.to_string(),
                    format!("{:.3}", one.lost * 100.0),
                    one.tier.to_string(),
                    format!("{:.1}", one.late),
                    marks.into_iter().flatten().collect::<Vec<_>>().join(", "),
                ]);
            }
        }
    }
    println!("{}", table.markdown());
    println!(
        "Disturbed: of {disturbed_rounds} the probe named the disturbed CPU in {right}, and the same as \
         cyclictest in {same}."
    );
    println!(
        "Undisturbed: of {} the probe told CPUs apart in {told_apart}, and then agreed with cyclictest on \
         the worst in {same_apart}.",
        args.rounds
    );
    println!("Load at the end: {:.1}.", surroundings::load());
    if same < disturbed_rounds {
        bail!("the two do not agree which CPU is disturbed");
    }
    Ok(())
}

/// Lets both look at all CPUs, in random order.
fn both(
    becalm: &Path,
    cyclictest: &Path,
    cpus: &CpuSet,
    victim: Option<u32>,
    args: &Args,
    rng: &mut Rng,
) -> Result<Vec<Seen>> {
    let _disturber = victim.map(|cpu| Disturber::start(Kind::Realtime, cpu)).transpose()?;
    let theirs_first = rng.coin();
    let before = if theirs_first { Some(lateness(cyclictest, cpus, args)?) } else { None };
    let ranking = ranking(becalm, cpus, args)?;
    let late = match before {
        Some(late) => late,
        None => lateness(cyclictest, cpus, args)?,
    };
    let seen = |(cpu, late): (u32, f64)| -> Result<Seen> {
        let ranked = ranking.iter().find(|ranked| ranked["cpu"] == cpu);
        let ranked = ranked.with_context(|| format!("CPU {cpu} is not in the ranking"))?;
        let lost = ranked["lost_share"].as_f64().context("no lost_share")?;
        Ok(Seen { cpu, lost, tier: ranked["tier"].as_u64().context("no tier")?, late })
    };
    late.into_iter().map(seen).collect()
}

/// Returns the ranking of the probe. It leaves CPUs out on which another becalm is measuring; then it is
/// asked again.
fn ranking(becalm: &Path, cpus: &CpuSet, args: &Args) -> Result<Vec<Value>> {
    let duration = format!("{}s", args.seconds);
    let probe = ["noise", "probe", "--source", "clock", "--no-save", "--json", "--quiet"];
    for _ in 0..ATTEMPTS {
        let said = capture(Command::new(becalm).args(probe).args(["--duration", &duration]));
        let text = match said {
            Err(error) if error.to_string().contains("another becalm is measuring") => {
                String::new()
            }
            said => said?,
        };
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        let ranking = document["ranking"].as_array().filter(|ranking| ranking.len() == cpus.len());
        if let Some(ranking) = ranking {
            return Ok(ranking.clone());
        }
        sleep(Duration::from_secs(1));
    }
    bail!("the probe gave no ranking of CPUs {cpus}: does another becalm measure there?")
}

/// Returns how late cyclictest wakes on each CPU in turn, on average, in microseconds.
fn lateness(cyclictest: &Path, cpus: &CpuSet, args: &Args) -> Result<Vec<(u32, f64)>> {
    let loops = u64::from(args.seconds) * 1_000_000 / u64::from(INTERVAL_US);
    let one = |cpu: u32| -> Result<(u32, f64)> {
        let text = capture(Command::new(cyclictest).args([
            "--quiet",
            "--threads=1",
            "--priority=1",
            "--mlockall",
            &format!("--affinity={cpu}"),
            &format!("--interval={INTERVAL_US}"),
            &format!("--loops={loops}"),
        ]))?;
        mean_of(&text).map(|late| (cpu, late)).with_context(|| format!("cyclictest said {text:?}"))
    };
    cpus.iter().map(|cpu| one(cpu.0)).collect()
}

/// Reads `T: 0 ( 812) P: 1 I:500 C: 4000 Min: 3 Act: 9 Avg: 12 Max: 97`.
fn mean_of(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with("T:"))?;
    let (_, rest) = line.split_once("Avg:")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn allowed() -> Result<CpuSet> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    Ok(list.context("/proc/self/status names no CPUs")?.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_of_cyclictest_is_read() {
        let text = "# /dev/cpu_dma_latency set to 0us\n\
                    T: 0 ( 3022) P: 1 I:500 C:   4000 Min:      3 Act:    9 Avg:   12 Max:      97\n";
        assert_eq!(mean_of(text), Some(12.0));
        assert_eq!(mean_of("cyclictest: error\n"), None);
    }
}
