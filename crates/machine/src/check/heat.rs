//! How hot the machine is, and what holds its power and frequency down.

use becalm_model::{Checkup, Severity};

use super::{View, advice};

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    throttled(view, checkup);
    power_limited(view, checkup);
    cooling(view, checkup);
    let zones = near_trip(view, checkup);
    near_critical(view, checkup, &zones);
    power_limit(view, checkup);
    frequency_cap(view, checkup);
}

/// Returns the largest value of a counter of Intel's that each CPU has.
fn most(view: &View<'_>, files: [&str; 2]) -> u64 {
    let count = |cpu: u32, file: &str| -> u64 {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{file}");
        view.root.parse(path).unwrap_or(0)
    };
    let cpus = view.topology.online.iter().map(|cpu| cpu.0);
    cpus.flat_map(|cpu| files.map(|file| count(cpu, file))).max().unwrap_or(0)
}

fn throttled(view: &View<'_>, checkup: &mut Checkup) {
    let most = most(view, ["core_throttle_count", "package_throttle_count"]);
    if most == 0 {
        return;
    }
    checkup.findings.push(advice(
        "throttled",
        Severity::Note,
        format!("The processor was throttled {most} times because of heat since boot."),
        "A hot processor lowers its frequency in the middle of a run.",
        "",
        "clean the fans, lower the frequency (`becalm tune --frequency 80%`), or measure for a \
         shorter time; becalm labels runs during which it happens",
    ));
}

/// Counted only where the kernel was started with `int_pln_enable`.
fn power_limited(view: &View<'_>, checkup: &mut Checkup) {
    let most = most(view, ["core_power_limit_count", "package_power_limit_count"]);
    if most == 0 {
        return;
    }
    checkup.findings.push(advice(
        "power-limited",
        Severity::Noise,
        format!("The processor was throttled {most} times because of its power limit since boot."),
        "At the power limit the frequency depends on what all cores do.",
        "",
        "fix a lower frequency, which stays below the limit (`becalm tune --frequency 80%`)",
    ));
}

/// Names of devices by which the kernel cools processors: by frequency, by idling, by clock modulation.
const OF_PROCESSORS: [&str; 7] = [
    "Processor",
    "cpufreq",
    "cpuidle",
    "idle",
    "intel_powerclamp",
    "thermal-cpufreq",
    "thermal-idle",
];

fn cooling(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/class/thermal";
    let at_work: Vec<String> = view
        .root
        .list_dir(folder)
        .value()
        .unwrap_or_default()
        .into_iter()
        .filter(|name| name.starts_with("cooling_device"))
        .filter_map(|name| {
            let kind = view.root.read(format!("{folder}/{name}/type")).value()?;
            // One that is switched off says -1.
            let state: i64 = view.root.parse(format!("{folder}/{name}/cur_state"))?;
            let is_of_processor = OF_PROCESSORS.iter().any(|start| kind.starts_with(start));
            (is_of_processor && state > 0).then_some(kind)
        })
        .collect();
    let Some(first) = at_work.first() else { return };
    let others = match at_work.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    checkup.findings.push(advice(
        "cooling",
        Severity::Severe,
        format!("The kernel is throttling processors because of heat right now ({first}{others})."),
        "Until it has cooled down, the machine is slower, by an amount that changes.",
        "",
        "let it cool down before measuring, and find out what heats it",
    ));
}

/// Millidegrees below a trip point that are called near.
const NEAR: i64 = 5000;

/// Returns the kinds of the zones that are near their limits.
fn near_trip(view: &View<'_>, checkup: &mut Checkup) -> Vec<String> {
    let folder = "/sys/class/thermal";
    let mut found = Vec::new();
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
        checkup.findings.push(hot(&kind, now, limit));
        found.push(kind);
    }
    found
}

