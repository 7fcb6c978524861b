//! A machine whose control groups and services belong to systemd.

use anyhow::{Context, Result, ensure};

use super::expect::{contains, says};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;
use crate::vm::lab::Place;

pub(super) const TESTS: &[Test] = &[
    test("systemd_stopped_services_run_again", services),
    test("systemd_services_run_again_after_a_kill", services_after_kill),
    test("systemd_does_not_drop_the_partition", daemon_reload),
    test("systemd_graphical_target_comes_back", graphical),
    test("systemd_irqbalance_is_told_and_forgets", irqbalance),
    test("systemd_boot_parameters_are_one_file", boot_parameters),
];

const fn test(name: &'static str, body: fn(&Place<'_>) -> Result<()>) -> Test {
    Test { name, machines: Machines::Only(&["acpi-cpufreq"]), sample: &[], body: Body::Place(body) }
}

/// Everything that runs or waits, without scopes and one-shots that come and go.
const UNITS: &str = "systemctl list-units --type=service,timer,target,slice --state=active --no-legend \
                     --plain | awk '{print $1, $4}' | grep -v -e '@' -e 'session' -e 'user-' | sort";

fn unchanged_by(guest: &mut Guest, script: &str) -> Result<String> {
    // It moves interrupts by itself at any time.
    guest.ok("systemctl stop irqbalance")?;
    let before = guest.ok(UNITS)?;
    let state = guest.state()?;
    let said = guest.ok(script)?;
    let after = guest.ok(UNITS)?;
    ensure!(before == after, "{said}\nunits before:\n{before}\nand after:\n{after}");
    super::expect::as_before(guest, &state).with_context(|| said.clone())?;
    Ok(said)
}

fn services(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    guest.ok("systemctl is-active cron")?;
    let held = "becalm tune --profile strict --hold -- systemctl is-active cron; true";
    contains(&unchanged_by(&mut guest, held)?, "inactive")
}

fn services_after_kill(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    let script = "becalm tune --profile strict; pkill -9 becalm; sleep 1; becalm restore";
    unchanged_by(&mut guest, script).map(drop)
}

fn daemon_reload(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    // What removes partitions that systemd does not know.
    let subject = "sh -c 'cat /proc/self/cgroup; systemctl daemon-reload; systemctl restart cron; \
                   systemd-run --scope -q true; cat /sys/fs/cgroup/becalm.slice/cpuset.cpus.partition; \
                   grep Cpus_allowed_list /proc/self/status'";
    let script = format!(
        "becalm run --isolate --threads 2 --rounds 1 --warmup 0 --output inherit -- {subject}"
    );
    let said = unchanged_by(&mut guest, &script)?;
    ensure!(said.lines().any(|line| line == "root" || line == "isolated"), "{said}");
    contains(&said, "becalm")
}

fn graphical(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    says(&mut guest, "systemctl is-active graphical.target", "active")?;
    let held = "becalm tune --profile strict --also desktop --hold -- systemctl is-active graphical.target; true";
    contains(&unchanged_by(&mut guest, held)?, "inactive")
}

fn irqbalance(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    guest.ok("systemctl start irqbalance; until ls /run/irqbalance/*.sock; do sleep 0.1; done")?;
    // The plan shows which CPUs are banned now. irqbalance takes a ban, and the end of it, only at
    // its next look, every ten seconds.
    let plan = "becalm tune --only irqbalance --plan --cpus 2";
    guest.ok(&format!("{plan} >/tmp/before"))?;
    guest.ok("becalm tune --only irqbalance --cpus 2 --hold -- true")?;
    guest.ok(&format!("until {plan} | cmp - /tmp/before; do sleep 1; done")).map(drop)
}

fn boot_parameters(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    let before = guest.ok("find /etc /boot -type f -exec md5sum {} + | sort")?;
    guest.ok("becalm boot-params --cpus 2-3 --write-dropin")?;
    let after = guest.ok("find /etc /boot -type f -exec md5sum {} + | sort")?;
    let new: Vec<&str> = after.lines().filter(|line| !before.contains(*line)).collect();
    ensure!(new.len() == 1, "not one new file: {new:?}");
    contains(&guest.ok("grub-mkconfig 2>/dev/null; cat /etc/default/grub.d/*")?, "isolcpus")?;
    guest.ok("becalm boot-params --remove-dropin")?;
    let left = guest.ok("find /etc /boot -type f -exec md5sum {} + | sort")?;
    ensure!(left == before, "files differ after --remove-dropin");
    Ok(())
}
