//! Background services and timers are stopped, and started again.
//!
//! Only those that run, and never for good: nothing is disabled or masked, so a restart of the machine
//! brings them all back. What starts a service by itself (its timer or socket) is stopped before it.
//! Never on the list: what a login, the network, the disks or the logs depend on, and what may be in the
//! middle of writing packages or firmware (snapd, unattended-upgrades). A service that is at work on something that ends (`apt-daily`,
//! `fstrim`) is let finish: stopped, the work would be half done, and started again in the end.

use std::collections::BTreeMap;

use becalm_model::{Change, Nature, Target};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::systemd::{self, ACTIVE, INACTIVE, UnitState};

const NAME: &str = "services";

pub(super) const SERVICES: Knob = Knob {
    name: NAME,
    summary: "background services and timers stopped",
    profile: Profile::Strict,
    plan,
};

/// Timers and sockets first, then what they start.
pub(super) const NOISY: [&str; 35] = [
    "anacron.timer",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dnf-makecache.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    "fwupd-refresh.timer",
    "logrotate.timer",
    "man-db.timer",
    "mlocate-updatedb.timer",
    "motd-news.timer",
    "pamac-cleancache.timer",
    "plocate-updatedb.timer",
    "snapd.snap-repair.timer",
    "systemd-tmpfiles-clean.timer",
    "update-notifier-download.timer",
    "updatedb.timer",
    "anacron.service",
    "apt-daily.service",
    "apt-daily-upgrade.service",
    "atd.service",
    "auto-cpufreq.service",
    "cron.service",
    "crond.service",
    "ksmtuned.service",
    "man-db.service",
    "plocate-updatedb.service",
    "power-profiles-daemon.service",
    "smartd.service",
    "smartmontools.service",
    "sysstat-collect.timer",
    "tlp.service",
    "tuned.service",
    "whoopsie.service",
];

fn plan(situation: &Situation<'_>) -> Planned {
    if !systemd::is_there(situation.root) {
        return Planned::not_here(NAME, "systemd does not run this machine");
    }
    let units = &situation.request.units;
    let asked: Vec<String> = units.iter().map(|name| full_name(name)).collect();
    // Units may be named beside a profile that stops no others.
    let known = if situation.request.selects(&SERVICES) { &NOISY[..] } else { &[] };
    let known = known.iter().map(|&name| name.to_owned());
    let names: Vec<String> =
        known.chain(asked.iter().cloned()).filter(|name| systemd::is_unit_name(name)).collect();
    match systemd::states(&names) {
        Ok(states) => planned(&names, &asked, &states),
        Err(error) => Planned::default().note(NAME, NoteKind::Refused, error.to_string()),
    }
}

/// Plans to stop those of `names` that run; of those that were `asked` for it is told if that cannot be.
fn planned(names: &[String], asked: &[String], states: &BTreeMap<String, UnitState>) -> Planned {
    let mut planned = Planned::default();
    for name in names {
        match states.get(name) {
            Some(UnitState::Active) => planned.changes.push(Change {
                knob: NAME.to_owned(),
                target: Target::Unit(name.clone()),
                old: ACTIVE.to_owned(),
                new: Some(INACTIVE.to_owned()),
                reason: "it may start working at any moment".to_owned(),
                nature: Nature::Plain,
            }),
            Some(UnitState::Starting) => {
                let text = format!("{name} is at work; measure once it has finished");
                planned = planned.note(NAME, NoteKind::Refused, text);
            }
            Some(UnitState::Inactive) | None => {}
        }
    }
    for name in asked.iter().filter(|name| !states.contains_key(*name)) {
        planned = planned.note(NAME, NoteKind::Refused, format!("there is no unit {name}"));
    }
    if planned == Planned::default() {
        let text = "none of the known background services and timers, or of those named, is active";
        return planned.note(NAME, NoteKind::AlreadyQuiet, text);
    }
    planned
}

/// A name without a suffix means a service.
fn full_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.service") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_work_is_let_finish_and_what_is_not_there_is_told() {
        let names = ["cron.service", "apt-daily-upgrade.service", "mine.service"].map(full_name);
        let states = [
            ("cron.service".to_owned(), UnitState::Active),
            ("apt-daily-upgrade.service".to_owned(), UnitState::Starting),
        ];
        let planned = planned(&names, &names[2..], &BTreeMap::from(states));
        let stopped: Vec<String> =
            planned.changes.iter().map(|one| one.target.to_string()).collect();
        assert_eq!(stopped, ["systemd unit cron.service"]);
        let notes: Vec<&str> = planned.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(
            notes,
            [
                "apt-daily-upgrade.service is at work; measure once it has finished",
                "there is no unit mine.service"
            ]
        );
    }

    #[test]
    fn the_list_names_units_once() {
        let mut names = NOISY.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NOISY.len());
        assert!(names.iter().all(|name| systemd::is_unit_name(name)));
    }

    #[test]
    fn what_may_be_writing_packages_or_firmware_is_not_on_the_list() {
        let writers = ["fwupd.", "packagekit.", "snapd.", "unattended-upgrades."];
        for name in NOISY.iter().filter(|name| name.strip_suffix(".timer").is_none()) {
            assert!(!writers.iter().any(|writer| name.starts_with(writer)), "{name}");
        }
    }
}
