//! The watchdogs: a timer on every CPU that looks for one that hangs, and a performance counter that
//! looks for one that no longer takes interrupts.
//!
//! They are switched by `watchdog`, which is the two others together. Reading `nmi_watchdog` or
//! `soft_watchdog` while everything is off makes the kernel believe that the user wants them off for
//! good, so they are only looked at while `watchdog` is on, and are put back after it.
//! <https://docs.kernel.org/admin-guide/lockup-watchdogs.html>, `kernel/watchdog.c`.

use super::{Knob, NoteKind, Planned, Profile, Situation};

const NAME: &str = "watchdog";
const REASON: &str = "a timer wakes every CPU";
const REASON_WITH_COUNTER: &str = "a timer wakes every CPU, and one performance counter is taken";
const ALL: &str = "/proc/sys/kernel/watchdog";
const PARTS: [&str; 2] = ["/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/soft_watchdog"];

pub(super) const WATCHDOG: Knob =
    Knob { name: NAME, summary: "no watchdogs for CPUs that hang", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    if situation.root.read(ALL).value().is_some_and(|value| value == "0") {
        return planned.note(NAME, NoteKind::AlreadyQuiet, "the watchdogs are off already");
    }
    // In this order, because restoring goes backwards: the switch of all first.
    for part in PARTS {
        planned.guard(situation, NAME, part);
    }
    let takes_counter = situation.root.read(PARTS[0]).value().is_some_and(|value| value != "0");
    let reason = if takes_counter { REASON_WITH_COUNTER } else { REASON };
    planned.set(situation, NAME, ALL, "0", reason);
    planned
}
