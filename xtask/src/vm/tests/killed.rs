//! Death at any step: of the owner, of its guardian, of both, of `restore`.

use anyhow::{Context, Result};

use super::death::{Death, sweep};
use super::expect::{UNTIL_ALONE, as_before, contains, ends_with};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

/// What differs from machine to machine is which files there are.
const SOME: &[&str] = &["acpi-cpufreq", "amd-pstate", "intel-pstate", "amd-pstate-epp"];
const FIRST: &[&str] = &["acpi-cpufreq"];

pub(super) const TESTS: &[Test] = &[
    test("owner_killed_at_some_calls_guardian_restores", SOME, &[], |guest| sweep(guest, &OWNER)),
    test("guardian_killed_at_some_calls_owner_restores", SOME, &[], |guest| {
        sweep(guest, &GUARDIAN)
    }),
    test("both_killed_at_some_calls_restore_restores", SOME, &[], |guest| sweep(guest, &BOTH)),
    test("both_killed_at_some_calls_next_start_restores", FIRST, FIRST, |guest| {
        sweep(guest, &NEXT_START)
    }),
    test("restore_killed_at_some_calls_is_finished_by_the_next", SOME, &[], |guest| {
        sweep(guest, &RESTORE)
    }),
    test("becalm_killed_at_some_calls_its_steward_restores", FIRST, FIRST, |guest| {
        sweep(guest, &CALLED)
    }),
    test("steward_and_guardian_killed_at_some_calls_restore_restores", FIRST, FIRST, |guest| {
        sweep(guest, &STEWARD)
    }),
    test(
        "becalm_steward_and_guardian_killed_at_some_calls_restore_restores",
        FIRST,
        &[],
        |guest| sweep(guest, &CALLED_ALL),
    ),
    test("isolating_owner_killed_at_some_calls_guardian_restores", FIRST, FIRST, |guest| {
        sweep(guest, &ISOLATE)
    }),
    test("isolating_guardian_killed_at_some_calls_owner_restores", FIRST, &[], |guest| {
        sweep(guest, &Death { whom: "others", ..ISOLATE })
    }),
    test("isolating_both_killed_at_some_calls_restore_restores", FIRST, &[], |guest| {
        sweep(guest, &Death { whom: "all", after: "becalm restore", ..ISOLATE })
    }),
    test("signals_end_a_hold_and_everything_is_put_back", FIRST, FIRST, signals),
    test("the_second_hold_refuses_or_waits", FIRST, FIRST, two_holds),
];

const fn test(
    name: &'static str,
    machines: &'static [&'static str],
    sample: &'static [&'static str],
    test: fn(&mut Guest) -> Result<()>,
) -> Test {
    Test { name, machines: Machines::Only(machines), sample, body: Body::Guest(test) }
}

const TUNE: &str = "becalm tune --profile strict --smt off --hold -- true";

const OWNER: Death = Death { before: "true", command: TUNE, whom: "first", after: UNTIL_ALONE };
const GUARDIAN: Death = Death { whom: "others", ..OWNER };
const BOTH: Death = Death { whom: "all", after: "becalm restore", ..OWNER };
const NEXT_START: Death = Death { after: "becalm tune --only aslr --hold -- true", ..BOTH };
/// The guardian, which was left in charge, may still be there.
const RESTORE: Death = Death {
    before: "becalm tune --profile strict --smt off",
    command: "becalm restore",
    whom: "first",
    after: "becalm restore",
};

/// A session on CPUs of its own.
const ISOLATE: Death =
    Death { command: "becalm run --isolate --threads 1 --rounds 1 --warmup 0 -- true", ..OWNER };

/// Called as root by a user: the first process is that user's, and dies while the steward beside it does something.
const CALLED: Death = Death {
    whom: "first@child",
    command: "env SUDO_UID=1000 SUDO_GID=1000 becalm tune --profile strict --smt off --hold -- true",
    ..OWNER
};
const STEWARD: Death = Death { whom: "others@child", after: "becalm restore", ..CALLED };
const CALLED_ALL: Death = Death { whom: "all@child", after: "becalm restore", ..CALLED };

fn signals(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    for (signal, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        // A shell starts background commands with INT ignored; this one must not inherit that.
        let script = format!(
            "becalm tune --hold -- sh -c 'kill -{signal} $PPID; sleep 100' >/run/said 2>&1\n\
             status=$?; {UNTIL_ALONE}; cat /run/said; exit $status"
        );
        ends_with(guest, &script, status)?;
        as_before(guest, &before).with_context(|| signal.to_owned())?;
    }
    Ok(())
}

fn two_holds(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let said =
        guest.ok("becalm tune --hold -- until_so '[ -e /run/stop ]' >/run/first 2>&1 &\n\
         until_so 'grep -q Tuned /run/first' \n\
         becalm tune --hold -- true; echo second: $?\n\
         becalm tune --wait --hold -- true & third=$!\n\
         usleep 500000; touch /run/stop; wait $third; echo third: $?; wait")?;
    contains(&said, "second: 4")?;
    contains(&said, "third: 0")?;
    guest.ok("rm -f /run/stop /run/first")?;
    as_before(guest, &before).with_context(|| said)
}
