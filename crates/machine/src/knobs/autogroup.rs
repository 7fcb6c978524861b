//! Automatic scheduling groups: each terminal session is a group with one share of the CPU, so niceness
//! says nothing between sessions.
//!
//! <https://man7.org/linux/man-pages/man7/sched.7.html>, "The autogroup feature".

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "autogroup";
const REASON: &str = "what a run gets depends on which terminal session it is in";

pub(super) const AUTOGROUP: Knob =
    Knob { name: NAME, summary: "no scheduling groups by session", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/kernel/sched_autogroup_enabled", "0", REASON);
    planned
}
