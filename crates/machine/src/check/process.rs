//! What becalm's subjects inherit: how many threads they are told to start, and what this user may do.

use becalm_model::{Checkup, CpuSet, Severity};

use super::{View, advice};
use crate::choice::{ChoiceFacts, Width, choose};

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    threads(view, checkup);
    limits(view, checkup);
}

/// Variables that tell programs how many threads to start.
const THREADS: [&str; 7] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "GOMAXPROCS",
    "JULIA_NUM_THREADS",
];

fn threads(view: &View<'_>, checkup: &mut Checkup) {
    // Variables are kept apart by zeros. Those of another user cannot be read, and are not ours.
    let environment = view.root.read("/proc/self/environ").value().unwrap_or_default();
    let cpus = choose(view.topology, &ChoiceFacts::read(view.root), Width::All).subject;
    let Some((name, threads)) = too_many_threads(&environment, &cpus) else { return };
    checkup.findings.push(advice(
        "threads",
        Severity::Noise,
        format!("{name} asks for {threads} threads, but a measurement gets {}.", cpus.named()),
        "Threads that share a CPU wait for each other, in a different order in each run.",
        "ten times the noise with more threads than reserved CPUs (Y. Gribov, uInit)",
        &format!("set it to {} or less for what is measured", cpus.len()),
    ));
}

/// Returns the variable that asks for the most threads, if they are more than there are CPUs.
fn too_many_threads<'a>(environment: &'a str, cpus: &CpuSet) -> Option<(&'a str, usize)> {
    let asked = environment.split('\0').filter_map(|variable| {
        let (name, value) = variable.split_once('=')?;
        // OpenMP takes a number for each level of nesting.
        let outer = value.split(',').next()?;
        THREADS.contains(&name).then_some((name, outer.trim().parse().ok()?))
    });
    asked.max_by_key(|(_, threads)| *threads).filter(|(_, threads)| *threads > cpus.len())
}

fn limits(view: &View<'_>, checkup: &mut Checkup) {
    let text = view.root.read("/proc/self/limits").value().unwrap_or_default();
    let is_root = view
        .root
        .read("/proc/self/status")
        .value()
        .is_some_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")));
    if is_root || text.is_empty() {
        return;
    }
    let soft = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next().map(str::to_owned)
    };
    if soft("Max realtime priority").as_deref() == Some("0") {
        checkup.findings.push(advice(
            "rtprio",
            Severity::Note,
            "This user may not use real-time priorities.".to_owned(),
            "If others compete for the CPU, a real-time class keeps them away.",
            "a 2 % slowdown found in 74 % of trials instead of 47 % (docs/METHODOLOGY.md)",
            "add a line `NAME - rtprio 1` with your user name to /etc/security/limits.conf, or \
             run becalm with sudo",
        ));
    }
    if soft("Max nice priority").as_deref() == Some("0") {
        checkup.findings.push(advice(
            "nice",
            Severity::Note,
            "This user may not lower niceness.".to_owned(),
            "A subject competes with other programs on equal terms.",
            "",
            "add a line `NAME - nice -20` with your user name to /etc/security/limits.conf, or \
             run becalm with sudo",
        ));
    }
    let locked = soft("Max locked memory").and_then(|words| words.parse::<u64>().ok());
    if locked.is_some_and(|bytes| bytes < 64 << 20) {
        checkup.findings.push(advice(
            "memlock",
            Severity::Note,
            format!("This user may lock only {} KiB of memory.", locked.unwrap_or(0) / 1024),
            "Programs that lock their memory against paging are refused or measure something else.",
            "",
            "add a line `NAME - memlock unlimited` with your user name to \
             /etc/security/limits.conf",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_cpus_are_found_by_the_variable_that_asks_for_most() {
        let cpus: CpuSet = "2-5".parse().unwrap();
        let found = |environment: &str| {
            too_many_threads(environment, &cpus).map(|(name, threads)| format!("{name} {threads}"))
        };
        let asks = "A=1\0OMP_NUM_THREADS=8,2\0GOMAXPROCS=16";
        assert_eq!(found(asks).as_deref(), Some("GOMAXPROCS 16"));
        assert_eq!(found("OMP_NUM_THREADS=8,2").as_deref(), Some("OMP_NUM_THREADS 8"));
        for quiet in ["", "OMP_NUM_THREADS=4", "OMP_NUM_THREADS=all", "THREADS=99"] {
            assert_eq!(found(quiet), None, "{quiet}");
        }
    }
}
