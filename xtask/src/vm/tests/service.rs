//! The service by which users have a machine tuned, started by real systemd, with real control groups.

use anyhow::{Context, Result, ensure};

use super::death::{Death, sweep};
use super::expect::as_before;
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;
use crate::vm::lab::Place;

pub(super) const TESTS: &[Test] = &[
    test("service_isolates_for_a_user", isolates),
    test("service_killed_or_stopped_leaves_the_machine_as_it_was", killed),
    test("service_client_killed_at_some_calls_its_steward_restores", |place| die(place, &CLIENT)),
    test("service_steward_killed_at_some_calls_its_guardian_restores", |place| {
        die(place, &Death { whom: STEWARD, ..CLIENT })
    }),
    test("service_killed_at_some_calls_its_steward_restores", |place| {
        die(place, &Death { whom: SERVICE, ..CLIENT })
    }),
    test("service_steward_and_guardian_killed_at_some_calls_restore_restores", |place| {
        die(place, &Death { whom: STEWARD_AND_GUARDIAN, after: AFTER_ALL, ..CLIENT })
    }),
    test("service_and_all_killed_at_some_calls_restore_restores", |place| {
        die(place, &Death { whom: ALL, after: AFTER_ALL, ..CLIENT })
    }),
    test("service_sends_home_whom_a_dead_steward_left", leaves),
    test("service_is_not_for_everybody", others),
];

const fn test(name: &'static str, body: fn(&Place<'_>) -> Result<()>) -> Test {
    Test { name, machines: Machines::Only(&["acpi-cpufreq"]), sample: &[], body: Body::Place(body) }
}

/// A session that tunes and isolates, by a user.
const SESSION: &str =
    "becalm run --tune --isolate --threads 1 --rounds 2 --warmup 0 --output shown --";

/// Lets the user `tester` ask the service, which runs then.
fn install(guest: &mut Guest) -> Result<()> {
    guest
        .ok("systemctl stop irqbalance '*.timer'; echo becalm:x:990:tester >> /etc/group; \
         mkdir -p /etc/becalm; echo 'isolated-cpus = 2' > /etc/becalm/service.toml; \
         becalm machine service install; becalm machine service status; \
         systemctl is-active becalm.service; \
         rm -rf /home/tester/work; mkdir /home/tester/work; chown tester:tester /home/tester/work")
        .map(drop)
}

/// Has the user do something.
fn by(guest: &mut Guest, user: &str, script: &str) -> Result<String> {
    let script = script.replace('\'', r"'\''");
    guest.ok(&format!("cd /home/tester/work && runuser -u {user} -- sh -c '{script}' 2>&1"))
}

fn isolates(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    install(&mut guest)?;
    let before = guest.state()?;
    let show = "sh -c 'id -u; cat /proc/self/cgroup; becalm machine service status'";
    let said = by(&mut guest, "tester", &format!("{SESSION} {show}"))?;
    let shown = guest.ok("cat /home/tester/work/shown")?;
    ensure!(shown.starts_with("1000\n"), "{shown}\n{said}");
    ensure!(shown.contains("/becalm"), "the subject is in no group of its own: {shown}\n{said}");
    ensure!(shown.contains("tester (user 1000) has the machine"), "{shown}\n{said}");
    as_before(&mut guest, &before).with_context(|| said)
}

/// What ends while a user has the machine.
const ENDS: [(&str, &str); 5] = [
    ("the user's process", "kill -9 $(cat pid)"),
    ("the steward", "kill -9 $(pgrep -P $(systemctl show -P MainPID becalm.service))"),
    ("the service", "kill -9 $(systemctl show -P MainPID becalm.service)"),
    ("the unit", "systemctl stop becalm.service"),
    ("all of it", "becalm machine service remove"),
];

