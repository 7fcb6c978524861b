//! The kernel and those of its settings that change timing.

use std::collections::BTreeMap;

use super::{Collector, as_is, on_off};

/// Options of the kernel's command line that change timing. The rest is nobody's business: it may
/// hold addresses, names and keys.
const OPTIONS: [&str; 44] = [
    "amd_pstate",
    "audit",
    "cgroup_no_v1",
    "clocksource",
    "cpufreq.default_governor",
    "cpuidle.off",
    "default_hugepagesz",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle.max_cstate",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "l1tf",
    "managed_irq",
    "maxcpus",
    "mce",
    "mds",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nopti",
    "norandmaps",
    "nosmt",
    "nosoftlockup",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "skew_tick",
    "spec_store_bypass_disable",
    "spectre_v2",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
];

pub(super) fn collect(collector: &mut Collector<'_>) {
    let kernel = "/proc/sys/kernel";
    let mut sysctl = |key: &str, name: &str, absent: &str, shape: fn(&str) -> Option<String>| {
        collector.file(key, &format!("{kernel}/{name}"), absent, shape);
    };
    sysctl("kernel_release", "osrelease", "the kernel does not state its release", as_is);
    sysctl("aslr", "randomize_va_space", "this kernel cannot randomise addresses", aslr);
    sysctl("numa_balancing", "numa_balancing", "this kernel has no NUMA balancing", on_off);
    sysctl("perf_event_paranoid", "perf_event_paranoid", "this kernel has no perf events", as_is);
    sysctl("nmi_watchdog", "nmi_watchdog", "this kernel has no NMI watchdog", on_off);
    sysctl("rt_runtime", "sched_rt_runtime_us", "this kernel does not limit real time", real_time);
    collector.file(
        "thp",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "this kernel has no transparent huge pages",
        selected,
    );
    collector.file("ksm", "/sys/kernel/mm/ksm/run", "this kernel does not merge pages", on_off);
    collector.file(
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "the kernel shows no clock source",
        as_is,
    );
    collector.file(
        "kernel_options",
        "/proc/cmdline",
        "the kernel's command line is not shown here",
        |text| Some(options(text)),
    );
    match collector.root.read("/proc/pressure/cpu").of("/proc/pressure/cpu") {
        Ok(_) => collector.put("pressure", "available"),
        Err(why) => collector.miss("pressure", why),
    }
    mitigations(collector);
}

fn aslr(text: &str) -> Option<String> {
    Some(match text.trim() {
        "0" => "off".into(),
        "1" => "on, without the heap".into(),
        "2" => "on".into(),
        other => as_is(other)?,
    })
}

fn real_time(text: &str) -> Option<String> {
    match text.trim() {
        "-1" => Some("unlimited".into()),
        micros => Some(format!("{} us", micros.parse::<u64>().ok()?)),
    }
}

/// Returns the word in brackets of `always [madvise] never`.
fn selected(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Keeps the known options; those after ` -- ` are for the first process.
fn options(cmdline: &str) -> String {
    let kept: Vec<&str> = cmdline
        .split_ascii_whitespace()
        .take_while(|&word| word != "--")
        .filter(|word| {
            // The kernel takes `-` and `_` for the same.
            let name = word.split('=').next().unwrap_or(word).replace('-', "_");
            OPTIONS.contains(&name.as_str())
        })
        .collect();
    if kept.is_empty() { "none".into() } else { kept.join(" ") }
}

/// Counts what the kernel says about each known flaw of the CPU.
fn mitigations(collector: &mut Collector<'_>) {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = match collector.root.list_dir(folder).of(folder) {
        Ok(names) => names,
        Err(why) => return collector.miss("mitigations", why),
    };
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for name in names {
        let Some(text) = collector.text(format!("{folder}/{name}")) else { continue };
        let group = match text.as_str() {
            text if text.starts_with("Not affected") => "not affected",
            text if text.starts_with("Mitigation") => "mitigated",
            text if text.starts_with("Vulnerable") => "vulnerable",
            _ => "unknown",
        };
        groups.entry(group).or_default().push(name);
    }
    if groups.is_empty() {
        return collector.miss("mitigations", format!("no file in {folder} could be read"));
    }
    let shown = groups.iter().map(|(group, names)| match *group {
        "not affected" => format!("{} not affected", names.len()),
        _ => format!("{group}: {}", names.join(" ")),
    });
    let shown = shown.collect::<Vec<_>>().join("; ");
    collector.put("mitigations", shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_change_timing_are_kept() {
        let cmdline = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 isolcpus=2,3 key=secret intel-pstate=passive \
                       nosmt -- nohz_full=1 token";
        assert_eq!(options(cmdline), "isolcpus=2,3 intel-pstate=passive nosmt");
        assert_eq!(options("quiet"), "none");
    }

    #[test]
    fn the_word_in_brackets_is_the_setting() {
        assert_eq!(selected("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(selected("always"), None);
    }
}
