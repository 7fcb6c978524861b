//! What keeps programs waiting now, and what the host or a quota took.

use becalm_model::{Checkup, Severity};

use super::{View, advice};
use crate::ControlGroups;
use crate::facts::memory;

/// Share of time that somebody waited, from which on it is worth a word.
const WAITING: f64 = 2.0;
/// Share of the CPU time since boot that the host took.
const STOLEN: f64 = 0.005;

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    swap(view, checkup);
    steal(view, checkup);
    quota(view, checkup);
    // A captured load says nothing of the machine now.
    if view.is_present {
        load(view, checkup);
        stalls(view, checkup);
    }
}

fn swap(view: &View<'_>, checkup: &mut Checkup) {
    let (total, free) = (memory(view.root, "SwapTotal"), memory(view.root, "SwapFree"));
    let (Some(total), Some(free)) = (total, free) else { return };
    let used = total.saturating_sub(free);
    // A few pages stay in swap for weeks and disturb nobody.
    if total == 0 || used < 64 * 1024 {
        return;
    }
    checkup.findings.push(advice(
        "swap",
        Severity::Noise,
        format!("{} MiB are swapped out.", used / 1024),
        "Memory was short, and reading it back from disk takes milliseconds.",
        "",
        "end what uses the memory; `becalm tune --also swap` reads it back if there is room, and \
         keeps swap off until `becalm restore`; becalm labels runs with major page faults",
    ));
}

fn steal(view: &View<'_>, checkup: &mut Checkup) {
    let text = view.root.read("/proc/stat").value().unwrap_or_default();
    let Some(line) = text.lines().find(|line| line.starts_with("cpu ")) else { return };
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    let (total, stolen) = (ticks.iter().take(8).sum::<u64>(), ticks.get(7).copied().unwrap_or(0));
    let share = stolen as f64 / total.max(1) as f64;
    if share < STOLEN {
        return;
    }
    checkup.findings.push(advice(
        "steal",
        Severity::Noise,
        format!("The host took {:.1} % of the CPU time since boot for others.", share * 100.0),
        "While the host gives a CPU to another machine, the programs on it stop.",
        "",
        "use a larger or a dedicated instance; becalm pairs runs and labels those with steal",
    ));
}

fn quota(view: &View<'_>, checkup: &mut Checkup) {
    let Ok(groups) = ControlGroups::read(view.root) else { return };
    let Ok(Some(cpus)) = groups.quota(view.root) else { return };
    let throttled = groups.throttled(view.root).unwrap_or(0);
    checkup.findings.push(advice(
        "quota",
        if throttled > 0 { Severity::Severe } else { Severity::Noise },
        format!("This container may use {cpus:.2} CPUs, and was stopped {throttled} times for using more."),
        "A program that has used up the quota stops until the next period, usually 100 ms.",
        "",
        "raise the limit, or use fewer threads than it allows",
    ));
}

fn load(view: &View<'_>, checkup: &mut Checkup) {
    let text = view.root.read("/proc/loadavg").value().unwrap_or_default();
    let Some(load) = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok())
    else {
        return;
    };
    let online = view.topology.online.len();
    let cpus = online as f64;
    if load < (cpus * 0.25).max(0.5) {
        return;
    }
    checkup.findings.push(advice(
        "load",
        if load > cpus * 0.75 { Severity::Severe } else { Severity::Noise },
        format!(
            "{load:.1} tasks were running or waiting in the last minute, on {}.",
            becalm_model::counted(online, "CPU")
        ),
        "They share CPUs, caches, memory and power with what is measured.",
        "",
        "end them, or wait; `becalm services --watch 1m` names them",
    ));
}

fn stalls(view: &View<'_>, checkup: &mut Checkup) {
    for (name, id) in
        [("cpu", "cpu-pressure"), ("memory", "memory-pressure"), ("io", "io-pressure")]
    {
        let (wanted, fix) = match name {
            "cpu" => ("a CPU", "`becalm services --watch 1m` lists what is running"),
            "memory" => ("memory", "end what uses much of it, or use a machine with more"),
            _ => ("input or output", "`iotop -o` or `pidstat -d 60 1` lists what reads and writes"),
        };
        let text = view.root.read(format!("/proc/pressure/{name}")).value().unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("some ")).unwrap_or_default();
        let share = line.split_whitespace().find_map(|word| word.strip_prefix("avg60="));
        let Some(share) = share.and_then(|share| share.parse::<f64>().ok()) else { continue };
        if share < WAITING {
            continue;
        }
        checkup.findings.push(advice(
            id,
            Severity::Noise,
            format!("In {share:.0} % of the last minute some task had to wait for {wanted}."),
            "The measured program waits, too.",
            "",
            fix,
        ));
    }
}
