//! The machine that a table was measured on.

use std::fs;

/// Returns the processor, the number of CPUs and the kernel.
pub(super) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let n_cpus = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{model}, {n_cpus} CPUs, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}

/// Returns the load average over the last minute; 0 where there is none.
pub(super) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}
