//! Kernel same-page merging: `ksmd` scans memory and write-protects pages, which later writes then copy.
//!
//! 0 stops the scan and leaves merged pages merged; 2 would separate them, which cannot be undone.
//! <https://docs.kernel.org/admin-guide/mm/ksm.html>

use super::{Knob, Profile};

pub(super) const KSM: Knob = Knob {
    name: "ksm",
    summary: "kernel same-page merging stopped",
    reason: "a kernel thread scans memory for equal pages",
    profile: Profile::Safe,
    plan: |planner| planner.set("/sys/kernel/mm/ksm/run", "0"),
};
