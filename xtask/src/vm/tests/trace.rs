//! What `--trace` says of time in which the whole machine stands still, as when its host runs something
//! else.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::expect::UNTIL_ALONE;
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[Test {
    name: "time_in_which_the_machine_stands_still_is_told_as_a_gap",
    machines: Machines::Only(&["plain"]),
    sample: &[],
    body: Body::Guest(told_as_gaps),
}];

/// A run that computes all the time until it is told that it is over.
const TRACED: &str = "becalm run --quiet --trace --rounds 1 --warmup 0 --json -- \
                      sh -c 'touch /tmp/begun; while [ ! -e /tmp/over ]; do :; done'";

/// How often the machine stands still, and for how long.
const STOPS: (u32, Duration) = (8, Duration::from_millis(200));

fn told_as_gaps(guest: &mut Guest) -> Result<()> {
    guest.ok(&format!(
        "{TRACED} >/tmp/record 2>/dev/null & until_so '[ -e /tmp/begun ]' || exit 99"
    ))?;
    let stood = stand_still(guest.process())?;
    let text = guest.ok(&format!("touch /tmp/over; {UNTIL_ALONE}; cat /tmp/record"))?;
    let record: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
    let taken = &record["subjects"][0]["runs"][0]["trace"]["taken"];
    let taken = taken.as_array().with_context(|| format!("no account of the run: {record}"))?;
    let seconds = |one: &Value, field: &str| one[field].as_f64().unwrap_or(0.0);
    let told: f64 =
        taken.iter().filter(|one| one["kind"] == "gap").map(|one| seconds(one, "seconds")).sum();
    // In the midst of an interrupt nothing tells the two apart: such a one lasted as long.
    let is_inside = |one: &&Value| {
        one["kind"] == "local_interrupt" && seconds(one, "longest") >= STOPS.1.as_secs_f64()
    };
    let inside: f64 =
        taken.iter().filter(is_inside).fold(0.0, |sum, one| sum + seconds(one, "longest"));
    println!(
        "        stood still for {stood:.3} s: {told:.3} s are told as gaps, {inside:.3} s as interrupts"
    );
    let gaps = told + inside;
    // More is told where the real host took time, too: how much, nobody here knows.
    ensure!(gaps >= 0.95 * stood, "{gaps} s of {stood} s are told as gaps: {taken:?}");
    Ok(())
}

/// Stops QEMU again and again, and returns for how many seconds it stood still at least. Its guest sees
/// a clock that jumps, as under any hypervisor.
fn stand_still(qemu: u32) -> Result<f64> {
    let mut stood = Duration::ZERO;
    for _ in 0..STOPS.0 {
        send("STOP", qemu)?;
        let start = Instant::now();
        sleep(STOPS.1);
        stood += start.elapsed();
        send("CONT", qemu)?;
        sleep(2 * STOPS.1);
    }
    Ok(stood.as_secs_f64())
}

fn send(signal: &str, process: u32) -> Result<()> {
    let status = Command::new("kill").args(["-s", signal, &process.to_string()]).status()?;
    ensure!(status.success(), "cannot send SIG{signal} to QEMU, process {process}");
    Ok(())
}
