//! What the machine is built of, and how well fed it is.

use becalm_model::{Checkup, Severity};

use super::{View, advice};
use crate::facts::CpuInfo;

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    smt(view, checkup);
    hybrid(view, checkup);
    clocksource(view, checkup);
    battery(view, checkup);
    fabric(view, checkup);
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
        "becalm itself keeps the sibling of a measured CPU idle; `--isolate` keeps everything \
         else off it, `becalm tune --smt off` switches it off",
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
        "A program that moves from one kind to another changes its speed accordingly.",
        "",
        "becalm pins to the fastest kind; `--affinity LIST` chooses another",
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
        "Reading it leaves the CPU, so every time stamp is slow, and programs that take many are \
         slower.",
        "a reading takes a microsecond or more instead of some 20 ns",
        "find out why the kernel gave up the TSC (`dmesg | grep -i clocksource`); firmware updates help, \
         `tsc=reliable` only if it really is",
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

/// AMD's servers since Zen change the clock of the fabric between cores, memory and devices by load. The kernel has no
/// file for it: `/dev/hsmp` takes messages, which AMD's own tool sends.
fn fabric(view: &View<'_>, checkup: &mut Checkup) {
    let is_server = CpuInfo::read(view.root).model().is_some_and(|model| model.contains("EPYC"));
    let cpuinfo = view.root.read("/proc/cpuinfo").value().unwrap_or_default();
    let is_guest = cpuinfo.split_whitespace().any(|word| word == "hypervisor");
    if !is_server || is_guest {
        return;
    }
    checkup.findings.push(advice(
        "fabric",
        Severity::Note,
        "The clock of the data fabric may follow the load; no file of the kernel shows or sets it.".to_owned(),
        "Memory, third-level caches of other cores and devices are slower while the fabric's clock is low.",
        "",
        "in the firmware's setup, set `APBDIS` = 1 with `Fixed SOC P-state` = P0 (under AMD CBS, \
         NBIO or SMU); or use `e_smi_tool --apbdisable SOCKET 0` with the driver amd_hsmp, and \
         `--apbenable SOCKET` afterwards",
    ));
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
        "leave them on; compare results of one machine, whose record lists them",
    ));
}