/// Sensors of processors and drives (k10temp, coretemp, nvme, scpi) near the temperature that their drivers call
/// critical, but for those that are a zone, too.
fn near_critical(view: &View<'_>, checkup: &mut Checkup, zones: &[String]) {
    /// Beyond this it is no temperature but a way to say that there is no limit.
    const HOTTEST: i64 = 150_000;
    let folder = "/sys/class/hwmon";
    for device in view.root.list_dir(folder).value().unwrap_or_default() {
        let folder = format!("{folder}/{device}");
        let number = |file: String| view.root.parse::<i64>(format!("{folder}/{file}"));
        let name = view.root.read(format!("{folder}/name")).value().unwrap_or(device);
        let files = view.root.list_dir(&folder).value().unwrap_or_default();
        let sensors = files.iter().filter_map(|file| file.strip_suffix("_input"));
        let near = sensors.filter(|sensor| sensor.starts_with("temp")).find_map(|sensor| {
            let now = number(format!("{sensor}_input"))?;
            let limit = number(format!("{sensor}_crit"))?;
            let is_limit = limit > NEAR && limit < HOTTEST;
            (is_limit && now >= limit - NEAR).then_some((now, limit))
        });
        if let Some((now, limit)) = near.filter(|_| !zones.contains(&name)) {
            checkup.findings.push(hot(&name, now, limit));
        }
    }
}

fn hot(what: &str, now: i64, limit: i64) -> becalm_model::Finding {
    advice(
        "hot",
        Severity::Severe,
        format!("{what} is at {} °C, near its limit of {} °C.", now / 1000, limit / 1000),
        "At the limit it is throttled.",
        "",
        "let it cool down before measuring",
    )
}

/// A package that may use less power than it is made for meets its limit in the middle of work.
/// <https://docs.kernel.org/power/powercap/powercap.html>
fn power_limit(view: &View<'_>, checkup: &mut Checkup) {
    let folder = "/sys/class/powercap";
    let zones = view.root.list_dir(folder).value().unwrap_or_default();
    let lowered: Vec<String> = zones
        .iter()
        .filter_map(|zone| {
            let folder = format!("{folder}/{zone}");
            let name = view.root.read(format!("{folder}/name")).value()?;
            let is_on = view.root.read(format!("{folder}/enabled")).value().as_deref() != Some("0");
            if !name.starts_with("package") || !is_on {
                return None;
            }
            (0..4).find_map(|index| {
                let watts = |what: &str| {
                    let path = format!("{folder}/constraint_{index}_{what}_uw");
                    view.root.parse::<u64>(path).map(|value| value / 1_000_000)
                };
                let (limit, made_for) = (watts("power_limit")?, watts("max_power")?);
                // 0 stands for what nobody has set.
                (limit > 0 && limit < made_for).then(|| {
                    format!("{name} may use {limit} W of the {made_for} W that it is designed for")
                })
            })
        })
        .collect();
    if lowered.is_empty() {
        return;
    }
    checkup.findings.push(advice(
        "power-limit",
        Severity::Noise,
        format!("Power is limited: {}.", lowered.join(", ")),
        "At the power limit the frequency depends on what all cores do.",
        "",
        "raise the limit in the firmware's setup or in /sys/class/powercap, or fix a frequency that stays \
         below it (`becalm tune --frequency 80%`)",
    ));
}

/// Who holds the highest frequency down: the kernel for heat, firmware, or somebody on purpose. Nothing tells which,
/// but for a limit of firmware.
fn frequency_cap(view: &View<'_>, checkup: &mut Checkup) {
    let lower = |cpu: u32, file: &str| {
        let of = |file: &str| {
            // A policy of several CPUs is called by the first of them, and has a link at each.
            [format!("cpu{cpu}/cpufreq"), format!("cpufreq/policy{cpu}")].iter().find_map(
                |folder| view.root.parse::<u64>(format!("/sys/devices/system/cpu/{folder}/{file}")),
            )
        };
        let (now, highest) = (of(file)?, of("cpuinfo_max_freq")?);
        (now > 0 && now < highest).then_some((now / 1000, highest / 1000))
    };
    let on = |file: &str| view.cpus.iter().find_map(|cpu| Some((cpu, lower(cpu.0, file)?)));
    let why = "The processor cannot reach its highest frequency, and what limits it may change.";
    if let Some((cpu, (limit, highest))) = on("bios_limit") {
        checkup.findings.push(advice(
            "frequency-cap",
            Severity::Noise,
            format!("The firmware limits CPU {cpu} to {limit} of {highest} MHz."),
            why,
            "",
            "look for heat, a weak power supply or a power limit in the firmware's setup",
        ));
    } else if let Some((cpu, (limit, highest))) = on("scaling_max_freq") {
        checkup.findings.push(advice(
            "frequency-cap",
            Severity::Note,
            format!("CPU {cpu} is limited to {limit} of {highest} MHz."),
            why,
            "",
            "nothing if you set it on purpose; otherwise look for heat and for programs that set \
             frequencies",
        ));
    }
}
