//! `becalm noise probe` beside the kernel's tracers: osnoise, which only Debian's kernels for real time have, and hwlat.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::expect::{UNTIL_ALONE, as_before, contains};
use super::{Body, Machines, Test};
use crate::vm::guest::{CannotTell, Depth, Guest};

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "probe_agrees_with_osnoise",
        machines: Machines::Only(&["plain"]),
        sample: &["plain"],
        body: Body::Guest(agrees),
    },
    Test {
        name: "probe_finds_the_disturbed_cpu_and_it_is_not_chosen",
        machines: Machines::Only(&["plain"]),
        sample: &[],
        body: Body::Guest(ranks),
    },
    Test {
        name: "probe_leaves_nothing_in_tracefs",
        machines: Machines::Only(&["plain"]),
        sample: &[],
        body: Body::Guest(leaves_nothing),
    },
];

/// Of any kernel that has the tracer.
pub(super) const FIRMWARE: &[Test] = &[Test {
    name: "probe_of_firmware_leaves_nothing_in_tracefs",
    machines: Machines::Only(&["plain"]),
    sample: &[],
    body: Body::Guest(firmware_leaves_nothing),
}];

/// How far the two may lie apart in the time lost.
const TOLERANCE: f64 = 0.2;

/// A tracer that becalm uses, and how it must be left.
struct Tracer {
    source: &'static str,
    /// Sets terms that are not the default ones.
    terms: &'static str,
    /// Shows its terms and instances.
    show: &'static str,
}

const OSNOISE: Tracer = Tracer {
    source: "tracer",
    terms: "echo 100000 >osnoise/runtime_us; echo 200000 >osnoise/period_us; \
            echo 0-1 >osnoise/cpus; echo 7 >tracing_thresh",
    show: "cat tracing_thresh current_tracer osnoise/cpus osnoise/period_us osnoise/runtime_us \
           osnoise/stop_tracing_total_us && ls instances",
};
const HWLAT: Tracer = Tracer {
    source: "hwlat",
    terms: "echo 700000 >hwlat_detector/window; echo 30000 >hwlat_detector/width; \
            echo per-cpu >hwlat_detector/mode; echo 7 >tracing_thresh",
    show: "cat tracing_thresh current_tracer hwlat_detector/window hwlat_detector/width \
           hwlat_detector/mode && ls instances",
};

/// A CPU that is taken away for 5 of every 20 ms is the same to both. The host of an emulated machine takes
/// time too, and is never quiet for long: the tracer looks between two looks of the clock, and counts only
/// where these agree with each other. Of the ratios the median decides.
fn agrees(guest: &mut Guest) -> Result<()> {
    guest.ok("disturb 2 20000 5000 >/dev/null 2>&1 &")?;
    let rounds = if guest.depth() == Depth::Sample { 5 } else { 9 };
    let is_near = |ratio: f64| (1.0 - TOLERANCE..=1.0 / (1.0 - TOLERANCE)).contains(&ratio);
    let mut ratios = Vec::new();
    let mut shares = Vec::new();
    for _ in 0..rounds {
        let [first, traced, last] =
            [share(guest, "clock")?, share(guest, "tracer")?, share(guest, "clock")?];
        if is_near(first / last) {
            ratios.push(f64::midpoint(first, last) / traced);
        }
        shares.push(format!("{first:.3}/{traced:.3}/{last:.3}"));
    }
    let seen = format!("time lost by clock/tracer/clock: {}", shares.join(", "));
    println!("        {seen}");
    if 2 * ratios.len() <= rounds {
        return Err(CannotTell(format!("the host is too busy; {seen}")).into());
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    ensure!(is_near(median), "{seen}; the median of the ratios is {median:.3}");
    Ok(())
}

/// Returns the share of the time of CPU 2 that is lost.
fn share(guest: &mut Guest, source: &str) -> Result<f64> {
    let text = guest.ok(&format!(
        "becalm noise probe --quiet --cpus 2 --duration 2s --threshold 20us --source {source} \
         --scheduler fifo --no-save --json 2>/dev/null"
    ))?;
    let document: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
    ensure!(document["source"] == source, "{}", document["source"]);
    let cpu = &document["cpus"][0];
    let found = (&cpu["cpu"], &document["scheduler"]);
    ensure!(found == (&2.into(), &"fifo:1".into()), "CPU and class are {found:?}");
    cpu["lost_share"].as_f64().context("no share of time lost")
}

/// Without the ranking the last CPU would be chosen.
fn ranks(guest: &mut Guest) -> Result<()> {
    // So much that a busy host does not hide it.
    guest.ok("disturb 3 20000 17000 >/dev/null 2>&1 &")?;
    let text = guest.ok("becalm noise probe --duration 3s --json 2>/dev/null")?;
    let document: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
    let ranking = document["ranking"].as_array().context("no ranking")?;
    let last = ranking.last().context("an empty ranking")?;
    ensure!(last["cpu"] == 3 && last["tier"] != 0, "ranking: {ranking:?}");
    let topology: Value = serde_json::from_str(&guest.ok("becalm topology --json")?)?;
    let choice = &topology["choices"][0];
    ensure!(choice["subject"][0] != 3, "choice: {choice}");
    contains(choice["reason"]["text"].as_str().unwrap_or_default(), "becalm noise probe")
}

fn leaves_nothing(guest: &mut Guest) -> Result<()> {
    tracer_is_left(guest, &OSNOISE)
}

fn firmware_leaves_nothing(guest: &mut Guest) -> Result<()> {
    let tracers = guest.ok("cat /sys/kernel/tracing/available_tracers")?;
    if !tracers.split_whitespace().any(|one| one == "hwlat") {
        return Err(
            CannotTell("this kernel has no hwlat tracer (CONFIG_HWLAT_TRACER)".into()).into()
        );
    }
    tracer_is_left(guest, &HWLAT)
}

fn tracer_is_left(guest: &mut Guest, tracer: &Tracer) -> Result<()> {
    let Tracer { source, terms, show } = tracer;
    guest.ok(&format!("cd /sys/kernel/tracing && {terms}"))?;
    let show = format!("cd /sys/kernel/tracing && {show}");
    let before = guest.state()?;
    let tracefs = guest.ok(&show)?;
    let probe = format!("becalm noise probe --source {source} --cpus 1-3 --no-save");
    let unchanged = |guest: &mut Guest, after: &str| -> Result<()> {
        let now = guest.ok(&show)?;
        ensure!(now == tracefs, "{after} tracefs has\n{now}\nand had\n{tracefs}");
        Ok(())
    };
    guest.ok(&format!("{probe} --duration 1s"))?;
    unchanged(guest, "after a probe")?;
    for signal in ["INT", "TERM", "KILL"] {
        guest.ok(&format!(
            "{probe} --duration 20s >/dev/null 2>&1 & pid=$!\n\
             until_so 'ls -d /sys/kernel/tracing/instances/becalm*' && usleep 700000\n\
             kill -{signal} $pid; wait $pid; {UNTIL_ALONE}"
        ))?;
        unchanged(guest, &format!("after SIG{signal}"))?;
    }
    as_before(guest, &before)
}
