//! Background services and timers are stopped, and started again.
//!
//! Only those that run, and never for good: nothing is disabled or masked, so a restart of the machine
//! brings them all back. What starts a service by itself (its timer or socket) is stopped before it.
//! Never on the list: what a login, the network, the disks or the logs depend on, and what may be in the
//! middle of writing packages or firmware (snapd, unattended-upgrades). What systemd stops along with one,
//! because it requires it (tuned-ppd requires tuned), is stopped before it, so that it is started after it.
//! A service that is at work on something that ends (`apt-daily`, `fstrim`) is let finish: stopped, the work
//! would be half done, and started again in the end.

use std::collections::BTreeMap;

use becalm_model::{Change, Target};

use super::{Knob, Planned, Planner, Profile};
use crate::systemd::{self, ACTIVE, INACTIVE, UnitState};

pub(super) const SERVICES: Knob = Knob {
    name: "services",
    summary: "background services and timers stopped",
    reason: "they may start working at any moment",
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

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    if !systemd::is_there(situation.root) {
        return planner.not_here("systemd does not run on this machine");
    }
    let units = &situation.request.units;
    let asked: Vec<String> = units.iter().map(|name| full_name(name)).collect();
    // Units may be named beside a profile that stops no others.
    let known = if situation.request.selects(&SERVICES) { &NOISY[..] } else { &[] };
    let known = known.iter().map(|&name| name.to_owned());
    let names: Vec<String> =
        known.chain(asked.iter().cloned()).filter(|name| systemd::is_unit_name(name)).collect();
    match look(&names) {
        Ok((states, along)) => stop_all(planner, &names, &asked, &states, &along),
        Err(error) => planner.refuse(error.to_string()),
    }
}

/// What systemd stops along with each unit.
type Along = BTreeMap<String, Vec<String>>;

/// Returns what these units do, and those that systemd stops along with those of them that run.
fn look(names: &[String]) -> std::io::Result<(BTreeMap<String, UnitState>, Along)> {
    let mut states = systemd::states(names)?;
    let is_active = |name: &&String| states.get(*name) == Some(&UnitState::Active);
    let along =
        systemd::stopped_along(&names.iter().filter(is_active).cloned().collect::<Vec<_>>())?;
    let more: Vec<String> =
        along.keys().filter(|name| !states.contains_key(*name)).cloned().collect();
    if !more.is_empty() {
        states.extend(systemd::states(&more)?);
    }
    Ok((states, along))
}

/// Adds the change that stops a unit, unless it is there, after those of what systemd stops along with it.
fn stop(
    name: &str,
    reason: &str,
    states: &BTreeMap<String, UnitState>,
    along: &Along,
    changes: &mut Vec<Change>,
) {
    let target = Target::Unit(name.to_owned());
    let is_there = changes.iter().any(|change| change.target == target);
    if is_there || states.get(name) != Some(&UnitState::Active) {
        return;
    }
    changes.push(Change::new(SERVICES.name, target.clone(), ACTIVE, Some(INACTIVE), reason));
    for other in along.get(name).into_iter().flatten() {
        stop(other, &format!("systemd stops it along with {name}"), states, along, changes);
    }
    // It was added before the others, so that a circle has an end, and goes behind them.
    let own = changes.iter().position(|change| change.target == target);
    let own = own.expect("it was requested");
    changes[own..].rotate_left(1);
}

/// Plans to stop those of `names` that run; of those that were `asked` for it is told if that cannot be.
fn stop_all(
    planner: &mut Planner<'_>,
    names: &[String],
    asked: &[String],
    states: &BTreeMap<String, UnitState>,
    along: &Along,
) {
    for name in names {
        match states.get(name) {
            Some(UnitState::Active) => {
                stop(name, SERVICES.reason, states, along, &mut planner.planned.changes);
            }
            Some(UnitState::Starting) => {
                planner.refuse(format!("{name} is working; measure when it has finished"));
            }
            Some(UnitState::Inactive) | None => {}
        }
    }
    for name in asked.iter().filter(|name| !states.contains_key(*name)) {
        planner.refuse(format!("there is no unit {name}"));
    }
    if planner.planned == Planned::default() {
        let text =
            "none of the known background services and timers, or of those requested, is active";
        planner.is_quiet(text);
    }
}

/// A name without a suffix means a service.
fn full_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.service") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::{Situation, TuningRequest};
    use crate::{SysRoot, Topology};
    use becalm_testkit::FakeMachine;

    fn planned(
        names: &[String],
        asked: &[String],
        states: &BTreeMap<String, UnitState>,
        along: &Along,
    ) -> Planned {
        let tree = FakeMachine::default().tree();
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let request = TuningRequest::default();
        let situation = Situation::of(&root, &topology, "0".parse().unwrap(), &request);
        let planned = Planned::default();
        let mut planner = Planner { situation: &situation, planned, knob: &SERVICES };
        stop_all(&mut planner, names, asked, states, along);
        planner.planned
    }

    #[test]
    fn what_is_at_work_is_let_finish_and_what_is_not_there_is_told() {
        let names = ["cron.service", "apt-daily-upgrade.service", "mine.service"].map(full_name);
        let states = [
            ("cron.service".to_owned(), UnitState::Active),
            ("apt-daily-upgrade.service".to_owned(), UnitState::Starting),
        ];
        let planned = planned(&names, &names[2..], &BTreeMap::from(states), &Along::new());
        let stopped: Vec<String> =
            planned.changes.iter().map(|one| one.target.to_string()).collect();
        assert_eq!(stopped, ["systemd unit cron.service"]);
        let notes: Vec<&str> = planned.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(
            notes,
            [
                "apt-daily-upgrade.service is working; measure when it has finished",
                "there is no unit mine.service"
            ]
        );
    }

    #[test]
    fn what_is_stopped_along_with_a_unit_goes_before_it_and_comes_back_after_it() {
        let active =
            ["tuned", "ppd", "menu", "circle"].map(|name| (full_name(name), UnitState::Active));
        let mut states = BTreeMap::from(active);
        states.insert(full_name("idle"), UnitState::Inactive);
        let along =
            [("tuned", &["idle", "ppd", "circle"][..]), ("ppd", &["menu"]), ("circle", &["tuned"])];
        let along = along.map(|(name, others)| {
            (full_name(name), others.iter().map(|other| full_name(other)).collect())
        });
        let planned = planned(&[full_name("tuned")], &[], &states, &Along::from(along));
        let stopped: Vec<String> =
            planned.changes.iter().map(|one| one.target.to_string()).collect();
        let expected = ["menu", "ppd", "circle", "tuned"];
        assert_eq!(stopped, expected.map(|name| format!("systemd unit {name}.service")));
        assert_eq!(planned.changes[1].reason, "systemd stops it along with tuned.service");
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
