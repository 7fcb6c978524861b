//! `cargo xtask bench changes`: how long finding change points takes, beside Apache Otava.
//!
//! Both read the same series, made here: noise of 1 % of three kinds, and a step of five deviations after
//! every fifth of it. The best of many times counts, on one thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use becalm_calibrate::decisions::Table;
use becalm_stats::Rng;

use super::surroundings;
use crate::install;
use crate::workspace::{capture, cargo, root, target};

/// Time finding change points beside Apache Otava
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A python that has apache-otava, instead of an environment made for it
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

/// The release of Otava whose results becalm's engine of that name gives.
const OTAVA: &str = "apache-otava==0.8.0";

/// Lengths, and the longest time that we accept of each, in milliseconds.
const LENGTHS: [(usize, f64); 4] = [(100, 0.1), (500, 0.5), (1000, 0.5), (5000, 5.0)];

/// Longest time that we accept for one value more, in milliseconds.
const APPENDED: f64 = 0.05;

/// How many times faster than Otava we want to be.
const RATIO: f64 = 20.0;

pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = target()?.join("bench/changes");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("series.json");
    std::fs::write(&file, serde_json::to_vec(&series())?)?;
    let python = match &args.python {
        Some(python) => python.clone(),
        None => install::python(&folder.join("python"), &[OTAVA])?,
    };
    let example =
        ["run", "--release", "--quiet", "-p", "becalm-stats", "--example", "changes_speed", "--"];
    let ours = times(&capture(cargo(&example).arg(&file))?)?;
    let script = root().join("xtask/src/bench/otava_speed.py");
    let otava = times(&capture(Command::new(python).arg(script).arg(&file))?)?;

    println!("Machine: {}. Load: {:.1}.\n", surroundings::machine(), surroundings::load());
    let mut table = Table::new(&[
        "series", "becalm", "bar", "Otava", "ratio", "one more", "bar", "Otava", "ratio",
    ]);
    for (name, (whole, appended)) in &ours {
        let (otava_whole, otava_appended) = otava.get(name).context("Otava left a series out")?;
        let n: usize = name.rsplit(' ').next().unwrap_or_default().parse()?;
        let bar = LENGTHS.iter().find(|(length, _)| *length == n).map_or(f64::NAN, |(_, bar)| *bar);
        table.rows.push(vec![
            name.clone(),
            format!("{whole:.3} ms"),
            met(*whole, bar),
            format!("{otava_whole:.1} ms"),
            format!("{:.0}", otava_whole / whole),
            format!("{:.1} us", appended * 1e3),
            met(*appended, APPENDED),
            format!("{otava_appended:.1} ms"),
            format!("{:.0}", otava_appended / appended),
        ]);
        let slower = otava_whole / whole < RATIO || otava_appended / appended < RATIO;
        if slower {
            println!("{name}: less than {RATIO} times as fast as Otava");
        }
    }
    println!("{}", table.markdown());
    Ok(())
}

fn met(time: f64, bar: f64) -> String {
    if time <= bar { format!("met ({bar})") } else { format!("NOT met ({bar})") }
}

/// Reads lines of a name and two times.
fn times(text: &str) -> Result<BTreeMap<String, (f64, f64)>> {
    text.lines()
        .map(|line| {
            let mut words = line.split('\t');
            let mut next = || words.next().with_context(|| format!("no times in `{line}`"));
            Ok((next()?.to_owned(), (next()?.parse()?, next()?.parse()?)))
        })
        .collect()
}

/// Makes the series, by name and length.
fn series() -> BTreeMap<String, Vec<f64>> {
    let mut series = BTreeMap::new();
    for noise in ["independent", "spiky", "AR(1) 0.6"] {
        for (n, _) in LENGTHS {
            let mut rng = Rng::new(20);
            let mut last = 0.0;
            let mut values: Vec<f64> = (0..n)
                .map(|_| {
                    let value = rng.normal();
                    100.0
                        + match noise {
                            "spiky" if rng.uniform() < 0.03 => value + 5.0 + 20.0 * rng.uniform(),
                            "AR(1) 0.6" => {
                                last = 0.6 * last + 0.8 * value;
                                last
                            }
                            _ => value,
                        }
                })
                .collect();
            for start in (n / 10..n).step_by(n / 5) {
                values[start..].iter_mut().for_each(|value| *value += 5.0);
            }
            series.insert(format!("{noise}, n = {n}"), values);
        }
    }
    series
}
