//! The watchdogs: a timer on every CPU that looks for one that hangs, and a performance counter that
//! looks for one that no longer takes interrupts.
//!
//! They are switched by `watchdog`, which is the two others together. Reading `nmi_watchdog` or
//! `soft_watchdog` while everything is off makes the kernel believe that the user wants them off for
//! good, so they are only looked at while `watchdog` is on, and are put back after it.
//! <https://docs.kernel.org/admin-guide/lockup-watchdogs.html>, `kernel/watchdog.c`.

use super::{Knob, Planner, Profile};

const REASON_WITH_COUNTER: &str = "a timer wakes every CPU, and one performance counter is taken";
const ALL: &str = "/proc/sys/kernel/watchdog";
const PARTS: [&str; 2] = ["/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/soft_watchdog"];

pub(super) const WATCHDOG: Knob = Knob {
    name: "watchdog",
    summary: "no watchdogs for CPUs that hang",
    reason: "a timer wakes every CPU",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    if situation.root.read(ALL).value().is_some_and(|value| value == "0") {
        return planner.is_quiet("the watchdogs are already off");
    }
    // In this order, because restoring goes backwards: the switch of all first.
    for part in PARTS {
        planner.guard(part);
    }
    let takes_counter = situation.root.read(PARTS[0]).value().is_some_and(|value| value != "0");
    let reason = if takes_counter { REASON_WITH_COUNTER } else { WATCHDOG.reason };
    planner.set_because(ALL, "0", reason);
}
