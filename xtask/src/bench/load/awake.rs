//! What it is worth to keep idle CPUs awake: loads in each way and without, in turns.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use becalm_calibrate::decisions::Table;
use becalm_stats::queue::Service;
use serde_json::Value;

use super::{Args, Server, shown};

/// The service time, in seconds.
const SERVICE: f64 = 0.002;

/// Requests in a second, and seconds of a load.
const RATE: f64 = 350.0;
const SECONDS: u32 = 6;

/// What `--keep-awake` is.
const WISHES: [&str; 3] = ["auto", "spin", "off"];

/// Loads a queue whose mean response time is known, and prints what came of it each way: medians over the loads.
pub(super) fn table(becalm: &Path, args: &Args) -> Result<String> {
    let server = Server::start(becalm, &["--service", &format!("{}ms", SERVICE * 1e3)])?;
    let mut loads = WISHES.map(|_| Vec::<Value>::new());
    for number in 0..args.repeat {
        for place in 0..WISHES.len() {
            // None is always the first.
            let which = (place + number as usize) % WISHES.len();
            let mut command = Command::new(becalm);
            command.args(["load", &server.url, "--rate", &RATE.to_string(), "--json", "--quiet"]);
            command.args(["--duration", &format!("{SECONDS}s"), "--keep-awake", WISHES[which]]);
            let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
            loads[which].push(serde_json::from_slice(&output.stdout).context("no document")?);
        }
    }
    let titles = ["--keep-awake", "valid", "lag p99 ms", "mean response ms", "truth"];
    let mut table = Table::new(&titles);
    let truth = Service::Fixed(SERVICE).mean_response(RATE);
    for (wish, loads) in WISHES.iter().zip(&loads) {
        let valid = loads.iter().filter(|load| load["fidelity"]["verdict"] == "valid").count();
        let lag = |load: &Value| {
            let all = load["lag"]["quantiles"].as_array()?;
            all.iter().find(|one| one["q"] == 0.99)?["value"].as_f64()
        };
        let mean = |load: &Value| load["response"]["mean"].as_f64();
        let median = |of: &dyn Fn(&Value) -> Option<f64>| {
            let mut all: Vec<f64> = loads.iter().filter_map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied()
        };
        table.rows.push(vec![
            (*wish).to_owned(),
            format!("{valid} of {}", loads.len()),
            shown(median(&lag), 1e3, 2),
            shown(median(&mean), 1e3, 2),
            shown(Some(truth), 1e3, 2),
        ]);
    }
    Ok(format!(
        "A worker of 2 ms, {RATE} requests/s for {SECONDS} s, in turns.\n\n{}",
        table.markdown()
    ))
}
