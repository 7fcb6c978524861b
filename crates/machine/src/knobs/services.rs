//! Background services and timers are stopped, and started again.
//!
//! Only those that run, and never for good: nothing is disabled or masked, so a restart of the machine
//! brings them all back. What starts a service by itself (its timer or socket) is stopped before it.
//! Never on the list: what a login, the network, the disks or the logs depend on.

use becalm_model::{Change, Nature, Target};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::systemd::{self, ACTIVE, INACTIVE};

const NAME: &str = "services";

pub(super) const SERVICES: Knob = Knob {
    name: NAME,
    summary: "background services and timers stopped",
    profile: Profile::Strict,
    plan,
};

/// Timers and sockets first, then what they start.
const NOISY: [&str; 40] = [
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
    "snapd.socket",
    "anacron.service",
    "apt-daily.service",
    "apt-daily-upgrade.service",
    "atd.service",
    "auto-cpufreq.service",
    "cron.service",
    "crond.service",
    "fwupd.service",
    "ksmtuned.service",
    "man-db.service",
    "packagekit.service",
    "plocate-updatedb.service",
    "power-profiles-daemon.service",
    "smartd.service",
    "smartmontools.service",
    "snapd.service",
    "sysstat-collect.timer",
    "tlp.service",
    "tuned.service",
    "unattended-upgrades.service",
    "whoopsie.service",
];

fn plan(situation: &Situation<'_>) -> Planned {
    if !systemd::is_there(situation.root) {
        return Planned::not_here(NAME, "systemd does not run this machine");
    }
    let mut names: Vec<String> = NOISY.iter().map(|&name| name.to_owned()).collect();
    names.extend(situation.request.units.iter().map(|name| full_name(name)));
    let states = match systemd::active_units(&names) {
        Ok(states) => states,
        Err(error) => return Planned::default().note(NAME, NoteKind::Refused, error.to_string()),
    };
    let mut planned = Planned::default();
    for name in names {
        match states.get(&name) {
            Some(true) => planned.changes.push(Change {
                knob: NAME.to_owned(),
                target: Target::Unit(name),
                old: ACTIVE.to_owned(),
                new: Some(INACTIVE.to_owned()),
                reason: "it may start working at any moment".to_owned(),
                nature: Nature::Plain,
            }),
            None if situation.request.units.iter().any(|asked| full_name(asked) == name) => {
                planned = planned.note(NAME, NoteKind::Refused, format!("there is no unit {name}"));
            }
            _ => {}
        }
    }
    if planned == Planned::default() {
        let text = "none of the known background services and timers is active";
        return planned.note(NAME, NoteKind::AlreadyQuiet, text);
    }
    planned
}

/// A name without a suffix means a service.
fn full_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.service") }
}
