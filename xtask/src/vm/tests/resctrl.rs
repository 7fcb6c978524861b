//! A part of the caches comes back, whoever dies, with an imitation of resctrl: QEMU has no processor that divides its
//! caches. The imitation is a file system of its own, so that every process meets the same one, as it does the
//! kernel's.

use anyhow::Result;

use super::death::{Death, sweep};
use super::expect::{UNTIL_ALONE, as_before, says};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[
    test("resctrl_gives_back_what_it_took", gives_back),
    test("resctrl_owner_killed_at_some_calls_guardian_restores", |guest| die(guest, &OWNER)),
    test("resctrl_guardian_killed_at_some_calls_owner_restores", |guest| {
        die(guest, &Death { whom: "others", ..OWNER })
    }),
    test("resctrl_both_killed_at_some_calls_restore_restores", |guest| {
        die(guest, &Death { whom: "all", after: "becalm restore", ..OWNER })
    }),
    test("resctrl_restore_killed_at_some_calls_is_finished_by_the_next", |guest| {
        die(guest, &RESTORE)
    }),
];

const fn test(name: &'static str, body: fn(&mut Guest) -> Result<()>) -> Test {
    let machines = Machines::Only(&["acpi-cpufreq"]);
    Test { name, machines, sample: &[], body: Body::Guest(body) }
}

/// The kernel makes no folder for resctrl here, and lets nobody make one: the folder above is replaced. Newer kernels
/// have FUSE built in.
const IMITATE: &str = "modprobe fuse 2>/dev/null; mkdir /run/cgroup && mount --move /sys/fs/cgroup /run/cgroup && \
    mount -t tmpfs -o mode=755 tmpfs /sys/fs && mkdir /sys/fs/cgroup /sys/fs/resctrl && \
    mount --move /run/cgroup /sys/fs/cgroup && rmdir /run/cgroup && resctrl /sys/fs/resctrl";

const OWNER: Death = Death {
    before: "true",
    command: "becalm tune --only resctrl --cpus 2-3 --hold -- true",
    whom: "first",
    after: UNTIL_ALONE,
};
const RESTORE: Death = Death {
    before: "becalm tune --only resctrl --cpus 2-3",
    command: "becalm restore",
    after: "becalm restore",
    ..OWNER
};

fn gives_back(guest: &mut Guest) -> Result<()> {
    guest.ok(IMITATE)?;
    let before = guest.state()?;
    guest.ok("becalm tune --only resctrl --cpus 2-3")?;
    says(
        guest,
        "cat /sys/fs/resctrl/becalm/cpus_list /sys/fs/resctrl/cpus_list | xargs",
        "2-3 0-1",
    )?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)?;
    let shown = "cat /sys/fs/resctrl/becalm/cpus_list";
    let isolated = "becalm run --isolate --threads 1 --rounds 1 --warmup 0 --output inherit --";
    guest.ok(&format!("{isolated} {shown} 2>&1 | grep -q '^[0-3-]*$'"))?;
    as_before(guest, &before)
}

fn die(guest: &mut Guest, death: &Death) -> Result<()> {
    guest.ok(IMITATE)?;
    sweep(guest, death)
}
