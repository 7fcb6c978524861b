//! Kernel same-page merging: `ksmd` scans memory and write-protects pages, which later writes then copy.
//!
//! 0 stops the scan and leaves merged pages merged; 2 would separate them, which cannot be undone.
//! <https://docs.kernel.org/admin-guide/mm/ksm.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "ksm";
const REASON: &str = "a kernel thread scans memory for equal pages";

pub(super) const KSM: Knob =
    Knob { name: NAME, summary: "kernel same-page merging stopped", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/sys/kernel/mm/ksm/run", "0", REASON);
    planned
}
