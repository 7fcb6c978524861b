//! Swap that is switched off comes back with the priorities that it had.

use anyhow::Result;

use super::death::{Death, sweep};
use super::expect::{UNTIL_ALONE, as_before, leaves_no_trace, says};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

const MACHINES: Machines = Machines::Only(&["plain"]);

pub(super) const TESTS: &[Test] = &[
    test("swap_comes_back_with_its_priorities", &["plain"], comes_back),
    test("swap_owner_killed_at_some_calls_guardian_restores", &[], |guest| die(guest, &OWNER)),
    test("swap_guardian_killed_at_some_calls_owner_restores", &[], |guest| {
        die(guest, &Death { whom: "others", ..OWNER })
    }),
    test("swap_both_killed_at_some_calls_restore_restores", &[], |guest| {
        die(guest, &Death { whom: "all", after: "becalm restore", ..OWNER })
    }),
    test("swap_restore_killed_at_some_calls_is_finished_by_the_next", &[], |guest| {
        die(guest, &RESTORE)
    }),
];

const fn test(
    name: &'static str,
    sample: &'static [&'static str],
    body: fn(&mut Guest) -> Result<()>,
) -> Test {
    Test { name, machines: MACHINES, sample, body: Body::Guest(body) }
}

/// The kernel numbers the first and the last of three areas, the one between them has a priority of its own.
const AREAS: &str = "modprobe zram num_devices=3 && for disk in 0 1 2; do \
    echo 16M >/sys/block/zram$disk/disksize && mkswap /dev/zram$disk || exit 1; done; \
    swapon /dev/zram0 && swap_on /dev/zram1 5 && swapon /dev/zram2";

const OWNER: Death = Death {
    before: "true",
    command: "becalm tune --only swap --hold -- true",
    whom: "first",
    after: UNTIL_ALONE,
};
const RESTORE: Death = Death {
    before: "becalm tune --only swap",
    command: "becalm restore",
    after: "becalm restore",
    ..OWNER
};

fn comes_back(guest: &mut Guest) -> Result<()> {
    guest.ok(AREAS)?;
    let priorities = "awk 'NR > 1 { print $1, $NF }' /proc/swaps | sort | xargs";
    says(guest, priorities, "/dev/zram0 -2 /dev/zram1 5 /dev/zram2 -3")?;
    let before = guest.state()?;
    guest.ok("becalm tune --only swap")?;
    says(guest, priorities, "")?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)?;
    leaves_no_trace(guest, "becalm tune --profile strict --also swap --hold -- true")?;
    // Whatever order they were switched on in.
    guest.ok("swapoff /dev/zram0 && swapon /dev/zram0")?;
    leaves_no_trace(guest, "becalm tune --only swap && becalm restore").map(drop)
}

fn die(guest: &mut Guest, death: &Death) -> Result<()> {
    guest.ok(AREAS)?;
    sweep(guest, death)
}
