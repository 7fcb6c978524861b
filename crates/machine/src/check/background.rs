//! Programs that work in the background, by their names.

use std::collections::BTreeSet;

use becalm_model::{Checkup, Finding, Fix, Severity};

use super::{View, advice};
use crate::tasks::processes;

/// Programs that set frequencies, power and interrupts themselves, which the knob `services` stops.
const TUNERS: [(&str, &str); 5] = [
    ("auto-cpufreq", "auto-cpufreq"),
    ("power-profiles-", "power-profiles-daemon"),
    ("tlp", "TLP"),
    ("tuned", "tuned"),
    ("tuned-ppd", "tuned-ppd"),
];

/// The same, which it leaves: thermald keeps the machine cool, and the others are told what to do by something else.
const KEPT_TUNERS: [(&str, &str); 3] =
    [("gamemoded", "GameMode"), ("system76-power", "system76-power"), ("thermald", "thermald")];

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

/// Services that wake up and work at moments of their own, which the knob `services` stops.
const SERVICES: [&str; 7] = ["anacron", "atd", "cron", "crond", "ksmtuned", "smartd", "whoopsie"];

/// The same, which it leaves: what they are in the middle of would be half done, or they are a user's and no service of
/// the system.
const KEPT_SERVICES: [&str; 15] = [
    "apt-get",
    "apt.systemd.dai",
    "baloo_file",
    "dnf",
    "dpkg",
    "fstrim",
    "fwupd",
    "mandb",
    "packagekitd",
    "plocate",
    "snapd",
    "tracker-miner-f",
    "unattended-upgr",
    "updatedb",
    "updatedb.plocat",
];

/// What to do about tuners that becalm does not stop.
const LEFT_TUNERS: &str = "stop it while you measure, if the machine stays cool without it: `systemctl stop UNIT`, then \
     `systemctl start UNIT`";

/// What to do about services that becalm does not stop.
const LEFT_SERVICES: &str = "becalm does not stop it, because it may be in the middle of its work: measure when it has \
     finished";

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    let names: BTreeSet<String> = processes(view.root)
        .into_iter()
        .filter_map(|pid| view.root.read(format!("/proc/{pid}/comm")).value())
        .collect();
    let runs = |of: &[(&'static str, &'static str)]| -> Vec<&'static str> {
        of.iter().filter(|(comm, _)| names.contains(*comm)).map(|(_, name)| *name).collect()
    };
    let named = |of: &[&'static str]| -> Vec<&'static str> {
        of.iter().copied().filter(|name| names.contains(*name)).collect()
    };
    let tuners = |names: &[&str]| Finding {
        id: "other-tuner".to_owned(),
        severity: Severity::Noise,
        what: format!("Other programs tune this machine: {}.", names.join(", ")),
        why: "They may undo what becalm sets, or change it in the middle of a session.".to_owned(),
        size: String::new(),
        here: None,
        fix: Fix::Knob("services".to_owned()),
    };
    let services = |names: &[&str]| Finding {
        id: "services".to_owned(),
        severity: Severity::Note,
        what: format!("Background services run: {}.", names.join(", ")),
        why: "They start working at unpredictable moments.".to_owned(),
        size: String::new(),
        here: None,
        fix: Fix::Knob("services".to_owned()),
    };
    let stopped = [
        (runs(&TUNERS), &tuners as &dyn Fn(&[&str]) -> Finding, None),
        (runs(&KEPT_TUNERS), &tuners, Some(LEFT_TUNERS)),
        (named(&SERVICES), &services, None),
        (named(&KEPT_SERVICES), &services, Some(LEFT_SERVICES)),
    ];
    for (names, finding, advice) in stopped {
        if !names.is_empty() {
            let finding = finding(&names);
            let fix = advice.map_or(finding.fix.clone(), |todo| Fix::Advice(todo.to_owned()));
            checkup.findings.push(Finding { fix, ..finding });
        }
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
            format!("A graphical session is running: {}.", desktops.join(", ")),
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
            "stop it where it was started: /sys/kernel/mm/damon, or the parameter \
             damon_reclaim.enabled or damon_lru_sort.enabled",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SysRoot, Topology};
    use becalm_testkit::FakeMachine;

    /// Returns what is to be done about a program of this name that runs.
    fn fixes(name: &str) -> Vec<Fix> {
        let tree = FakeMachine::default().tree().file("/proc/7/comm", format!("{name}\n"));
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let view = View {
            root: &root,
            topology: &topology,
            cpus: "1".parse().unwrap(),
            is_present: false,
        };
        let mut checkup = Checkup::default();
        look(&view, &mut checkup);
        checkup.findings.into_iter().map(|finding| finding.fix).collect()
    }

    #[test]
    fn a_knob_is_the_fix_only_for_what_it_stops() {
        let kept = KEPT_TUNERS.iter().map(|(comm, _)| *comm).chain(KEPT_SERVICES);
        for name in kept {
            assert!(matches!(&fixes(name)[..], [Fix::Advice(_)]), "{name}");
        }
        let stopped = TUNERS.iter().map(|(comm, _)| *comm).chain(SERVICES);
        for name in stopped {
            assert_eq!(fixes(name), [Fix::Knob("services".to_owned())], "{name}");
        }
    }
}