fn killed(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    for (what, end) in ENDS {
        install(&mut guest)?;
        let before = guest.state()?;
        let subject = "sh -c 'echo $PPID > pid; sleep 1000'";
        let script = format!("{SESSION} {subject} >/dev/null 2>&1").replace('\'', r"'\''");
        guest.ok(&format!(
            "cd /home/tester/work && {{ runuser -u tester -- sh -c '{script}' & }}\n\
             until_so '[ -s /home/tester/work/pid ]'; {end}; until_so '! [ -e /var/lib/becalm/journal ]'; \
             pkill -u tester sleep; wait; \
             [ -e /etc/systemd/system/becalm.socket ] || becalm machine service install; \
             systemctl start becalm.socket 2>/dev/null; \
             becalm machine service status 2>/dev/null; true"
        ))?;
        as_before(&mut guest, &before).with_context(|| what.to_owned())?;
    }
    Ok(())
}

/// Where the steward died, its guardian knows of a process in the session's group only what the kernel knows.
fn leaves(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    install(&mut guest)?;
    let subject = "sh -c 'echo $PPID > pid; setsid sleep 1000 & sleep 1000'";
    let script = format!("{SESSION} {subject} >/dev/null 2>&1").replace('\'', r"'\''");
    let said = guest.ok(&format!(
        "cd /home/tester/work && {{ runuser -u tester -- sh -c '{script}' & }}\n\
         until_so '[ -s /home/tester/work/pid ]'; cat /proc/$(cat pid)/cgroup; \
         until_so '[ $(pgrep -u tester -x sleep | wc -l) = 2 ]'; \
         cat /proc/$(pgrep -u tester -x sleep | head -1)/cgroup; \
         kill -9 $(pgrep -P $(systemctl show -P MainPID becalm.service)); \
         until_so '! [ -e /var/lib/becalm/journal ]'; \
         for pid in $(pgrep -u tester); do cat /proc/$pid/cgroup; done 2>/dev/null; \
         pkill -u tester sleep; wait; true"
    ))?;
    let groups: Vec<&str> = said.lines().collect();
    let [home, session, left @ ..] = groups.as_slice() else {
        anyhow::bail!("the session did not begin: {said}");
    };
    ensure!(session.contains("/becalm") && home != session, "the subject is in {session}");
    ensure!(left.iter().all(|group| group == home), "not all went home: {said}");
    Ok(())
}

/// A session of the user's; the service runs, whatever became of it before, and no start of it counts as one too many.
const CLIENT: Death = Death {
    before: "cd /home/tester/work; systemctl reset-failed; systemctl start becalm.socket; \
             becalm machine service status",
    command: "setpriv --reuid tester --regid tester --init-groups env HOME=/home/tester \
              becalm run --tune --isolate --threads 1 --rounds 1 --warmup 0 -- true",
    whom: "first",
    after: AFTER,
};
const STEWARD: &str =
    "do:service=$(systemctl show -P MainPID becalm.service); kill -9 $(pgrep -P $service)";
const STEWARD_AND_GUARDIAN: &str = "do:service=$(systemctl show -P MainPID becalm.service); \
     steward=$(pgrep -P $service) && guardian=$(pgrep -P $steward) && kill -9 $steward $guardian";
const SERVICE: &str = "do:service=$(systemctl show -P MainPID becalm.service); \
                       [ $service -gt 0 ] && kill -9 $service";
const ALL: &str = "do:pkill -9 -x becalm";
/// Whoever puts the machine back has done so; then the service, and with it its control group, is there as before.
const AFTER: &str = "until_so '[ $(pidof becalm | wc -w) -le 1 ]' && systemctl reset-failed && \
                     systemctl start becalm.socket && becalm machine service status >/dev/null";
const AFTER_ALL: &str = "until_so '[ $(pidof becalm | wc -w) -le 1 ]' && becalm restore && \
                         systemctl reset-failed && systemctl start becalm.socket && \
                         becalm machine service status >/dev/null";

fn die(place: &Place<'_>, death: &Death) -> Result<()> {
    let mut guest = place.debian()?;
    install(&mut guest)?;
    sweep(&mut guest, death)
}

fn others(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    install(&mut guest)?;
    let said = by(&mut guest, "nobody", "becalm machine service status; true")?;
    ensure!(said.contains("this user may not use"), "{said}");
    let said = by(&mut guest, "nobody", "becalm tune --hold -- true; true")?;
    ensure!(said.contains("tuning needs root"), "{said}");
    Ok(())
}
