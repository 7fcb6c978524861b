//! What this user may do, which becalm's subjects inherit.

use becalm_model::{Checkup, Severity};

use super::{View, advice};

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
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
            "Where others compete for the CPU, a real-time class keeps them away.",
            "a 2 % slowdown found in 74 % of trials instead of 47 % (docs/METHODOLOGY.md)",
            "a line `NAME - rtprio 1` with your user name in /etc/security/limits.conf, or run becalm with sudo",
        ));
    }
    if soft("Max nice priority").as_deref() == Some("0") {
        checkup.findings.push(advice(
            "nice",
            Severity::Note,
            "This user may not lower niceness.".to_owned(),
            "A subject competes with other programs as an equal.",
            "",
            "a line `NAME - nice -20` with your user name in /etc/security/limits.conf, or run becalm with sudo",
        ));
    }
    let locked = soft("Max locked memory").and_then(|words| words.parse::<u64>().ok());
    if locked.is_some_and(|bytes| bytes < 64 << 20) {
        checkup.findings.push(advice(
            "memlock",
            Severity::Note,
            format!("This user may lock {} KiB of memory.", locked.unwrap_or(0) / 1024),
            "Programs that lock their memory against paging are refused or measure something else.",
            "",
            "a line `NAME - memlock unlimited` with your user name in /etc/security/limits.conf",
        ));
    }
}
