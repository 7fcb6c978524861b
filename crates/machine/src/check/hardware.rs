//! What the machine is built of, and how hot and how well fed it is.

use becalm_model::{Checkup, Severity};

use super::{View, advice};

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    smt(view, checkup);
    hybrid(view, checkup);
    clocksource(view, checkup);
    battery(view, checkup);
    throttled(view, checkup);
    near_trip(view, checkup);
    mitigations(view, checkup);
}

fn smt(view: &View<'_>, checkup: &mut Checkup) {
    let threads = view.topology.threads_per_core();
    if threads < 2 || view.topology.cores_are_guessed {
        return;
    }
    checkup.findings.push(advice(
        "smt",
        Severity::Note,
        format!("Each core runs {threads} threads."),
        "Two busy threads of a core share its units and caches.",
        "two busy threads: CV 24 %, one: 0.04 % (\"A Loose Cable That Broke Physics\")",
        "becalm keeps the sibling of a measured CPU idle itself; `--isolate` keeps everybody off it, \
         `becalm tune --smt off` switches it off",
    ));
}

fn hybrid(view: &View<'_>, checkup: &mut Checkup) {
    let kinds = &view.topology.kinds;
    if kinds.len() < 2 {
        return;
    }
    let shown: Vec<String> =
        kinds.iter().map(|kind| format!("{} {}", kind.cpus, kind.name)).collect();
    checkup.findings.push(advice(
        "hybrid",
        Severity::Note,
        format!("The cores are of {} kinds: {}.", kinds.len(), shown.join(", ")),
        "A program that moves from one kind to another changes its speed by as much.",
        "",
        "becalm pins to the fastest kind; `--affinity LIST` takes another",
    ));
}

fn clocksource(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    let read = |name: &str| view.root.read(format!("{folder}/{name}")).value().unwrap_or_default();
    let (now, offered) = (read("current_clocksource"), read("available_clocksource"));
    if !matches!(now.as_str(), "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies") {
        return;
    }
    checkup.findings.push(advice(
        "clocksource",
        Severity::Noise,
        format!("The clock is read from {now} (offered: {}).", offered.trim()),
        "Reading it leaves the CPU, so every time stamp is slow and programs that take many are slower.",
        "a reading takes a microsecond or more instead of some 20 ns",
        "find out why the kernel gave up the TSC (`dmesg | grep -i clocksource`); firmware updates help, \
         `tsc=reliable` only where it truly is",
    ));
}

fn battery(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/class/power_supply";
    let names = view.root.list_dir(folder).value().unwrap_or_default();
    let read = |name: &str, file: &str| view.root.read(format!("{folder}/{name}/{file}")).value();
    let is_fed = names.iter().any(|name| read(name, "online").as_deref() == Some("1"));
    // The battery of a mouse has a scope of its own.
    let discharging = names.iter().find(|name| {
        read(name, "type").as_deref() == Some("Battery")
            && read(name, "status").as_deref() == Some("Discharging")
            && read(name, "scope").as_deref() != Some("Device")
    });
    let Some(name) = discharging.filter(|_| !is_fed) else { return };
    checkup.findings.push(advice(
        "battery",
        Severity::Severe,
        format!("The machine runs on battery {name}."),
        "Firmware and kernel lower power limits on battery, and lower them further as it empties.",
        "",
        "plug it in",
    ));
}

fn throttled(view: &View<'_>, checkup: &mut Checkup) {
    let count = |cpu: u32, file: &str| -> u64 {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{file}");
        view.root.read(path).value().and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let cpus = view.topology.online.iter().map(|cpu| cpu.0);
    let most = cpus
        .map(|cpu| count(cpu, "core_throttle_count").max(count(cpu, "package_throttle_count")))
        .max()
        .unwrap_or(0);
    if most == 0 {
        return;
    }
    checkup.findings.push(advice(
        "throttled",
        Severity::Note,
        format!("The processor was slowed down {most} times for its heat since the start."),
        "A hot processor lowers its frequency in the middle of a run.",
        "",
        "clean the fans, lower the frequency (`becalm tune --frequency 80%`), or measure for shorter; \
         becalm marks runs during which it happens",
    ));
}

/// Millidegrees below a trip point that are called near.
const NEAR: i64 = 5000;

fn near_trip(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/class/thermal";
    for zone in view.root.list_dir(folder).value().unwrap_or_default() {
        let read = |file: &str| view.root.read(format!("{folder}/{zone}/{file}")).value();
        let number = |file: &str| read(file).and_then(|text| text.parse::<i64>().ok());
        let Some(now) = number("temp") else { continue };
        let trip = (0..12).find_map(|index| {
            let kind = read(&format!("trip_point_{index}_type"))?;
            let limit = number(&format!("trip_point_{index}_temp"))?;
            // Zones that were never set up have limits of 0 or below.
            (matches!(kind.as_str(), "passive" | "hot" | "critical") && limit > NEAR)
                .then_some(limit)
        });
        let Some(limit) = trip.filter(|limit| now >= limit - NEAR) else { continue };
        let kind = read("type").unwrap_or_else(|| zone.clone());
        checkup.findings.push(advice(
            "hot",
            Severity::Severe,
            format!("{kind} is at {} °C, near its limit of {} °C.", now / 1000, limit / 1000),
            "At the limit the processor is slowed down.",
            "",
            "let it cool down before measuring",
        ));
    }
}

fn mitigations(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = view.root.list_dir(folder).value().unwrap_or_default();
    let active = names
        .iter()
        .filter(|name| {
            let text = view.root.read(format!("{folder}/{name}")).value().unwrap_or_default();
            text.starts_with("Mitigation")
        })
        .count();
    if active == 0 {
        return;
    }
    checkup.findings.push(advice(
        "mitigations",
        Severity::Note,
        format!("{active} mitigations of processor vulnerabilities are active."),
        "System calls and switches between tasks take longer than on machines without them, which \
         matters for comparisons between machines.",
        "",
        "leave them on; compare on one machine, whose record names them",
    ));
}
