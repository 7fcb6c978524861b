//! Death at every step: of the owner, of its guardian, of both, of `restore`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::expect::{UNTIL_ALONE, as_before, contains, ends_with};
use super::{Body, Machines, Test};
use crate::vm::guest::{Depth, Guest};
use crate::vm::state::State;

/// Where some calls are enough: what differs from machine to machine is which files there are.
const OTHERS: &[&str] = &["amd-pstate", "intel-pstate", "amd-pstate-epp"];

pub(super) const TESTS: &[Test] = &[
    every("owner_killed_at_every_call_guardian_restores", |guest| {
        sweep(guest, &OWNER, Calls::Every)
    }),
    every("guardian_killed_at_every_call_owner_restores", |guest| {
        sweep(guest, &GUARDIAN, Calls::Every)
    }),
    every("both_killed_at_every_call_restore_restores", |guest| sweep(guest, &BOTH, Calls::Every)),
    every("restore_killed_at_every_call_is_finished_by_the_next", |guest| {
        sweep(guest, &RESTORE, Calls::Every)
    }),
    some("owner_killed_at_some_calls_guardian_restores", OTHERS, &[], |guest| {
        sweep(guest, &OWNER, Calls::Some)
    }),
    some("guardian_killed_at_some_calls_owner_restores", OTHERS, &[], |guest| {
        sweep(guest, &GUARDIAN, Calls::Some)
    }),
    some("both_killed_at_some_calls_restore_restores", OTHERS, &[], |guest| {
        sweep(guest, &BOTH, Calls::Some)
    }),
    some("both_killed_at_some_calls_next_start_restores", FIRST, FIRST, |guest| {
        sweep(guest, &NEXT_START, Calls::Some)
    }),
    some("restore_killed_at_some_calls_is_finished_by_the_next", OTHERS, &[], |guest| {
        sweep(guest, &RESTORE, Calls::Some)
    }),
    every("becalm_killed_at_every_call_its_steward_restores", |guest| {
        sweep(guest, &CALLED, Calls::Every)
    }),
    every("steward_and_guardian_killed_at_every_call_restore_restores", |guest| {
        sweep(guest, &STEWARD, Calls::Every)
    }),
    some("becalm_killed_at_some_calls_its_steward_restores", FIRST, FIRST, |guest| {
        sweep(guest, &CALLED, Calls::Some)
    }),
    some("steward_and_guardian_killed_at_some_calls_restore_restores", FIRST, FIRST, |guest| {
        sweep(guest, &STEWARD, Calls::Some)
    }),
    some(
        "becalm_steward_and_guardian_killed_at_some_calls_restore_restores",
        FIRST,
        &[],
        |guest| sweep(guest, &CALLED_ALL, Calls::Some),
    ),
    some("signals_end_a_hold_and_everything_is_put_back", FIRST, FIRST, signals),
    some("the_second_hold_refuses_or_waits", FIRST, FIRST, two_holds),
];

const FIRST: &[&str] = &["acpi-cpufreq"];

/// A test that takes many minutes.
const fn every(name: &'static str, test: fn(&mut Guest) -> Result<()>) -> Test {
    some(name, FIRST, &[], test)
}

const fn some(
    name: &'static str,
    machines: &'static [&'static str],
    sample: &'static [&'static str],
    test: fn(&mut Guest) -> Result<()>,
) -> Test {
    Test { name, machines: Machines::Only(machines), sample, body: Body::Guest(test) }
}

/// A command whose processes are killed, and what has to put everything back afterwards.
struct Death {
    /// Makes the machine ready for the command.
    before: &'static str,
    command: &'static str,
    /// Which processes die, as `kill_at` calls them.
    whom: &'static str,
    /// What puts everything back then.
    after: &'static str,
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

/// Called as root by a user: the first process is that user's, and dies while the steward beside it does something.
const CALLED: Death = Death {
    whom: "first@child",
    command: "env SUDO_UID=1000 SUDO_GID=1000 becalm tune --profile strict --smt off --hold -- true",
    ..OWNER
};
const STEWARD: Death = Death { whom: "others@child", after: "becalm restore", ..CALLED };
const CALLED_ALL: Death = Death { whom: "all@child", after: "becalm restore", ..CALLED };

/// At which of its calls the command dies.
#[derive(Clone, Copy)]
enum Calls {
    Every,
    /// So many, spread evenly.
    Some,
}

/// Kills at so many calls where not every one is tried; in the sample at fewer.
const SOME: (u32, u32) = (12, 3);

/// Lets the command die at its system calls that change something: values, the journal, control
/// groups, affinities, processes. Afterwards the machine must be as before.
fn sweep(guest: &mut Guest, death: &Death, calls: Calls) -> Result<()> {
    let before = guest.state()?;
    let said = die(guest, death, 0, &before)?;
    let n_calls: u32 = said
        .lines()
        .find_map(|line| line.strip_prefix("ended with 0 after ")?.strip_suffix(" calls"))
        .with_context(|| format!("the command does not end well when nothing kills it:\n{said}"))?
        .parse()?;
    let n_kills = match (calls, guest.depth()) {
        (Calls::Every, _) => n_calls,
        (Calls::Some, Depth::Whole) => SOME.0.min(n_calls),
        (Calls::Some, Depth::Sample) => SOME.1.min(n_calls),
    };
    let mut died = BTreeMap::<String, u32>::new();
    for kill in 1..=n_kills {
        // The last is always one of them.
        let at = kill * n_calls / n_kills;
        let said = die(guest, death, at, &before)?;
        // How many calls there are changes a little from time to time: the last may not be reached.
        if let Some(call) = said.lines().find_map(|line| line.strip_prefix("killed at ")) {
            let call = call.split_once(": ").map_or(call, |(_, call)| call);
            *died.entry(call.to_owned()).or_default() += 1;
        }
    }
    let n_died: u32 = died.values().sum();
    let at: Vec<String> = died.iter().map(|(call, count)| format!("{call} {count}")).collect();
    println!("    {n_died} kills ({}) of {n_calls} calls", at.join(", "));
    ensure!(n_died > 0 && n_died + 10 > n_kills, "only {n_died} of {n_kills} were killed");
    Ok(())
}

/// Lets the command die at one call and compares the machine; returns what was said.
fn die(guest: &mut Guest, death: &Death, at: u32, before: &State) -> Result<String> {
    let Death { before: first, command, whom, after } = death;
    let output = guest.run(&format!(
        "{first} >/dev/null 2>&1 || exit 98\nkill_at {whom} {at} {command} || exit 97\n\
         {after} || exit 96"
    ))?;
    let told = || {
        let said = output.text.trim_end();
        format!("when {whom} of `{command}` dies at call {at}:\n{said}")
    };
    ensure!(output.status == 0, "status {} {}", output.status, told());
    as_before(guest, before).with_context(told)?;
    Ok(output.text)
}

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
