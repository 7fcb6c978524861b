//! `becalm load --find` on a queue whose answer is known: one worker with a fixed service time (M/D/1).

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use becalm_calibrate::rate::clopper_pearson;
use becalm_stats::queue::Service;
use serde_json::Value;

use super::{Args, Server};

/// The service time, in seconds.
const SERVICE: f64 = 0.002;

/// The limit of the 99th percentile, in seconds.
const LIMIT: f64 = 0.02;

/// Seconds of a search.
const SECONDS: u32 = 120;

/// Searches, and says how often the interval had the answer, and how often the answer was near.
pub(super) fn searches(becalm: &Path, args: &Args) -> Result<String> {
    let truth = Service::Fixed(SERVICE).highest_rate(LIMIT, 0.01);
    let (limit, service) = (format!("p99 < {}ms", LIMIT * 1e3), format!("{}ms", SERVICE * 1e3));
    println!("A worker of {service}; {limit} is met up to {truth:.0} requests a second.\n");
    let (mut covered, mut near, mut found, mut invalid, mut windows) = (0, 0, 0, 0, 0);
    for number in 1..=args.repeat {
        let server = Server::start(becalm, &["--service", &service])?;
        let mut command = Command::new(becalm);
        command.args(["load", &server.url, "--find", &limit, "--max-time", &format!("{SECONDS}s")]);
        command.args(["--seed", &number.to_string(), "--json", "--quiet"]);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        let document: Value = serde_json::from_slice(&output.stdout).context("no document")?;
        let answer = &document["answer"];
        let figure = |name: &str| answer[name].as_f64().unwrap_or(f64::NAN);
        let [rate, low, high] = ["rate", "low", "high"].map(figure);
        let is_covered = low <= truth && truth <= high;
        let all = document["windows"].as_array().map_or(&[][..], Vec::as_slice);
        let bad = all.iter().filter(|one| one["verdict"] == "invalid").count();
        println!(
            "{number}: {}, {rate:.0} ({low:.0} to {high:.0}), {} windows, {bad} invalid, {:.0} s",
            answer["kind"].as_str().unwrap_or("?"),
            all.len(),
            document["elapsed"].as_f64().unwrap_or(0.0)
        );
        covered += u64::from(is_covered);
        near += u64::from((rate / truth - 1.0).abs() <= 0.1);
        found += u64::from(answer["kind"] == "found");
        invalid += bad;
        windows += all.len();
    }
    let n = u64::from(args.repeat);
    let share = clopper_pearson(covered, n, 0.95);
    Ok(format!(
        "{n} searches of {SECONDS} s: the interval had the answer in {covered} ({:.0} to {:.0} % at 95 %), {near} answers within \
         10 %, {found} found, {invalid} of {windows} windows invalid.",
        share.low * 100.0,
        share.high * 100.0
    ))
}
