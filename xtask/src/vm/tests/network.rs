//! Network interfaces that are taken down come back with their addresses and routes.

use anyhow::Result;

use super::expect::{UNTIL_ALONE, as_before, contains, says};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

const WITH_AND_WITHOUT_TUNING: Machines = Machines::Only(&["plain", "acpi-cpufreq"]);

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "interfaces_come_back_with_addresses_and_routes",
        machines: WITH_AND_WITHOUT_TUNING,
        sample: &["plain"],
        body: Body::Guest(come_back),
    },
    Test {
        name: "interfaces_come_back_after_a_kill",
        machines: WITH_AND_WITHOUT_TUNING,
        sample: &[],
        body: Body::Guest(after_a_kill),
    },
    Test {
        name: "interfaces_of_a_machine_that_forwards_stay_up",
        machines: WITH_AND_WITHOUT_TUNING,
        sample: &[],
        body: Body::Guest(forwards),
    },
];

/// An interface with addresses and routes of both versions, as an administrator sets them.
const CONNECT: &str = "ip link set eth0 up && \
    ip address add 10.0.2.15/24 dev eth0 && ip route add default via 10.0.2.2 dev eth0 metric 5 && \
    ip route add 10.9.0.0/16 via 10.0.2.3 dev eth0 table 77 && \
    ip -6 address add fd00::1/64 dev eth0 && until_so 'ip address | grep -q \"inet6 fe80\"' && \
    until_so '! ip address | grep -q tentative' && \
    ip -6 route add fd01::/64 via fd00::2 dev eth0 && ip -6 route add default via fe80::1 dev eth0";

/// Everything about addresses and routes.
const SHOW: &str = "until_so 'ip address | grep -q \"inet6 fe80\"'; \
    until_so '! ip address | grep -q tentative'; \
    ip address; ip route show table all; ip -6 route show table all";

fn come_back(guest: &mut Guest) -> Result<()> {
    guest.ok(CONNECT)?;
    let (before, shown) = (guest.state()?, guest.ok(SHOW)?);
    guest.ok("becalm tune --only network")?;
    says(guest, "ip link show eth0 | grep -c ,UP", "0")?;
    guest.ok("becalm restore")?;
    says(guest, SHOW, shown.trim())?;
    as_before(guest, &before)
}

fn after_a_kill(guest: &mut Guest) -> Result<()> {
    guest.ok(CONNECT)?;
    let (before, shown) = (guest.state()?, guest.ok(SHOW)?);
    guest.ok(&format!(
        "becalm tune --only network --hold -- sleep 1000 & \
         until_so '! ip link show eth0 | grep -q ,UP'; kill -9 $(pidof becalm); {UNTIL_ALONE}; \
         becalm restore"
    ))?;
    says(guest, SHOW, shown.trim())?;
    as_before(guest, &before)
}

fn forwards(guest: &mut Guest) -> Result<()> {
    guest.ok(CONNECT)?;
    guest.ok("echo 1 >/proc/sys/net/ipv4/ip_forward")?;
    contains(&guest.ok("becalm tune --plan --only network")?, "forwards packets for others")?;
    guest.ok("becalm tune --only network; becalm restore")?;
    says(guest, "ip link show eth0 | grep -c ,UP", "1")
}
