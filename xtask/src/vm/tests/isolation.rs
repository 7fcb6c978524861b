//! CPUs of the subject's own.

use anyhow::{Context, Result, ensure};

use super::expect::{UNTIL_ALONE, as_before, contains, leaves_no_trace};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "no_foreign_thread_runs_beside_an_isolated_subject",
        machines: Machines::Except(&["boot-isolated"]),
        sample: &["plain"],
        body: Body::Guest(alone),
    },
    Test {
        name: "four_threads_use_all_isolated_cpus",
        machines: Machines::Only(&["plain", "numa"]),
        sample: &["plain"],
        body: Body::Guest(threads),
    },
    Test {
        name: "a_partition_left_behind_is_removed_by_the_next_start",
        machines: Machines::Only(&["acpi-cpufreq", "plain"]),
        sample: &["plain"],
        body: Body::Guest(left_behind),
    },
    Test {
        name: "a_partition_of_somebody_else_stays_valid",
        machines: Machines::Only(&["plain"]),
        sample: &["plain"],
        body: Body::Guest(of_somebody_else),
    },
    Test {
        name: "an_invalid_partition_is_told_and_not_used",
        machines: Machines::Only(&["boot-isolated", "plain"]),
        sample: &["boot-isolated"],
        body: Body::Guest(invalid),
    },
];

/// Records every switch on two CPUs while a subject is measured on them, and prints who ran.
const TRACED: &str = include_str!("../guest/traced.sh");

fn alone(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let said = guest.ok(TRACED)?;
    let foreign: Vec<&str> = said.lines().filter(|line| line.starts_with("foreign ")).collect();
    ensure!(foreign.is_empty(), "{}\n{said}", foreign.join("\n"));
    contains(&said, "subject ")?;
    as_before(guest, &before)
}

fn threads(guest: &mut Guest) -> Result<()> {
    // Each of four loops writes where it runs; without balancing all stay on one CPU.
    guest.ok(
        "cat >/tmp/loop <<'S'\n\
         n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); [ $((n % 10000)) = 0 ] || continue\n\
         read -r stat </proc/self/stat; set -- ${stat##*) }; shift 36; echo $1 >>/tmp/ran.$1; done\nS",
    )?;
    let subject = "sh -c 'for i in 1 2 3 4; do sh /tmp/loop & done; wait'";
    leaves_no_trace(
        guest,
        &format!("becalm run --isolate --threads 2 --rounds 1 --warmup 0 -- {subject}"),
    )?;
    let cpus = guest.ok("cat /tmp/ran.* | sort -u | wc -l")?;
    ensure!(cpus == "2", "four loops ran on {cpus} of two CPUs");
    Ok(())
}

fn left_behind(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let script = format!(
        "becalm run --isolate --rounds 1 --warmup 0 -- sh -c 'touch /tmp/runs; sleep 100' >/dev/null 2>&1 &\n\
         until_so '[ -e /tmp/runs ]' || exit 99\n\
         kill -9 $(pidof becalm); {UNTIL_ALONE}; rm /tmp/runs; wait; true"
    );
    guest.ok(&script)?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)?;
    guest.ok(&script)?;
    guest.ok("becalm run --isolate --rounds 1 --warmup 0 -- true")?;
    as_before(guest, &before)
}

fn of_somebody_else(guest: &mut Guest) -> Result<()> {
    guest.ok(
        "cd /sys/fs/cgroup; echo +cpuset >cgroup.subtree_control; mkdir other; echo 3 >other/cpuset.cpus\n\
         echo isolated >other/cpuset.cpus.partition; grep -qx isolated other/cpuset.cpus.partition",
    )?;
    leaves_no_trace(guest, "becalm run --isolate --rounds 1 --warmup 0 -- true; true")?;
    guest.ok("grep -qx isolated /sys/fs/cgroup/other/cpuset.cpus.partition").map(drop)
}

/// A write that succeeds may still give `isolated invalid (...)`.
fn invalid(guest: &mut Guest) -> Result<()> {
    guest.ok("cd /sys/fs/cgroup; echo +cpuset >cgroup.subtree_control; mkdir other\n\
         echo 0-3 >other/cpuset.cpus; sleep 1000 & echo $! >other/cgroup.procs")?;
    let said =
        leaves_no_trace(guest, "becalm run --isolate --rounds 1 --warmup 0 -- true 2>&1; true")?;
    contains(&said, "partition").or_else(|_| contains(&said, "isolat")).with_context(|| said)
}
