//! Death at every step: of the owner, of its guardian, of both, of `restore`.

use anyhow::{Context, Result, bail, ensure};

use super::expect::{UNTIL_ALONE, as_before, contains, ends_with};
use super::{Body, Machines, Test};
use crate::vm::guest::{Depth, Guest};
use crate::vm::state::State;

const MACHINES: &[&str] = &["acpi-cpufreq", "amd-pstate", "intel-pstate", "amd-pstate-epp"];

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "owner_killed_at_any_write_guardian_restores",
        machines: Machines::Only(MACHINES),
        sample: &[],
        body: Body::Guest(owner),
    },
    Test {
        name: "owner_and_guardian_killed_at_any_write_restore_restores",
        machines: Machines::Only(MACHINES),
        sample: &[],
        body: Body::Guest(both),
    },
    Test {
        name: "owner_and_guardian_killed_next_start_restores",
        machines: Machines::Only(MACHINES),
        sample: &[],
        body: Body::Guest(next_start),
    },
    Test {
        name: "restore_killed_at_any_write_is_finished_by_the_next",
        machines: Machines::Only(MACHINES),
        sample: &[],
        body: Body::Guest(restore),
    },
    Test {
        name: "guardian_killed_owner_restores",
        machines: Machines::All,
        sample: &["acpi-cpufreq"],
        body: Body::Guest(guardian),
    },
    Test {
        name: "signals_end_a_hold_and_everything_is_put_back",
        machines: Machines::Only(&["acpi-cpufreq"]),
        sample: &["acpi-cpufreq"],
        body: Body::Guest(signals),
    },
    Test {
        name: "the_second_hold_refuses_or_waits",
        machines: Machines::Only(&["acpi-cpufreq"]),
        sample: &["acpi-cpufreq"],
        body: Body::Guest(two_holds),
    },
];

const TUNE: &str = "becalm tune --profile strict --smt off --hold -- true";

/// System calls that change something: values, the journal, control groups, affinities.
const CHANGING: &[&str] =
    &["write", "mkdir", "rmdir", "unlink", "rename", "fsync", "sched_setaffinity"];

/// Those that matter most.
const SAMPLED: &[&str] = &["write", "rename"];

/// Which processes are killed.
#[derive(Clone, Copy)]
enum Victims {
    /// The one that is started.
    First,
    /// Also those that it starts, each at its own n-th call.
    All,
}

fn owner(guest: &mut Guest) -> Result<()> {
    // The guardian needs no help: `restore` is not called.
    sweep(guest, Victims::First, "true", TUNE, UNTIL_ALONE)
}

fn both(guest: &mut Guest) -> Result<()> {
    sweep(guest, Victims::All, "true", TUNE, &format!("{UNTIL_ALONE}; becalm restore"))
}

fn next_start(guest: &mut Guest) -> Result<()> {
    let next = format!("{UNTIL_ALONE}; becalm tune --only aslr --hold -- true");
    sweep(guest, Victims::All, "true", TUNE, &next)
}

fn restore(guest: &mut Guest) -> Result<()> {
    let prepare = "becalm tune --profile strict --smt off";
    let after = format!("{UNTIL_ALONE}; becalm restore");
    sweep(guest, Victims::First, prepare, "becalm restore", &after)
}

/// Kills `command` at its n-th call of each kind, for every n or some, and looks at the machine
/// after `after`.
fn sweep(
    guest: &mut Guest,
    victims: Victims,
    prepare: &str,
    command: &str,
    after: &str,
) -> Result<()> {
    let before = guest.state()?;
    let mut n_kills = 0;
    let calls = match guest.depth() {
        Depth::Whole => CHANGING,
        Depth::Sample => SAMPLED,
    };
    for call in calls {
        let mut number = 1;
        let before_these = n_kills;
        while killed(guest, victims, prepare, command, after, call, number, &before)? {
            n_kills += 1;
            number = match guest.depth() {
                Depth::Whole => number + 1,
                // 1, 4, 16, 64: early deaths differ most from each other.
                Depth::Sample => number * 4,
            };
            ensure!(number < 5000, "`{command}` writes without end");
        }
        println!("    {} kills at {call}", n_kills - before_these);
    }
    ensure!(n_kills > 3, "only {n_kills} kills: does strace work in the guest?");
    Ok(())
}

/// Says whether the command lived long enough to be killed.
#[expect(clippy::too_many_arguments, reason = "one place, and each is a plain value")]
fn killed(
    guest: &mut Guest,
    victims: Victims,
    prepare: &str,
    command: &str,
    after: &str,
    call: &str,
    number: u32,
    before: &State,
) -> Result<bool> {
    let follow = match victims {
        Victims::First => "",
        Victims::All => "-f ",
    };
    let inject = format!("-e trace={call} -e inject={call}:signal=SIGKILL:when={number}");
    let output = guest.run(&format!(
        "{prepare} >/dev/null 2>&1 || exit 98\nstrace {follow}-o /dev/null {inject} {command}\n\
         echo ended with $?\n{after}\necho after it: $?"
    ))?;
    let at = || {
        format!("{command} was killed at its {call} number {number}:\n{}", output.text.trim_end())
    };
    ensure!(output.status == 0, "{}", at());
    contains(&output.text, "after it: 0").with_context(at)?;
    as_before(guest, before).with_context(at)?;
    if output.text.contains("ended with 137") {
        Ok(true)
    } else if output.text.contains("ended with 0") {
        Ok(false)
    } else {
        bail!("neither killed nor well: {}", at())
    }
}

fn guardian(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let hold = "becalm tune --hold -- sh -c 'for p in $(pidof becalm); do \
                [ $p = $PPID ] || kill -9 $p; done; sleep 1'";
    guest.ok(hold)?;
    as_before(guest, &before)
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
