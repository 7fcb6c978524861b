//! Programs that work in the background, by their names.

use std::collections::BTreeSet;

use becalm_model::{Checkup, Finding, Fix, Severity};

use super::{View, advice};
use crate::tasks::processes;

/// Programs that set frequencies, power and interrupts themselves.
const TUNERS: [(&str, &str); 8] = [
    ("auto-cpufreq", "auto-cpufreq"),
    ("gamemoded", "GameMode"),
    ("power-profiles-", "power-profiles-daemon"),
    ("system76-power", "system76-power"),
    ("thermald", "thermald"),
    ("tlp", "TLP"),
    ("tuned", "tuned"),
    ("tuned-ppd", "tuned-ppd"),
];

/// Compositors and display servers.
const DESKTOPS: [&str; 12] = [
    "Hyprland",
    "Xorg",
    "Xwayland",
    "cosmic-comp",
    "gnome-shell",
    "kwin_wayland",
    "kwin_x11",
    "labwc",
    "mutter",
    "sway",
    "weston",
    "xfwm4",
];

/// Services that wake up and work at moments of their own.
const SERVICES: [&str; 22] = [
    "apt-get",
    "apt.systemd.dai",
    "anacron",
    "atd",
    "baloo_file",
    "cron",
    "crond",
    "dnf",
    "dpkg",
    "fstrim",
    "fwupd",
    "ksmtuned",
    "mandb",
    "packagekitd",
    "plocate",
    "smartd",
    "snapd",
    "tracker-miner-f",
    "unattended-upgr",
    "updatedb",
    "updatedb.plocat",
    "whoopsie",
];

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    let names: BTreeSet<String> = processes(view.root)
        .into_iter()
        .filter_map(|pid| view.root.read(format!("/proc/{pid}/comm")).value())
        .collect();
    let tuners: Vec<&str> =
        TUNERS.iter().filter(|(comm, _)| names.contains(*comm)).map(|(_, name)| *name).collect();
    if !tuners.is_empty() {
        checkup.findings.push(Finding {
            id: "other-tuner".to_owned(),
            severity: Severity::Noise,
            what: format!("Other programs tune this machine: {}.", tuners.join(", ")),
            why: "They may change back what becalm sets, or change it in the middle of a session."
                .to_owned(),
            size: String::new(),
            here: None,
            fix: Fix::Knob("services".to_owned()),
        });
    }
    if names.contains("irqbalance") {
        checkup.findings.push(Finding {
            id: "irqbalance".to_owned(),
            severity: Severity::Note,
            what: "irqbalance runs.".to_owned(),
            why: "It moves interrupts between CPUs every ten seconds.".to_owned(),
            size: String::new(),
            here: None,
            fix: Fix::Knob("irqbalance".to_owned()),
        });
    }
    let desktops: Vec<&str> = DESKTOPS.into_iter().filter(|name| names.contains(*name)).collect();
    if !desktops.is_empty() {
        checkup.findings.push(advice(
            "desktop",
            Severity::Noise,
            format!("A graphical session runs: {}.", desktops.join(", ")),
            "A compositor and its programs wake up for every frame.",
            "",
            "log out, or `becalm tune --also desktop --hold -- COMMAND` from a text console",
        ));
    }
    if names.iter().any(|name| name.starts_with("kdamond")) {
        checkup.findings.push(advice(
            "damon",
            Severity::Note,
            "The kernel watches which memory is used (DAMON): kdamond runs.".to_owned(),
            "It wakes up many times a second and looks at page tables, on any CPU.",
            "",
            "end it where it was started: /sys/kernel/mm/damon, or the parameter \
             damon_reclaim.enabled or damon_lru_sort.enabled",
        ));
    }
    let services: Vec<&str> = SERVICES.into_iter().filter(|name| names.contains(*name)).collect();
    if !services.is_empty() {
        checkup.findings.push(Finding {
            id: "services".to_owned(),
            severity: Severity::Note,
            what: format!("Background services run: {}.", services.join(", ")),
            why: "They start working at moments of their own.".to_owned(),
            size: String::new(),
            here: None,
            fix: Fix::Knob("services".to_owned()),
        });
    }
}
