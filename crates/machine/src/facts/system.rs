//! Memory, load, heat and power.

use super::Collector;
use crate::sysroot::{Reading, SysRoot};

pub(super) fn collect(collector: &mut Collector<'_>) {
    match memory(collector.root, "MemTotal") {
        Some(total) => collector.put("memory_total", gibibytes(total)),
        None => collector.miss("memory_total", "/proc/meminfo states no total"),
    }
    match memory(collector.root, "SwapTotal") {
        Some(0) => collector.put("swap", "none"),
        Some(total) => collector.put("swap", gibibytes(total)),
        None => collector.miss("swap", "/proc/meminfo states no swap"),
    }
    collector.file("load_average", "/proc/loadavg", "/proc has no load average", |text| {
        let fields: Vec<&str> = text.split_ascii_whitespace().take(3).collect();
        (fields.len() == 3).then(|| fields.join(" "))
    });
    collector.file("uptime", "/proc/uptime", "/proc has no uptime", |text| {
        let seconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
        Some(format!("{seconds:.0} s"))
    });
    temperature(collector);
    power(collector);
}

/// Returns a line of `/proc/meminfo` in KiB.
pub(crate) fn memory(root: &SysRoot, name: &str) -> Option<u64> {
    let text = root.read("/proc/meminfo").value()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

fn gibibytes(kibibytes: u64) -> String {
    format!("{:.1} GiB", kibibytes as f64 / 1024.0 / 1024.0)
}

/// Takes the hottest thermal zone: which of them is the CPU's differs from machine to machine.
fn temperature(collector: &mut Collector<'_>) {
    let folder = "/sys/class/thermal";
    let zones = collector.root.list_dir(folder).value().unwrap_or_default();
    let hottest = zones
        .iter()
        .filter(|zone| zone.starts_with("thermal_zone"))
        .filter_map(|zone| {
            // A driver may answer with an error while its sensor is off.
            let millidegrees: i64 =
                collector.text(format!("{folder}/{zone}/temp"))?.parse().ok()?;
            let kind = collector.text(format!("{folder}/{zone}/type")).unwrap_or_default();
            Some((millidegrees, kind))
        })
        .max();
    match hottest {
        Some((millidegrees, kind)) => {
            collector.put("temperature", format!("{} C ({kind})", millidegrees / 1000));
        }
        None => collector.absent("temperature", folder, "no thermal zone can be read here"),
    }
}

/// Says whether the machine draws on a battery, which makes firmware slow the CPU down.
fn power(collector: &mut Collector<'_>) {
    let folder = "/sys/class/power_supply";
    let supplies = match collector.root.list_dir(folder) {
        Reading::Value(names) => names,
        _ => Vec::new(),
    };
    let read = |name: &str, file: &str| collector.text(format!("{folder}/{name}/{file}"));
    let mut seen = false;
    let mut on_battery = false;
    for name in &supplies {
        // Batteries of mice and the like say `Device`.
        if read(name, "scope").as_deref() == Some("Device") {
            continue;
        }
        match read(name, "type").as_deref() {
            Some("Battery") => {
                seen = true;
                on_battery |= read(name, "status").as_deref() == Some("Discharging");
            }
            Some("Mains") => seen = true,
            _ => {}
        }
    }
    if seen {
        collector.put("on_battery", if on_battery { "yes" } else { "no" });
    } else {
        let meaning = "the machine shows neither a battery nor a mains adapter";
        collector.absent("on_battery", folder, meaning);
    }
}
